/* share.h - the groups or the first rows of a query, gathered by several ranks (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_ROWS_SHARE_H
#define STA_ANALYSE_QUERY_ROWS_SHARE_H

#include "analyse/analyse.h"
#include "analyse/exec/peers.h"
#include "analyse/query/rows/pipeline.h"
#include "analyse/query/rows/query_context.h"

/* Of rows that are grouped, what is wanted of a stripe. */
struct sta_groups_wanted {
    bool range; /* two doubles, the least and the largest value of a histogram that looks for its edges;
                   else the state of the groups */
    const double *edges; /* that it has found; NULL: it looks for none */
    size_t edge_count;
};
/** Asks the other ranks to gather this of their stripes.  NULL: there are none, or too little for more than
 * one rank to read, or it cannot be shared; then all parts are to be gathered here. */
struct sta_shared *sta_share_groups(const struct sta_pipeline *pipeline,
                                    const struct sta_query_context *context,
                                    const struct sta_groups_wanted *wanted);
/* What is done of the stripe of each rank. */
struct sta_stripe_work {
    void *self;
    /** Does a stripe here; NULL: all parts. */
    int (*scan)(void *self, const struct sta_stripe *stripe, struct sta_error *err);
    /** Adds what a rank has sent of its stripe. */
    int (*take)(void *self, struct sta_cursor *state, struct sta_error *err);
};
/** Does the stripe of this rank, then takes those of the others, and does what one of them cannot.  @shared:
 * ended by this; NULL: all is done here. */
STA_MUSTCHECK int sta_share_stripes(struct sta_shared *shared, const struct sta_stripe_work *work,
                                    const struct sta_budget *budget, struct sta_error *err);

/* Of sorted rows, what is wanted of a stripe. */
struct sta_rows_wanted {
    uint64_t most;         /* records of the first so many rows; 0: how many rows there are */
    const uint64_t *after; /* of a row to start behind; NULL: from the first */
    size_t words;          /* of it */
};
/** Appends what says which query it is.  Nothing when there are no other ranks. */
void sta_share_put_rows(struct sta_buffer *out, const struct sta_pipeline *pipeline,
                        const struct sta_query_context *context);
/** Asks the other ranks for rows of their stripes.  @query: of sta_share_put_rows.  NULL: as of
 * sta_share_groups. */
struct sta_shared *sta_share_rows(const struct sta_pipeline *pipeline, const struct sta_buffer *query,
                                  const struct sta_rows_wanted *wanted, const struct sta_budget *budget);

/** Reads a state that a rank has sent.  @state: borrowed */
struct sta_byte_source sta_share_source(struct sta_cursor *state);
/** sta_share_work of a query. */
STA_MUSTCHECK int sta_share_groups_work(const struct sta_share_host *host, struct sta_cursor *query,
                                        const struct sta_stripe *stripe, const struct sta_budget *budget,
                                        struct sta_buffer *state, struct sta_error *err);
STA_MUSTCHECK int sta_share_rows_work(const struct sta_share_host *host, struct sta_cursor *query,
                                      const struct sta_stripe *stripe, const struct sta_budget *budget,
                                      struct sta_buffer *state, struct sta_error *err);

#endif
