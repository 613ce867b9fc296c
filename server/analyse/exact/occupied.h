/* occupied.h - which bins of time have events (private to exact). */
#ifndef STA_ANALYSE_EXACT_OCCUPIED_H
#define STA_ANALYSE_EXACT_OCCUPIED_H

#include "analyse/exact/engine.h"
#include "analyse/exact/kinds.h"

/**
 * sta_exact_occupied - narrow bins to those that an event of a wanted layer touches
 * One pass over the times of the events; its memory follows the runs of such bins.
 * @bins: those of @request; the runs are set
 * @runs: what they point to, charged to the account of @budget; sta_account_free() it, also after a failure
 * Return: 0, or what a scan returns.
 */
STA_MUSTCHECK int sta_exact_occupied(const struct sta_exact_request *request, struct sta_kinds *kinds,
                                     const struct sta_budget *budget, struct sta_exact_bins *bins,
                                     struct sta_bin_run **runs, struct sta_error *err);

#endif
