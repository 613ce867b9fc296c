/* layer_view.h - statistics of one metric of a layer, by the values of a view (private to compatible).
 *
 * metrics.md section 6.  Cells are doubles, missing ones NaN; sizes and times that are too large are
 * infinite. */
#ifndef STA_ANALYSE_COMPATIBLE_LAYER_VIEW_H
#define STA_ANALYSE_COMPATIBLE_LAYER_VIEW_H

#include "analyse/compatible/by.h"

/* What is measured: numbers, size bins, then what is only counted: values of view types, and the view's
 * own. */
enum sta_layer_measure {
    STA_MEASURE_BW,
    STA_MEASURE_COUNT,
    STA_MEASURE_INTENSITY,
    STA_MEASURE_OPS,
    STA_MEASURE_SIZE,
    STA_MEASURE_TIME,
    STA_MEASURE_NUMBERS,
    STA_MEASURE_BINS = STA_MEASURE_NUMBERS,
    STA_MEASURE_AXES = STA_MEASURE_BINS + STA_SIZE_BINS,
    STA_MEASURE_VIEW = STA_MEASURE_AXES + STA_AXES,
    STA_MEASURES
};

/* In the order of their names. */
enum sta_stat {
    STA_STAT_MAX,
    STA_STAT_MEAN,
    STA_STAT_MIN,
    STA_STAT_NUNIQUE,
    STA_STAT_PCT,
    STA_STAT_PER,
    STA_STAT_Q10,
    STA_STAT_Q1,
    STA_STAT_Q25,
    STA_STAT_Q5,
    STA_STAT_SLOPE,
    STA_STAT_STD,
    STA_STAT_SUM,
    STA_STATS
};

#define STA_QUANTILE_NUMBERS 3 /* of a quantile statistic: mean, population std, number of values */

/* Columns by measure and statistic; NULL where the metric has no such column.  A quantile column has
 * STA_QUANTILE_NUMBERS cells a row. */
struct sta_layer_metric {
    size_t rows;
    double *cells[STA_MEASURES][STA_STATS];
    struct sta_pool pool;
};

/* What all metrics of a layer share. */
struct sta_layer_view {
    const struct sta_by *by;
    struct sta_main_rows rows; /* of the layer */
    struct sta_by_rows by_rows;
    const struct sta_budget *budget;
    bool quantiles;
};

/** Whether a metric has a column: the shape of every table, also of those without rows. */
bool sta_layer_has_column(const struct sta_layer_view *view, uint32_t metric, enum sta_layer_measure measure,
                          enum sta_stat stat);

/** Needs sta_pool_fini of its pool, also after a failure. */
STA_MUSTCHECK int sta_layer_metric_init(struct sta_layer_metric *out, const struct sta_layer_view *view,
                                        uint32_t metric, struct sta_error *err);

/* ---- parts */

/* The values of one number, by row of the layer view: those that are there and not 0. */
struct sta_layer_values {
    const double *values;
    const size_t *start; /* by row, and one more */
    const uint32_t
        *units; /* by row: over how many the statistics are; the others are 0.  NULL: over the values */
    size_t rows;
};
/** Fills the columns _max _mean _min _std _sum, and the quantiles where there are columns for them. */
STA_MUSTCHECK int sta_layer_statistics(double *const *cells, const struct sta_layer_values *values,
                                       const struct sta_budget *budget, struct sta_error *err);
/** Fills the columns _per, then _slope and _pct.  @derived: the metric is a derived one */
STA_MUSTCHECK int sta_layer_shares(struct sta_layer_metric *metric, bool by_process, bool derived,
                                   const struct sta_budget *budget, struct sta_error *err);
/** Fills the _nunique columns. */
STA_MUSTCHECK int sta_layer_distinct(struct sta_layer_metric *out, const struct sta_layer_view *view,
                                     const struct sta_main_metric *metric, struct sta_error *err);

#endif
