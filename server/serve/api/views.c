/* Layered tables: summary, time series, and the views of each layer and of all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/build_id.h"
#include "serve/responses/by_layer.h"
#include "serve/responses/views.h"

#define LAYERED_KEY (STA_HAS(SEMANTICS) | STA_HAS(FILTERS) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(FILTER))

static enum sta_format format_of(const struct sta_view *view)
{
    return sta_format_of(view->values[STA_PARAMETER_FORMAT].text);
}

static bool is_exact(const struct sta_view *view)
{
    return strcmp(view->values[STA_PARAMETER_SEMANTICS].text, "exact") == 0;
}

/* Which member of the request an error of the analysis is about, when it doesn't say. */
static int blame(const struct sta_view *view, int status, struct sta_error *err)
{
    if (status == STA_EINPUT && err->parameter[0] == '\0' && view->values[STA_PARAMETER_FILTER].given)
        return sta_at(err, "/filter", err->position);
    return status;
}

/* ---- what makes a difference */

/* A parameter that this query does not depend on: who gives its default shares the response with who does
 * not give it. */
static void forget(struct sta_view *view, enum sta_parameter_id parameter)
{
    view->values[parameter].given = false;
    view->values[parameter].text = NULL;
}

/* What would make no difference is refused, unless it is the default. */
static int refuse_unused(struct sta_view *view, enum sta_parameter_id id, const char *why,
                         struct sta_error *err)
{
    char pointer[64];
    const struct sta_parameter *parameter = &sta_parameters[id];
    const struct sta_parameter_value *value = &view->values[id];
    bool usual =
        value->text == NULL || (parameter->fallback != NULL && strcmp(value->text, parameter->fallback) == 0);
    if (!value->given || usual) {
        forget(view, id);
        return STA_OK;
    }
    snprintf(pointer, sizeof pointer, "/%s", parameter->name);
    return sta_fail_at(err, STA_EINPUT, pointer, "%s makes no difference here: %s", parameter->name, why);
}

static int check_views(struct sta_view *view, struct sta_error *err)
{
    static const char allowed[] = "time_range|proc_name|file_name";
    size_t count;
    int status = STA_OK;
    const char **views = sta_view_list(view, view->values[STA_PARAMETER_VIEWS].text, &count);
    for (size_t i = 0; i < count && status == STA_OK; i++)
        if (!sta_word_listed(views[i], allowed))
            status = sta_fail_at(err, STA_EINPUT, "/views", "There is no view type \"%.60s\"; allowed: %s",
                                 views[i], allowed);
    free(views);
    return status;
}

static int check_quantiles(struct sta_view *view, struct sta_error *err)
{
    const struct sta_parameter_value *quantiles = &view->values[STA_PARAMETER_QUANTILE_STATS];
    if (!is_exact(view) || quantiles->text == NULL || strcmp(quantiles->text, "false") == 0)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/quantile_stats",
                       "quantile_stats=true is of semantics=compatible; for exact quantiles ask query for "
                       "quantile(time, 0.99)");
}

/* Exact tables do not depend on view types.  The granularity is the width of the bins of whatever table has
 * some, which clients set once for all: with exact tables that are not by time it shares the response. */
static int check_table(struct sta_view *view, struct sta_error *err)
{
    const char *by = view->values[STA_PARAMETER_BY].text;
    int status = check_views(view, err);
    if (status == STA_OK)
        status = check_quantiles(view, err);
    if (status != STA_OK || !is_exact(view))
        return status;
    forget(view, STA_PARAMETER_QUANTILE_STATS);
    if (by == NULL || strcmp(by, "time_range") != 0)
        forget(view, STA_PARAMETER_GRANULARITY);
    return refuse_unused(view, STA_PARAMETER_VIEWS,
                         "exact tables group by nothing before; it is of semantics=compatible", err);
}

static int check_summary(struct sta_view *view, struct sta_error *err)
{
    int status = STA_OK;
    if (is_exact(view)) {
        forget(view, STA_PARAMETER_GRANULARITY);
        status =
            refuse_unused(view, STA_PARAMETER_BY,
                          "the exact summary has a row for each layer; it is of semantics=compatible", err);
    } else {
        status =
            refuse_unused(view, STA_PARAMETER_SUMMARY_METRICS,
                          "the compatible summary has all of its columns; it is of semantics=exact", err);
    }
    if (status == STA_OK)
        status = check_table(view, err);
    view->values[STA_PARAMETER_SEMANTICS].given &= !is_exact(view);
    return status;
}

/* Steps of the compatible computation that exact has no like of. */
static int check_step(struct sta_view *view, struct sta_error *err)
{
    view->values[STA_PARAMETER_SEMANTICS] = view->values[STA_PARAMETER_STEP_SEMANTICS];
    if (!is_exact(view))
        return check_table(view, err);
    return sta_fail_at(
        err, STA_EINPUT, "/semantics",
        "%s is a step of the compatible computation: ask for it with semantics=compatible; exact has "
        "the layer "
        "view, the flat view and the summary",
        view->kind->name);
}

/* Tables of one layer: the preset's first when none is named. */
static void choose_layer(struct sta_view *view)
{
    const struct sta_preset *preset = sta_presets_find(view->presets, view->preset);
    if (view->values[STA_PARAMETER_LAYER].text == NULL) /* layers from categories begin with app */
        view->values[STA_PARAMETER_LAYER].text = preset->layer_count > 0 ? preset->layers[0].name : "app";
}

static int check_main(struct sta_view *view, struct sta_error *err)
{
    choose_layer(view);
    return check_step(view, err);
}

static int check_layer(struct sta_view *view, struct sta_error *err)
{
    choose_layer(view);
    return check_table(view, err);
}

/* ---- the basis of compatible tables, kept among the results: no rows of it are ever read */

static struct sta_table_query query_of(const struct sta_view *view, const struct sta_view_query *common)
{
    return (struct sta_table_query){
        .common = common,
        .layer = view->values[STA_PARAMETER_LAYER].text,
        .by = view->values[STA_PARAMETER_BY].text,
        .granularity_us = view->values[STA_PARAMETER_GRANULARITY].integer,
    };
}

static void destroy_basis(void *self)
{
    sta_view_basis_destroy(self);
}

static uint64_t bytes_of_basis(const void *self)
{
    return sta_view_basis_bytes(self);
}

static int basis_result(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                        struct sta_error *err)
{
    static const struct sta_result_class class = {.destroy = destroy_basis, .bytes = bytes_of_basis};
    struct sta_view_query common = sta_view_query_of(view);
    struct sta_table_query query = query_of(view, &common);
    struct sta_view_basis *basis;
    const char **views = sta_view_list(view, view->values[STA_PARAMETER_VIEWS].text, &query.view_count);
    query.views = views;
    int status = sta_view_basis_create(&query, budget, &basis, err);
    free(views);
    if (status == STA_OK)
        *result = sta_result_create(&class, basis);
    return status;
}

static const struct sta_view_kind view_basis = {.name = "basis",
                                                .layered = true,
                                                .key_values =
                                                    LAYERED_KEY | STA_HAS(VIEWS) | STA_HAS(GRANULARITY),
                                                .result = basis_result};

/* ---- what is kept of series, beside the trace's version */

#define KEPT_NAME_SIZE 256
static void kept_name(const struct sta_view *view, const char *layer, char name[KEPT_NAME_SIZE])
{
    snprintf(name, KEPT_NAME_SIZE, "series-%s-%s-%016llx-%s", view->preset, layer,
             (unsigned long long)sta_presets_fingerprint(view->presets), sta_build_id());
}

static bool load_series(void *context, const char *layer, char **bytes, size_t *size)
{
    char name[KEPT_NAME_SIZE];
    kept_name(context, layer, name);
    return sta_view_get_kept(context, name, bytes, size);
}

static void keep_series(void *context, const char *layer, const void *bytes, size_t size)
{
    char name[KEPT_NAME_SIZE];
    kept_name(context, layer, name);
    sta_view_put_kept(context, name, bytes, size);
}

/* ---- tables */

static int compute_compatible(struct sta_view *view, const struct sta_table_query *query,
                              const struct sta_budget *budget, struct sta_table *table,
                              struct sta_facts *facts, struct sta_error *err)
{
    struct sta_result *basis = NULL;
    int status = STA_OK;
    if (sta_view_has_basis(query))
        status = sta_view_result_of(view, 0, &view_basis, budget, &basis, err);
    if (status == STA_OK)
        status = sta_view_compatible(query, basis != NULL ? basis->self : NULL, budget, table, facts, err);
    sta_result_release(basis);
    return status;
}

static int compute_table(struct sta_view *view, enum sta_view_table which, const struct sta_budget *budget,
                         struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    struct sta_view_query common = sta_view_query_of(view);
    struct sta_table_query query = query_of(view, &common);
    query.table = which;
    const char *quantiles = view->values[STA_PARAMETER_QUANTILE_STATS].text;
    query.quantiles = quantiles != NULL && strcmp(quantiles, "true") == 0;
    const char **views = sta_view_list(view, view->values[STA_PARAMETER_VIEWS].text, &query.view_count);
    query.views = views;
    const char **metrics =
        sta_view_list(view, view->values[STA_PARAMETER_SUMMARY_METRICS].text, &query.metric_count);
    query.metrics = metrics;
    const struct sta_series_base base = {view, load_series, keep_series};
    query.base = &base;
    int status = is_exact(view) ? sta_view_exact(&query, budget, table, facts, err)
                                : compute_compatible(view, &query, budget, table, facts, err);
    free(metrics);
    free(views);
    return blame(view, status, err);
}

static int table_result(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                        struct sta_error *err)
{
    const enum sta_view_table which = view->kind->table;
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    struct sta_buffer by_layer;
    const char *layer = which == STA_VIEW_FLAT ? NULL : view->values[STA_PARAMETER_LAYER].text;
    int status = compute_table(view, which, budget, &table, &facts, err);
    if (status != STA_OK)
        return status;
    sta_buffer_init(&by_layer);
    if (which == STA_VIEW_FLAT || layer != NULL)
        sta_put_by_layer(&by_layer, &table, sta_presets_find(view->presets, view->preset), layer);
    *result = sta_view_result(view, &table, &facts);
    if (by_layer.size > 0)
        sta_put_char(&(*result)->head, ',');
    sta_put(&(*result)->head, by_layer.data, by_layer.size);
    sta_buffer_fini(&by_layer);
    return STA_OK;
}

#define STEP_KEY                                                                                             \
    ((LAYERED_KEY & ~STA_HAS(SEMANTICS)) | STA_HAS(STEP_SEMANTICS) | STA_HAS(LAYER) | STA_HAS(VIEWS) |       \
     STA_HAS(GRANULARITY))
#define JOIN_KEY (LAYERED_KEY | STA_HAS(BY) | STA_HAS(VIEWS) | STA_HAS(GRANULARITY) | STA_HAS(QUANTILE_STATS))

const struct sta_view_kind sta_view_hlm = {.name = "hlm",
                                           .layered = true,
                                           .arranged = true,
                                           .key_values = STEP_KEY,
                                           .check = check_step,
                                           .result = table_result,
                                           .table = STA_VIEW_HLM};
const struct sta_view_kind sta_view_main = {.name = "views/main",
                                            .layered = true,
                                            .arranged = true,
                                            .key_values = STEP_KEY,
                                            .check = check_main,
                                            .result = table_result,
                                            .table = STA_VIEW_MAIN};
const struct sta_view_kind sta_view_layer = {.name = "views/layer",
                                             .layered = true,
                                             .arranged = true,
                                             .key_values = JOIN_KEY | STA_HAS(LAYER),
                                             .check = check_layer,
                                             .result = table_result,
                                             .table = STA_VIEW_LAYER};
const struct sta_view_kind sta_view_flat = {.name = "views/flat",
                                            .layered = true,
                                            .arranged = true,
                                            .key_values = JOIN_KEY,
                                            .check = check_table,
                                            .result = table_result,
                                            .table = STA_VIEW_FLAT};

/* ---- summary */

static int compute_summary(struct sta_view *view, const struct sta_budget *budget,
                           struct sta_response *response, struct sta_error *err)
{
    struct sta_response_names names = sta_view_names(view);
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    int status = compute_table(view, STA_VIEW_SUMMARY, budget, &table, &facts, err);
    if (status != STA_OK)
        return status;
    sta_put_summary(response, format_of(view), &names, &facts, &table,
                    sta_presets_find(view->presets, view->preset));
    sta_table_fini(&table);
    return STA_OK;
}

const struct sta_view_kind sta_view_summary = {.name = "summary",
                                               .layered = true,
                                               .key_values = LAYERED_KEY | STA_HAS(BY) | STA_HAS(VIEWS) |
                                                             STA_HAS(GRANULARITY) | STA_HAS(FORMAT) |
                                                             STA_HAS(SUMMARY_METRICS),
                                               .check = check_summary,
                                               .compute = compute_summary,
                                               .kept = true};

const struct sta_view_kind sta_view_summary_table = {.name = "summary table",
                                                     .layered = true,
                                                     .key_values = LAYERED_KEY | STA_HAS(BY) |
                                                                   STA_HAS(VIEWS) | STA_HAS(GRANULARITY),
                                                     .check = check_summary,
                                                     .result = table_result,
                                                     .table = STA_VIEW_SUMMARY};

/* ---- time series */

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
    const struct sta_parameter_value *points = &view->values[STA_PARAMETER_MAX_POINTS];
    bool fits = points->given ? (uint64_t)points->integer <= rows : bins <= (double)rows;
    if (fits && !view->page.has_limit && view->page.format == STA_FORMAT_JSON) {
        view->page.has_limit = true; /* a chart wants all of it */
        view->page.limit = rows;
    }
    if (fits || view->page.has_limit)
        return STA_OK;
    return sta_fail_at(
        err, STA_ELIMIT, points->given ? "/max_points" : "/granularity",
        "The series would have %.0f rows, more than %llu (setting rows): raise granularity, or give "
        "max_points",
        ceil(points->given ? (double)points->integer : bins), (unsigned long long)rows);
}

/* Bins as fine as the number of points allows, unless their width is asked for. */
static int64_t granularity_of(const struct sta_view *view)
{
    const struct sta_parameter_value *width = &view->values[STA_PARAMETER_GRANULARITY];
    return !width->given && view->values[STA_PARAMETER_MAX_POINTS].given ? 0 : width->integer;
}

static int timeseries_result(struct sta_view *view, const struct sta_budget *budget,
                             struct sta_result **result, struct sta_error *err)
{
    struct sta_view_query query = sta_view_query_of(view);
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    struct sta_series_base base = {view, load_series, keep_series};
    struct sta_series series = {.granularity_us = granularity_of(view),
                                .max_points = (uint32_t)view->values[STA_PARAMETER_MAX_POINTS].integer,
                                .base = &base};
    if (view->values[STA_PARAMETER_COUNTERS].given)
        return blame(view, sta_counters_result(view, &series, budget, result, err), err);
    const char **layers = sta_view_list(view, view->values[STA_PARAMETER_LAYERS].text, &series.layer_count);
    const char **metrics =
        sta_view_list(view, view->values[STA_PARAMETER_METRICS].text, &series.metric_count);
    series.layers = layers;
    series.metrics = metrics;
    int status = is_exact(view) ? sta_timeseries_exact(&query, &series, budget, &table, &facts, err)
                                : sta_timeseries_compatible(&query, &series, budget, &table, &facts, err);
    if (status == STA_OK)
        *result = sta_view_result(view, &table, &facts);
    free(layers);
    free(metrics);
    return blame(view, status, err);
}

const struct sta_view_kind sta_view_timeseries = {
    .name = "timeseries",
    .layered = true,
    .arranged = true,
    .key_values = LAYERED_KEY | STA_HAS(LAYERS) | STA_HAS(METRICS) | STA_HAS(COUNTERS) |
                  STA_HAS(GRANULARITY) | STA_HAS(MAX_POINTS),
    .check = check_timeseries,
    .result = timeseries_result,
};

/* A series that nobody asked for yet: what is kept of it serves all that will be. */
static int prepare_series(struct sta_view *view, const struct sta_budget *budget,
                          struct sta_response *response, struct sta_error *err)
{
    static const char *const metrics[] = {"busy"};
    struct sta_view_query query = sta_view_query_of(view);
    struct sta_series_base base = {view, load_series, keep_series};
    struct sta_series series = {.metrics = metrics, .metric_count = 1, .max_points = 1, .base = &base};
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    int status = sta_timeseries_exact(&query, &series, budget, &table, &facts, err);
    if (status == STA_OK)
        sta_table_fini(&table);
    return status;
}

const struct sta_view_kind sta_view_series_base = {
    .name = "series_base", .layered = true, .compute = prepare_series};
