/* compare.h - runs beside a baseline (private to query/rows).  query.md part 4. */
#ifndef STA_ANALYSE_QUERY_COMPARE_H
#define STA_ANALYSE_QUERY_COMPARE_H

#include "analyse/query/plan.h"
#include "analyse/operators/materialized.h"
#include "analyse/query/rows/events.h"
#include "analyse/query/rows/query_context.h"

/**
 * sta_compare_run - a row for each combination of the other keys and each run, with the values of the
 * baseline beside its own
 * @result: of the last stage; a row per key
 * @events: of the runs, in the order of the request
 * @compared: of the plan's columns; other keys ascending, then runs as in the request
 */
STA_MUSTCHECK int sta_compare_run(const struct sta_plan *plan, const struct sta_materialized *result,
                                  const struct sta_events *events, struct sta_query_context *context,
                                  struct sta_materialized **compared, struct sta_error *err);

#endif
