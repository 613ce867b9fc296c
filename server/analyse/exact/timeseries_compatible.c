/* The compatible time series: columns of the compatible views by time, with a row for every bin. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exact/choice.h"
#include "common/buffer.h"
#include "common/memory.h"

/* Short names of metrics: a column of the view, or the quotient of two. */
static const struct {
    const char *name, *column, *over, *unit;
} short_names[] = {{"count", "count_sum", NULL, NULL},
                   {"time", "time_sum", NULL, "s"},
                   {"size", "size_sum", NULL, "B"},
                   {"bw", "size_sum", "time_sum", "B/s"},
                   {"ops", "count_sum", "time_sum", NULL}};

struct series {
    const struct sta_bound_query *bound;
    const struct sta_series *asked;
    struct sta_exact_bins bins;
    bool alone;                   /* one layer was asked: columns have no prefix */
    const struct sta_table *view; /* the layer's, or the flat view */
    struct sta_table *table;
};

/* ---- columns */

static const struct sta_table_column *find(const struct series *series, const char *layer, const char *name)
{
    char *full = series->alone ? sta_strdup(name) : sta_sprintf("%s_%s", layer, name);
    const struct sta_table_column *column = name != NULL ? sta_table_find(series->view, full) : NULL;
    free(full);
    return column;
}

static void copy_cell(const struct series *series, const struct sta_table_column *from, size_t row,
                      struct sta_table_column *to, size_t at)
{
    if (from->missing[row])
        return;
    if (from->type == STA_TYPE_INT)
        sta_table_set_int(to, at, from->integers[row]);
    else if (from->type == STA_TYPE_FLOAT)
        sta_table_set_number(to, at, from->numbers[row]);
    else
        sta_table_set_text(series->table, to, at, from->texts[row].bytes, from->texts[row].length);
}

/* The view has a row for each bin with events; the series one for every bin. */
static void fill(const struct series *series, const struct sta_table_column *from,
                 const struct sta_table_column *over, struct sta_table_column *to)
{
    const struct sta_table_column *bin = sta_table_find(series->view, "time_range");
    for (size_t row = 0; row < series->view->rows; row++) {
        int64_t at = bin->integers[row] - series->bins.first;
        if (at < 0 || at >= (int64_t)series->bins.count)
            continue;
        if (over == NULL)
            copy_cell(series, from, row, to, (size_t)at);
        else if (!from->missing[row] && !over->missing[row])
            sta_table_set_number(to, (size_t)at, sta_table_number(from, row) / sta_table_number(over, row));
    }
}

static int fail_metric(const char *name, struct sta_error *err)
{
    return sta_fail_at(err, STA_EINPUT, "/metrics",
                       "there is no metric \"%.100s\"; there are count, time, size, bw, ops and all columns "
                       "of the compatible layer view, such as time_max",
                       name);
}

/* One metric of all layers asked; a layer that has no such column is missing in every bin. */
static int put_metric(const struct series *series, const char *const *layers, size_t count,
                      const char *metric, struct sta_error *err)
{
    const char *column = metric, *over_column = NULL, *unit = NULL;
    bool any = false;
    for (size_t i = 0; i < STA_COUNT_OF(short_names); i++)
        if (strcmp(short_names[i].name, metric) == 0) {
            column = short_names[i].column;
            over_column = short_names[i].over;
            unit = short_names[i].unit;
            any = true;
        }
    for (size_t l = 0; l < count; l++) {
        const struct sta_table_column *from = find(series, layers[l], column);
        const struct sta_table_column *over =
            over_column != NULL ? find(series, layers[l], over_column) : NULL;
        enum sta_type type = from == NULL || over_column != NULL ? STA_TYPE_FLOAT : from->type;
        char *name = series->alone ? sta_strdup(metric) : sta_sprintf("%s_%s", layers[l], metric);
        struct sta_table_column *to =
            sta_table_add(series->table, name, type, unit == NULL && from != NULL ? from->unit : unit);
        free(name);
        any |= from != NULL;
        if (from != NULL && (over_column == NULL || over != NULL))
            fill(series, from, over, to);
    }
    return any ? 0 : fail_metric(metric, err);
}

static int put_metrics(const struct series *series, struct sta_error *err)
{
    const struct sta_preset *preset = series->bound->preset;
    const struct sta_series *asked = series->asked;
    size_t count = asked->layers != NULL ? asked->layer_count : preset->layer_count;
    const char **layers = sta_alloc_array(count + 1, sizeof *layers);
    int rc = 0;
    for (size_t l = 0; l < count; l++)
        layers[l] = asked->layers != NULL ? asked->layers[l] : preset->layers[l].name;
    for (size_t i = 0; rc == 0 && i < asked->metric_count; i++)
        rc = put_metric(series, layers, count, asked->metrics[i], err);
    free(layers);
    return rc;
}

/* ---- the query */

static int check_layers(const struct series *series, struct sta_error *err)
{
    uint32_t layer;
    int rc = 0;
    for (size_t i = 0; rc == 0 && series->asked->layers != NULL && i < series->asked->layer_count; i++)
        rc = sta_exact_layer(series->bound, series->asked->layers[i], &layer, err);
    return rc;
}

static int make_table(struct series *series, struct sta_table *table, struct sta_error *err)
{
    series->table = table;
    sta_table_init(table, series->bins.count);
    table->row_count = series->bins.count;
    sta_exact_put_bins(&series->bins, series->bound->ticks_per_us, table);
    int rc = put_metrics(series, err);
    if (rc != 0)
        sta_table_fini(table);
    return rc;
}

static int run(struct series *series, const struct sta_view_query *query, const struct sta_budget *budget,
               struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    static const char *const views[] = {"time_range", "proc_name"};
    struct sta_table view = {0};
    int rc = check_layers(series, err);
    if (rc == 0)
        rc = sta_exact_series_bins(series->bound, series->asked, &series->bins, err);
    if (rc != 0)
        return rc;
    series->alone = series->asked->layers != NULL && series->asked->layer_count == 1;
    series->view = &view;
    struct sta_table_query by_time = {.common = query,
                                      .table = series->alone ? STA_VIEW_LAYER : STA_VIEW_FLAT,
                                      .layer = series->alone ? series->asked->layers[0] : NULL,
                                      .by = "time_range",
                                      .views = views,
                                      .view_count = STA_COUNT_OF(views),
                                      .granularity_us = series->bins.g / series->bound->ticks_per_us};
    rc = sta_view_compatible(&by_time, NULL, budget, &view, facts, err);
    if (rc != 0)
        return rc;
    sta_facts_number(facts, "granularity", "s", sta_seconds(series->bins.g, series->bound->ticks_per_us));
    rc = make_table(series, table, err);
    sta_table_fini(&view);
    return rc;
}

int sta_timeseries_compatible(const struct sta_view_query *query, const struct sta_series *asked,
                              const struct sta_budget *budget, struct sta_table *table,
                              struct sta_facts *facts, struct sta_error *err)
{
    struct sta_bound_query bound;
    facts->count = 0;
    int rc = sta_view_query_bind(&bound, query, err);
    if (rc == 0) {
        struct series series = {.bound = &bound, .asked = asked};
        rc = run(&series, query, budget, table, facts, err);
    }
    sta_bound_query_release(&bound);
    return rc;
}
