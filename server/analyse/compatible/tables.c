/* High-level metrics and main view as tables. */
#include "analyse/compatible/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

/* What a table is made of. */
struct making {
    const struct sta_hlm *hlm;
    const struct sta_layer *layer; /* NULL: the high-level metrics */
    const struct sta_budget *budget;
    struct sta_table *table;
    struct sta_view_columns columns;
    struct sta_main_rows rows;
    struct sta_lists lists;
};

/* ---- which columns */

static bool has_measure(const struct making *making, uint32_t metric, enum sta_layer_measure measure)
{
    if (measure >= STA_MEASURE_AXES) {
        enum sta_axis axis = (enum sta_axis)(measure - STA_MEASURE_AXES);
        return measure != STA_MEASURE_VIEW && !making->hlm->axes->grouped[axis] &&
               (axis != STA_AXIS_FILE || making->layer == NULL || sta_layer_has_files(making->layer));
    }
    if (measure == STA_MEASURE_COUNT || measure == STA_MEASURE_TIME)
        return true;
    if (making->layer == NULL)
        return measure == STA_MEASURE_SIZE || measure >= STA_MEASURE_BINS;
    return measure == STA_MEASURE_OPS || sta_metric_has_sizes(making->layer, metric);
}

static void list_metric(struct making *making, uint32_t metric)
{
    char *prefix = sta_metric_prefix(making->layer, metric);
    for (int m = 0; m < STA_MEASURES; m++)
        if (has_measure(making, metric, (enum sta_layer_measure)m))
            sta_view_columns_append(
                &making->columns,
                &(struct sta_view_column){.name = sta_sprintf("%s%s", prefix, sta_measure_name(m, NULL)),
                                          .metric = metric,
                                          .measure = m});
    free(prefix);
}

/* Of a layer by name; else as listed, time first. */
static int compare_columns(const void *a, const void *b, void *context)
{
    const struct sta_view_column *x = a, *y = b;
    const struct making *making = context;
    if (making->layer != NULL)
        return strcmp(x->name, y->name);
    int order = (y->measure == STA_MEASURE_TIME) - (x->measure == STA_MEASURE_TIME);
    return order != 0 ? order : (int)x->measure - (int)y->measure;
}

static void list_columns(struct making *making)
{
    list_metric(making, STA_LAYER_ITSELF);
    for (uint32_t m = 0; making->layer != NULL && m < making->layer->metric_count; m++)
        list_metric(making, m);
    qsort_r(making->columns.items, making->columns.count, sizeof *making->columns.items, compare_columns,
            making);
}

/* ---- keys */

/* Each name is copied once. */
static int add_names(struct making *making, enum sta_axis axis, struct sta_error *err)
{
    const struct sta_axes *axes = making->hlm->axes;
    struct sta_table *table = making->table;
    struct sta_table_column *column = sta_table_add(table, sta_axis_names[axis], STA_TYPE_TEXT, NULL);
    struct sta_text *copies =
        sta_pool_take(&making->rows.pool, (size_t)axes->count[axis] + 1, sizeof *copies, "names", err);
    for (size_t row = 0; copies != NULL && row < table->rows; row++) {
        uint32_t rank = sta_axes_of(axes, axis, making->rows.keys[row]);
        struct sta_text text = sta_axes_text(axes, axis, rank);
        if (copies[rank].bytes == NULL)
            copies[rank] =
                (struct sta_text){sta_arena_copy(&table->arena, text.bytes, text.length), text.length};
        column->missing[row] = 0;
        column->texts[row] = copies[rank];
    }
    return copies != NULL ? 0 : err->status;
}

static int add_keys(struct making *making, struct sta_error *err)
{
    const struct sta_axes *axes = making->hlm->axes;
    int rc = 0;
    for (int axis = 0; rc == 0 && axis < STA_AXIS_TIME; axis++)
        if (axes->grouped[axis])
            rc = add_names(making, (enum sta_axis)axis, err);
    if (rc != 0 || !axes->grouped[STA_AXIS_TIME])
        return rc;
    struct sta_table_column *column =
        sta_table_add(making->table, sta_axis_names[STA_AXIS_TIME], STA_TYPE_INT, NULL);
    for (size_t row = 0; row < making->table->rows; row++)
        sta_table_set_int(
            column, row,
            axes->values[STA_AXIS_TIME][sta_axes_of(axes, STA_AXIS_TIME, making->rows.keys[row])]);
    return 0;
}

static uint32_t signature_of(const struct making *making, size_t row)
{
    return making->hlm->groups[making->rows.groups[making->rows.start[row]]].signature;
}

/* A text of each signature; copied once, as there are few. */
static int add_text(struct making *making, const char *name, bool func, struct sta_error *err)
{
    const struct sta_hlm *hlm = making->hlm;
    struct sta_table_column *column = sta_table_add(making->table, name, STA_TYPE_TEXT, NULL);
    struct sta_text *texts =
        sta_pool_take(&making->rows.pool, (size_t)hlm->signature_count + 1, sizeof *texts, "functions", err);
    for (uint32_t s = 0; texts != NULL && s < hlm->signature_count; s++) {
        struct sta_text text = func ? hlm->signatures[s].func : hlm->signatures[s].cat;
        texts[s] =
            (struct sta_text){sta_arena_copy(&making->table->arena, text.bytes, text.length), text.length};
    }
    for (size_t row = 0; texts != NULL && row < making->table->rows; row++) {
        column->texts[row] = texts[signature_of(making, row)];
        column->missing[row] = 0;
    }
    return texts != NULL ? 0 : err->status;
}

static int add_signatures(struct making *making, struct sta_error *err)
{
    int rc = add_text(making, "cat", false, err);
    struct sta_table_column *io_cat = sta_table_add(making->table, "io_cat", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < making->table->rows; row++)
        sta_table_set_int(io_cat, row, making->hlm->signatures[signature_of(making, row)].io_cat);
    struct sta_table_column *acc_pat = sta_table_add(making->table, "acc_pat", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < making->table->rows; row++)
        sta_table_set_int(acc_pat, row, 0);
    return rc == 0 ? add_text(making, "func_name", true, err) : rc;
}

/* ---- cells; 0 stays missing */

static void put_int(struct sta_table_column *column, size_t row, int64_t value)
{
    if (value > 0)
        sta_table_set_int(column, row, value);
    column->too_large += value == STA_TOO_LARGE;
}

static void put_time(struct sta_table_column *column, size_t row, double value)
{
    if (value != 0)
        sta_table_set_number(column, row, value); /* which leaves an infinite one missing */
    column->too_large += isinf(value) != 0;
}

/* Infinite stays infinite. */
static void put_ratio(struct sta_table_column *column, size_t row, double value)
{
    column->numbers[row] = value;
    column->missing[row] = value == 0;
}

static void put_entry(struct sta_table_column *column, enum sta_layer_measure measure,
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

/* A row without a set is missing among the high-level metrics; in a main view its set is empty. */
static int put_sets(struct making *making, struct sta_table_column *column,
                    const struct sta_main_metric *metric, enum sta_axis axis, struct sta_error *err)
{
    int rc = 0;
    for (size_t row = 0; rc == 0 && row < making->rows.count; row++)
        if (sta_row_has_set(metric, row, axis))
            rc = sta_lists_set(&making->lists, column, metric, row, axis, err);
        else if (making->layer != NULL) {
            column->missing[row] = 0;
            column->texts[row] = (struct sta_text){"[]", 2};
        }
    return rc;
}

/* Fills the columns of one metric. */
static int fill_metric(struct making *making, size_t first, uint32_t number, struct sta_error *err)
{
    const struct sta_view_columns *columns = &making->columns;
    struct sta_main_metric metric;
    int rc = sta_main_metric_init(&metric, &making->rows, number, making->budget, err);
    for (size_t c = 0; rc == 0 && c < columns->count; c++) {
        struct sta_table_column *column = &making->table->columns[first + c];
        enum sta_layer_measure measure = columns->items[c].measure;
        if (columns->items[c].metric != number)
            continue;
        rc = sta_budget_check(making->budget, err);
        if (rc == 0 && measure >= STA_MEASURE_AXES)
            rc = put_sets(making, column, &metric, (enum sta_axis)(measure - STA_MEASURE_AXES), err);
        else
            for (size_t i = 0; rc == 0 && i < metric.count; i++)
                put_entry(column, measure, &metric, i);
    }
    sta_pool_fini(&metric.pool);
    return rc;
}

static enum sta_type type_of(enum sta_layer_measure measure)
{
    if (measure >= STA_MEASURE_AXES)
        return STA_TYPE_LIST;
    return sta_measure_is_integer(measure) ? STA_TYPE_INT : STA_TYPE_FLOAT;
}

static int fill(struct making *making, struct sta_error *err)
{
    const struct sta_view_columns *columns = &making->columns;
    int rc = add_keys(making, err);
    if (rc == 0 && making->layer == NULL)
        rc = add_signatures(making, err);
    size_t first = making->table->column_count;
    for (size_t c = 0; c < columns->count; c++)
        sta_table_add(making->table, columns->items[c].name, type_of(columns->items[c].measure),
                      sta_measure_unit(columns->items[c].measure));
    if (rc == 0)
        rc = fill_metric(making, first, STA_LAYER_ITSELF, err);
    for (uint32_t m = 0; rc == 0 && making->layer != NULL && m < making->layer->metric_count; m++)
        rc = fill_metric(making, first, m, err);
    return rc;
}

#define MOST_KEY_COLUMNS (STA_AXES + 4)

int sta_main_table(const struct sta_hlm *hlm, uint32_t layer, const struct sta_budget *budget,
                   struct sta_table *table, struct sta_error *err)
{
    struct making making = {.hlm = hlm,
                            .layer = layer != STA_NO_LAYER ? &hlm->bound->preset->layers[layer] : NULL,
                            .budget = budget,
                            .table = table,
                            .lists = {table, hlm, budget, .pool = {.budget = budget}}};
    list_columns(&making);
    int rc = sta_main_rows_init(&making.rows, hlm, layer, budget, err);
    sta_table_init(table, rc == 0 ? making.rows.count : 0);
    sta_table_count_in(table, budget->account);
    double cells = (double)making.rows.count * (double)(making.columns.count + MOST_KEY_COLUMNS);
    if (rc == 0)
        rc = sta_budget_memory(budget, (double)hlm->pool.bytes + cells * 9, "the table", err);
    if (rc == 0)
        rc = fill(&making, err);
    sta_account_free(budget->account, making.lists.ranks);
    sta_pool_fini(&making.lists.pool);
    sta_pool_fini(&making.rows.pool);
    sta_view_columns_fini(&making.columns);
    return rc;
}
