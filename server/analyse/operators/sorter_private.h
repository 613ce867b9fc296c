/* sorter_private.h - shared by the files of the sorter only. */
#ifndef STA_ANALYSE_OPERATORS_SORTER_PRIVATE_H
#define STA_ANALYSE_OPERATORS_SORTER_PRIVATE_H

#include <pthread.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/tasks.h"
#include "analyse/operators/sorter.h"
#include "analyse/operators/spill.h"

#define STA_SORTER_STEP 256u /* records of a run from sample to sample */

/* Records in order. */
struct sta_sorted_run {
    uint64_t *records; /* NULL: on disk */
    const struct sta_spill *spill;
    uint64_t offset, count;
    uint64_t *samples; /* records 0, STEP, 2 STEP .. */
    size_t sample_count;
};

/* What one worker has collected. */
struct sta_sorter_local {
    uint64_t *records, *scratch; /* of sorter->capacity */
    size_t count;
    bool bounded; /* the first spec.limit records are sorted: what comes behind them is not wanted */
    struct sta_spill *spill;
    uint64_t held; /* bytes of runs in memory */
    struct sta_sorted_run *runs;
    size_t run_count, run_capacity;
};

/* Records between two bounds, of all runs, in order. */
struct sta_sorted_range {
    uint64_t *records, *scratch; /* of capacity; kept for the next range */
    size_t count, capacity;
};

struct sta_sorter {
    struct sta_sorter_spec spec;
    unsigned workers;
    char *spill_folder;
    size_t record;   /* bytes of one */
    bool cuts;       /* full buffers are cut to the records that are wanted */
    size_t capacity; /* records of a buffer */
    struct sta_sorter_local *locals;
    pthread_mutex_t lock; /* over bound */
    uint64_t *bound;      /* a record; NULL: none yet */

    /* once finished */
    struct sta_sorted_run **runs;
    size_t run_count;
    uint64_t *splitters; /* records between ranges */
    size_t range_count, next_range;
    struct sta_sorted_range *ranges; /* those that are sorted ahead */
    size_t ahead, ready, at;         /* how many are at most, are, and the one that is given out */
    size_t row;                      /* the next one in it */
    uint64_t given;
};

/** Cuts all runs into ranges of keys. */
STA_MUSTCHECK int sta_sorter_cut_ranges(struct sta_sorter *sorter, struct sta_error *err);
/** Records ascending, to @scratch if @into_scratch; cancelled like all that works for the sorter. */
STA_MUSTCHECK int sta_sorter_sort(const struct sta_sorter *sorter, uint64_t *records, uint64_t *scratch,
                                  size_t count, bool into_scratch, struct sta_error *err);
/** Sorts the next few ranges, in parallel. */
STA_MUSTCHECK int sta_sorter_sort_ranges(struct sta_sorter *sorter, struct sta_error *err);
void sta_sorted_range_fini(struct sta_sorted_range *range);

#endif
