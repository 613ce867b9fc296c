/* Summary and time series. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/views.h"

#define LAYERED_KEY (STA_HAS(FILTERS) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(FILTER) | STA_HAS(FORMAT))

/* Which member of the request an error of the analysis is about, when it doesn't say. */
static int blame(const struct sta_view *view, int status, struct sta_error *err)
{
    if (status == STA_EINPUT && err->parameter[0] == '\0' && view->values[STA_PARAMETER_FILTER].given)
        return sta_at(err, "/filter", err->position);
    return status;
}

static enum sta_format format_of(const struct sta_view *view)
{
    return sta_format_of(view->values[STA_PARAMETER_FORMAT].text);
}

static int compute_summary(struct sta_view *view, const struct sta_budget *budget, struct sta_reply *reply,
                           struct sta_error *err)
{
    struct sta_question question = sta_view_question(view);
    struct sta_answer_names names = sta_view_names(view);
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    int status = sta_summary_exact(&question, budget, &table, &facts, err);
    if (status != STA_OK)
        return blame(view, status, err);
    sta_put_summary(reply, format_of(view), &names, &facts, &table,
                    sta_presets_find(view->presets, view->preset));
    sta_table_fini(&table);
    return STA_OK;
}

const struct sta_view_kind sta_view_summary = {
    .name = "summary", .layered = true, .key_values = LAYERED_KEY, .compute = compute_summary, .kept = true};

/* ---- time series */

static const char series_metrics[] = "count|time|size|bw|ops|busy|bw_busy";

static int check_metrics(struct sta_view *view, struct sta_error *err)
{
    size_t count;
    int status = STA_OK;
    const char **metrics = sta_view_list(view, view->values[STA_PARAMETER_METRICS].text, &count);
    for (size_t i = 0; i < count && status == STA_OK; i++)
        if (!sta_word_listed(metrics[i], series_metrics)) {
            sta_fail(err, STA_EINPUT, "There is no metric \"%.60s\"; allowed: %s", metrics[i],
                     series_metrics);
            status = sta_at(err, "/metrics", -1);
        }
    free(metrics);
    return status;
}

/* Seconds that the window covers. */
static double window_of(const struct sta_view *view)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(view->snapshot);
    double end = (double)info->end_ticks / (info->ticks_per_us * 1e6), from = 0;
    if (view->values[STA_PARAMETER_FROM].given)
        from = fmax(from, view->values[STA_PARAMETER_FROM].number);
    if (view->values[STA_PARAMETER_TO].given)
        end = fmin(end, view->values[STA_PARAMETER_TO].number);
    return fmax(0, end - from);
}

static int check_timeseries(struct sta_view *view, struct sta_error *err)
{
    uint64_t rows = view->server->options.rows;
    double bins = window_of(view) / ((double)view->values[STA_PARAMETER_GRANULARITY].integer / 1e6);
    int status = check_metrics(view, err);
    if (status != STA_OK)
        return status;
    const struct sta_parameter_value *points = &view->values[STA_PARAMETER_MAX_POINTS];
    if (points->given ? (uint64_t)points->integer <= rows : bins <= (double)rows)
        return STA_OK;
    sta_fail(err, STA_ELIMIT,
             "The series would have %.0f rows, more than %llu (setting rows): raise granularity, or give "
             "max_points",
             ceil(points->given ? (double)points->integer : bins), (unsigned long long)rows);
    return sta_at(err, points->given ? "/max_points" : "/granularity", -1);
}

static int compute_timeseries(struct sta_view *view, const struct sta_budget *budget, struct sta_reply *reply,
                              struct sta_error *err)
{
    struct sta_question question = sta_view_question(view);
    struct sta_answer_names names = sta_view_names(view);
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    struct sta_series series = {.granularity_us = view->values[STA_PARAMETER_GRANULARITY].integer,
                                .max_points = (uint32_t)view->values[STA_PARAMETER_MAX_POINTS].integer};
    const char **layers = sta_view_list(view, view->values[STA_PARAMETER_LAYERS].text, &series.layer_count);
    const char **metrics =
        sta_view_list(view, view->values[STA_PARAMETER_METRICS].text, &series.metric_count);
    series.layers = layers;
    series.metrics = metrics;
    int status = sta_timeseries_exact(&question, &series, budget, &table, &facts, err);
    if (status == STA_OK) {
        sta_put_table(reply, format_of(view), &names, &facts, &table);
        sta_table_fini(&table);
    }
    free(layers);
    free(metrics);
    return blame(view, status, err);
}

const struct sta_view_kind sta_view_timeseries = {
    .name = "timeseries",
    .layered = true,
    .key_values =
        LAYERED_KEY | STA_HAS(LAYERS) | STA_HAS(METRICS) | STA_HAS(GRANULARITY) | STA_HAS(MAX_POINTS),
    .check = check_timeseries,
    .compute = compute_timeseries,
};
