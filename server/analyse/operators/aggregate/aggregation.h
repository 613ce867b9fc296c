/* aggregation.h - a grouping, and its end: from the workers' tables and runs to the sink, in order (private
 * to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_AGGREGATION_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_AGGREGATION_H

#include "analyse/operators/aggregate/output.h"
#include "analyse/operators/aggregate/worker.h"

struct sta_aggregation {
    struct sta_shape shape;
    struct sta_budget budget;
    char *spill_folder;
    struct sta_account texts; /* what is kept by text */
    struct sta_group_limits limits;
    struct sta_group_worker **workers; /* each in memory of its own: they count for every row */
    unsigned worker_count;
    struct sta_dictionary *read_texts; /* of partial states that were read */
    /* in the end */
    struct sta_group_order order;
    struct sta_group_results results;
    struct sta_aggregation_figures figures;
};

/** The tables of all workers that have groups.  free() the array. */
struct sta_group_table **sta_group_tables(const struct sta_aggregation *grouping, size_t *count);
/** The order of all groups in some tables and in the workers' runs. */
STA_MUSTCHECK int sta_group_make_order(struct sta_aggregation *grouping, struct sta_group_table **tables,
                                       size_t count, struct sta_error *err);

/* ---- partial states: state_write.c, which describes the format, and state_read.c */

#define STA_STATE_PIECE 1024u /* entries of a list that are written at a time */

/** How a stream begins: what is asked. */
void sta_state_put_head(const struct sta_shape *shape, struct sta_buffer *head);

/** All texts of a record, call by call. */
void sta_state_visit_texts(const struct sta_shape *shape, uint8_t *record,
                           const struct sta_text_visitor *visitor);

#endif
