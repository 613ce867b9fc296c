/* stage_kinds.h - what a stage does with its rows: groups them, compares runs, or writes them down
 * (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_ROWS_STAGE_KINDS_H
#define STA_ANALYSE_QUERY_ROWS_STAGE_KINDS_H

#include "analyse/query/rows/plain.h"

/* ---- groups.c */

/**
 * sta_groups_run - group the rows of a pipeline by its last stage
 * @result: of the stage's result columns, ascending by key
 */
STA_MUSTCHECK int sta_groups_run(const struct sta_pipeline *pipeline, struct sta_query_context *context,
                                 struct sta_materialized **result, struct sta_error *err);
/** Looks only at the rows of a stripe of the pipeline's events, and writes what another process combines with
 * its own. */
STA_MUSTCHECK int sta_groups_work(const struct sta_pipeline *pipeline, struct sta_query_context *context,
                                  const struct sta_share_wanted *wanted, const struct sta_stripe *stripe,
                                  const struct sta_byte_sink *sink, struct sta_error *err);

/* ---- compare.c: runs beside a baseline, query.md part 4 */

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

/* ---- collect.c: rows written down, those of a pipeline, or those of a materialized in another order */

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
