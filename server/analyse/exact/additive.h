/* additive.h - what adds up, as a plan over the hash aggregation: counts, times, bytes, sizes (private to
 * exact).
 *
 * Each event is a row (signature, key of the view or bin, size bin) with what it adds there.  Signature and
 * key say which rows of which layers and metrics the group counts towards, so an event of three layers is
 * still one row.
 *
 * An event over many bins costs as much as one over two: its parts in the first and in the last bin, and the
 * change from none to one event that covers whole bins behind the first, and back at the last; running sums
 * over the bins of a signature turn changes into events and times.  Only bytes have a row for each bin, since
 * floor() of exact.md section 2 makes every bin's part another number. */
#ifndef STA_ANALYSE_EXACT_ADDITIVE_H
#define STA_ANALYSE_EXACT_ADDITIVE_H

#include "analyse/exact/bins.h"
#include "analyse/exact/feed.h"
#include "analyse/exact/fields.h"

struct sta_exact_result;
struct sta_kinds;

struct sta_additive {
    const struct sta_exact_bins *bins; /* borrowed */
    unsigned wants;
    bool by_time; /* several bins */
    struct sta_feed feed;
};

/** @wants: enum sta_wants.  @bins, @budget: borrowed.  Fini in any case. */
STA_MUSTCHECK int sta_additive_init(struct sta_additive *additive, const struct sta_exact_bins *bins,
                                    unsigned wants, const struct sta_budget *budget, struct sta_error *err);
void sta_additive_fini(struct sta_additive *additive);

/* An event, in ticks and bytes; its duration is not below 0. */
struct sta_additive_event {
    uint32_t signature, key; /* key: STA_NO_CODE is one like others */
    int64_t ts, dur;
    int64_t size; /* 0: none */
};

/** Takes an event of which @part lies in the bins.  Return: 0, or what an aggregation returns. */
STA_MUSTCHECK int sta_additive_take(struct sta_additive *additive, unsigned worker,
                                    const struct sta_additive_event *event, const struct sta_exact_part *part,
                                    struct sta_error *err);
/** No more events come. */
STA_MUSTCHECK int sta_additive_end(struct sta_additive *additive, struct sta_error *err);

/* What a group adds to a bin. */
struct sta_additive_sums {
    int64_t events; /* that touch it */
    int64_t count, time, size;
    unsigned size_bin; /* of those that start there; STA_SIZE_BINS: none */
};

typedef int (*sta_additive_add)(void *context, uint32_t signature, uint32_t key, size_t bin,
                                const struct sta_additive_sums *sums, struct sta_error *err);
/** Calls @add for what each group adds to each bin, in the order of signatures, keys and bins.  After the
 * end.  Return: 0, what @add returns, STA_ECANCELLED, STA_ELIMIT. */
STA_MUSTCHECK int sta_additive_each(const struct sta_additive *additive, sta_additive_add add, void *context,
                                    struct sta_error *err);

/** Ends, and puts all groups, for another process. */
STA_MUSTCHECK int sta_additive_put(struct sta_additive *additive, struct sta_buffer *out,
                                   struct sta_error *err);
/** Likewise for the groups at @in, which another process has put: signatures and keys are its own.  Return:
 * also STA_ECORRUPT. */
STA_MUSTCHECK int sta_additive_each_other(const struct sta_additive *additive, struct sta_cursor in,
                                          sta_additive_add add, void *context, struct sta_error *err);

#endif
