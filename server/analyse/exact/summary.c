/* The exact summary: the view of one row, turned so that layers are rows (exact.md section 3). */
#include "analyse/exact/columns.h"
#include "analyse/exact/engine.h"
#include "analyse/exact/view.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"

#define NAME_SIZE 256

static bool any_layer_has(const struct sta_exact_shape *shape, const struct sta_exact_column *column)
{
    for (uint32_t l = 0; l < shape->layer_count; l++)
        if (sta_exact_layer_has(shape, l, column))
            return true;
    return false;
}

static void add_metric_columns(struct sta_table *table, const char *metric)
{
    char name[NAME_SIZE];
    for (size_t i = 0; i < sta_exact_metric_column_count; i++) {
        const struct sta_exact_column *column = &sta_exact_metric_columns[i];
        snprintf(name, sizeof name, "%s_%s", metric, column->name);
        if (sta_exact_metric_has(metric, column) && sta_table_find(table, name) == NULL)
            sta_table_add(table, name, sta_exact_column_type(column), column->unit);
    }
}

static void add_columns(struct sta_table *table, const struct sta_exact_shape *shape)
{
    sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "parent", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "time_share", STA_TYPE_FLOAT, NULL);
    for (size_t i = 0; i < sta_exact_column_count; i++) {
        const struct sta_exact_column *column = &sta_exact_columns[i];
        if (any_layer_has(shape, column))
            sta_table_add(table, column->name, sta_exact_column_type(column), column->unit);
    }
    for (uint32_t l = 0; l < shape->layer_count; l++)
        for (uint32_t m = 0; m < shape->layers[l].metric_count; m++)
            add_metric_columns(table, shape->preset->layers[l].metrics[m].name);
}

static void put_text(struct sta_table *table, const char *column, size_t row, const char *text)
{
    if (text != NULL)
        sta_table_set_text(table, sta_table_find(table, column), row, text, strlen(text));
}

static void put_metrics(const struct sta_exact_result *result, uint32_t l, double ticks_per_second,
                        struct sta_table *table)
{
    const struct sta_exact_shape_layer *layer = &result->shape.layers[l];
    char name[NAME_SIZE];
    for (uint32_t m = 0; m < layer->metric_count; m++) {
        const char *metric = result->shape.preset->layers[l].metrics[m].name;
        for (size_t i = 0; i < sta_exact_metric_column_count; i++) {
            const struct sta_exact_column *column = &sta_exact_metric_columns[i];
            if (!sta_exact_metric_has(metric, column))
                continue;
            snprintf(name, sizeof name, "%s_%s", metric, column->name);
            sta_exact_put(column, &result->metrics, layer->first_metric + m, ticks_per_second,
                          sta_table_find(table, name), l);
        }
    }
}

static void put_layer(const struct sta_exact_result *result, uint32_t l, int64_t job_ticks,
                      double ticks_per_second, struct sta_table *table)
{
    int64_t longest = result->places.values[STA_FIELD_PROCESS_MAX][l];
    if (longest != 0 && job_ticks != 0)
        sta_table_set_number(sta_table_find(table, "time_share"), l,
                             ((double)longest / ticks_per_second) / ((double)job_ticks / ticks_per_second));
    for (size_t i = 0; i < sta_exact_column_count; i++) {
        const struct sta_exact_column *column = &sta_exact_columns[i];
        if (sta_exact_layer_has(&result->shape, l, column))
            sta_exact_put(column, &result->places, l, ticks_per_second, sta_table_find(table, column->name),
                          l);
    }
    put_metrics(result, l, ticks_per_second, table);
}

static void make_table(const struct sta_exact_result *result, const struct sta_bound_question *bound,
                       struct sta_table *table)
{
    const struct sta_exact_shape *shape = &result->shape;
    double ticks_per_second = 1e6 * (double)bound->ticks_per_us;
    sta_table_init(table, shape->layer_count);
    table->row_count = shape->layer_count;
    add_columns(table, shape);
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        put_text(table, "name", l, shape->preset->layers[l].name);
        put_text(table, "parent", l, shape->preset->layers[l].parent);
        if (result->places.values[STA_FIELD_EVENTS][l] > 0)
            put_layer(result, l, sta_job_ticks(bound->question->snapshot), ticks_per_second, table);
        else
            sta_table_set_int(sta_table_find(table, "count"), l, 0);
    }
}

int sta_summary_exact(const struct sta_question *question, const struct sta_budget *budget,
                      struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    return sta_exact_summary(question, 0, budget, table, facts, err);
}

int sta_exact_summary(const struct sta_question *question, size_t slice_rows, const struct sta_budget *budget,
                      struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    struct sta_bound_question bound;
    facts->count = 0;
    int rc = sta_question_bind(&bound, question, err);
    if (rc == 0) {
        struct sta_exact_ask ask = {.bound = &bound,
                                    .bins = sta_exact_bins_one(bound.from, bound.to),
                                    .wants = STA_WANT_ALL,
                                    .slice_rows = slice_rows};
        struct sta_exact_result result;
        rc = sta_exact_run(&ask, budget, &result, err);
        if (rc == 0) {
            make_table(&result, &bound, table);
            sta_facts_of_trace(facts, question->snapshot);
            sta_exact_facts(&result.counts, facts);
            sta_facts_of_sums(facts, table);
        }
        sta_exact_result_fini(&result);
    }
    sta_question_release(&bound);
    return rc;
}
