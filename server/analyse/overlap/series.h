/* series.h - hidden and exposed time over bins of time (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_SERIES_H
#define STA_ANALYSE_OVERLAP_SERIES_H

#include "analyse/overlap/pass.h"

struct sta_overlap_series;

/** For a request with a granularity.  STA_ELIMIT with parameter /granularity when there would be too many
 * bins.  Destroy also after a failure. */
STA_MUSTCHECK int sta_overlap_series_create(const struct sta_overlap_request *request,
                                            const struct sta_budget *budget,
                                            struct sta_overlap_series **series, struct sta_error *err);
void sta_overlap_series_destroy(struct sta_overlap_series *series); /* NULL allowed */
/** A sta_sweep_take; @series: a struct sta_overlap_series *. */
STA_MUSTCHECK int sta_overlap_series_take(void *series, unsigned worker,
                                          const struct sta_sweep_interval *interval, struct sta_error *err);
/** After the pass, as bytes for another process; ends the series. */
STA_MUSTCHECK int sta_overlap_series_put(struct sta_overlap_series *series, struct sta_buffer *out,
                                         struct sta_error *err);
/** Adds what another range of time has, of the same request. */
STA_MUSTCHECK int sta_overlap_series_get(struct sta_overlap_series *series, struct sta_cursor *in,
                                         struct sta_error *err);
/** After the pass: time_range (bin number), time_start (s), then of each bin, summed over units, the busy
 * time of each set and the three parts of each pair; a row for every bin of the window. */
STA_MUSTCHECK int sta_overlap_series_table(struct sta_overlap_series *series, struct sta_table *table,
                                           struct sta_error *err);

#endif
