/* order.h - a materialized in another order (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_ORDER_H
#define STA_ANALYSE_QUERY_ORDER_H

#include "analyse/query/plan.h"
#include "analyse/operators/materialized.h"

struct sta_query_context; /* query_context.h */

/**
 * sta_materialized_order - the rows of a materialized, sorted
 * @by: columns of it; rows that agree in all keep their order
 * @limit: the first so many rows; UINT64_MAX: all
 * @columns: the result has the first so many columns
 */
STA_MUSTCHECK int sta_materialized_order(const struct sta_materialized *materialized,
                                         const struct sta_plan_order *by, size_t by_count, uint64_t limit,
                                         size_t columns, const struct sta_query_context *context,
                                         struct sta_materialized **ordered, struct sta_error *err);

#endif
