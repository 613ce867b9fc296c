/* share.h - an exact table that several processes fill: each of a range of time (private to exact).
 *
 * What goes to the others is the ask; what comes back are the partial sums and tallies of their range, in
 * terms of what all processes have in common: signatures by what makes them, threads, files and hosts by
 * their number in the trace, keys by their values. */
#ifndef STA_ANALYSE_EXACT_SHARE_H
#define STA_ANALYSE_EXACT_SHARE_H

#include "analyse/exact/intake.h"
#include "analyse/exact/tally.h"
#include "analyse/sources/shared.h"

/* An ask that others work on, and what has come back.  All zero: no other process takes part. */
struct sta_exact_shared {
    struct sta_shared_time time;
    struct sta_exact_received *parts; /* by rank */
};

/** Sends it to the other processes of the budget, if there are any and it saves time. */
void sta_exact_share(struct sta_exact_shared *shared, const struct sta_exact_request *request,
                     const struct sta_budget *budget);
/** Ends the work of other processes on it.  After the join. */
void sta_exact_shared_end(struct sta_exact_shared *shared);

/** Takes what rank @rank has measured.  Return: 0; STA_EOUTDATED: its range is to be measured here;
 * STA_ECORRUPT; STA_ECANCELLED, STA_ELIMIT; what a charge returns. */
STA_MUSTCHECK int sta_exact_shared_take(struct sta_exact_shared *shared, unsigned rank,
                                        struct sta_intake *intake, struct sta_tallies *tallies,
                                        struct sta_error *err);
/** Calls @add for what the groups of the others add, with signatures and keys as they are here. */
STA_MUSTCHECK int sta_exact_shared_each(const struct sta_exact_shared *shared,
                                        const struct sta_additive *additive, sta_additive_add add,
                                        void *context, struct sta_error *err);

/** For the process that has asked: what was gathered from a range.  @tallies: what was put into a buffer. */
STA_MUSTCHECK int sta_exact_put_state(struct sta_intake *intake, const struct sta_buffer *tallies,
                                      struct sta_buffer *state, struct sta_error *err);

/** sta_share_work of an exact table. */
STA_MUSTCHECK int sta_exact_share_work(const struct sta_share_host *host, struct sta_cursor *query,
                                       const struct sta_stripe *stripe, const struct sta_budget *budget,
                                       struct sta_buffer *state, struct sta_error *err);

#endif
