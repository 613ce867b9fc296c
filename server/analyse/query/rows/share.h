/* share.h - the groups or the first rows of a query, gathered by several ranks (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_ROWS_SHARE_H
#define STA_ANALYSE_QUERY_ROWS_SHARE_H

#include "analyse/analyse.h"
#include "analyse/exec/peers.h"
#include "analyse/query/rows/pipeline.h"
#include "analyse/query/rows/query_context.h"

/* What is wanted of a stripe of a query's events. */
struct sta_share_wanted {
    bool rows; /* of its rows; else of its groups */
    /* of groups */
    bool range; /* the state of the least and the largest value of a histogram that looks for its edges;
                   else that of the groups */
    const double *edges; /* that it has found; NULL: it looks for none */
    size_t edge_count;
    /* of rows */
    uint64_t most;         /* records of the first so many rows; 0: how many rows there are */
    const uint64_t *after; /* of a row to start behind; NULL: from the first */
    size_t words;          /* of it */
};
/* What is done of the stripe of each rank. */
struct sta_stripe_work {
    void *self;
    /** Does a stripe here; NULL: all parts. */
    int (*scan)(void *self, const struct sta_stripe *stripe, struct sta_error *err);
    /** Adds what a rank has sent of its stripe. */
    int (*take)(void *self, struct sta_cursor *state, struct sta_error *err);
};
/** Appends what says which query it is; nothing when there are no other ranks, or too little for more than
 * one rank to read. */
void sta_share_put_query(struct sta_buffer *out, const struct sta_pipeline *pipeline,
                         const struct sta_query_context *context);
/** Asks the other ranks for this of their stripes, does the stripe of this rank, then takes theirs, and does
 * what one of them cannot.  @query: of sta_share_put_query; NULL or empty: all is done here. */
STA_MUSTCHECK int sta_share_stripes(const struct sta_buffer *query, const struct sta_share_wanted *wanted,
                                    const struct sta_stripe_work *work, const struct sta_budget *budget,
                                    struct sta_error *err);

/** sta_share_work of a query.  @rows: as of sta_share_wanted. */
STA_MUSTCHECK int sta_share_query_work(const struct sta_share_host *host, bool rows,
                                       struct sta_cursor *message, const struct sta_stripe *stripe,
                                       const struct sta_budget *budget, struct sta_buffer *state,
                                       struct sta_error *err);

#endif
