/* Layer views to a table. */
#include "analyse/compatible/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/compatible/scores.h"
#include "analyse/exec/tasks.h"
#include "common/buffer.h"
#include "common/memory.h"

/* ---- rows */

static int prepare_layer(void *context, unsigned worker, size_t task, struct sta_error *err)
{
    struct sta_join *join = context;
    struct sta_layer_view *layer = &join->layers[task];
    const uint32_t number = join->options.layer == STA_NO_LAYER ? (uint32_t)task : join->options.layer;
    layer->by = join->by;
    layer->budget = join->budget;
    layer->quantiles = join->options.quantiles;
    int rc = sta_main_rows_init(&layer->rows, join->hlm, number, join->budget, err);
    return rc == 0 ? sta_by_rows_init(&layer->by_rows, join->by, &layer->rows, join->budget, err) : rc;
}

/* The values that some layer has, ascending, and where each layer's rows are among them. */
static int join_rows(struct sta_join *join, struct sta_error *err)
{
    const size_t most = (size_t)join->by->count + 1;
    join->row_of = sta_pool_take(&join->pool, most, sizeof *join->row_of, "the rows of the table", err);
    join->values = sta_pool_take(&join->pool, most, sizeof *join->values, "the rows of the table", err);
    if (join->row_of == NULL || join->values == NULL)
        return err->status;
    for (uint32_t l = 0; l < join->layer_count; l++)
        for (size_t row = 0; row < join->layers[l].by_rows.count; row++)
            join->row_of[join->layers[l].by_rows.values[row]] = 1;
    for (uint32_t value = 0; value < join->by->count; value++) {
        bool occurs = join->row_of[value] != 0;
        join->row_of[value] = (uint32_t)join->count;
        join->values[join->count] = value;
        join->count += occurs;
    }
    return 0;
}

/* ---- columns */

static void list_columns(struct sta_join *join)
{
    const struct sta_preset *preset = join->hlm->bound->preset;
    for (uint32_t l = 0; l < join->layer_count; l++) {
        const struct sta_layer_view *layer = &join->layers[l];
        const struct sta_layer *meant = &preset->layers[layer->rows.layer];
        char *prefix = join->options.layer == STA_NO_LAYER ? sta_sprintf("%s_", meant->name) : sta_strdup("");
        sta_view_columns_add(&join->columns, layer, STA_LAYER_ITSELF, prefix, join->options.scores);
        for (uint32_t m = 0; join->options.derived && m < meant->metric_count; m++)
            sta_view_columns_add(&join->columns, layer, m, prefix, join->options.scores);
        free(prefix);
    }
}

int sta_join_init(struct sta_join *join, const struct sta_hlm *hlm, const struct sta_by *by,
                  const struct sta_join_options *options, const struct sta_budget *budget,
                  struct sta_error *err)
{
    *join = (struct sta_join){
        .hlm = hlm, .by = by, .options = *options, .budget = budget, .pool = {.budget = budget}};
    join->layer_count = options->layer == STA_NO_LAYER ? (uint32_t)hlm->bound->preset->layer_count : 1;
    join->layers = sta_alloc_array((size_t)join->layer_count + 1, sizeof *join->layers);
    int rc = sta_tasks_run(budget, join->layer_count, prepare_layer, join, err);
    if (rc == 0)
        rc = join_rows(join, err);
    if (rc == 0)
        list_columns(join);
    return rc;
}

void sta_join_fini(struct sta_join *join)
{
    for (uint32_t l = 0; l < join->layer_count; l++)
        sta_pool_fini(&join->layers[l].rows.pool);
    sta_view_columns_fini(&join->columns);
    free(join->layers);
    sta_pool_fini(&join->pool);
    *join = (struct sta_join){0};
}

/* What the table's columns are sorted by. */
struct place {
    struct sta_join_extra column;
    const struct sta_view_column *of; /* NULL: an extra one */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->column.name, ((const struct place *)b)->column.name);
}

/* A layer view: columns of the main view by name, each with its statistics; then what is counted. */
static int by_stem(const void *a, const void *b)
{
    const struct sta_view_column *x = ((const struct place *)a)->of, *y = ((const struct place *)b)->of;
    int order = (x->stat == STA_STAT_NUNIQUE) - (y->stat == STA_STAT_NUNIQUE);
    if (order == 0)
        order = memcmp(x->name, y->name, STA_MIN(x->stem, y->stem));
    if (order == 0)
        order = (x->stem > y->stem) - (x->stem < y->stem);
    return order != 0 ? order : (int)x->stat - (int)y->stat;
}

static void add_columns(struct sta_join *join, const struct sta_join_extra *extras, size_t extra_count)
{
    size_t count = 0;
    struct place *places = sta_alloc_array(join->columns.count + extra_count + 1, sizeof *places);
    for (size_t i = 0; i < join->columns.count; i++) {
        struct sta_view_column *column = &join->columns.items[i];
        places[count++] = (struct place){
            {column->name, sta_view_column_unit(column), sta_view_column_type(column), &column->at}, column};
    }
    for (size_t i = 0; i < extra_count; i++)
        places[count++] = (struct place){extras[i], NULL};
    qsort(places, count, sizeof *places, join->options.layer == STA_NO_LAYER ? by_name : by_stem);
    for (size_t i = 0; i < count; i++) {
        *places[i].column.at = join->table->column_count;
        sta_table_add(join->table, places[i].column.name, places[i].column.type, places[i].column.unit);
    }
    free(places);
}

/* ---- cells */

/* Row of the table where a row of a layer's view is. */
static size_t row_in(const struct sta_join *join, const struct sta_layer_view *layer, size_t row)
{
    return join->row_of[layer->by_rows.values[row]];
}

/* Whether a sum, or what is taken of sums, goes beyond 64 bits. */
static bool is_too_large(const struct sta_view_column *meant, double value)
{
    if (meant->measure != STA_MEASURE_SIZE && meant->measure != STA_MEASURE_TIME)
        return false;
    return isinf(value) || (sta_view_column_type(meant) == STA_TYPE_INT && value >= 0x1p63);
}

static void put_numbers(const struct sta_join *join, const struct sta_layer_view *layer,
                        const struct sta_view_column *meant, struct sta_table_column *column,
                        const double *cells)
{
    bool finite = join->options.layer == STA_NO_LAYER;
    for (size_t row = 0; row < layer->by_rows.count; row++) {
        size_t at = row_in(join, layer, row);
        bool too_large = is_too_large(meant, cells[row]);
        column->too_large += too_large;
        if (isnan(cells[row]) || too_large || (finite && isinf(cells[row])))
            continue;
        column->missing[at] = 0;
        if (column->type == STA_TYPE_INT)
            column->integers[at] = (int64_t)cells[row];
        else
            column->numbers[at] = cells[row];
    }
}

static const double *steps_of(enum sta_stat stat)
{
    if (stat == STA_STAT_SLOPE)
        return sta_score_slopes;
    return stat == STA_STAT_MEAN ? sta_score_intensities : sta_score_shares;
}

static void put_scores(const struct sta_join *join, const struct sta_layer_view *layer,
                       const struct sta_view_column *meant, struct sta_table_column *column,
                       const double *cells)
{
    /* A process that has the layer but no bytes of the metric counts as the worst (quirk). */
    bool worst =
        sta_by_units_are_rows(join->by) && meant->stat == STA_STAT_MEAN && meant->metric != STA_LAYER_ITSELF;
    for (size_t row = 0; row < layer->by_rows.count; row++) {
        size_t at = row_in(join, layer, row);
        bool there = isfinite(cells[row]);
        if (!there && !worst)
            continue;
        column->missing[at] = 0;
        column->integers[at] = there ? sta_score(steps_of(meant->stat), cells[row]) : STA_SCORE_STEPS;
    }
}

/* Quantiles as JSON lists.  The texts of a column go into the arena together, under a lock of the table's. */
static int put_quantiles(struct sta_join *join, const struct sta_layer_view *layer,
                         struct sta_table_column *column, const double *cells, struct sta_error *err)
{
    struct sta_buffer text;
    struct sta_account *account = join->table->account;
    const size_t rows = layer->by_rows.count;
    size_t *start = sta_account_alloc(account, rows + 1, sizeof *start, "the quantiles of a table", err);
    if (start == NULL)
        return err->status;
    sta_buffer_init(&text);
    text.account = account;
    for (size_t row = 0; row < rows; row++) {
        const double *numbers = cells + row * STA_QUANTILE_NUMBERS;
        start[row] = text.size;
        sta_put_char(&text, '[');
        sta_put_double(&text, numbers[0]);
        sta_put_text(&text, ", ");
        sta_put_double(&text, numbers[1]);
        sta_put_text(&text, ", ");
        if (isnan(numbers[2]))
            sta_put_text(&text, "null");
        else
            sta_put_int(&text, (int64_t)numbers[2]);
        sta_put_char(&text, ']');
    }
    start[rows] = text.size;
    uv_mutex_lock(&join->lock);
    const char *kept =
        text.failed || rows == 0 ? NULL : sta_arena_copy(&join->table->arena, text.data, text.size);
    uv_mutex_unlock(&join->lock);
    int rc = text.failed ? sta_fail(err, STA_ENOMEM, "no memory for the quantiles of %zu rows", rows) : 0;
    for (size_t row = 0; row < rows && kept != NULL; row++) {
        column->texts[row_in(join, layer, row)] =
            (struct sta_text){kept + start[row], (uint32_t)(start[row + 1] - start[row])};
        column->missing[row_in(join, layer, row)] = 0;
    }
    sta_buffer_fini(&text);
    sta_account_free(account, start);
    return rc;
}

static int put_column(struct sta_join *join, const struct sta_layer_view *layer,
                      const struct sta_view_column *meant, const struct sta_layer_metric *metric,
                      struct sta_error *err)
{
    struct sta_table_column *column = &join->table->columns[meant->at];
    const double *cells = metric->cells[meant->measure][meant->stat];
    if (column->type == STA_TYPE_LIST)
        return put_quantiles(join, layer, column, cells, err);
    if (meant->score)
        put_scores(join, layer, meant, column, cells);
    else
        put_numbers(join, layer, meant, column, cells);
    return 0;
}

/* ---- tasks: a metric each */

struct fill {
    struct sta_join *join;
    size_t *first; /* by task: its first column; one more */
    size_t count;
};

static bool same_metric(const struct sta_view_column *a, const struct sta_view_column *b)
{
    return a->layer == b->layer && a->metric == b->metric;
}

static void share_out(struct fill *fill)
{
    const struct sta_view_columns *columns = &fill->join->columns;
    fill->first = sta_alloc_array(columns->count + 1, sizeof *fill->first);
    for (size_t i = 0; i < columns->count; i++)
        if (i == 0 || !same_metric(&columns->items[i], &columns->items[i - 1]))
            fill->first[fill->count++] = i;
    fill->first[fill->count] = columns->count;
}

static int fill_metric(void *context, unsigned worker, size_t task, struct sta_error *err)
{
    const struct fill *fill = context;
    struct sta_join *join = fill->join;
    const struct sta_view_column *first = &join->columns.items[fill->first[task]];
    const struct sta_layer_view *layer =
        &join->layers[join->options.layer == STA_NO_LAYER ? first->layer : 0];
    struct sta_layer_metric metric;
    int rc = sta_layer_metric_init(&metric, layer, first->metric, err);
    for (size_t i = fill->first[task]; rc == 0 && i < fill->first[task + 1]; i++)
        rc = put_column(join, layer, &join->columns.items[i], &metric, err);
    sta_pool_fini(&metric.pool);
    return rc;
}

int sta_join_fill(struct sta_join *join, const struct sta_join_extra *extras, size_t extra_count,
                  struct sta_table *table, struct sta_error *err)
{
    struct fill fill = {.join = join};
    double cells = (double)join->count * (double)(join->columns.count + extra_count + 1);
    sta_table_init(table, join->count);
    sta_table_count_in(table, join->budget->account);
    int rc = sta_budget_memory(join->budget, (double)join->hlm->pool.bytes + cells * (sizeof(double) + 1),
                               "the table", err);
    if (rc != 0)
        return rc;
    join->table = table;
    sta_view_add_key(table, join->by, join->hlm->axes, join->values);
    add_columns(join, extras, extra_count);
    share_out(&fill);
    uv_mutex_init(&join->lock);
    rc = sta_tasks_run(join->budget, fill.count, fill_metric, &fill, err);
    uv_mutex_destroy(&join->lock);
    free(fill.first);
    return rc;
}
