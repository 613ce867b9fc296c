/* metrics.md section 8: a row per layer, from the flat view. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compatible/flat.h"
#include "analyse/compatible/sum.h"
#include "common/memory.h"

/* One column of the flat view, or none. */
struct cells {
    const struct sta_table_column *column;
    size_t rows;
};

static struct cells find(const struct sta_table *flat, const char *prefix, const char *layer,
                         const char *name)
{
    char *full = sta_sprintf("%s%s_%s", prefix, layer, name);
    struct cells cells = {sta_table_find(flat, full), flat->rows};
    free(full);
    return cells;
}

static bool there(const struct cells *cells, size_t row)
{
    return cells->column != NULL && !cells->column->missing[row];
}

static int64_t integer(const struct cells *cells, size_t row)
{
    return there(cells, row) ? cells->column->integers[row] : 0;
}

/* ---- folds; @where: rows in which it is above 0, or NULL for all */

static int64_t add_up(const struct cells *cells, const struct cells *where)
{
    int64_t sum = cells->column != NULL && cells->column->too_large > 0 ? STA_TOO_LARGE : 0;
    for (size_t row = 0; row < cells->rows; row++)
        if (where == NULL || (there(where, row) && where->column->numbers[row] > 0))
            sum = sta_bounded_add(sum, integer(cells, row));
    return sum;
}

static int64_t largest(const struct cells *cells)
{
    int64_t most = 0;
    for (size_t row = 0; row < cells->rows; row++)
        most = STA_MAX(most, integer(cells, row));
    return most;
}

/* Times: the largest by process, else the sum.  Return: false when there is no value to take the largest
 * of, or one is too large. */
static bool fold_time(const struct cells *cells, bool by_process, bool above_zero, double *out)
{
    size_t count = 0;
    if (cells->column != NULL && cells->column->too_large > 0)
        return false;
    double *values = sta_alloc_array(cells->rows + 1, sizeof *values);
    for (size_t row = 0; row < cells->rows; row++) {
        values[count] = there(cells, row) ? cells->column->numbers[row] : 0;
        count += above_zero ? values[count] > 0 : !by_process || there(cells, row);
    }
    *out = by_process ? (count > 0 ? values[0] : 0) : sta_sum_pairwise(values, count);
    for (size_t i = 0; by_process && i < count; i++)
        *out = STA_MAX(*out, values[i]);
    free(values);
    return count > 0 || !by_process;
}

/* ---- rows */

struct row {
    struct sta_table *table;
    size_t at;
};

static void put_int(const struct row *row, const char *name, int64_t value)
{
    struct sta_table_column *column = sta_table_find(row->table, name);
    if (value == STA_TOO_LARGE)
        column->too_large++;
    else
        sta_table_set_int(column, row->at, value);
}

static void put_number(const struct row *row, const char *name, double value)
{
    sta_table_set_number(sta_table_find(row->table, name), row->at, value);
}

/* 1 - part / whole, never below 0; missing where the whole is 0. */
static void put_overlap(const struct row *row, const char *name, double part, double whole)
{
    if (whole > 0 && part >= 0)
        put_number(row, name, STA_MAX(0.0, 1 - part / whole));
}

struct layer_sums {
    bool has_time, has_size;
    double time;
    int64_t count, size;
};

static void put_beyond_compute(const struct row *row, const struct sta_table *flat, const char *layer,
                               bool by_process, const struct layer_sums *sums)
{
    struct cells beyond = find(flat, "u_", layer, by_process ? "time_sum" : "time_max");
    struct cells count = find(flat, "", layer, "count_sum"), size = find(flat, "", layer, "size_sum");
    double time;
    if (beyond.column == NULL)
        return;
    if (!fold_time(&beyond, by_process, true, &time))
        time = 0;
    put_number(row, "u_time", time);
    put_int(row, "u_count", add_up(&count, &beyond));
    if (sums->has_time)
        put_overlap(row, "overlap", time, sums->time);
    put_overlap(row, "overlap_count", (double)add_up(&count, &beyond), (double)sums->count);
    if (!sums->has_size)
        return;
    put_int(row, "u_size", add_up(&size, &beyond));
    put_overlap(row, "overlap_size", (double)add_up(&size, &beyond), (double)sums->size);
}

static void put_layer(const struct row *row, const struct sta_table *flat, const struct sta_layer *layer,
                      bool by_process)
{
    struct cells time = find(flat, "", layer->name, by_process ? "time_sum" : "time_max");
    struct cells count = find(flat, "", layer->name, "count_sum"),
                 size = find(flat, "", layer->name, "size_sum");
    struct cells files = find(flat, "", layer->name, "file_name_nunique");
    struct cells processes = find(flat, "", layer->name, "proc_name_nunique");
    struct layer_sums sums = {
        .has_size = sta_layer_has_files(layer), .count = add_up(&count, NULL), .size = add_up(&size, NULL)};
    sums.has_time = fold_time(&time, by_process, false, &sums.time);
    sta_table_find(row->table, "time")->too_large += time.column != NULL && time.column->too_large > 0;
    sta_table_set_string(row->table, sta_table_find(row->table, "name"), row->at, layer->name);
    put_int(row, "count", sums.count);
    if (sums.has_time) {
        put_number(row, "time", sums.time);
        if (sums.time != 0)
            put_number(row, "ops", (double)sums.count / sums.time);
    }
    if (sums.has_size)
        put_int(row, "size", sums.size);
    if (sums.has_size && sums.size != STA_TOO_LARGE && sums.has_time && sums.time != 0)
        put_number(row, "bandwidth", (double)sums.size / sums.time);
    put_int(row, "num_files", largest(&files));
    put_int(row, "num_processes", largest(&processes));
    put_beyond_compute(row, flat, layer->name, by_process, &sums);
}

static void add_columns(struct sta_table *table)
{
    static const struct sta_column_info columns[] = {
        {"name", NULL, STA_TYPE_TEXT},           {"time", "s", STA_TYPE_FLOAT},
        {"count", NULL, STA_TYPE_INT},           {"size", "B", STA_TYPE_INT},
        {"ops", NULL, STA_TYPE_FLOAT},           {"bandwidth", "B/s", STA_TYPE_FLOAT},
        {"num_files", NULL, STA_TYPE_INT},       {"num_processes", NULL, STA_TYPE_INT},
        {"u_time", "s", STA_TYPE_FLOAT},         {"u_count", NULL, STA_TYPE_INT},
        {"u_size", "B", STA_TYPE_INT},           {"overlap", NULL, STA_TYPE_FLOAT},
        {"overlap_count", NULL, STA_TYPE_FLOAT}, {"overlap_size", NULL, STA_TYPE_FLOAT}};
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
}

/* ---- whole trace */

static int say_totals(const struct sta_hlm *hlm, const struct sta_table *table,
                      const struct sta_budget *budget, struct sta_facts *facts, struct sta_error *err)
{
    int64_t files = 0, events = 0;
    struct sta_by hosts;
    for (size_t row = 0; row < table->rows; row++) {
        files += sta_table_find(table, "num_files")->integers[row];
        events += sta_table_find(table, "count")->integers[row];
    }
    int rc = sta_by_init(&hosts, "host_name", hlm->axes, hlm->bound->preset, budget, err);
    if (rc == 0) {
        sta_facts_int(facts, "layer_count_total", events);
        sta_facts_int(facts, "num_files",
                      hlm->axes->grouped[STA_AXIS_FILE] ? hlm->axes->count[STA_AXIS_FILE] : files);
        sta_facts_int(facts, "num_hosts", hosts.count);
        sta_facts_int(facts, "num_processes", hlm->axes->count[STA_AXIS_PROC]);
    }
    sta_by_fini(&hosts);
    return rc;
}

int sta_summary_view(const struct sta_hlm *hlm, const struct sta_by *by, const struct sta_budget *budget,
                     struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    const struct sta_preset *preset = hlm->bound->preset;
    struct sta_table flat;
    sta_table_init(table, preset->layer_count);
    add_columns(table);
    int rc = sta_flat_view(hlm, by, false, false, budget, &flat, err);
    for (size_t l = 0; rc == 0 && l < preset->layer_count; l++)
        put_layer(&(struct row){table, l}, &flat, &preset->layers[l], sta_by_units_are_rows(by));
    sta_table_fini(&flat);
    return rc == 0 ? say_totals(hlm, table, budget, facts, err) : rc;
}
