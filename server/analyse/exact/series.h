/* series.h - what exact and compatible time series have in common (private to exact and the compatible
 * series). */
#ifndef STA_ANALYSE_EXACT_SERIES_H
#define STA_ANALYSE_EXACT_SERIES_H

#include "analyse/exact/bins.h"
#include "analyse/views/bound_query.h"

/** The bins of a series: those that the window touches, whole, as wide as max_points asks.  STA_EINPUT,
 * STA_ELIMIT with parameter /granularity. */
STA_MUSTCHECK int sta_exact_series_bins(const struct sta_bound_query *bound, const struct sta_series *asked,
                                        struct sta_exact_bins *bins, struct sta_error *err);
/** Adds the columns time_range and time_start, for a row per bin. */
void sta_exact_put_bins(const struct sta_exact_bins *bins, int64_t ticks_per_us, struct sta_table *table);

#endif
