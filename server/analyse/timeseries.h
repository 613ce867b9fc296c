/* timeseries.h - what the parts of the time series share (private to analyse/timeseries*.c).
 *
 * Bins are [b g, (b + 1) g) ticks from the origin.  A window picks bins; it does not change what is in them: an event that began before the
 * window gives its bins inside what it gives them anyway, so that a chart shows the same numbers however far one looks into it. */
#ifndef STA_ANALYSE_TIMESERIES_H
#define STA_ANALYSE_TIMESERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/intervals/unions.h"
#include "analyse/question.h"
#include "common/error.h"

#define STA_SERIES_BINS 200000 /* most bins of one answer */

/* The bins first .. first + count - 1 of width g. */
struct sta_bins {
    int64_t g; /* ticks */
    int64_t first;
    size_t count;
};

/* How long each bin is covered.  An event over many bins costs as much as one over two: whole bins are kept as differences. */
struct sta_cover {
    int64_t *parts;  /* by bin: covered ticks of bins that are covered in part */
    int64_t *inside; /* by bin, one more: change in the number of times that a bin is covered whole */
};

/** Adds [ts, te), ts < te, as far as it lies in the bins. */
void sta_cover_add(struct sta_cover *cover, const struct sta_bins *bins, int64_t ts, int64_t te);
/** After all have been added: turns parts into the covered ticks of each bin. */
void sta_cover_finish(struct sta_cover *cover, const struct sta_bins *bins);

/** Adds to each bin its part of the size of an event over [ts, te): floor(size y / dur) - floor(size x / dur) where it is covered from x
 * to y, counted from ts.  dur = 0: all of it where it starts. */
void sta_spread_size(int64_t *sizes, const struct sta_bins *bins, int64_t ts, int64_t te, int64_t size);

/* What a layer has in each bin; arrays that nobody asked for are NULL. */
struct sta_series_sums {
    int64_t *starts; /* events that start in the bin */
    int64_t
        *touched; /* as a cover's inside: change in the number of events that touch the bin, differences */
    struct sta_cover time; /* NULL arrays unless asked for */
    struct sta_cover busy;
    int64_t *sizes;
};

/** Notes one event of a layer: all but busy. */
void sta_series_add(struct sta_series_sums *sums, const struct sta_bins *bins, int64_t ts, int64_t te,
                    int64_t size);

/* ---- one series being made */

/* What a metric is made of. */
enum sta_ingredient { STA_INGREDIENT_TIME = 1, STA_INGREDIENT_SIZE = 2, STA_INGREDIENT_BUSY = 4 };

enum sta_series_metric {
    STA_METRIC_COUNT,
    STA_METRIC_TIME,
    STA_METRIC_SIZE,
    STA_METRIC_BW,
    STA_METRIC_OPS,
    STA_METRIC_BUSY,
    STA_METRIC_BW_BUSY,
    STA_METRICS
};

struct sta_series_column {
    const char *name;
    enum sta_type type;
    const char *unit;
    unsigned ingredients;
};
extern const struct sta_series_column sta_series_metrics[STA_METRICS];

/* What a class means to the series. */
struct sta_series_class {
    bool known;
    enum sta_fate fate;
    uint32_t layers_in_preset;
    uint32_t cell;    /* STA_NO_CELL: none of the layers asked for */
    uint32_t *layers; /* of those asked for */
    uint32_t layer_count;
};

struct sta_series_counts {
    int64_t filtered_by_file, filtered_by_function, unmatched, multiple;
};

struct sta_series_worker {
    struct sta_series_sums *layers;
    int64_t *memory; /* of their arrays */
    struct sta_series_class *classes;
    size_t class_capacity;
    struct sta_series_counts counts; /* of events that start inside the bins */
};

struct sta_series_run {
    const struct sta_bound_question *bound;
    const struct sta_series *asked;
    struct sta_bins bins;
    uint32_t *layers; /* numbers in the preset */
    uint32_t layer_count;
    enum sta_series_metric *metrics;
    unsigned ingredients;
    struct sta_cells *cells; /* slot l: the union of layer l of those asked for */
    struct sta_unions *unions;
    struct sta_series_worker *workers;
    unsigned worker_count;
};

/** Reads what was asked: layers, metrics, bins.  Mistakes are STA_EINPUT or STA_ELIMIT with parameter /layer, /metrics or /granularity. */
STA_MUSTCHECK int sta_series_choose(struct sta_series_run *series, struct sta_error *err);
/** After the pass, all bins being in those of the first worker. */
void sta_series_table(const struct sta_series_run *series, struct sta_table *table);

#endif
