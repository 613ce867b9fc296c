/* exposure.h - how single events of one set lie in the busy time of another (private to overlap; overlap.md
 * section 2). */
#ifndef STA_ANALYSE_OVERLAP_EXPOSURE_H
#define STA_ANALYSE_OVERLAP_EXPOSURE_H

#include "analyse/intervals/pieces.h"
#include "analyse/overlap/pass.h"

/**
 * sta_overlap_exposure - one more pass, over the events
 * @busy: the busy time of each set (track) in each unit
 * @table: a row per ordered pair of sets
 * Return: 0, or what the pass failed with.
 */
STA_MUSTCHECK int sta_overlap_exposure(const struct sta_overlap_binding *binding,
                                       const struct sta_tracks *busy, const struct sta_budget *budget,
                                       struct sta_table *table, struct sta_error *err);

#endif
