/* bins.h - time cut into bins, and what an event gives to each (private to exact).
 *
 * exact.md section 2: bins are [b g, (b + 1) g) from the origin, and an event gives each bin its part.  A
 * window cuts events as the edge of a bin does.  A view that is not by time is the same with one bin that
 * holds all.
 *
 * Bins are numbered.  Where most of a long time is empty, only the bins that have events are
 * counted: an index then follows the runs of such bins, and what is kept by bin costs nothing for the
 * others. */
#ifndef STA_ANALYSE_EXACT_BINS_H
#define STA_ANALYSE_EXACT_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/memory.h"

/* Consecutive bins. */
struct sta_bin_run {
    int64_t first; /* number of the first one */
    size_t at;     /* its index */
};

/* The bins first .. first + count - 1 of width g, cut to [from, to); or those of the runs.  All in ticks. */
struct sta_exact_bins {
    int64_t g, first;
    size_t count;
    int64_t from, to;
    const struct sta_bin_run *runs; /* ascending, neither empty nor touching; NULL: one run of all bins */
    size_t run_count;
};

/** One bin: [from, to), at least [0, ..), where every trace begins. */
static inline struct sta_exact_bins sta_exact_bins_one(int64_t from, int64_t to)
{
    return (struct sta_exact_bins){.g = INT64_MAX, .count = 1, .from = STA_MAX(from, 0), .to = to};
}

/** Number of a bin, by index: it begins at number * g. */
int64_t sta_bin_number_in_runs(const struct sta_exact_bins *bins, size_t bin);
static inline int64_t sta_bin_number(const struct sta_exact_bins *bins, size_t bin)
{
    return bins->runs == NULL ? bins->first + (int64_t)bin : sta_bin_number_in_runs(bins, bin);
}

/** Start of a bin, by index. */
static inline int64_t sta_bin_from(const struct sta_exact_bins *bins, size_t bin)
{
    return STA_MAX(bins->from, sta_bin_number(bins, bin) * bins->g);
}

/** End of a bin. */
static inline int64_t sta_bin_to(const struct sta_exact_bins *bins, size_t bin)
{
    if (bins->runs == NULL && bin + 1 == bins->count)
        return bins->to;
    return STA_MIN(bins->to, (sta_bin_number(bins, bin) + 1) * bins->g);
}

/** Index of the bin that a time of [from, to) lies in; where there is none of the next one, or count. */
size_t sta_bin_of_in_runs(const struct sta_exact_bins *bins, int64_t at);
static inline size_t sta_bin_of(const struct sta_exact_bins *bins, int64_t at)
{
    if (bins->runs != NULL)
        return sta_bin_of_in_runs(bins, at);
    return bins->count == 1 ? 0 : (size_t)(at / bins->g - bins->first);
}

/* What of an event lies in the bins. */
struct sta_exact_part {
    int64_t from, to; /* covered; equal for an event that covers nothing */
    size_t low, high; /* first and last bin that it touches; set by sta_exact_part_bins */
    int starts;       /* 1: it is counted, in bin low */
};

/** The part of the event [ts, te), ts <= te, that lies between the first and the last bin.  Return: false
 * when it lies outside. */
static inline bool sta_exact_part_of(const struct sta_exact_bins *bins, int64_t ts, int64_t te,
                                     struct sta_exact_part *part)
{
    if (ts >= bins->to || (ts < bins->from && te <= bins->from))
        return false;
    part->from = STA_MAX(ts, bins->from);
    part->to = STA_MIN(te, bins->to);
    part->starts = ts >= bins->from;
    return true;
}

/** Finds the bins that the part of an event touches, all of which must be in the runs. */
static inline void sta_exact_part_bins(const struct sta_exact_bins *bins, struct sta_exact_part *part)
{
    part->low = sta_bin_of(bins, part->from);
    part->high = part->low;
    if (bins->count > 1 && part->to > part->from)
        part->high += (size_t)((part->to - 1) / bins->g - part->from / bins->g);
}

/* A bin that was found lately: events come nearly in order of time. */
struct sta_recent_bin {
    int64_t from, to;
    size_t bin;
};

/** The same, faster where events lie in the bin of the last one. */
static inline void sta_exact_part_bins_near(const struct sta_exact_bins *bins, struct sta_recent_bin *recent,
                                            struct sta_exact_part *part)
{
    if (part->from >= recent->from && part->to <= recent->to && part->from < recent->to) {
        part->low = part->high = recent->bin;
        return;
    }
    sta_exact_part_bins(bins, part);
    *recent = (struct sta_recent_bin){sta_bin_from(bins, part->low), sta_bin_to(bins, part->low), part->low};
}

/** An event's bytes in [from, to), which lies in it: floor(size y / dur) - floor(size x / dur) where that
 * covers it from x to y, counted from ts.  @dur = 0: all of them. */
int64_t sta_bytes_between(int64_t from, int64_t to, int64_t ts, int64_t dur, int64_t size);

#endif
