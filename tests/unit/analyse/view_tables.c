/* view_tables.c - see view_tables.h. */
#include "view_tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "built_in.h"
#include "common/buffer.h"
#include "common/memory.h"
#include "decoded_trace.h"

/* Made from a basis, which other tables share, a table is the same. */
static void expect_the_same(const struct sta_table_query *query, const struct sta_budget *budget,
                            const struct view_result *result)
{
    struct sta_view_basis *basis;
    struct view_result again = {.err = STA_ERROR_INIT};
    if (result->status != 0 || !sta_view_has_basis(query))
        return;
    cr_assert_eq(sta_view_basis_create(query, budget, &basis, &again.err), 0, "%s", again.err.text);
    cr_assert_gt(sta_view_basis_bytes(basis), 0);
    cr_assert_eq(sta_view_compatible(query, basis, budget, &again.table, &again.facts, &again.err), 0);
    char *alone = show_all(&result->table), *shared = show_all(&again.table);
    cr_assert_str_eq(shared, alone);
    cr_assert_eq(again.facts.count, result->facts.count);
    for (size_t i = 0; i < again.facts.count; i++)
        cr_assert_eq(again.facts.items[i].integer, result->facts.items[i].integer, "%s",
                     again.facts.items[i].name);
    free(alone);
    free(shared);
    sta_table_fini(&again.table);
    sta_view_basis_destroy(basis);
}

struct view_result run_view(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                            const struct view_request *request)
{
    struct view_result result = {.err = STA_ERROR_INIT};
    struct sta_view_query common = {.snapshot = snapshot,
                                    .presets = presets,
                                    .preset = request->preset != NULL ? request->preset : "posix",
                                    .filters = !request->no_filters,
                                    .filter = request->filter,
                                    .has_from = request->from > 0,
                                    .has_to = request->to > 0,
                                    .from = request->from,
                                    .to = request->to};
    struct sta_table_query query = {.common = &common,
                                    .table = request->table,
                                    .layer = request->layer,
                                    .by = request->by,
                                    .views = request->views,
                                    .granularity_us =
                                        request->granularity_us != 0 ? request->granularity_us : 1000000,
                                    .quantiles = request->quantiles};
    while (query.view_count < 3 && request->views[query.view_count] != NULL)
        query.view_count++;
    struct sta_budget budget = {.workers = request->workers > 0 ? request->workers : 2,
                                .memory = request->memory > 0 ? request->memory : (size_t)1 << 30,
                                .spill_folder = request->spill_folder,
                                .cancel = request->cancel};
    result.status = sta_view_compatible(&query, NULL, &budget, &result.table, &result.facts, &result.err);
    expect_the_same(&query, &budget, &result);
    return result;
}

static void put_cell(struct sta_buffer *out, const struct sta_table_column *column, size_t row)
{
    if (column->missing[row])
        sta_put_char(out, '-');
    else if (column->type == STA_TYPE_INT)
        sta_put_int(out, column->integers[row]);
    else if (column->type == STA_TYPE_FLOAT && isinf(column->numbers[row]))
        sta_put_text(out, "inf");
    else if (column->type == STA_TYPE_FLOAT)
        sta_put_double(out, column->numbers[row]);
    else
        sta_put(out, column->texts[row].bytes, column->texts[row].length);
}

char *show(const struct view_result *result, const char *names)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    cr_assert_eq(result->status, 0, "%s", result->err.text);
    for (size_t c = 0; names == NULL && c < result->table.column_count; c++)
        sta_put_format(&out, "%s%s", c > 0 ? " " : "", result->table.columns[c].name);
    for (size_t row = 0; names != NULL && row < result->table.rows; row++) {
        char *list = sta_strdup(names), *rest = list;
        for (char *name; (name = strsep(&rest, " ")) != NULL;) {
            const struct sta_table_column *column = sta_table_find(&result->table, name);
            if (name != list)
                sta_put_char(&out, ' ');
            if (column == NULL)
                sta_put_char(&out, '?');
            else
                put_cell(&out, column, row);
        }
        sta_put_char(&out, '|');
        free(list);
    }
    return sta_buffer_take_text(&out);
}

int64_t fact(const struct view_result *result, const char *name)
{
    for (size_t i = 0; i < result->facts.count; i++)
        if (strcmp(result->facts.items[i].name, name) == 0)
            return result->facts.items[i].integer;
    cr_assert_fail("no fact %s", name);
    return 0;
}

void expect_view(const char *text, const struct view_request *request, const char *names, const char *wanted)
{
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, text);
    struct view_result result = run_view(trace.snapshot, presets, request);
    char *got = show(&result, names);
    cr_expect_str_eq(got, wanted, "%s:\n%s\nnot\n%s", names, got, wanted);
    free(got);
    sta_table_fini(&result.table);
    sta_presets_release(presets);
    decoded_trace_fini(&trace);
}

char *show_all(const struct sta_table *table)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (size_t c = 0; c < table->column_count; c++) {
        sta_put_text(&out, table->columns[c].name);
        for (size_t row = 0; row < table->rows; row++) {
            sta_put_char(&out, ' ');
            put_cell(&out, &table->columns[c], row);
        }
        sta_put_char(&out, '\n');
    }
    return sta_buffer_take_text(&out);
}
