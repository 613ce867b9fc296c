/* counters.h - what counter records say: a list of the counters, and their values over time (public part of
 * analyse.h).
 *
 * A counter is a number among the args of counter records of one name: NAME.KEY, such as cpu.user_pct. */
#ifndef STA_ANALYSE_FACADE_COUNTERS_H
#define STA_ANALYSE_FACADE_COUNTERS_H

#include <stddef.h>

#include "common/error.h"

struct sta_snapshot;
struct sta_view_query;
struct sta_series;
struct sta_budget;
struct sta_table;
struct sta_facts;

/**
 * sta_counters_list - the counters of a trace
 * @table: a row per counter, by name: counter, records, processes, first and last (seconds from the origin),
 * min, max, mean
 * Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ECANCELLED, STA_ECORRUPT.
 */
STA_MUSTCHECK int sta_counters_list(const struct sta_snapshot *snapshot, const struct sta_budget *budget,
                                    struct sta_table *table, struct sta_error *err);

/**
 * sta_counter_series - counters over bins of time
 * @asked: granularity and max_points as of other series; the rest is not looked at
 * @table: a row per bin of the window: time_range, time_start, then of each counter as it was asked for the
 * mean of the records in the bin (by the counter's name), the least and the largest (NAME_min, NAME_max);
 * null where there are none
 * Mistakes: STA_EINPUT with parameter /counter.  Else as sta_timeseries_exact.
 */
STA_MUSTCHECK int sta_counter_series(const struct sta_view_query *query, const struct sta_series *asked,
                                     const char *const *counters, size_t count,
                                     const struct sta_budget *budget, struct sta_table *table,
                                     struct sta_facts *facts, struct sta_error *err);

#endif
