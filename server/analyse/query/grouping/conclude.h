/* conclude.h - what the lists of a group come to (private to grouping). */
#ifndef STA_ANALYSE_QUERY_GROUPING_CONCLUDE_H
#define STA_ANALYSE_QUERY_GROUPING_CONCLUDE_H

#include "analyse/query/grouping/merge.h"
#include "common/buffer.h"

#define STA_UNIQUE_MOST 10000 /* values of one `unique` (query.md part 6) */

struct sta_conclusion {
    const struct sta_shape *shape;
    struct sta_dictionary *lists; /* the JSON of `unique` */
    struct sta_buffer text;       /* scratch */
};
void sta_conclusion_init(struct sta_conclusion *conclusion, const struct sta_shape *shape,
                         struct sta_dictionary *lists);
void sta_conclusion_fini(struct sta_conclusion *conclusion);

/** Reads the lists of the merge's present group and leaves the results in @record.  STA_ELIMIT: `unique`
 * found too many values. */
STA_MUSTCHECK int sta_conclude_group(struct sta_conclusion *conclusion, struct sta_group_merge *merge,
                                     uint8_t *record, struct sta_error *err);

#endif
