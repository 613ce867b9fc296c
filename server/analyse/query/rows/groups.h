/* groups.h - a stage that groups: from the rows of a pipeline to the materialized of its result (private to
 * query/rows). */
#ifndef STA_ANALYSE_QUERY_GROUPS_H
#define STA_ANALYSE_QUERY_GROUPS_H

#include "analyse/exec/peers.h"
#include "analyse/query/rows/pipeline.h"
#include "analyse/operators/materialized.h"
#include "analyse/query/rows/query_context.h"
#include "analyse/query/rows/share.h"

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

#endif
