/* merge_chunks.h - what becomes of the chunks of segments that are merged (private to store). */
#ifndef STA_STORE_MERGE_CHUNKS_H
#define STA_STORE_MERGE_CHUNKS_H

#include "store/versions/merge.h"

struct sta_merge_chunks {
    uint32_t *ranks;              /* of all segments, one behind the other */
    const uint32_t **of_segment;  /* by segment merged, then chunk of it: its rank in the order of (source
                                     path,  first line, segment); STA_NO_CODE: its source is dropped */
    struct sta_disk_chunk *items; /* what is written, in the same order */
    uint32_t count;
    uint32_t *item_of; /* by rank */
};

/**
 * sta_merge_chunks_init - number the chunks of the segments of a merge
 * Those of one source become one item, unless a chunk of another segment lies between their lines: rows of
 * equal times would come out in another order.
 * Return: 0; STA_ELIMIT, STA_EBUSY, STA_ENOMEM.  Fini also after a failure, with the account of the merge.
 */
STA_MUSTCHECK int sta_merge_chunks_init(struct sta_merge_chunks *chunks, const struct sta_merge *merge,
                                        struct sta_error *err);
void sta_merge_chunks_fini(struct sta_merge_chunks *chunks, struct sta_account *account);

#endif
