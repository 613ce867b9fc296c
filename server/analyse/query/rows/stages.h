/* stages.h - a plan run, stage by stage (private to query/rows).
 *
 * Stages that only pass rows on are no steps of their own: they lie on the pipeline from the events, or from
 * the materialized of the stage before, to the next stage that groups, sorts, cuts or ends the query. */
#ifndef STA_ANALYSE_QUERY_STAGES_H
#define STA_ANALYSE_QUERY_STAGES_H

#include "analyse/exec/peers.h"
#include "analyse/query/plan.h"
#include "analyse/query/rows/plain.h"
#include "analyse/operators/materialized.h"
#include "analyse/query/rows/query_context.h"
#include "analyse/query/rows/share.h"

/* What a plan comes to: a materialized, or plain rows with the pipeline that gives them. */
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

#endif
