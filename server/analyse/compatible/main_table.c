/* The main view of a layer as a table: a column per metric and measure, by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/compatible/tables.h"
#include "common/memory.h"

struct column {
    char *name;
    uint32_t metric;
    enum sta_measure measure;
};

struct columns {
    struct column *items;
    size_t count, capacity;
};

static bool has_measure(const struct sta_hlm *hlm, uint32_t layer, uint32_t metric, enum sta_measure measure)
{
    const struct sta_layer *meant = &hlm->bound->preset->layers[layer];
    if (measure == STA_MEASURE_VIEW)
        return false;
    if (measure < STA_MEASURE_AXES)
        return measure == STA_MEASURE_COUNT || measure == STA_MEASURE_OPS || measure == STA_MEASURE_TIME ||
               sta_metric_has_sizes(meant, metric);
    enum sta_axis axis = (enum sta_axis)(measure - STA_MEASURE_AXES);
    return !hlm->axes->grouped[axis] && (axis != STA_AXIS_FILE || sta_layer_has_files(meant));
}

static void list_metric(struct columns *columns, const struct sta_hlm *hlm, uint32_t layer, uint32_t metric)
{
    char *prefix = sta_metric_prefix(&hlm->bound->preset->layers[layer], metric);
    for (int m = 0; m < STA_MEASURES; m++) {
        if (!has_measure(hlm, layer, metric, (enum sta_measure)m))
            continue;
        STA_GROW(columns->items, columns->capacity, columns->count + 1);
        columns->items[columns->count++] =
            (struct column){sta_sprintf("%s%s", prefix, sta_measure_name((enum sta_measure)m, NULL)), metric,
                            (enum sta_measure)m};
    }
    free(prefix);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct column *)a)->name, ((const struct column *)b)->name);
}

/* ---- cells */

static void put_int(struct sta_table_column *column, size_t row, int64_t value)
{
    if (value > 0)
        sta_table_set_int(column, row, value);
    column->too_large += value == STA_TOO_LARGE;
}

static void put_time(struct sta_table_column *column, size_t row, double value)
{
    if (value != 0)
        sta_table_set_number(column, row, value);
    column->too_large += isinf(value) != 0;
}

/* Infinite stays infinite. */
static void put_ratio(struct sta_table_column *column, size_t row, double value)
{
    if (value == 0)
        return;
    column->numbers[row] = value;
    column->missing[row] = 0;
}

static void put_entry(struct sta_table_column *column, enum sta_measure measure,
                      const struct sta_main_metric *metric, size_t at)
{
    const struct sta_main_entry *entry = &metric->entries[at];
    switch (measure) {
    case STA_MEASURE_COUNT:
        put_int(column, entry->row, entry->count);
        break;
    case STA_MEASURE_SIZE:
        put_int(column, entry->row, entry->size);
        break;
    case STA_MEASURE_TIME:
        put_time(column, entry->row, entry->time);
        break;
    case STA_MEASURE_BW:
        put_ratio(column, entry->row, sta_main_ratios(entry).bw);
        break;
    case STA_MEASURE_INTENSITY:
        put_ratio(column, entry->row, sta_main_ratios(entry).intensity);
        break;
    case STA_MEASURE_OPS:
        put_ratio(column, entry->row, sta_main_ratios(entry).ops);
        break;
    default:
        put_int(column, entry->row, metric->bins[at][measure - STA_MEASURE_BINS]);
    }
}

static int put_sets(struct sta_lists *lists, struct sta_table_column *column,
                    const struct sta_main_rows *rows, const uint8_t *kinds, enum sta_axis axis,
                    struct sta_error *err)
{
    const struct sta_hlm *hlm = rows->hlm;
    struct sta_values values = {0};
    int rc = 0;
    for (size_t row = 0; rc == 0 && row < rows->count; row++) {
        values.count = 0;
        bool has_set = sta_row_has_set(rows, row, kinds, axis);
        for (uint32_t i = rows->start[row]; has_set && i < rows->start[row + 1]; i++)
            if (kinds[hlm->groups[rows->groups[i]].kind])
                sta_values_add(&values, &hlm->members[axis], rows->groups[i]);
        rc = sta_lists_set(lists, column, row, axis, &values, err);
    }
    free(values.items);
    return rc;
}

/* Fills the columns of one metric. */
static int fill_metric(struct sta_lists *lists, size_t first, const struct columns *columns,
                       const struct sta_main_rows *rows, uint32_t metric, struct sta_error *err)
{
    const struct sta_hlm *hlm = rows->hlm;
    struct sta_main_metric values;
    uint8_t *kinds = sta_metric_kinds(hlm, rows->layer, metric);
    int rc = 0;
    sta_main_metric_init(&values, rows, kinds,
                         sta_metric_has_sizes(&hlm->bound->preset->layers[rows->layer], metric));
    for (size_t c = 0; rc == 0 && c < columns->count; c++) {
        struct sta_table_column *column = &lists->table->columns[first + c];
        enum sta_measure measure = columns->items[c].measure;
        if (columns->items[c].metric != metric)
            continue;
        if (measure >= STA_MEASURE_AXES)
            rc = put_sets(lists, column, rows, kinds, (enum sta_axis)(measure - STA_MEASURE_AXES), err);
        else
            for (size_t i = 0; i < values.count; i++)
                put_entry(column, measure, &values, i);
    }
    sta_main_metric_fini(&values);
    free(kinds);
    return rc;
}

static enum sta_type type_of(enum sta_measure measure)
{
    if (measure >= STA_MEASURE_AXES)
        return STA_TYPE_LIST;
    return sta_measure_is_integer(measure) ? STA_TYPE_INT : STA_TYPE_FLOAT;
}

static int fill(struct sta_lists *lists, const struct columns *columns, const struct sta_main_rows *rows,
                struct sta_error *err)
{
    struct sta_table *table = lists->table;
    sta_table_add_keys(table, rows->hlm->axes, rows->keys);
    size_t first = table->column_count;
    for (size_t c = 0; c < columns->count; c++)
        sta_table_add(table, columns->items[c].name, type_of(columns->items[c].measure),
                      sta_measure_unit(columns->items[c].measure));
    int rc = fill_metric(lists, first, columns, rows, STA_LAYER_ITSELF, err);
    for (uint32_t m = 0; rc == 0 && m < rows->hlm->bound->preset->layers[rows->layer].metric_count; m++)
        rc = fill_metric(lists, first, columns, rows, m, err);
    return rc;
}

int sta_main_table(const struct sta_hlm *hlm, uint32_t layer, const struct sta_budget *budget,
                   struct sta_table *table, struct sta_error *err)
{
    struct columns columns = {0};
    struct sta_main_rows rows;
    struct sta_lists lists = {.table = table, .hlm = hlm, .budget = budget};
    list_metric(&columns, hlm, layer, STA_LAYER_ITSELF);
    for (uint32_t m = 0; m < hlm->bound->preset->layers[layer].metric_count; m++)
        list_metric(&columns, hlm, layer, m);
    qsort(columns.items, columns.count, sizeof *columns.items, by_name);
    sta_main_rows_init(&rows, hlm, layer);
    sta_table_init(table, rows.count);
    int rc = sta_budget_memory(budget, (double)rows.count * (double)(columns.count + STA_AXES) * 9,
                               "the table", err);
    if (rc == 0)
        rc = fill(&lists, &columns, &rows, err);
    sta_main_rows_fini(&rows);
    for (size_t c = 0; c < columns.count; c++)
        free(columns.items[c].name);
    free(columns.items);
    return rc;
}
