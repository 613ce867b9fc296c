/* The high-level metrics as a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/compatible/tables.h"

/* Rows of the table: groups that agree on all that it shows, which stand side by side. */
struct rows {
    const struct sta_hlm *hlm;
    size_t *start; /* by row, and one more: into the groups */
    size_t count;
};

static bool shows_alike(const struct sta_hlm *hlm, const struct sta_group *a, const struct sta_group *b)
{
    const struct sta_hlm_kind *x = &hlm->kinds[a->kind], *y = &hlm->kinds[b->kind];
    return a->key == b->key && x->cat.bytes == y->cat.bytes && x->func.bytes == y->func.bytes &&
           x->io_cat == y->io_cat;
}

static void find_rows(struct rows *rows, const struct sta_hlm *hlm)
{
    *rows = (struct rows){.hlm = hlm, .start = sta_alloc_array(hlm->count + 1, sizeof *rows->start)};
    for (size_t g = 0; g < hlm->count; g++)
        if (g == 0 || !shows_alike(hlm, &hlm->groups[g - 1], &hlm->groups[g]))
            rows->start[rows->count++] = g;
    rows->start[rows->count] = hlm->count;
}

static const struct sta_hlm_kind *kind_of(const struct rows *rows, size_t row)
{
    return &rows->hlm->kinds[rows->hlm->groups[rows->start[row]].kind];
}

/* ---- keys */

static void add_keys(struct sta_table *table, const struct rows *rows)
{
    uint64_t *keys = sta_alloc_array(rows->count + 1, sizeof *keys);
    for (size_t row = 0; row < rows->count; row++)
        keys[row] = rows->hlm->groups[rows->start[row]].key;
    sta_table_add_keys(table, rows->hlm->axes, keys);
    free(keys);
}

/* A text of each kind; copied once, as there are few. */
static void add_text(struct sta_table *table, const struct rows *rows, const char *name, bool func)
{
    const struct sta_hlm *hlm = rows->hlm;
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_TEXT, NULL);
    struct sta_text *texts = sta_alloc_array((size_t)hlm->kind_count + 1, sizeof *texts);
    for (uint32_t k = 0; k < hlm->kind_count; k++) {
        struct sta_text text = func ? hlm->kinds[k].func : hlm->kinds[k].cat;
        texts[k] = (struct sta_text){sta_arena_copy(&table->arena, text.bytes, text.length), text.length};
    }
    for (size_t row = 0; row < rows->count; row++) {
        column->texts[row] = texts[kind_of(rows, row) - hlm->kinds];
        column->missing[row] = 0;
    }
    free(texts);
}

static void add_kinds(struct sta_table *table, const struct rows *rows)
{
    add_text(table, rows, "cat", false);
    struct sta_table_column *io_cat = sta_table_add(table, "io_cat", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < rows->count; row++)
        sta_table_set_int(io_cat, row, kind_of(rows, row)->io_cat);
    struct sta_table_column *acc_pat = sta_table_add(table, "acc_pat", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < rows->count; row++)
        sta_table_set_int(acc_pat, row, 0);
    add_text(table, rows, "func_name", true);
}

/* ---- numbers; 0 stays missing */

static void set_count(struct sta_table_column *column, size_t row, int64_t value)
{
    if (value > 0)
        sta_table_set_int(column, row, value);
    column->too_large += value == STA_TOO_LARGE;
}

static void add_sums(struct sta_table *table, const struct rows *rows)
{
    struct sta_table_column *time = sta_table_add(table, "time", STA_TYPE_FLOAT, "s");
    for (size_t row = 0; row < rows->count; row++) {
        struct sta_sum sum = {0};
        for (size_t g = rows->start[row]; g < rows->start[row + 1]; g++)
            sta_sum_add(&sum, rows->hlm->groups[g].time);
        if (sum.sum != 0)
            sta_table_set_number(time, row, sum.sum); /* which leaves an infinite one missing */
        time->too_large += isinf(sum.sum) != 0;
    }
    struct sta_table_column *count = sta_table_add(table, "count", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < rows->count; row++) {
        int64_t sum = 0;
        for (size_t g = rows->start[row]; g < rows->start[row + 1]; g++)
            sum += rows->hlm->groups[g].count;
        set_count(count, row, sum);
    }
}

/* @bin: a size bin, or -1 for the size itself */
static void add_size(struct sta_table *table, const struct rows *rows, int bin)
{
    const struct sta_hlm *hlm = rows->hlm;
    struct sta_table_column *column =
        sta_table_add(table, bin < 0 ? "size" : sta_size_bin_names[bin], STA_TYPE_INT, bin < 0 ? "B" : NULL);
    for (size_t row = 0; row < rows->count; row++) {
        int64_t sum = 0;
        for (size_t g = rows->start[row]; g < rows->start[row + 1]; g++) {
            if (hlm->groups[g].sizes == STA_NO_SIZES)
                continue;
            const struct sta_group_sizes *sizes = &hlm->sizes[hlm->groups[g].sizes];
            sum = sta_bounded_add(sum, bin < 0 ? sizes->size : sizes->bins[bin]);
        }
        set_count(column, row, sum);
    }
}

/* ---- sets */

static int add_set(struct sta_lists *lists, const struct rows *rows, enum sta_axis axis,
                   struct sta_error *err)
{
    const struct sta_members *members = &rows->hlm->members[axis];
    struct sta_table_column *column = sta_table_add(lists->table, sta_axis_names[axis], STA_TYPE_LIST, NULL);
    struct sta_values values = {0};
    int rc = 0;
    for (size_t row = 0; rc == 0 && row < rows->count; row++) {
        bool missing = false;
        values.count = 0;
        for (size_t g = rows->start[row]; g < rows->start[row + 1]; g++) {
            missing |= members->missing[g] != 0;
            sta_values_add(&values, members, (uint32_t)g);
        }
        if (!missing)
            rc = sta_lists_set(lists, column, row, axis, &values, err);
    }
    free(values.items);
    return rc;
}

int sta_hlm_table(const struct sta_hlm *hlm, const struct sta_budget *budget, struct sta_table *table,
                  struct sta_error *err)
{
    struct rows rows;
    struct sta_lists lists = {.table = table, .hlm = hlm, .budget = budget};
    find_rows(&rows, hlm);
    sta_table_init(table, rows.count);
    int rc =
        sta_budget_memory(budget, (double)rows.count * (7 + STA_SIZE_BINS + STA_AXES) * 9, "the table", err);
    if (rc == 0) {
        add_keys(table, &rows);
        add_kinds(table, &rows);
        add_sums(table, &rows);
    }
    for (int bin = -1; rc == 0 && bin < STA_SIZE_BINS; bin++) {
        rc = sta_budget_check(budget, err);
        add_size(table, &rows, bin);
    }
    for (int axis = 0; rc == 0 && axis < STA_AXES; axis++)
        if (!hlm->axes->grouped[axis])
            rc = add_set(&lists, &rows, (enum sta_axis)axis, err);
    free(rows.start);
    return rc;
}
