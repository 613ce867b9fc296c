/* share.h - the groups of a query, gathered by several ranks (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_ROWS_SHARE_H
#define STA_ANALYSE_QUERY_ROWS_SHARE_H

#include "analyse/analyse.h"
#include "analyse/query/rows/pipeline.h"
#include "analyse/query/rows/query_context.h"

/** Asks the other ranks to gather the groups of their stripes.  NULL: there are none, or too little for more
 * than one rank to read, or it cannot be shared; then all parts are to be gathered here. */
struct sta_shared *sta_share_groups(const struct sta_pipeline *pipeline,
                                    const struct sta_query_context *context);
/** Reads a state that a rank has sent.  @state: borrowed */
struct sta_byte_source sta_share_source(struct sta_cursor *state);
/** sta_share_work of a query. */
STA_MUSTCHECK int sta_share_groups_work(const struct sta_share_host *host, struct sta_cursor *question,
                                        const struct sta_stripe *stripe, const struct sta_budget *budget,
                                        struct sta_buffer *state, struct sta_error *err);

#endif
