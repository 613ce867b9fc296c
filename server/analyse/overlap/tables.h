/* tables.h - what a result is made of: figures, tables and warnings, from the results of a pass, and what
 * other methods say (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_TABLES_H
#define STA_ANALYSE_OVERLAP_TABLES_H

#include "analyse/overlap/pass.h"

/* ---- figures: busy times and overlaps of one unit or of all, from the cells of the sweep */

/* In ticks; of many units they may exceed 64 bits. */
struct sta_figures {
    __int128 busy[STA_OVERLAP_SETS];
    __int128 both[STA_OVERLAP_SETS][STA_OVERLAP_SETS]; /* [i][j], i < j */
    __int128 covered;                                  /* by any set */
    __int128 span;
};

/** Adds the figures of a unit.  @cells: all of that unit. */
void sta_figures_add(struct sta_figures *figures, const struct sta_host_span *span,
                     const struct sta_sweep_cell *cells, size_t count);
/** The cells of a unit. */
const struct sta_sweep_cell *sta_figures_cells(const struct sta_overlap_results *results, uint32_t unit,
                                               size_t *count);

/* Columns for each pair, in the order (first, second), (first, third), .. */
enum sta_pair_part { STA_PAIR_BOTH, STA_PAIR_FIRST, STA_PAIR_SECOND, STA_PAIR_PARTS };
/** Ticks of |A and B|, |A \ B| or |B \ A|. */
__int128 sta_figures_pair(const struct sta_figures *figures, uint32_t a, uint32_t b, enum sta_pair_part part);

/* ---- tables */

/** The scope as a result says it; free() it. */
char *sta_overlap_scope_json(const struct sta_overlap_request *request);
/** A column of numbers in seconds. */
struct sta_table_column *sta_add_seconds(struct sta_table *table, const char *name);

/** Sets a cell to ticks as seconds; missing, and counted as too large, when they do not fit 64 bits. */
void sta_put_seconds(const struct sta_overlap_request *request, struct sta_table_column *column, size_t row,
                     __int128 ticks);

/** The three columns of each pair. */
void sta_add_pairs(const struct sta_overlap_request *request, struct sta_table *table);
/** Sets their cells in a row, from *column on, which is moved behind them. */
void sta_put_pairs(const struct sta_overlap_request *request, const struct sta_figures *figures,
                   struct sta_table_column **column, size_t row);
/** The names of the sets of a mask as a JSON list. */
void sta_overlap_put_sets(const struct sta_overlap_request *request, uint32_t mask, struct sta_buffer *out);

/** overlap.md section 2: sets, pairs, groups, concurrency, and the facts scope_count, span, idle. */
void sta_overlap_totals(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                        struct sta_overlap_result *result);
/** A row per ordered pair of sets. */
void sta_overlap_exposure(const struct sta_overlap_request *request,
                          const struct sta_overlap_results *results, struct sta_table *table);
/** A row per unit (overlap.md section 3). */
void sta_overlap_per_scope(const struct sta_overlap_request *request,
                           const struct sta_overlap_results *results, struct sta_table *table);
/**
 * sta_overlap_statistics - how the units compare
 * @per_scope: of the same results; a cell without a value is left out
 * @table: a row per time of per_scope but start and end: of (its column), minimum, median, maximum (s),
 * slowest (the keys of the first unit with the maximum, as a JSON object).  Without units no rows
 * Return: 0, or what sorting within a budget returns; then there is no table.
 */
STA_MUSTCHECK int sta_overlap_statistics(const struct sta_overlap_results *results,
                                         const struct sta_overlap_request *request,
                                         const struct sta_table *per_scope, const struct sta_budget *budget,
                                         struct sta_table *table, struct sta_error *err);

/** What a reader of the result should know before trusting it (overlap.md section 3).  Return: 0, STA_ENOMEM,
 * STA_ELIMIT, or what a row group could not be read with. */
STA_MUSTCHECK int sta_overlap_warn(const struct sta_overlap_request *request,
                                   const struct sta_overlap_results *results, const struct sta_budget *budget,
                                   struct sta_overlap_result *result, struct sta_error *err);

/* ---- other methods, with passes of their own */

/** The numbers of DFTracer's analyser (overlap.md section 4): facts and phases. */
STA_MUSTCHECK int sta_overlap_compatible(const struct sta_overlap_request *request,
                                         const struct sta_budget *budget, struct sta_overlap_result *result,
                                         struct sta_error *err);
/* The bucket method (overlap.md section 4, 4.): sums per bin of time subtracted from one another.  An event
 * counts whole in the bin that it starts in.  In each bin the durations of a set are added up by (pid, tid),
 * and the largest sum stands for the bin: of each set for itself, whichever thread it comes from. */
struct sta_buckets {
    uint32_t sets;
    __int128 total[STA_OVERLAP_SETS];                   /* ticks: sum over bins */
    __int128 minus[STA_OVERLAP_SETS][STA_OVERLAP_SETS]; /* [a][b]: sum over bins of what of a is beyond b */
    int64_t events[STA_OVERLAP_SETS + 1];               /* .. of a set; last: of none */
    __int128 time[STA_OVERLAP_SETS + 1];                /* ticks: their durations */
    uint32_t threads[STA_OVERLAP_SETS];                 /* distinct (pid, tid) */
};

/** One pass.  @request: its scope is BIN, of which only the width matters.  Return: 0; as the pass. */
STA_MUSTCHECK int sta_buckets_measure(const struct sta_overlap_request *request,
                                      const struct sta_budget *budget, struct sta_buckets *buckets,
                                      struct sta_error *err);

/**
 * sta_overlap_explain - what the bucket method says of the same sets; fills result->explain
 * @result: its pairs and sets are there
 * A row per pair: a, b, granularity (s), and of the busy time of each, their overlap and each without the
 * other first the exact time (s), then that of the bucket method.  Sets named as those of DFTracer's analyser
 * (compute, io, app_io) are disjoint there, so they are here.
 */
STA_MUSTCHECK int sta_overlap_explain(const struct sta_overlap_request *request,
                                      const struct sta_budget *budget, struct sta_overlap_result *result,
                                      struct sta_error *err);

#endif
