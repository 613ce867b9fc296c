/* The exact time series: chosen columns of the view by time, with a row for every bin.
 *
 * The window picks bins; it does not change what is in them: an event that began before the window gives its bins inside what it
 * gives them anyway, so that a chart shows the same numbers however far one looks into it. */
#include "analyse/exact/asked.h"
#include "analyse/exact/columns.h"
#include "analyse/exact/engine.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"

#define MOST_BINS 200000 /* of one answer */

struct series {
    const struct sta_series *asked;
    const struct sta_bound_question *bound;
    uint32_t *layers; /* numbers in the preset, as asked */
    uint32_t layer_count;
    const struct sta_exact_column **columns; /* as asked */
    bool *wanted;                            /* by layer */
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

static int fail_metric(const char *name, struct sta_error *err)
{
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t i = 0; i < sta_exact_column_count; i++)
        sta_put_format(&names, "%s%s", i > 0 ? ", " : "", sta_exact_columns[i].name);
    sta_put_char(&names, '\0');
    sta_fail(err, STA_EINPUT, "there is no metric \"%.100s\"; there are %s", name, names.data);
    sta_buffer_fini(&names);
    return sta_at(err, "/metrics", -1);
}

static int choose_columns(struct series *series, struct sta_error *err)
{
    const struct sta_series *asked = series->asked;
    series->columns = sta_alloc_array(asked->metric_count + 1, sizeof(void *));
    for (size_t i = 0; i < asked->metric_count; i++) {
        size_t c = 0;
        while (c < sta_exact_column_count && strcmp(sta_exact_columns[c].name, asked->metrics[i]) != 0)
            c++;
        if (c == sta_exact_column_count)
            return fail_metric(asked->metrics[i], err);
        series->columns[i] = &sta_exact_columns[c];
        series->wants |= sta_exact_columns[c].wants;
    }
    return 0;
}

/* Whole bins, whatever of them the window cuts. */
static struct sta_exact_bins whole_bins(const struct sta_bound_question *bound, int64_t g)
{
    struct sta_exact_bins bins = sta_exact_bins_by_time(bound, g);
    if (bins.count > 0) {
        bins.from = bins.first * g;
        bins.to = (bins.first + (int64_t)bins.count) * g;
    }
    return bins;
}

static int choose_bins(const struct series *series, struct sta_exact_bins *bins, struct sta_error *err)
{
    int64_t g;
    int rc = sta_exact_granularity(series->bound, series->asked->granularity_us, &g, err);
    if (rc != 0)
        return rc;
    uint32_t most = series->asked->max_points;
    int64_t factor = 1;
    *bins = whole_bins(series->bound, g);
    while (most > 0 && bins->count > most) {
        factor = STA_MAX(factor + 1, factor * (int64_t)(bins->count / ((size_t)most + 1)));
        *bins = whole_bins(series->bound, g * factor);
    }
    if (bins->count <= MOST_BINS)
        return 0;
    sta_fail(err, STA_ELIMIT,
             "%zu bins are more than the %d that one series may have; choose a larger granularity",
             bins->count, MOST_BINS);
    return sta_at(err, "/granularity", -1);
}

/* ---- the table */

static void put_column(const struct sta_exact_result *result, uint32_t layer,
                       const struct sta_exact_column *column, double ticks_per_second,
                       struct sta_table_column *to)
{
    size_t bins = result->bins.count;
    for (size_t b = 0; b < bins; b++)
        if (result->places.values[STA_FIELD_EVENTS][layer * bins + b] > 0)
            sta_exact_put(column, &result->places, layer * bins + b, ticks_per_second, to, b);
}

static void put_layer(const struct series *series, const struct sta_exact_result *result, uint32_t layer,
                      bool alone, struct sta_table *table)
{
    for (size_t i = 0; i < series->asked->metric_count; i++) {
        const struct sta_exact_column *column = series->columns[i];
        const char *of = series->bound->preset->layers[layer].name;
        char *name = alone ? sta_strdup(column->name) : sta_sprintf("%s_%s", of, column->name);
        struct sta_table_column *to = sta_table_add(table, name, sta_exact_column_type(column), column->unit);
        if (sta_exact_layer_has(&result->shape, layer, column))
            put_column(result, layer, column, 1e6 * (double)series->bound->ticks_per_us, to);
        free(name);
    }
}

static void make_table(const struct series *series, const struct sta_exact_result *result,
                       struct sta_table *table)
{
    const struct sta_exact_bins *bins = &result->bins;
    bool alone = series->asked->layers != NULL && series->layer_count == 1;
    sta_table_init(table, bins->count);
    table->row_count = bins->count;
    struct sta_table_column *column = sta_table_add(table, "time_range", STA_TYPE_INT, NULL);
    for (size_t b = 0; b < bins->count; b++)
        sta_table_set_int(column, b, bins->first + (int64_t)b);
    column = sta_table_add(table, "time_start", STA_TYPE_FLOAT, "s");
    for (size_t b = 0; b < bins->count; b++)
        sta_table_set_number(column, b,
                             sta_seconds((bins->first + (int64_t)b) * bins->g, series->bound->ticks_per_us));
    for (uint32_t i = 0; i < series->layer_count; i++)
        put_layer(series, result, series->layers[i], alone, table);
}

/* ---- the question */

static int run(struct series *series, const struct sta_budget *budget, struct sta_table *table,
               struct sta_facts *facts, struct sta_error *err)
{
    struct sta_exact_ask ask = {.bound = series->bound, .by = "time_range"};
    int rc = choose_layers(series, err);
    if (rc == 0)
        rc = choose_columns(series, err);
    if (rc == 0)
        rc = choose_bins(series, &ask.bins, err);
    if (rc != 0)
        return rc;
    ask.layers = series->wanted;
    ask.wants = series->wants;
    struct sta_exact_result result;
    rc = sta_exact_run(&ask, budget, &result, err);
    if (rc == 0) {
        make_table(series, &result, table);
        sta_facts_of_trace(facts, series->bound->question->snapshot);
        sta_facts_number(facts, "granularity", "s", sta_seconds(ask.bins.g, series->bound->ticks_per_us));
        sta_exact_facts(&result.counts, facts);
    }
    sta_exact_result_fini(&result);
    return rc;
}

int sta_timeseries_exact(const struct sta_question *question, const struct sta_series *asked,
                         const struct sta_budget *budget, struct sta_table *table, struct sta_facts *facts,
                         struct sta_error *err)
{
    struct sta_bound_question bound;
    facts->count = 0;
    int rc = sta_question_bind(&bound, question, err);
    if (rc == 0) {
        struct series series = {.asked = asked, .bound = &bound};
        rc = run(&series, budget, table, facts, err);
        free(series.layers);
        free(series.columns);
        free(series.wanted);
    }
    sta_question_release(&bound);
    return rc;
}
