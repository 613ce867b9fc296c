/* merge.h - segments of a version written again as fewer, whose rows ascend in time from one to the next
 * (private to store). */
#ifndef STA_STORE_MERGE_H
#define STA_STORE_MERGE_H

#include "common/buffer.h"
#include "store/versions/private.h"

struct sta_merge {
    const struct sta_snapshot *base;
    uint32_t first, count;     /* its segments that are merged, next to each other */
    uint32_t rows;             /* that a new segment should have, about */
    const bool *drop;          /* by source of the base: its rows leave; NULL: none do */
    struct sta_tables *tables; /* gets the kinds of the args of the rows; NULL: not wanted */
    struct sta_account
        *account; /* arrays by rows, row groups and chunks are charged to it; NULL: not counted */
    /** Called some hundred times a second.  @rows: merged so far.  A failure ends the merge. */
    int (*step)(void *context, uint64_t rows, struct sta_error *err);
    /** Takes a new segment, in the order of time.  @bytes: borrowed during the call. */
    int (*take)(void *context, const struct sta_buffer *bytes, uint32_t rows, struct sta_error *err);
    void *context; /* of both */
};

/**
 * sta_merge_run - give the rows of segments, without those of the sources that are dropped, as new segments
 * Rows of equal times come in the order that readers are promised, so that the new segments, in the place of
 * the old ones, say the same.  Chunks of one source between which no other segment has one become one.
 * Return: 0; STA_ECORRUPT (the segment is quarantined); STA_ENOMEM, STA_ELIMIT, STA_EBUSY (memory); what step
 * and take return.  Context: any thread that may read files.
 */
STA_MUSTCHECK int sta_merge_run(const struct sta_merge *merge, struct sta_error *err);

/** First of the newest segments that a refresh is to merge, which is done at once as they are few rows, since
 * compaction has not come to it; as many as there are: none. */
uint32_t sta_refresh_merges_from(const struct sta_snapshot *snapshot);

#endif
