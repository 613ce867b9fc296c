/* finalize.h - what the lists of a group come to (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_FINALIZE_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_FINALIZE_H

#include "analyse/operators/aggregate/merge.h"
#include "common/buffer.h"

#define STA_UNIQUE_MOST 10000 /* values of one `unique` (query.md part 6) */

struct sta_finalizer {
    const struct sta_shape *shape;
    struct sta_dictionary *lists; /* the JSON of `unique` */
    struct sta_buffer text;       /* scratch */
};
void sta_finalizer_init(struct sta_finalizer *finalizer, const struct sta_shape *shape,
                        struct sta_dictionary *lists);
void sta_finalizer_fini(struct sta_finalizer *finalizer);

/** Reads the lists of the merge's present group and leaves the results in @record.  STA_ELIMIT: `unique`
 * found too many values. */
STA_MUSTCHECK int sta_finalize_lists(struct sta_finalizer *finalizer, struct sta_group_merge *merge,
                                     uint8_t *record, struct sta_error *err);

#endif
