/* stages.h - a plan run, stage by stage (private to query/rows).
 *
 * Stages that only pass rows on are no steps of their own: they lie on the pipeline from the events, or from
 * the materialized result of the stage before, to the next stage that groups, sorts, cuts or ends the query.
 * What such a stage does with its rows (groups them, compares runs, writes them down) is in a file of its own
 * each. */
#ifndef STA_ANALYSE_QUERY_STAGES_H
#define STA_ANALYSE_QUERY_STAGES_H

#include "analyse/exec/peers.h"
#include "analyse/query/plan.h"
#include "analyse/query/rows/plain.h"
#include "analyse/operators/materialized.h"
#include "analyse/query/rows/query_context.h"
#include "analyse/query/rows/share.h"

/* What a plan comes to: a materialized result, or plain rows with the pipeline that gives them. */
struct sta_outcome {
    struct sta_materialized *materialized;
    struct sta_pipeline pipeline;
    struct sta_plain plain;
};

/** Checks a request and binds its events: fini and destroy also after a failure. */
STA_MUSTCHECK int sta_stages_bind(const struct sta_query *query, struct sta_plan *plan,
                                  struct sta_events **events, struct sta_error *err);
/** @outcome: fini also after a failure. */
STA_MUSTCHECK int sta_stages_run(const struct sta_plan *plan, struct sta_events *events,
                                 struct sta_query_context *context, struct sta_outcome *outcome,
                                 struct sta_error *err);
/** What is wanted of a stripe of the events: of the groups or the rows that the first stages give. STA_EINPUT
 * when they give the other. */
STA_MUSTCHECK int sta_stages_work(const struct sta_plan *plan, struct sta_events *events,
                                  struct sta_query_context *context, const struct sta_share_wanted *wanted,
                                  const struct sta_stripe *stripe, const struct sta_byte_sink *sink,
                                  struct sta_error *err);
void sta_outcome_fini(struct sta_outcome *outcome);

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

/* ---- collect.c: rows written down, those of a pipeline, or those of a materialized result in another order
 */

/** Appends the first @limit rows of @plain to @rows, and seals it. */
STA_MUSTCHECK int sta_collect_plain(const struct sta_plain *plain, const struct sta_query_context *context,
                                    uint64_t limit, struct sta_materialized *rows, struct sta_error *err);
/** The same of a pipeline of a materialized result, in the order in which the rows lie. */
STA_MUSTCHECK int sta_collect_passing(const struct sta_pipeline *pipeline,
                                      const struct sta_query_context *context, uint64_t limit,
                                      struct sta_materialized *rows, struct sta_error *err);

/**
 * sta_materialized_order - the rows of a materialized result, sorted
 * @by: columns of it; rows that agree in all keep their order
 * @limit: the first so many rows; UINT64_MAX: all
 * @columns: the result has the first so many columns
 */
STA_MUSTCHECK int sta_materialized_order(const struct sta_materialized *materialized,
                                         const struct sta_plan_order *by, size_t by_count, uint64_t limit,
                                         size_t columns, struct sta_query_context *context,
                                         struct sta_materialized **ordered, struct sta_error *err);

#endif
