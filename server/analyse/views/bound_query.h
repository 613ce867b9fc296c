/* bound_query.h - a layered query bound to its snapshot: what summary, time series and views begin with
 * (private to analyse). */
#ifndef STA_ANALYSE_VIEWS_BOUND_QUERY_H
#define STA_ANALYSE_VIEWS_BOUND_QUERY_H

#include "analyse/analyse.h"
#include "analyse/layers/classify.h"
#include "analyse/layers/presets.h"
#include "analyse/sources/columns.h"
#include "analyse/sources/scan.h"

struct sta_bound_query {
    const struct sta_view_query *query;
    const struct sta_preset *preset; /* as bound: generic has the layers of this trace */
    struct sta_columns *columns;
    struct sta_classes *classes;
    struct sta_expression *filter; /* NULL: none */
    int64_t from, to;              /* ticks; INT64_MIN, INT64_MAX when open */
    int64_t ticks_per_us;
};

/**
 * sta_view_query_bind - find the preset, bind its conditions, read filter and window
 * Mistakes are STA_EINPUT with parameter /preset, /filter (and position), /from or /to.  Release with
 * sta_bound_query_release, also after a failure.
 */
STA_MUSTCHECK int sta_view_query_bind(struct sta_bound_query *bound, const struct sta_view_query *query,
                                      struct sta_error *err);
void sta_bound_query_release(struct sta_bound_query *bound);
/** The preset of that name, or STA_EINPUT with parameter /preset. */
STA_MUSTCHECK int sta_view_query_preset(const struct sta_presets *presets, const char *name,
                                        const struct sta_preset **preset, struct sta_error *err);
/** A width of bins in ticks.  STA_EINPUT with parameter /granularity. */
STA_MUSTCHECK int sta_bin_width(const struct sta_bound_query *bound, int64_t granularity_us, int64_t *ticks,
                                struct sta_error *err);
/** A scan over the query's events, without accumulators. */
struct sta_scan sta_bound_query_scan(const struct sta_bound_query *bound);

/* What became of the events that no layer takes alone. */
struct sta_fate_counts {
    int64_t filtered_by_file, filtered_by_function, unmatched, multiple;
};
/** Adds events of one class, which so many layers take. */
void sta_fate_counts_add(struct sta_fate_counts *counts, enum sta_fate fate, size_t layers, int64_t events);
/** filtered, the counts, in their order. */
void sta_facts_of_fates(struct sta_facts *facts, const struct sta_fate_counts *counts);

/** The place of a fact; count: there is none of that name. */
size_t sta_facts_find(const struct sta_facts *facts, const char *name);
/** job_time, events, hosts, processes, threads, files: of all complete events of the trace. */
void sta_facts_of_trace(struct sta_facts *facts, const struct sta_snapshot *snapshot);
/** sums_too_large: cells that are missing since a sum does not fit 64 bits; left out when there are none. */
void sta_facts_of_sums(struct sta_facts *facts, const struct sta_table *table);
/** The last tick at which an event of the trace starts. */
int64_t sta_last_start(const struct sta_snapshot *snapshot);
/** Largest te less smallest ts of the trace, in ticks. */
int64_t sta_job_ticks(const struct sta_snapshot *snapshot);
/** Seconds from the origin as ticks: rounded to these, kept far from the ends of the range.  @seconds:
 * not NaN. */
int64_t sta_ticks(double seconds, int64_t ticks_per_us);
/** Ticks as seconds, the nearest double. */
double sta_seconds(int64_t ticks, int64_t ticks_per_us);

#endif
