/* timeline.h - one parallel pass over blocks, with their spans in order of time.
 *
 * Blocks are read by any worker in any number at once, roughly in the order of time.  The time axis is cut
 * into slices of about equal numbers of rows; as soon as every block that reaches into a slice has been read,
 * a worker brings the slice's spans in order and measures them.  Only the spans between the first open slice
 * and the last block read are held. */
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

/* What a block gives to one slice, in a form of the work's own. */
struct sta_parcel {
    const void *bytes;
    size_t size;
};

/* Where the spans of a block go. */
struct sta_block_spans {
    struct sta_span
        *items;     /* room for the block's rows; ascending by ts, and inside the block's [ts_min, ts_max] */
    uint32_t count; /* set */
    /* Of a work by parcels instead: */
    char *bytes;         /* room for parcels, one behind the other, aligned as malloc() does */
    const int64_t *cuts; /* where slices end after the block's beginning, ascending; the last is INT64_MAX */
    size_t *ends;        /* set: by cut, where the parcel of its slice ends.  All are 0 to begin with */
};

/* All spans with from <= ts < to: ascending by ts, or as parcels, none of them empty. */
struct sta_slice {
    size_t number; /* 0 .. in order of time */
    int64_t from, to;
    const struct sta_span *spans; /* valid until the slice is measured, as parcels are */
    size_t count;
    const struct sta_parcel *parcels;
    size_t parcel_count;
};

/* What a pass does.  Each callback gets the worker that calls it; calls of one worker never overlap.  A
 * failure ends the pass. */
struct sta_timeline_work {
    /** Reads block number @block and writes the spans it gives.  @spans: NULL when the pass has no slices. */
    int (*read)(void *context, unsigned worker, size_t block, struct sta_block_spans *spans,
                struct sta_error *err);
    /* NULL, all three, when order does not matter.  Of every slice: prepare, carry, measure; carry is called
     * in the order of slices, one at a time, the others concurrently. */
    void (*prepare)(void *context, unsigned worker, const struct sta_slice *slice);
    void (*carry)(void *context, unsigned worker, const struct sta_slice *slice);
    void (*measure)(void *context, unsigned worker, const struct sta_slice *slice);
    void *context;
    size_t parcel_row; /* bytes of room that parcels need per row; 0: the work takes spans in order */
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
