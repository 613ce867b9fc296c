/* files.h - how many distinct files the events of each row have, as a plan over the hash aggregation (private
 * to exact).
 *
 * Rows are (layer, key of the view, file, bin).  In a view by time the first bin of an event counts one more
 * event of the file, the bin behind the last one less, so that an event over many bins is two rows. */
#ifndef STA_ANALYSE_EXACT_FILES_H
#define STA_ANALYSE_EXACT_FILES_H

#include "analyse/exact/bins.h"
#include "analyse/exact/feed.h"
#include "analyse/exact/signatures.h"

#define STA_FILES_RECENT 4096 /* a power of two */

/* What a worker took lately; most of it comes again at once. */
struct sta_files_recent {
    struct sta_files_seen {
        uint64_t what;         /* number of the signature, then reference to a file */
        uint64_t where;        /* bin, then key */
    } items[STA_FILES_RECENT]; /* by hash */
};

struct sta_files {
    bool by_time;                     /* several bins */
    struct sta_files_recent **recent; /* by worker */
    struct sta_feed feed;
};

/** @bins, @budget: borrowed.  Fini in any case. */
STA_MUSTCHECK int sta_files_init(struct sta_files *files, const struct sta_exact_bins *bins,
                                 const struct sta_budget *budget, struct sta_error *err);
void sta_files_fini(struct sta_files *files);

/** An event of a key is about @file in the bins @low to @high, and of the layers of its signature. */
STA_MUSTCHECK int sta_files_take(struct sta_files *files, unsigned worker,
                                 const struct sta_event_signature *of, uint32_t key, uint32_t file,
                                 size_t low, size_t high, struct sta_error *err);

static inline struct sta_files_seen sta_files_seen(uint32_t number, uint32_t ref, uint32_t key, size_t bin)
{
    return (struct sta_files_seen){(uint64_t)number << 32 | ref, (uint64_t)bin << 32 | key};
}

/** Where it is noted that an event of one bin came: once it is, another one like it adds nothing. */
static inline struct sta_files_seen *sta_files_slot(struct sta_files_recent *recent,
                                                    struct sta_files_seen seen)
{
    /* Consecutive files have consecutive slots; one round is enough, it need not be even. */
    const uint32_t number = (uint32_t)(seen.what >> 32), bin = (uint32_t)(seen.where >> 32);
    const uint32_t rest = (uint32_t)seen.where + bin * 3;
    const uint32_t hash = (uint32_t)seen.what + rest * UINT32_C(0x9e3779b1) + number * UINT32_C(0x85ebca6b);
    return &recent->items[hash % STA_FILES_RECENT];
}

static inline bool sta_files_is_seen(struct sta_files_recent *recent, struct sta_files_seen seen)
{
    const struct sta_files_seen *last = sta_files_slot(recent, seen);
    return last->what == seen.what && last->where == seen.where;
}

typedef void (*sta_files_add)(void *context, uint32_t layer, uint32_t key, size_t bin);
/** Calls @add once for each layer, key, bin and file of an event there.  No more events may come. */
STA_MUSTCHECK int sta_files_each(struct sta_files *files, sta_files_add add, void *context,
                                 struct sta_error *err);

/* What the numbers of another process mean: layers, files and bins are those of the trace and the query.
 */
struct sta_files_names {
    uint32_t layer_count, file_count;
    size_t bin_count;
    /** Return: false: it has none of that number. */
    bool (*key_of)(const void *context, uint32_t theirs, uint32_t *key);
    const void *context;
};
/** Takes what another process has put (sta_feed_put).  Before sta_files_each.  Return: also STA_ECORRUPT. */
STA_MUSTCHECK int sta_files_take_other(struct sta_files *files, struct sta_cursor *in,
                                       const struct sta_files_names *names, struct sta_error *err);

#endif
