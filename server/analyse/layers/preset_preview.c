/* What a preset makes of a trace: how many events each layer takes, and which functions no layer takes. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/class_counts.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

#define LEFT_OUT 100 /* functions of no layer that are listed */

static bool is_left_out(void *context, uint32_t code, struct sta_counted_function *function)
{
    const struct sta_bound_query *bound = context;
    const struct sta_class class = sta_classes_get(bound->classes, code);
    bool in_some_layer = false;
    for (size_t l = 0; l < bound->preset->layer_count; l++)
        in_some_layer |= sta_class_has(&class, l);
    return class.fate == STA_FATE_KEPT && !in_some_layer;
}

static int list_functions(const struct sta_bound_query *bound, const struct sta_class_counts *counts,
                          const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    struct sta_counted_function *functions;
    size_t count;
    int rc = sta_class_counts_functions(counts, is_left_out, (void *)bound, budget, &functions, &count, err);
    if (rc != 0) {
        sta_account_free(budget->account, functions);
        return rc;
    }
    sta_table_init(table, STA_MIN(count, LEFT_OUT));
    table->row_count = count;
    sta_table_add(table, "cat", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "func_name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "count", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < table->rows; row++) {
        const struct sta_counted_function *function = &functions[row];
        sta_table_set_text(table, &table->columns[0], row, function->cat.bytes, function->cat.length);
        sta_table_set_text(table, &table->columns[1], row, function->name.bytes, function->name.length);
        sta_table_set_int(&table->columns[2], row, (int64_t)function->events);
    }
    sta_account_free(budget->account, functions);
    return STA_OK;
}

/* ---- layers */

static void list_layers(const struct sta_bound_query *bound, const struct sta_class_counts *counts,
                        struct sta_table *table)
{
    static const char *const texts[] = {"name", "metric", "label", "color", "parent", "condition"};
    const struct sta_preset *preset = bound->preset;
    size_t rows = preset->layer_count;
    for (size_t l = 0; l < preset->layer_count; l++)
        rows += preset->layers[l].metric_count;
    sta_table_init(table, rows);
    table->row_count = rows;
    for (size_t i = 0; i < STA_COUNT_OF(texts); i++)
        sta_table_add(table, texts[i], STA_TYPE_TEXT, NULL);
    sta_table_add(table, "count", STA_TYPE_INT, NULL);
    for (size_t l = 0, row = 0; l < preset->layer_count; l++) {
        const struct sta_layer *layer = &preset->layers[l];
        const char *cells[] = {layer->name,  NULL,          layer->label,
                               layer->color, layer->parent, layer->condition};
        for (size_t i = 0; i < STA_COUNT_OF(cells); i++)
            sta_table_set_string(table, &table->columns[i], row, cells[i]);
        uint32_t bit = (uint32_t)l;
        sta_table_set_int(&table->columns[6], row++,
                          (int64_t)sta_class_counts_of_bit(counts, bound->classes, bit));
        for (size_t m = 0; m < layer->metric_count; m++, row++) {
            sta_table_set_string(table, &table->columns[0], row, layer->name);
            sta_table_set_string(table, &table->columns[1], row, layer->metrics[m].name);
            sta_table_set_string(table, &table->columns[5], row, layer->metrics[m].condition);
            bit = sta_classes_metric_bit(bound->classes, l, m);
            sta_table_set_int(&table->columns[6], row,
                              (int64_t)sta_class_counts_of_bit(counts, bound->classes, bit));
        }
    }
}

static void say_facts(const struct sta_bound_query *bound, const struct sta_class_counts *counts,
                      struct sta_facts *facts)
{
    const struct sta_classes *classes = bound->classes;
    struct sta_fate_counts fates = {0};
    int64_t events = 0;
    for (uint32_t code = 0; code < sta_classes_count(classes); code++) {
        struct sta_class class = sta_classes_get(classes, code);
        int64_t count = (int64_t)sta_class_counts_total(counts, code);
        size_t layers = 0;
        for (size_t l = 0; l < bound->preset->layer_count; l++)
            layers += sta_class_has(&class, l);
        events += count;
        sta_fate_counts_add(&fates, class.fate, layers, count);
    }
    facts->count = 0;
    sta_facts_int(facts, "events", events);
    sta_facts_of_fates(facts, &fates);
}

/* ---- the query */

static int run(const struct sta_bound_query *bound, const struct sta_budget *budget,
               struct sta_preset_preview *result, struct sta_error *err)
{
    struct sta_class_counts counts = {0};
    int rc = sta_class_counts_run(&counts, sta_bound_query_scan(bound), true, NULL, budget, err);
    if (rc == 0) {
        say_facts(bound, &counts, &result->facts);
        list_layers(bound, &counts, &result->layers);
        rc = list_functions(bound, &counts, budget, &result->unmatched, err);
    }
    sta_class_counts_fini(&counts);
    return rc;
}

int sta_preset_preview(const struct sta_view_query *query, const struct sta_budget *budget,
                       struct sta_preset_preview *result, struct sta_error *err)
{
    struct sta_bound_query bound;
    *result = (struct sta_preset_preview){0};
    int rc = sta_view_query_bind(&bound, query, err);
    if (rc == 0)
        rc = run(&bound, budget, result, err);
    sta_bound_query_release(&bound);
    return rc;
}

void sta_preset_preview_fini(struct sta_preset_preview *preview)
{
    sta_table_fini(&preview->layers);
    sta_table_fini(&preview->unmatched);
}
