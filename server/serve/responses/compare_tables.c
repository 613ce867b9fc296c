/* The same table of several runs, put beside a baseline.
 *
 * DESIGN.  All rows of all runs are sorted by key; rows of equal key make a group, and a group has a place
 * for each run.  The compared table has the groups one after the other, in each the runs in their order. */
#include "serve/responses/compare_tables.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"

static const char WHAT[] = "a comparison of runs";

#define NO_ROW UINT32_MAX
#define CELL_BYTES 17 /* of a value of any type, and whether it is missing */

/* A row of one of the runs. */
struct row {
    uint32_t run, number;
};

/* Rows of equal key. */
struct group {
    struct row first; /* whose keys are shown: of the first run that has it */
    uint32_t *of_run; /* row number by run, or NO_ROW */
};

struct compared {
    const struct sta_comparison *asked;
    struct group *groups;
    size_t group_count;
    uint32_t *places; /* behind the groups' of_run */
};

/* ---- groups */

static int compare_cells(const struct sta_table_column *a, uint32_t row_a, const struct sta_table_column *b,
                         uint32_t row_b)
{
    if (a->missing[row_a] || b->missing[row_b])
        return a->missing[row_a] - b->missing[row_b];
    if (a->integers != NULL && b->integers != NULL)
        return (a->integers[row_a] > b->integers[row_b]) - (a->integers[row_a] < b->integers[row_b]);
    if (a->numbers != NULL && b->numbers != NULL)
        return (a->numbers[row_a] > b->numbers[row_b]) - (a->numbers[row_a] < b->numbers[row_b]);
    if (a->texts == NULL || b->texts == NULL)
        return (int)a->type - (int)b->type; /* a key that is no text everywhere: its types keep apart */
    return sta_text_order(a->texts[row_a], b->texts[row_b]);
}

static int compare_keys(const struct sta_comparison *asked, struct row a, struct row b)
{
    int order = 0;
    for (size_t k = 0; k < asked->keys && order == 0; k++)
        order = compare_cells(&asked->tables[a.run]->columns[k], a.number, &asked->tables[b.run]->columns[k],
                              b.number);
    return order;
}

static int compare_places(struct row a, struct row b)
{
    if (a.run != b.run)
        return a.run < b.run ? -1 : 1;
    return (a.number > b.number) - (a.number < b.number);
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct row *a = left, *b = right;
    int order = compare_keys(context, *a, *b);
    return order != 0 ? order : compare_places(*a, *b);
}

static int compare_groups(const void *left, const void *right)
{
    return compare_places(((const struct group *)left)->first, ((const struct group *)right)->first);
}

static struct row *sorted_rows(const struct sta_comparison *asked, struct sta_account *account, size_t *count,
                               struct sta_error *err)
{
    *count = 0;
    for (size_t run = 0; run < asked->count; run++)
        *count += asked->tables[run]->rows;
    struct row *rows = sta_account_alloc(account, *count + 1, sizeof *rows, WHAT, err), *at = rows;
    if (rows == NULL)
        return NULL;
    for (uint32_t run = 0; run < asked->count; run++)
        for (uint32_t number = 0; number < asked->tables[run]->rows; number++)
            *at++ = (struct row){run, number};
    qsort_r(rows, *count, sizeof *rows, compare_rows, (void *)(uintptr_t)asked);
    return rows;
}

/* A run may have a key once: a second row of it starts a group of its own. */
static int find_groups(struct compared *compared, struct sta_account *account, struct sta_error *err)
{
    const struct sta_comparison *asked = compared->asked;
    size_t count;
    struct row *rows = sorted_rows(asked, account, &count, err);
    if (rows != NULL)
        compared->groups = sta_account_alloc(account, count + 1, sizeof *compared->groups, WHAT, err);
    if (compared->groups != NULL)
        compared->places =
            sta_account_alloc(account, (count + 1) * asked->count, sizeof *compared->places, WHAT, err);
    if (compared->places == NULL) {
        sta_account_free(account, rows);
        return err->status;
    }
    memset(compared->places, 0xff, (count + 1) * asked->count * sizeof *compared->places);
    struct group *group = NULL;
    for (size_t i = 0; i < count; i++) {
        bool same = group != NULL && compare_keys(asked, group->first, rows[i]) == 0 &&
                    group->of_run[rows[i].run] == NO_ROW;
        if (!same) {
            group = &compared->groups[compared->group_count];
            *group = (struct group){rows[i], compared->places + compared->group_count++ * asked->count};
        }
        group->of_run[rows[i].run] = rows[i].number;
    }
    sta_account_free(account, rows);
    if (asked->in_order)
        qsort(compared->groups, compared->group_count, sizeof *compared->groups, compare_groups);
    return STA_OK;
}

/* ---- columns */

static bool is_numeric(const struct sta_table_column *column)
{
    return column->type == STA_TYPE_INT || column->type == STA_TYPE_FLOAT;
}

static double number_of(const struct sta_table_column *column, size_t row)
{
    return column->type == STA_TYPE_INT ? (double)column->integers[row] : column->numbers[row];
}

static void copy_cell(struct sta_table_column *to, size_t at, const struct sta_table_column *from, size_t row)
{
    if (from->missing[row])
        return;
    if (to->type == STA_TYPE_FLOAT)
        sta_table_set_number(to, at, number_of(from, row));
    else if (to->integers != NULL)
        sta_table_set_int(to, at, from->integers[row]);
    else {
        to->texts[at] = from->texts[row];
        to->missing[at] = 0;
    }
}

static void put_keys(const struct compared *compared, struct sta_table *table)
{
    const struct sta_comparison *asked = compared->asked;
    for (size_t k = 0; k < asked->keys; k++) {
        const struct sta_table_column *model = &asked->tables[0]->columns[k];
        struct sta_table_column *to = sta_table_add(table, model->name, model->type, model->unit);
        for (size_t at = 0; at < table->rows; at++) {
            struct row first = compared->groups[at / asked->count].first;
            const struct sta_table_column *from = &asked->tables[first.run]->columns[k];
            if (from->type == model->type)
                copy_cell(to, at, from, first.number);
        }
    }
}

static void put_labels(const struct compared *compared, struct sta_table *table)
{
    const struct sta_comparison *asked = compared->asked;
    struct sta_table_column *to = sta_table_add(table, "trace", STA_TYPE_TEXT, NULL);
    for (size_t at = 0; at < table->rows; at++) {
        const char *label = asked->labels[at % asked->count];
        to->texts[at] = (struct sta_text){label, (uint32_t)strlen(label)};
        to->missing[at] = 0;
    }
}

/* The type that holds a column of all runs; NULL type: they don't go together. */
static enum sta_type common_type(const struct sta_comparison *asked, const char *name)
{
    enum sta_type type = STA_TYPE_NULL;
    for (size_t run = 0; run < asked->count; run++) {
        const struct sta_table_column *column = sta_table_find(asked->tables[run], name);
        if (column == NULL || column->type == type)
            continue;
        bool numbers = type == STA_TYPE_INT || type == STA_TYPE_FLOAT;
        if (type == STA_TYPE_NULL)
            type = column->type;
        else if (numbers && is_numeric(column))
            type = STA_TYPE_FLOAT;
        else
            return STA_TYPE_NULL;
    }
    return type;
}

static void put_values(const struct compared *compared, struct sta_table *table,
                       const struct sta_table_column *model)
{
    const struct sta_comparison *asked = compared->asked;
    enum sta_type type = common_type(asked, model->name);
    if (type == STA_TYPE_NULL || sta_table_find(table, model->name) != NULL)
        return;
    struct sta_table_column *to = sta_table_add(table, model->name, type, model->unit);
    for (size_t run = 0; run < asked->count; run++) {
        const struct sta_table_column *from = sta_table_find(asked->tables[run], model->name);
        for (size_t group = 0; from != NULL && group < compared->group_count; group++)
            if (compared->groups[group].of_run[run] != NO_ROW)
                copy_cell(to, group * asked->count + run, from, compared->groups[group].of_run[run]);
    }
}

/* ---- against the baseline */

static void set_difference(struct sta_table_column *delta, size_t at, const struct sta_table_column *column,
                           size_t base)
{
    int64_t difference;
    if (column->type == STA_TYPE_FLOAT)
        sta_table_set_number(delta, at, column->numbers[at] - column->numbers[base]);
    else if (!__builtin_sub_overflow(column->integers[at], column->integers[base], &difference))
        sta_table_set_int(delta, at, difference);
}

static struct sta_table_column *add_named(struct sta_table *table, const char *name, const char *behind,
                                          enum sta_type type, const char *unit)
{
    char *whole = sta_sprintf("%s_%s", name, behind);
    struct sta_table_column *column = sta_table_add(table, whole, type, unit);
    free(whole);
    return column;
}

/* @number: of the column in the table, which moves when columns are added. */
static void put_comparison(const struct sta_comparison *asked, struct sta_table *table, size_t number)
{
    struct sta_table_column column = table->columns[number];
    struct sta_table_column *baseline = add_named(table, column.name, "baseline", column.type, column.unit);
    for (size_t at = 0; at < table->rows; at++)
        copy_cell(baseline, at, &column, at - at % asked->count + asked->baseline);
    struct sta_table_column *delta = add_named(table, column.name, "delta", column.type, column.unit);
    for (size_t at = 0; at < table->rows; at++) {
        size_t base = at - at % asked->count + asked->baseline;
        if (!column.missing[at] && !column.missing[base])
            set_difference(delta, at, &column, base);
    }
    struct sta_table_column *ratio = add_named(table, column.name, "ratio", STA_TYPE_FLOAT, NULL);
    for (size_t at = 0; at < table->rows; at++) {
        size_t base = at - at % asked->count + asked->baseline;
        if (!column.missing[at] && !column.missing[base] && number_of(&column, base) != 0)
            sta_table_set_number(ratio, at, number_of(&column, at) / number_of(&column, base));
    }
}

static void fill(const struct compared *compared, struct sta_table *table)
{
    const struct sta_comparison *asked = compared->asked;
    sta_table_init(table, compared->group_count * asked->count);
    put_keys(compared, table);
    put_labels(compared, table);
    size_t first = table->column_count;
    for (size_t run = 0; run < asked->count; run++)
        for (size_t c = asked->keys; c < asked->tables[run]->column_count; c++)
            put_values(compared, table, &asked->tables[run]->columns[c]);
    for (size_t c = first, end = table->column_count; c < end; c++)
        if (is_numeric(&table->columns[c]))
            put_comparison(asked, table, c);
}

int sta_compare_tables(const struct sta_comparison *asked, const struct sta_budget *budget,
                       struct sta_table *table, struct sta_error *err)
{
    const double memory = (double)budget->memory;
    double cells = 0;
    for (size_t run = 0; run < asked->count; run++)
        cells += (double)asked->tables[run]->rows * (double)asked->tables[run]->column_count;
    if (cells * 4 * (double)asked->count * CELL_BYTES > memory)
        return sta_fail(
            err, STA_ELIMIT,
            "The comparison would take %.0f MB, more than %.0f MB (setting query_memory); narrow it by "
            "a filter, or compare a query",
            cells * 4 * (double)asked->count * CELL_BYTES / 1e6, memory / 1e6);
    struct compared compared = {.asked = asked};
    int rc = find_groups(&compared, budget->account, err);
    if (rc == STA_OK)
        fill(&compared, table);
    sta_account_free(budget->account, compared.groups);
    sta_account_free(budget->account, compared.places);
    return rc;
}
