/* engine.h - one pass that fills every exact table (private to exact).
 *
 * A summary is a view with one row, a time series the view by time, a flat view all layers of a view: they
 * differ in what they ask of the pass, and in which columns they make of its fields.
 *
 *   keys      which row an event belongs to, unless rows are bins of time
 *   intake    events, as rows of what follows
 *   additive  what adds up: a hash aggregation
 *   files     distinct ones: another
 *   sweep     unions, as slices of time come by in order
 *   fields    the results, joined by layer and key */
#ifndef STA_ANALYSE_EXACT_ENGINE_H
#define STA_ANALYSE_EXACT_ENGINE_H

#include "analyse/exact/bins.h"
#include "analyse/exact/fields.h"
#include "analyse/exact/keys.h"
#include "analyse/exact/contributions.h"
#include "analyse/exact/shape.h"

struct sta_stripe;

struct sta_exact_request {
    const struct sta_bound_query *bound;
    const char *by;             /* view; NULL: one row */
    struct sta_exact_bins bins; /* one, unless by time */
    const bool *layers;         /* by layer, whether it is wanted; NULL: all */
    unsigned wants;
    size_t slice_rows; /* 0: as many as is good */
    bool count_bins;   /* also counts by bin */
    bool rows_only;    /* bins that no event of a wanted layer touches may be left out of the result's */
};

/* How many events became what: of those that start in the bins.  Integers of 64 bits, nothing else. */
struct sta_exact_counts {
    int64_t filtered_by_file, filtered_by_function, taken, unmatched, multiple;
};

struct sta_exact_result {
    struct sta_exact_bins bins;
    struct sta_bin_run *runs; /* of the bins; NULL: all that were asked for */
    struct sta_exact_shape shape;
    struct sta_exact_keys *keys;
    struct sta_contributions *contributions;
    struct sta_fields cells, metrics; /* at cell * bins + bin */
    struct sta_exact_counts counts;
    struct sta_exact_counts *counts_by_bin; /* NULL unless asked for */
    struct sta_account *account;            /* all of this is charged to */
    uint32_t cell_count;                    /* of one row or of bins: the wanted layers, in their order */
};

/** The scan that serves an ask, but for what it feeds. */
struct sta_scan sta_exact_scan(const struct sta_exact_request *request);

/** Return: 0, STA_EINPUT (parameter /by), or what a scan returns.  Fini in any case. */
STA_MUSTCHECK int sta_exact_run(const struct sta_exact_request *request, const struct sta_budget *budget,
                                struct sta_exact_result *result, struct sta_error *err);
void sta_exact_result_fini(struct sta_exact_result *result);
/** What another process has asked for: the state of the range of time that is its stripe.  Return: also
 * STA_EOUTDATED. */
STA_MUSTCHECK int sta_exact_gather(const struct sta_exact_request *request, const struct sta_stripe *stripe,
                                   const struct sta_budget *budget, struct sta_buffer *state,
                                   struct sta_error *err);

/**
 * sta_exact_occupied - narrow bins to those that an event of a wanted layer touches
 * One pass over the times of the events; its memory follows the runs of such bins.
 * @bins: those of @request; the runs are set
 * @runs: what they point to, charged to the account of @budget; sta_account_free() it, also after a failure
 * Return: 0, or what a scan returns.
 */
STA_MUSTCHECK int sta_exact_occupied(const struct sta_exact_request *request,
                                     struct sta_event_signatures *signatures, const struct sta_budget *budget,
                                     struct sta_exact_bins *bins, struct sta_bin_run **runs,
                                     struct sta_error *err);

/** The bins of width @g ticks that the trace and the query's window have in common. */
struct sta_exact_bins sta_exact_bins_by_time(const struct sta_bound_query *bound, int64_t g);
/** Says the counts, and how many sums of the table made of the result are too large. */
void sta_exact_facts(const struct sta_exact_result *result, const struct sta_table *table,
                     struct sta_facts *facts);
/** sta_view_exact of a summary. */
STA_MUSTCHECK int sta_exact_summary(const struct sta_table_query *query, const struct sta_bound_query *bound,
                                    const struct sta_budget *budget, struct sta_table *table,
                                    struct sta_facts *facts, struct sta_error *err);

#endif
