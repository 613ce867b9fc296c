/* share.h - an overlap that several processes measure: each a range of time (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_SHARE_H
#define STA_ANALYSE_OVERLAP_SHARE_H

#include "analyse/exec/peers.h"
#include "analyse/overlap/partial.h"
#include "analyse/sources/shared.h"

/** Asks the other processes of the budget, if there are any and it is worth it; not for single intervals
 * and units that do not follow from threads. */
void sta_overlap_share(struct sta_shared_time *shared, const struct sta_overlap_binding *binding,
                       const struct sta_overlap_wants *wants);
/** What rank @rank has found; its part of a series is added to that of @wants.  Return: 0; STA_EOUTDATED: its
 * range is to be measured here; STA_ECORRUPT; STA_ECANCELLED, STA_ELIMIT; what a charge returns. */
STA_MUSTCHECK int sta_overlap_shared_take(const struct sta_shared_time *shared, unsigned rank,
                                          const struct sta_overlap_binding *binding,
                                          const struct sta_overlap_wants *wants,
                                          struct sta_overlap_results *results, struct sta_error *err);

/** sta_share_work of an overlap. */
STA_MUSTCHECK int sta_overlap_share_work(const struct sta_share_host *host, struct sta_cursor *query,
                                         const struct sta_stripe *stripe, const struct sta_budget *budget,
                                         struct sta_buffer *state, struct sta_error *err);

#endif
