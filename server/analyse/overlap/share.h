/* share.h - an overlap that several processes measure: each a range of time (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_SHARE_H
#define STA_ANALYSE_OVERLAP_SHARE_H

#include "analyse/exec/peers.h"
#include "analyse/overlap/partial.h"

struct sta_overlap_shared; /* a request that others work on */

/** Asks the other processes of the budget.  NULL: there are none, or it is not worth it, or it cannot be
 * shared: single intervals, exposure, units that do not follow from threads. */
struct sta_overlap_shared *sta_overlap_share(const struct sta_overlap_binding *binding,
                                             const struct sta_overlap_wants *wants);
/** Whoever still works on it stops.  NULL allowed. */
void sta_overlap_shared_end(struct sta_overlap_shared *shared);

unsigned sta_overlap_shared_count(const struct sta_overlap_shared *shared); /* of ranges; NULL: 1 */
struct sta_time_range sta_overlap_shared_range(const struct sta_overlap_shared *shared, unsigned rank);
/** What rank @rank has found.  Return: 0; STA_EOUTDATED: its range is to be measured here; STA_ECORRUPT;
 * STA_ECANCELLED, STA_ELIMIT; what a charge returns. */
STA_MUSTCHECK int sta_overlap_shared_take(struct sta_overlap_shared *shared, unsigned rank,
                                          const struct sta_overlap_binding *binding,
                                          struct sta_overlap_partial *partial, struct sta_error *err);

/** sta_share_work of an overlap. */
STA_MUSTCHECK int sta_overlap_share_work(const struct sta_share_host *host, struct sta_cursor *question,
                                         const struct sta_stripe *stripe, const struct sta_budget *budget,
                                         struct sta_buffer *state, struct sta_error *err);

#endif
