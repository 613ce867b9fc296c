/* collect.h - rows written down: those of a pipeline, or those of a materialized in another order (private to
 * query/rows). */
#ifndef STA_ANALYSE_QUERY_ROWS_COLLECT_H
#define STA_ANALYSE_QUERY_ROWS_COLLECT_H

#include "analyse/query/rows/plain.h"

/** Appends the first @limit rows of @plain to @rows, and seals it. */
STA_MUSTCHECK int sta_collect_plain(const struct sta_plain *plain, const struct sta_query_context *context,
                                    uint64_t limit, struct sta_materialized *rows, struct sta_error *err);
/** The same of a pipeline of a materialized, in the order in which the rows lie. */
STA_MUSTCHECK int sta_collect_passing(const struct sta_pipeline *pipeline,
                                      const struct sta_query_context *context, uint64_t limit,
                                      struct sta_materialized *rows, struct sta_error *err);

/**
 * sta_materialized_order - the rows of a materialized, sorted
 * @by: columns of it; rows that agree in all keep their order
 * @limit: the first so many rows; UINT64_MAX: all
 * @columns: the result has the first so many columns
 */
STA_MUSTCHECK int sta_materialized_order(const struct sta_materialized *materialized,
                                         const struct sta_plan_order *by, size_t by_count, uint64_t limit,
                                         size_t columns, struct sta_query_context *context,
                                         struct sta_materialized **ordered, struct sta_error *err);

#endif
