/* From bins to the table: a row per bin, missing where no event of the layer touches it. */
#include "analyse/timeseries.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"

static double value_of(const struct sta_series_run *series, const struct sta_series_sums *sums,
                       enum sta_series_metric metric, size_t bin)
{
    const int64_t ticks_per_us = series->bound->ticks_per_us;
    double time = sums->time.parts != NULL ? sta_seconds(sums->time.parts[bin], ticks_per_us) : 0;
    double busy = sums->busy.parts != NULL ? sta_seconds(sums->busy.parts[bin], ticks_per_us) : 0;
    double size = sums->sizes != NULL ? (double)sums->sizes[bin] : 0;
    double count = (double)sums->starts[bin];
    switch (metric) {
    case STA_METRIC_TIME:
        return time;
    case STA_METRIC_BUSY:
        return busy;
    case STA_METRIC_BW:
        return size > 0 ? size / time : NAN;
    case STA_METRIC_OPS:
        return count > 0 ? count / time : NAN;
    case STA_METRIC_BW_BUSY:
        return size > 0 ? size / busy : NAN;
    default:
        return NAN;
    }
}

static void fill_column(const struct sta_series_run *series, uint32_t layer, enum sta_series_metric metric,
                        struct sta_table_column *column)
{
    const struct sta_series_sums *sums = &series->workers[0].layers[layer];
    for (size_t b = 0; b < series->bins.count; b++) {
        if (sums->touched[b] == 0)
            continue;
        if (metric == STA_METRIC_COUNT)
            sta_table_set_int(column, b, sums->starts[b]);
        else if (metric == STA_METRIC_SIZE)
            sta_table_set_int(column, b, sums->sizes[b]);
        else
            sta_table_set_number(column, b, value_of(series, sums, metric, b));
    }
}

void sta_series_table(const struct sta_series_run *series, struct sta_table *table)
{
    const struct sta_bins *bins = &series->bins;
    bool one = series->asked->layers != NULL && series->layer_count == 1;
    sta_table_init(table, bins->count);
    table->row_count = bins->count;
    struct sta_table_column *column = sta_table_add(table, "time_range", STA_TYPE_INT, NULL);
    for (size_t b = 0; b < bins->count; b++)
        sta_table_set_int(column, b, bins->first + (int64_t)b);
    column = sta_table_add(table, "time_start", STA_TYPE_FLOAT, "s");
    for (size_t b = 0; b < bins->count; b++)
        sta_table_set_number(column, b,
                             sta_seconds((bins->first + (int64_t)b) * bins->g, series->bound->ticks_per_us));
    for (uint32_t l = 0; l < series->layer_count; l++)
        for (size_t i = 0; i < series->asked->metric_count; i++) {
            enum sta_series_metric metric = series->metrics[i];
            const char *layer = series->bound->preset->layers[series->layers[l]].name;
            char *name = one ? sta_strdup(sta_series_metrics[metric].name)
                             : sta_sprintf("%s_%s", layer, sta_series_metrics[metric].name);
            fill_column(
                series, l, metric,
                sta_table_add(table, name, sta_series_metrics[metric].type, sta_series_metrics[metric].unit));
            free(name);
        }
}
