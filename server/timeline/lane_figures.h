/* lane_figures.h - how much runs in each lane: what timeline/lanes shows (private to timeline). */
#ifndef STA_TIMELINE_LANE_FIGURES_H
#define STA_TIMELINE_LANE_FIGURES_H

#include "timeline/selection.h"

/** Measures the matching events that touch the window.  *figures: by lane, charged to the budget's account,
 * sta_account_free it. */
STA_MUSTCHECK int sta_lane_figures_measure(const struct sta_selection *selection,
                                           const struct sta_budget *budget, struct sta_lane_figures **figures,
                                           struct sta_error *err);

#endif
