/* series.h - hidden and exposed time over bins of time (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_SERIES_H
#define STA_ANALYSE_OVERLAP_SERIES_H

#include "analyse/overlap/pass.h"

struct sta_overlap_series;

/** For a request with a granularity.  STA_ELIMIT with parameter /granularity when there would be too many
 * bins. */
STA_MUSTCHECK int sta_overlap_series_create(const struct sta_overlap_request *request, unsigned workers,
                                            struct sta_overlap_series **series, struct sta_error *err);
void sta_overlap_series_destroy(struct sta_overlap_series *series); /* NULL allowed */
/** A stretch of the sweep. */
void sta_overlap_series_add(struct sta_overlap_series *series, unsigned worker, uint32_t mask, int64_t from,
                            int64_t to);
size_t sta_overlap_series_bytes(const struct sta_overlap_series *series);
/** After the pass: time_range (bin number), time_start (s), then of each bin, summed over units, the busy
 * time of each set and the three parts of each pair; a row for every bin of the window. */
void sta_overlap_series_table(struct sta_overlap_series *series, struct sta_table *table);

#endif
