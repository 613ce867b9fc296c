/* The exact time series: chosen columns of the view by time, with a row for every bin.
 *
 * The window picks bins; it does not change what is in them: an event that began before the window gives its
 * bins inside what it gives them anyway, so that a chart shows the same numbers however far one looks into
 * it. */
#include "analyse/exact/choice.h"
#include "analyse/exact/engine.h"
#include "analyse/exact/series_base.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define MOST_BINS 200000 /* of one result */

struct series {
    const struct sta_series *asked;
    const struct sta_bound_query *bound;
    uint32_t *layers; /* numbers in the preset, as asked */
    uint32_t layer_count;
    struct sta_exact_choice *choices; /* as asked */
    bool *wanted;                     /* by layer */
    unsigned wants;
};

/* ---- what was asked */

static int choose_layers(struct series *series, struct sta_error *err)
{
    const struct sta_series *asked = series->asked;
    size_t all = series->bound->preset->layer_count;
    series->layer_count = (uint32_t)(asked->layers == NULL ? all : asked->layer_count);
    series->layers = sta_alloc_array((size_t)series->layer_count + 1, sizeof *series->layers);
    series->wanted = sta_alloc_array(all + 1, sizeof *series->wanted);
    for (uint32_t i = 0; i < series->layer_count; i++) {
        series->layers[i] = i;
        int rc = asked->layers == NULL
                     ? 0
                     : sta_exact_layer(series->bound, asked->layers[i], &series->layers[i], err);
        if (rc != 0)
            return rc;
        series->wanted[series->layers[i]] = true;
    }
    return 0;
}

static int choose_columns(struct series *series, struct sta_error *err)
{
    const struct sta_series *asked = series->asked;
    int rc = 0;
    series->choices = sta_alloc_array(asked->metric_count + 1, sizeof *series->choices);
    for (size_t i = 0; i < asked->metric_count && rc == 0; i++) {
        rc = sta_exact_choose(series->bound->preset, series->wanted, asked->metrics[i], &series->choices[i],
                              err);
        if (rc == 0)
            series->wants |= series->choices[i].column->wants;
    }
    return rc;
}

/* Whole bins, whatever of them the window cuts. */
static struct sta_exact_bins whole_bins(const struct sta_bound_query *bound, int64_t g)
{
    struct sta_exact_bins bins = sta_exact_bins_by_time(bound, g);
    if (bins.count > 0) {
        bins.from = bins.first * g;
        bins.to = (bins.first + (int64_t)bins.count) * g;
    }
    return bins;
}

#define ENOUGH_BINS 500 /* of the base: finer ones are worth a scan only where a window has fewer */

/* Bins of a round width: 1, 2 or 5 times a power of ten microseconds; as fine as the number of points allows,
 * but hardly finer than the base, which needs no scan. */
static struct sta_exact_bins round_bins(const struct sta_bound_query *bound, uint32_t most)
{
    static const int64_t steps[] = {1, 2, 5};
    int64_t power = bound->ticks_per_us;
    if (whole_bins(bound, sta_series_base_width(bound)).count >= ENOUGH_BINS)
        power = sta_series_base_width(bound);
    struct sta_exact_bins bins = whole_bins(bound, power);
    for (size_t i = 1; bins.count > most; i++) {
        power *= i % STA_COUNT_OF(steps) == 0 ? 10 : 1;
        bins = whole_bins(bound, power * steps[i % STA_COUNT_OF(steps)]);
    }
    return bins;
}

/* Bins of width @g or whole factors of it. */
static struct sta_exact_bins wider_bins(const struct sta_bound_query *bound, int64_t g, uint32_t most)
{
    int64_t factor = 1;
    struct sta_exact_bins bins = whole_bins(bound, g);
    while (most > 0 && bins.count > most) {
        factor = STA_MAX(factor + 1, factor * (int64_t)(bins.count / ((size_t)most + 1)));
        bins = whole_bins(bound, g * factor);
    }
    return bins;
}

int sta_exact_series_bins(const struct sta_bound_query *bound, const struct sta_series *asked,
                          struct sta_exact_bins *bins, struct sta_error *err)
{
    int64_t g = 0;
    bool round = asked->granularity_us == 0 && asked->max_points > 0;
    int rc = round ? 0 : sta_bin_width(bound, asked->granularity_us, &g, err);
    if (rc != 0)
        return rc;
    *bins = round ? round_bins(bound, asked->max_points) : wider_bins(bound, g, asked->max_points);
    if (bins->count <= MOST_BINS)
        return 0;
    return sta_fail_at(err, STA_ELIMIT, "/granularity",
                       "%zu bins are more than the %d that one series may have; choose a larger granularity",
                       bins->count, MOST_BINS);
}

/* ---- the table */

/* Number of the metric in the layer, or -1. */
static long metric_of(const struct sta_layer *layer, const char *name)
{
    for (size_t m = 0; m < layer->metric_count; m++)
        if (strcmp(layer->metrics[m].name, name) == 0)
            return (long)m;
    return -1;
}

static void put_column(const struct series *series, const struct sta_exact_result *result, uint32_t layer,
                       const struct sta_exact_choice *choice, struct sta_table_column *to)
{
    size_t bins = result->bins.count;
    const struct sta_fields *fields = &result->cells;
    const size_t own = result->shape.layers[layer].wanted_index;
    size_t cell = own;
    if (choice->metric != NULL) {
        long metric = metric_of(&series->bound->preset->layers[layer], choice->metric);
        if (metric < 0)
            return;
        fields = &result->metrics;
        cell = result->shape.layers[layer].first_metric + (size_t)metric;
    } else if (!sta_exact_layer_has(&result->shape, layer, choice->column)) {
        return;
    }
    for (size_t b = 0; b < bins; b++)
        if (result->cells.values[STA_FIELD_EVENTS][own * bins + b] > 0)
            sta_exact_put(choice->column, fields, cell * bins + b, 1e6 * (double)series->bound->ticks_per_us,
                          to, b);
}

static void put_layer(const struct series *series, const struct sta_exact_result *result, uint32_t layer,
                      bool alone, struct sta_table *table)
{
    for (size_t i = 0; i < series->asked->metric_count; i++) {
        const struct sta_exact_column *column = series->choices[i].column;
        const char *metric = series->asked->metrics[i];
        char *name = alone ? sta_strdup(metric)
                           : sta_sprintf("%s_%s", series->bound->preset->layers[layer].name, metric);
        put_column(series, result, layer, &series->choices[i],
                   sta_table_add(table, name, sta_exact_column_type(column), column->unit));
        free(name);
    }
}

void sta_exact_put_bins(const struct sta_exact_bins *bins, int64_t ticks_per_us, struct sta_table *table)
{
    struct sta_table_column *column = sta_table_add(table, "time_range", STA_TYPE_INT, NULL);
    for (size_t b = 0; b < bins->count; b++)
        sta_table_set_int(column, b, bins->first + (int64_t)b);
    column = sta_table_add(table, "time_start", STA_TYPE_FLOAT, "s");
    for (size_t b = 0; b < bins->count; b++)
        sta_table_set_number(column, b, sta_seconds((bins->first + (int64_t)b) * bins->g, ticks_per_us));
}

static void make_table(const struct series *series, const struct sta_exact_result *result,
                       struct sta_table *table)
{
    const struct sta_exact_bins *bins = &result->bins;
    bool alone = series->asked->layers != NULL && series->layer_count == 1;
    sta_table_init(table, bins->count);
    table->row_count = bins->count;
    sta_exact_put_bins(bins, series->bound->ticks_per_us, table);
    for (uint32_t i = 0; i < series->layer_count; i++)
        put_layer(series, result, series->layers[i], alone, table);
}

/* ---- the query */

/* Whether all that is asked adds up over bins of the base. */
static bool comes_from_base(const struct series *series, const struct sta_exact_bins *bins)
{
    const struct sta_view_query *query = series->bound->query;
    bool all = series->asked->base != NULL && query->filter == NULL && query->filters &&
               bins->g % sta_series_base_width(series->bound) == 0;
    for (size_t i = 0; i < series->asked->metric_count; i++)
        all &= sta_series_base_has(series->choices[i].column);
    return all;
}

static int run(struct series *series, const struct sta_budget *budget, struct sta_table *table,
               struct sta_facts *facts, struct sta_error *err)
{
    struct sta_exact_request request = {.bound = series->bound, .by = "time_range"};
    int rc = choose_layers(series, err);
    if (rc == 0)
        rc = choose_columns(series, err);
    if (rc == 0)
        rc = sta_exact_series_bins(series->bound, series->asked, &request.bins, err);
    if (rc != 0)
        return rc;
    request.layers = series->wanted;
    request.wants = series->wants;
    struct sta_exact_result result;
    rc = comes_from_base(series, &request.bins)
             ? sta_series_base_run(series->asked->base, &request, budget, &result, err)
             : sta_exact_run(&request, budget, &result, err);
    if (rc == 0) {
        make_table(series, &result, table);
        sta_facts_of_trace(facts, series->bound->query->snapshot);
        sta_facts_number(facts, "granularity", "s", sta_seconds(request.bins.g, series->bound->ticks_per_us));
        sta_exact_facts(&result, table, facts);
    }
    sta_exact_result_fini(&result);
    return rc;
}

int sta_timeseries_exact(const struct sta_view_query *query, const struct sta_series *asked,
                         const struct sta_budget *budget, struct sta_table *table, struct sta_facts *facts,
                         struct sta_error *err)
{
    struct sta_bound_query bound;
    facts->count = 0;
    int rc = sta_view_query_bind(&bound, query, err);
    if (rc == 0) {
        struct series series = {.asked = asked, .bound = &bound};
        rc = run(&series, budget, table, facts, err);
        free(series.layers);
        free(series.choices);
        free(series.wanted);
    }
    sta_bound_query_release(&bound);
    return rc;
}
