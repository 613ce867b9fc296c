/* Totals: sums over units. */
#include <stdlib.h>
#include <string.h>

#include "analyse/overlap/tables.h"
#include "analyse/views/bound_query.h"
#include "common/buffer.h"
#include "common/memory.h"

/* ---- figures: what follows from how long each combination of sets was active */

void sta_figures_add(struct sta_figures *figures, const struct sta_host_span *span,
                     const struct sta_sweep_cell *cells, size_t count)
{
    figures->span += span->end - span->start;
    for (size_t c = 0; c < count; c++) {
        figures->covered += cells[c].time;
        for (uint32_t first = cells[c].mask; first != 0; first &= first - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(first);
            figures->busy[i] += cells[c].time;
            for (uint32_t rest = first & (first - 1); rest != 0; rest &= rest - 1)
                figures->both[i][__builtin_ctz(rest)] += cells[c].time;
        }
    }
}

const struct sta_sweep_cell *sta_figures_cells(const struct sta_overlap_results *results, uint32_t unit,
                                               size_t *count)
{
    size_t low = 0;
    for (size_t left = results->cell_count; left > 0;) {
        size_t half = left / 2;
        bool before = results->cells[low + half].unit < unit;
        low += before ? half + 1 : 0;
        left = before ? left - half - 1 : half;
    }
    size_t end = low;
    while (end < results->cell_count && results->cells[end].unit == unit)
        end++;
    *count = end - low;
    return results->cells + low;
}

__int128 sta_figures_pair(const struct sta_figures *figures, uint32_t a, uint32_t b, enum sta_pair_part part)
{
    __int128 both = figures->both[a][b];
    if (part == STA_PAIR_BOTH)
        return both;
    return figures->busy[part == STA_PAIR_FIRST ? a : b] - both;
}

/* ---- sets and pairs */

struct sta_table_column *sta_add_seconds(struct sta_table *table, const char *name)
{
    return sta_table_add(table, name, STA_TYPE_FLOAT, "s");
}

void sta_put_seconds(const struct sta_overlap_request *request, struct sta_table_column *column, size_t row,
                     __int128 ticks)
{
    if (ticks > INT64_MAX)
        column->too_large++;
    else
        sta_table_set_number(column, row, sta_overlap_seconds(request, ticks));
}

static void put_sets(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                     const struct sta_figures *total, const __int128 *largest, struct sta_table *table)
{
    enum { NAME, FILTER, EVENTS, INSTANT, TIME, BUSY, BUSY_MAX };
    static const struct sta_column_info columns[] = {
        {"name", NULL, STA_TYPE_TEXT},    {"filter", NULL, STA_TYPE_TEXT}, {"events", NULL, STA_TYPE_INT},
        {"instant", NULL, STA_TYPE_INT},  {"time", "s", STA_TYPE_FLOAT},   {"busy", "s", STA_TYPE_FLOAT},
        {"busy_max", "s", STA_TYPE_FLOAT}};
    sta_table_init(table, request->set_count);
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
    for (uint32_t s = 0; s < request->set_count; s++) {
        sta_table_set_string(table, &table->columns[NAME], s, request->sets[s].name);
        sta_table_set_string(table, &table->columns[FILTER], s, request->sets[s].text);
        sta_table_set_int(&table->columns[EVENTS], s, results->sets[s].events);
        sta_table_set_int(&table->columns[INSTANT], s, results->sets[s].instant);
        sta_put_seconds(request, &table->columns[TIME], s, results->sets[s].time);
        sta_put_seconds(request, &table->columns[BUSY], s, total->busy[s]);
        sta_put_seconds(request, &table->columns[BUSY_MAX], s, largest[s]);
    }
}

static void put_pairs(const struct sta_overlap_request *request, const struct sta_figures *total,
                      struct sta_table *table)
{
    enum { A, B, PARTS };
    static const struct sta_column_info columns[] = {{"a", NULL, STA_TYPE_TEXT},
                                                     {"b", NULL, STA_TYPE_TEXT},
                                                     {"overlap", "s", STA_TYPE_FLOAT},
                                                     {"a_minus_b", "s", STA_TYPE_FLOAT},
                                                     {"b_minus_a", "s", STA_TYPE_FLOAT}};
    sta_table_init(table, (size_t)request->set_count * (request->set_count - 1) / 2);
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
    size_t row = 0;
    for (uint32_t a = 0; a < request->set_count; a++)
        for (uint32_t b = a + 1; b < request->set_count; b++, row++) {
            sta_table_set_string(table, &table->columns[A], row, request->sets[a].name);
            sta_table_set_string(table, &table->columns[B], row, request->sets[b].name);
            for (unsigned part = 0; part < STA_PAIR_PARTS; part++)
                sta_put_seconds(request, &table->columns[PARTS + part], row,
                                sta_figures_pair(total, a, b, part));
        }
}

/* ---- combinations */

static __int128 *times_by_mask(const struct sta_overlap_results *results, uint32_t masks)
{
    __int128 *times = sta_alloc_array(masks, sizeof *times);
    for (size_t c = 0; c < results->cell_count; c++)
        times[results->cells[c].mask] += results->cells[c].time;
    return times;
}

void sta_overlap_put_sets(const struct sta_overlap_request *request, uint32_t mask, struct sta_buffer *out)
{
    sta_put_char(out, '[');
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const char *name = request->sets[__builtin_ctz(rest)].name;
        sta_put_text(out, rest != mask ? ", " : "");
        sta_put_json_string(out, name, strlen(name));
    }
    sta_put_char(out, ']');
}

static void put_groups(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                       struct sta_table *table)
{
    enum { SETS, TIME };
    uint32_t masks = 1u << request->set_count;
    __int128 *times = times_by_mask(results, masks);
    size_t rows = 0;
    for (uint32_t mask = 1; mask < masks; mask++)
        rows += times[mask] > 0;
    sta_table_init(table, rows);
    sta_table_add(table, "sets", STA_TYPE_LIST, NULL);
    sta_add_seconds(table, "time");
    struct sta_buffer list;
    sta_buffer_init(&list);
    size_t row = 0;
    for (uint32_t mask = 1; mask < masks; mask++) {
        if (times[mask] == 0)
            continue;
        sta_buffer_clear(&list);
        sta_overlap_put_sets(request, mask, &list);
        sta_table_set_text(table, &table->columns[SETS], row, list.data, list.size);
        sta_put_seconds(request, &table->columns[TIME], row++, times[mask]);
    }
    sta_buffer_fini(&list);
    free(times);
}

/* ---- concurrency: what of the spans is left is the time with no event */

static size_t put_set_concurrency(const struct sta_overlap_request *request,
                                  const struct sta_overlap_results *results, uint32_t s, __int128 span,
                                  struct sta_table *table, size_t row)
{
    enum { SET, ACTIVE, TIME };
    const struct sta_sweep_concurrency *concurrency = &results->concurrency[s];
    __int128 rest = span;
    for (size_t k = 1; k < concurrency->count; k++)
        rest -= concurrency->times[k];
    for (size_t k = 0; k < STA_MAX(concurrency->count, 1u); k++) {
        __int128 time = k == 0 ? rest : concurrency->times[k];
        if (time == 0)
            continue;
        if (table != NULL) {
            sta_table_set_string(table, &table->columns[SET], row, request->sets[s].name);
            sta_table_set_int(&table->columns[ACTIVE], row, (int64_t)k);
            sta_put_seconds(request, &table->columns[TIME], row, time);
        }
        row++;
    }
    return row;
}

static void put_concurrency(const struct sta_overlap_request *request,
                            const struct sta_overlap_results *results, __int128 span, struct sta_table *table)
{
    size_t rows = 0;
    for (uint32_t s = 0; s < request->set_count; s++)
        rows = put_set_concurrency(request, results, s, span, NULL, rows);
    sta_table_init(table, rows);
    sta_table_add(table, "set", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "active", STA_TYPE_INT, NULL);
    sta_add_seconds(table, "time");
    size_t row = 0;
    for (uint32_t s = 0; s < request->set_count; s++)
        row = put_set_concurrency(request, results, s, span, table, row);
}

void sta_overlap_totals(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                        struct sta_overlap_result *result)
{
    struct sta_figures total = {0};
    __int128 largest[STA_OVERLAP_SETS] = {0};
    for (uint32_t i = 0; i < results->unit_count; i++) {
        struct sta_figures unit = {0};
        size_t count;
        const struct sta_sweep_cell *cells = sta_figures_cells(results, results->units[i], &count);
        sta_figures_add(&unit, &results->spans[results->units[i]], cells, count);
        sta_figures_add(&total, &results->spans[results->units[i]], cells, count);
        for (uint32_t s = 0; s < request->set_count; s++)
            largest[s] = STA_MAX(largest[s], unit.busy[s]);
    }
    sta_facts_int(&result->facts, "scope_count", results->unit_count);
    sta_facts_number(&result->facts, "span", "s", sta_overlap_seconds(request, total.span));
    sta_facts_number(&result->facts, "idle", "s", sta_overlap_seconds(request, total.span - total.covered));
    put_sets(request, results, &total, largest, &result->sets);
    put_pairs(request, &total, &result->pairs);
    put_groups(request, results, &result->groups);
    put_concurrency(request, results, total.span, &result->concurrency);
}

/* ---- how single events of one set lie in the busy time of another (overlap.md section 2) */

static void put_row(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                    struct sta_table *table, size_t row, uint32_t a, uint32_t b)
{
    const struct sta_sweep_exposed *sum = &results->exposed[a * request->set_count + b];
    const struct sta_set_sums *set = &results->sets[a];
    const char *names[] = {request->sets[a].name, request->sets[b].name};
    const int64_t counts[] = {sum->hidden, sum->partial, sum->exposed, set->instant};
    const __int128 sizes[] = {sum->size + set->instant_size, sum->size_exposed};
    struct sta_table_column *column = table->columns;
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_table_set_string(table, column++, row, names[i]);
    for (size_t i = 0; i < STA_COUNT_OF(counts); i++)
        sta_table_set_int(column++, row, counts[i]);
    sta_put_seconds(request, column++, row, sum->time);
    sta_put_seconds(request, column++, row, sum->time_exposed);
    for (size_t i = 0; i < STA_COUNT_OF(sizes); i++)
        sta_table_set_number(column++, row, (double)sizes[i] / STA_BYTE_PARTS);
}

void sta_overlap_exposure(const struct sta_overlap_request *request,
                          const struct sta_overlap_results *results, struct sta_table *table)
{
    static const struct sta_column_info columns[] = {
        {"set", NULL, STA_TYPE_TEXT},    {"against", NULL, STA_TYPE_TEXT},
        {"hidden", NULL, STA_TYPE_INT},  {"partial", NULL, STA_TYPE_INT},
        {"exposed", NULL, STA_TYPE_INT}, {"instant", NULL, STA_TYPE_INT},
        {"time", "s", STA_TYPE_FLOAT},   {"time_exposed", "s", STA_TYPE_FLOAT},
        {"size", "B", STA_TYPE_FLOAT},   {"size_exposed", "B", STA_TYPE_FLOAT}};
    const uint32_t sets = request->set_count;
    sta_table_init(table, (size_t)sets * (sets - 1));
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
    size_t row = 0;
    for (uint32_t a = 0; a < sets; a++)
        for (uint32_t b = 0; b < sets; b++)
            if (a != b)
                put_row(request, results, table, row++, a, b);
}
