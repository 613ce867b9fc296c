/* Unit by unit: the table, and how the units compare. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/overlap/tables.h"
#include "common/account.h"
#include "common/buffer.h"
#include "common/memory.h"

/* ---- the table: its columns are added first, then filled row by row */

void sta_add_pairs(const struct sta_overlap_request *request, struct sta_table *table)
{
    static const char *const between[] = {"and", "minus", "minus"};
    for (uint32_t a = 0; a < request->set_count; a++)
        for (uint32_t b = a + 1; b < request->set_count; b++)
            for (unsigned part = 0; part < STA_PAIR_PARTS; part++) {
                const char *first = request->sets[part == STA_PAIR_SECOND ? b : a].name;
                const char *second = request->sets[part == STA_PAIR_SECOND ? a : b].name;
                char *name = sta_sprintf("%s_%s_%s", first, between[part], second);
                sta_add_seconds(table, name);
                free(name);
            }
}

void sta_put_pairs(const struct sta_overlap_request *request, const struct sta_figures *figures,
                   struct sta_table_column **column, size_t row)
{
    for (uint32_t a = 0; a < request->set_count; a++)
        for (uint32_t b = a + 1; b < request->set_count; b++)
            for (unsigned part = 0; part < STA_PAIR_PARTS; part++)
                sta_put_seconds(request, (*column)++, row, sta_figures_pair(figures, a, b, part));
}

static void add_columns(const struct sta_overlap_request *request, struct sta_table *table)
{
    static const char *const ends[] = {"start", "end", "span", "idle"};
    if (request->scope.kind == STA_SCOPE_RANK_GROUP)
        sta_table_add(table, "processes", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < STA_COUNT_OF(ends); i++)
        sta_add_seconds(table, ends[i]);
    for (uint32_t s = 0; s < request->set_count; s++) {
        char *events = sta_sprintf("%s_events", request->sets[s].name);
        char *busy = sta_sprintf("%s_busy", request->sets[s].name);
        sta_table_add(table, events, STA_TYPE_INT, NULL);
        sta_add_seconds(table, busy);
        free(events);
        free(busy);
    }
    sta_add_pairs(request, table);
}

static void put_unit(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                     struct sta_table_column *column, size_t row)
{
    const uint32_t unit = results->units[row];
    const struct sta_host_span *span = &results->spans[unit];
    struct sta_figures figures = {0};
    size_t count;
    const struct sta_sweep_cell *cells = sta_figures_cells(results, unit, &count);
    sta_figures_add(&figures, span, cells, count);
    const __int128 times[] = {span->start, span->end, figures.span, figures.span - figures.covered};
    if (request->scope.kind == STA_SCOPE_RANK_GROUP)
        sta_table_set_int(column++, row, results->processes[unit]);
    for (size_t i = 0; i < STA_COUNT_OF(times); i++)
        sta_put_seconds(request, column++, row, times[i]);
    for (uint32_t s = 0; s < request->set_count; s++) {
        sta_table_set_int(column++, row, results->counts[(size_t)unit * results->set_count + s]);
        sta_put_seconds(request, column++, row, figures.busy[s]);
    }
    sta_put_pairs(request, &figures, &column, row);
}

void sta_overlap_per_scope(const struct sta_overlap_request *request,
                           const struct sta_overlap_results *results, struct sta_table *table)
{
    sta_table_init(table, results->unit_count);
    sta_scope_put_keys(results->scope, table, results->units);
    size_t first = table->column_count;
    add_columns(request, table);
    for (size_t row = 0; row < results->unit_count; row++)
        put_unit(request, results, &table->columns[first], row);
}

/* ---- how the units compare */

/* A column of the table of units, and memory for as many numbers. */
struct measure {
    const struct sta_table_column *column;
    double *sorted;
    size_t count; /* of them that have a value */
    size_t least, most;
};

static int compare_numbers(const void *a, const void *b, void *context)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int sort_measure(struct measure *measure, size_t rows, const struct sta_budget *budget,
                        struct sta_error *err)
{
    const double *values = measure->column->numbers;
    measure->count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (measure->column->missing[i])
            continue;
        const bool first = measure->count == 0;
        measure->least = first || values[i] < values[measure->least] ? i : measure->least;
        measure->most = first || values[i] > values[measure->most] ? i : measure->most;
        measure->sorted[measure->count++] = values[i];
    }
    return sta_sort(budget, measure->sorted, measure->count, sizeof *measure->sorted, compare_numbers, NULL,
                    err);
}

static bool is_measure(const struct sta_table_column *column, size_t keys, size_t number)
{
    return number >= keys && column->type == STA_TYPE_FLOAT && strcmp(column->name, "start") != 0 &&
           strcmp(column->name, "end") != 0;
}

static void put_slowest(const struct sta_overlap_results *results, const struct sta_overlap_request *request,
                        uint32_t unit, struct sta_buffer *out)
{
    size_t count;
    const char *const *names = sta_scope_names(&request->scope, &count);
    sta_buffer_clear(out);
    sta_put_char(out, '{');
    for (size_t k = 0; k < count; k++) {
        sta_put_text(out, k > 0 ? ", " : "");
        sta_put_json_string(out, names[k], strlen(names[k]));
        sta_put_text(out, ": ");
        sta_scope_put_json(results->scope, unit, k, out);
    }
    sta_put_char(out, '}');
}

static void put_measure(const struct sta_overlap_results *results, const struct sta_overlap_request *request,
                        const struct measure *measure, struct sta_table *table, size_t row)
{
    enum { OF, MINIMUM, MEDIAN, MAXIMUM, SLOWEST };
    const double *sorted = measure->sorted;
    const size_t count = measure->count;
    struct sta_buffer keys;
    sta_table_set_string(table, &table->columns[OF], row, measure->column->name);
    if (count == 0)
        return;
    sta_buffer_init(&keys);
    put_slowest(results, request, results->units[measure->most], &keys);
    sta_table_set_number(&table->columns[MINIMUM], row, sorted[0]);
    sta_table_set_number(&table->columns[MEDIAN], row,
                         count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2);
    sta_table_set_number(&table->columns[MAXIMUM], row, sorted[count - 1]);
    sta_table_set_text(table, &table->columns[SLOWEST], row, keys.data, keys.size);
    sta_buffer_fini(&keys);
}

static int put_measures(const struct sta_overlap_results *results, const struct sta_overlap_request *request,
                        const struct sta_table *per_scope, size_t keys, struct measure *measure,
                        const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    int rc = STA_OK;
    size_t row = 0;
    for (size_t c = 0; rc == 0 && row < table->rows && c < per_scope->column_count; c++) {
        measure->column = &per_scope->columns[c];
        if (!is_measure(measure->column, keys, c))
            continue;
        rc = sort_measure(measure, results->unit_count, budget, err);
        if (rc == 0)
            put_measure(results, request, measure, table, row++);
    }
    return rc;
}

int sta_overlap_statistics(const struct sta_overlap_results *results,
                           const struct sta_overlap_request *request, const struct sta_table *per_scope,
                           const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    static const struct sta_column_info columns[] = {{"of", NULL, STA_TYPE_TEXT},
                                                     {"minimum", "s", STA_TYPE_FLOAT},
                                                     {"median", "s", STA_TYPE_FLOAT},
                                                     {"maximum", "s", STA_TYPE_FLOAT},
                                                     {"slowest", NULL, STA_TYPE_LIST}};
    struct measure measure = {0};
    size_t keys, rows = 0;
    sta_scope_names(&request->scope, &keys);
    for (size_t c = 0; c < per_scope->column_count; c++)
        rows += is_measure(&per_scope->columns[c], keys, c);
    measure.sorted = sta_account_alloc(budget->account, results->unit_count, sizeof *measure.sorted,
                                       "the median of units", err);
    if (measure.sorted == NULL)
        return err->status;
    sta_table_init(table, results->unit_count > 0 ? rows : 0);
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
    int rc = put_measures(results, request, per_scope, keys, &measure, budget, table, err);
    sta_account_free(budget->account, measure.sorted);
    return rc;
}
