/* views.h - the layered tables: high-level metrics, main, layer and flat view, summary (public part of
 * analyse.h).
 *
 * Exact (exact.md) and compatible (metrics.md) are two engines behind the same calls; a table is made whole,
 * and pages are cut from it. */
#ifndef STA_ANALYSE_FACADE_VIEWS_H
#define STA_ANALYSE_FACADE_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/table.h"

struct sta_presets;
struct sta_view_query;
struct sta_budget;
struct sta_facts;
struct sta_series_base;

enum sta_view_table { STA_VIEW_HLM, STA_VIEW_MAIN, STA_VIEW_LAYER, STA_VIEW_FLAT, STA_VIEW_SUMMARY };

struct sta_table_query {
    const struct sta_view_query *common; /* trace, preset, window, filter */
    enum sta_view_table table;
    const char *layer;        /* HLM, MAIN, LAYER */
    const char *by;           /* LAYER, FLAT, SUMMARY: view type or logical view */
    const char *const *views; /* view types that are grouped by */
    size_t view_count;
    int64_t granularity_us;
    bool quantiles;
    size_t slice_rows; /* exact: how fine time is cut, which no result may depend on; 0: as is good */
    /* Of the exact SUMMARY: */
    const char *const *metrics; /* the columns that are wanted, of layers and derived metrics; NULL: all */
    size_t metric_count;
    const struct sta_series_base *base; /* NULL: none.  Else what adds up over time, of a window of its bins
                                           without a filter, comes from there; made when it is missing */
};

/* What all compatible tables by time, process and what follows from them are made from: events summed by one
 * pass.  Immutable; any thread. */
struct sta_view_basis;

/** Whether sta_view_compatible can do with a basis: of a table with rows by a view, not grouped by files,
 * which one layer has for itself. */
bool sta_view_has_basis(const struct sta_table_query *query);
/**
 * sta_view_basis_create - the pass, of a query's trace, preset, filters, window, filter, view types and
 * granularity
 * Holds on to snapshot and presets.  Mistakes: STA_EINPUT with the parameter; STA_ELIMIT.  Destroy it.
 */
STA_MUSTCHECK int sta_view_basis_create(const struct sta_table_query *query, const struct sta_budget *budget,
                                        struct sta_view_basis **basis, struct sta_error *err);
void sta_view_basis_destroy(struct sta_view_basis *basis); /* NULL allowed */
uint64_t sta_view_basis_bytes(const struct sta_view_basis *basis);

/**
 * sta_view_compatible - a table as the reference analysers compute it (metrics.md sections 4 to 8)
 * @basis: of a query that is equal in all that makes one; NULL: none is at hand
 * @table: as the golden tables: keys first, then columns in their order.  Infinite numbers are infinite here
 * @facts: job_time and total_count of the trace; filtered, unmatched, multiple as in the summary, taken (by
 * the layer, or by any), keyless (left out for want of a file, category or function to group by); of the
 * summary what metrics.md section 8 says of the whole trace
 * Mistakes: STA_EINPUT with parameter /layer, /by, /views, /granularity; STA_ELIMIT too.
 */
STA_MUSTCHECK int sta_view_compatible(const struct sta_table_query *query, const struct sta_view_basis *basis,
                                      const struct sta_budget *budget, struct sta_table *table,
                                      struct sta_facts *facts, struct sta_error *err);
/**
 * sta_view_exact - layer and flat view of exact.md sections 2 and 4, and the summary of section 3
 * @table: the key's columns, then those of the layers in the preset's order; rows by key, a missing one last.
 * A view by time has the bins that some layer touches.  The summary has a row per layer, in the preset's
 * order: name, parent, time_share, then the columns of section 2 (union over layers; missing where a layer
 * has no such column or no event).  from and to cut events as the edges of bins do, so that rows add up to
 * the summary of the same window
 * @facts: job_time, events, hosts, processes, threads, files of the whole trace; filtered, taken, unmatched,
 * multiple, and filtered_by_file, filtered_by_function, of the events that start in the window and satisfy
 * the filter
 * Mistakes: STA_EINPUT with parameter /layer, /by, /granularity, /metrics, or /semantics for a table that
 * exact does not have.
 * Return: 0, these, STA_ELIMIT, STA_ECANCELLED, STA_ECORRUPT.  Any thread.
 */
STA_MUSTCHECK int sta_view_exact(const struct sta_table_query *query, const struct sta_budget *budget,
                                 struct sta_table *table, struct sta_facts *facts, struct sta_error *err);

/**
 * sta_metrics_explain - what columns mean
 * @name: of a column, with or without its layer ("compute_busy", "busy"); NULL: all there are, "*" standing
 * for any beginning
 * @table: name, semantics, of ("layer", "derived metric", "flat view" ..), unit, formula, meaning; no row for
 * a name that no table has
 */
void sta_metrics_explain(const struct sta_presets *presets, const char *name, struct sta_table *table);

#endif
