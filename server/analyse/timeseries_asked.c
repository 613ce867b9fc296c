/* What was asked of a time series: everything that can be wrong with it is found here. */
#include "analyse/timeseries.h"

#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"

const struct sta_series_column sta_series_metrics[STA_METRICS] = {
    [STA_METRIC_COUNT] = {"count", STA_TYPE_INT, NULL, 0},
    [STA_METRIC_TIME] = {"time", STA_TYPE_FLOAT, "s", STA_INGREDIENT_TIME},
    [STA_METRIC_SIZE] = {"size", STA_TYPE_INT, "B", STA_INGREDIENT_SIZE},
    [STA_METRIC_BW] = {"bw", STA_TYPE_FLOAT, "B/s", STA_INGREDIENT_SIZE | STA_INGREDIENT_TIME},
    [STA_METRIC_OPS] = {"ops", STA_TYPE_FLOAT, NULL, STA_INGREDIENT_TIME},
    [STA_METRIC_BUSY] = {"busy", STA_TYPE_FLOAT, "s", STA_INGREDIENT_BUSY},
    [STA_METRIC_BW_BUSY] = {"bw_busy", STA_TYPE_FLOAT, "B/s", STA_INGREDIENT_SIZE | STA_INGREDIENT_BUSY},
};

static int find_layer(const struct sta_preset *preset, const char *name, uint32_t *layer,
                      struct sta_error *err)
{
    for (size_t l = 0; l < preset->layer_count; l++)
        if (strcmp(preset->layers[l].name, name) == 0) {
            *layer = (uint32_t)l;
            return 0;
        }
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t l = 0; l < preset->layer_count; l++)
        sta_put_format(&names, "%s%s", l > 0 ? ", " : "", preset->layers[l].name);
    sta_put_char(&names, '\0');
    sta_fail(err, STA_EINPUT, "preset %s has no layer \"%.100s\"; it has %.900s", preset->name, name,
             names.data);
    sta_buffer_fini(&names);
    return sta_at(err, "/layer", -1);
}

static int choose_layers(struct sta_series_run *series, struct sta_error *err)
{
    const struct sta_preset *preset = series->bound->preset;
    bool all = series->asked->layers == NULL;
    series->layer_count = (uint32_t)(all ? preset->layer_count : series->asked->layer_count);
    series->layers = sta_alloc_array((size_t)series->layer_count + 1, sizeof *series->layers);
    for (uint32_t i = 0; i < series->layer_count; i++) {
        series->layers[i] = i;
        int rc = all ? 0 : find_layer(preset, series->asked->layers[i], &series->layers[i], err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int choose_metrics(struct sta_series_run *series, struct sta_error *err)
{
    const struct sta_series *asked = series->asked;
    series->metrics = sta_alloc_array(asked->metric_count + 1, sizeof *series->metrics);
    for (size_t i = 0; i < asked->metric_count; i++) {
        int m = 0;
        while (m < STA_METRICS && strcmp(sta_series_metrics[m].name, asked->metrics[i]) != 0)
            m++;
        if (m == STA_METRICS) {
            sta_fail(err, STA_EINPUT,
                     "there is no metric \"%.100s\"; there are count, time, size, bw, ops, busy, bw_busy",
                     asked->metrics[i]);
            return sta_at(err, "/metrics", -1);
        }
        series->metrics[i] = (enum sta_series_metric)m;
        series->ingredients |= sta_series_metrics[m].ingredients;
    }
    return 0;
}

/* The bins of width g that the trace and the window have in common. */
static struct sta_bins bins_of(const struct sta_bound_question *bound, int64_t g)
{
    const struct sta_snapshot *snapshot = bound->question->snapshot;
    int64_t end = sta_job_ticks(snapshot) - 1;
    for (size_t i = 0; i < sta_snapshot_block_count(snapshot); i++)
        end = STA_MAX(end, sta_snapshot_block(snapshot, i)->ts_max); /* an instant at the very end */
    int64_t from = STA_MAX(bound->from, 0);
    int64_t to = bound->to == INT64_MAX ? end : STA_MIN(bound->to - 1, end);
    if (from > to)
        return (struct sta_bins){.g = g, .first = from / g};
    return (struct sta_bins){.g = g, .first = from / g, .count = (size_t)(to / g - from / g) + 1};
}

static int choose_bins(struct sta_series_run *series, struct sta_error *err)
{
    int64_t g = series->asked->granularity_us;
    if (g < 1 || g > STA_TIME_LIMIT / 1000) {
        sta_fail(err, STA_EINPUT, "granularity must be from 1 microsecond to %lld seconds",
                 (long long)(STA_TIME_LIMIT / 1000 / 1000000));
        return sta_at(err, "/granularity", -1);
    }
    g *= series->bound->ticks_per_us;
    uint32_t most = series->asked->max_points;
    int64_t factor = 1;
    series->bins = bins_of(series->bound, g);
    while (most > 0 && series->bins.count > most) {
        factor = STA_MAX(factor + 1, factor * (int64_t)(series->bins.count / ((size_t)most + 1)));
        series->bins = bins_of(series->bound, g * factor);
    }
    if (series->bins.count <= STA_SERIES_BINS)
        return 0;
    sta_fail(err, STA_ELIMIT,
             "%zu bins are more than the %d that one series may have; choose a larger granularity",
             series->bins.count, STA_SERIES_BINS);
    return sta_at(err, "/granularity", -1);
}

int sta_series_choose(struct sta_series_run *series, struct sta_error *err)
{
    int rc = choose_layers(series, err);
    if (rc == 0)
        rc = choose_metrics(series, err);
    return rc == 0 ? choose_bins(series, err) : rc;
}
