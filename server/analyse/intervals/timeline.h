/* timeline.h - one parallel pass over blocks, with their spans in order of time.
 *
 * Blocks are read by any worker in any number at once, roughly in the order of time.  The time axis is cut into slices of about equal
 * numbers of rows; as soon as every block that reaches into a slice has been read, a worker brings the slice's spans in order and measures them.
 * Only the spans between the first open slice and the last block read are held. */
#ifndef STA_ANALYSE_INTERVALS_TIMELINE_H
#define STA_ANALYSE_INTERVALS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/analyse.h"
#include "analyse/intervals/span.h"
#include "common/error.h"

/* What is known of a block before it is read. */
struct sta_timeline_block {
    int64_t ts_min, ts_max; /* of its rows */
    uint32_t rows;
};

/* Where the spans of a block go. */
struct sta_block_spans {
    struct sta_span *items; /* room for the block's rows */
    uint32_t count;
    const int64_t *cuts; /* where slices end after the block's beginning, ascending; the last is INT64_MAX */
};

/* What a block gives to a slice, as the block has it. */
struct sta_run {
    const struct sta_span *spans;
    size_t count;
};

/* All spans with from <= ts < to: ascending by ts, or of a work by runs, as runs. */
struct sta_slice {
    size_t number; /* 0 .. in order of time */
    int64_t from, to;
    const struct sta_span *spans; /* valid until the slice is measured, as are those of runs */
    size_t count;
    const struct sta_run *runs;
    size_t run_count;
};

/* What a pass does.  Each callback gets the worker that calls it; calls of one worker never overlap.  A failure ends the pass. */
struct sta_timeline_work {
    /** Reads block number @block.  Writes the spans it gives (@spans is NULL when the pass has no slices), ascending by ts and inside the block's
     * [ts_min, ts_max]; of a work by runs only those of different slices must be in order: first those before the first cut, then the others
     * before the second, .. */
    int (*read)(void *context, unsigned worker, size_t block, struct sta_block_spans *spans,
                struct sta_error *err);
    /* NULL, all three, when order does not matter.  Of every slice: prepare, carry, measure; carry is called in the order of slices, one at a
     * time, the others concurrently. */
    void (*prepare)(void *context, unsigned worker, const struct sta_slice *slice);
    void (*carry)(void *context, unsigned worker, const struct sta_slice *slice);
    void (*measure)(void *context, unsigned worker, const struct sta_slice *slice);
    void *context;
    bool by_runs; /* slices come as runs, for a work that brings parts of them in order itself */
};

#define STA_SLICE_ROWS 16384 /* sorts within a core's cache, and is large beside what a slice costs */

/**
 * sta_timeline_run - read all blocks, measure all slices
 * @budget: workers, cancel, deadline (looked at between blocks and slices)
 * @slice_rows: rows a slice aims at; the result of a pass must not depend on it
 * Return: 0, STA_ECANCELLED, STA_ELIMIT past the deadline, STA_ENOMEM, or what a callback returned.
 */
STA_MUSTCHECK int sta_timeline_run(const struct sta_timeline_block *blocks, size_t block_count,
                                   const struct sta_timeline_work *work, size_t slice_rows,
                                   const struct sta_budget *budget, struct sta_error *err);

#endif
