/* asked_view.c - see asked_view.h. */
#include "asked_view.h"

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
                            const struct answer *answer)
{
    struct sta_view_basis *basis;
    struct answer again = {.err = STA_ERROR_INIT};
    if (answer->status != 0 || !sta_view_has_basis(query))
        return;
    cr_assert_eq(sta_view_basis_create(query, budget, &basis, &again.err), 0, "%s", again.err.text);
    cr_assert_gt(sta_view_basis_bytes(basis), 0);
    cr_assert_eq(sta_view_compatible(query, basis, budget, &again.table, &again.facts, &again.err), 0);
    char *alone = show_all(&answer->table), *shared = show_all(&again.table);
    cr_assert_str_eq(shared, alone);
    cr_assert_eq(again.facts.count, answer->facts.count);
    for (size_t i = 0; i < again.facts.count; i++)
        cr_assert_eq(again.facts.items[i].integer, answer->facts.items[i].integer, "%s",
                     again.facts.items[i].name);
    free(alone);
    free(shared);
    sta_table_fini(&again.table);
    sta_view_basis_destroy(basis);
}

struct answer ask_of(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                     const struct asked *asked)
{
    struct answer answer = {.err = STA_ERROR_INIT};
    struct sta_view_query common = {.snapshot = snapshot,
                                    .presets = presets,
                                    .preset = asked->preset != NULL ? asked->preset : "posix",
                                    .filters = !asked->no_filters,
                                    .filter = asked->filter,
                                    .has_from = asked->from > 0,
                                    .has_to = asked->to > 0,
                                    .from = asked->from,
                                    .to = asked->to};
    struct sta_table_query query = {.common = &common,
                                    .table = asked->table,
                                    .layer = asked->layer,
                                    .by = asked->by,
                                    .views = asked->views,
                                    .granularity_us =
                                        asked->granularity_us != 0 ? asked->granularity_us : 1000000,
                                    .quantiles = asked->quantiles};
    while (query.view_count < 3 && asked->views[query.view_count] != NULL)
        query.view_count++;
    struct sta_budget budget = {.workers = asked->workers > 0 ? asked->workers : 2,
                                .memory = asked->memory > 0 ? asked->memory : (size_t)1 << 30,
                                .spill_folder = asked->spill_folder,
                                .cancel = asked->cancel};
    answer.status = sta_view_compatible(&query, NULL, &budget, &answer.table, &answer.facts, &answer.err);
    expect_the_same(&query, &budget, &answer);
    return answer;
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

char *show(const struct answer *answer, const char *names)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    cr_assert_eq(answer->status, 0, "%s", answer->err.text);
    for (size_t c = 0; names == NULL && c < answer->table.column_count; c++)
        sta_put_format(&out, "%s%s", c > 0 ? " " : "", answer->table.columns[c].name);
    for (size_t row = 0; names != NULL && row < answer->table.rows; row++) {
        char *list = sta_strdup(names), *rest = list;
        for (char *name; (name = strsep(&rest, " ")) != NULL;) {
            const struct sta_table_column *column = sta_table_find(&answer->table, name);
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

int64_t fact(const struct answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->facts.count; i++)
        if (strcmp(answer->facts.items[i].name, name) == 0)
            return answer->facts.items[i].integer;
    cr_assert_fail("no fact %s", name);
    return 0;
}

void expect_view(const char *text, const struct asked *asked, const char *names, const char *wanted)
{
    struct decoded_trace trace;
    struct sta_presets *presets = load_built_in(NULL);
    decoded_trace_init(&trace, text);
    struct answer answer = ask_of(trace.snapshot, presets, asked);
    char *got = show(&answer, names);
    cr_expect_str_eq(got, wanted, "%s:\n%s\nnot\n%s", names, got, wanted);
    free(got);
    sta_table_fini(&answer.table);
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
