/* Rows that are held in a table, in the order of the table or in another one.
 *
 * DESIGN.  The table never changes.  An order is a list of row numbers beside it, a choice of columns a list
 * of column numbers, so that arranging costs four bytes per row, and a page costs its own rows. */
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"
#include "serve/responses/result.h"

#define POSITION_SIZE 8

struct held {
    struct sta_table table;
    void *owner;
    void (*release)(void *owner);
};

struct arranged {
    struct sta_result *base; /* what holds `held`; NULL: this itself does */
    struct held *held;
    uint32_t *order;   /* row numbers; NULL: as in the table */
    uint32_t *columns; /* column numbers; NULL: all */
    size_t column_count;
};

struct reader {
    const struct arranged *rows;
    size_t next;
};

static void table_destroy(void *self)
{
    struct arranged *rows = self;
    if (rows->base != NULL) {
        sta_result_release(rows->base);
    } else {
        sta_table_fini(&rows->held->table);
        if (rows->held->release != NULL)
            rows->held->release(rows->held->owner);
        free(rows->held);
    }
    free(rows->order);
    free(rows->columns);
    free(rows);
}

static uint64_t table_bytes(const void *self)
{
    const struct arranged *rows = self;
    const struct sta_table *table = &rows->held->table;
    uint64_t bytes = sizeof *rows + (rows->order ? table->rows * sizeof *rows->order : 0);
    return rows->base != NULL ? bytes : bytes + sta_table_bytes(table); /* the base counts its own */
}

static int table_count(void *self, const struct sta_budget *budget, uint64_t *count, struct sta_error *err)
{
    *count = ((const struct arranged *)self)->held->table.row_count;
    return STA_OK;
}

static int table_open(void *self, const struct sta_budget *budget, const void *after, size_t after_size,
                      void **made, struct sta_error *err)
{
    const struct arranged *rows = self;
    uint64_t next = 0;
    if (after != NULL) {
        struct sta_cursor bytes = {after, (const unsigned char *)after + after_size, false};
        next = sta_get_u64(&bytes);
        if (bytes.failed || bytes.at != bytes.end || next > rows->held->table.rows)
            return sta_fail(err, STA_EINPUT, "The cursor names no row of this result");
    }
    struct reader *reader = sta_alloc(sizeof *reader);
    *reader = (struct reader){rows, next};
    *made = reader;
    return STA_OK;
}

static void table_skip(void *context, uint64_t count)
{
    struct reader *reader = context;
    reader->next += (size_t)STA_MIN(count, (uint64_t)(reader->rows->held->table.rows - reader->next));
}

static void copy_cell(struct sta_table_column *to, size_t at, const struct sta_table_column *from, size_t row)
{
    to->missing[at] = from->missing[row];
    if (to->integers != NULL)
        to->integers[at] = from->integers[row];
    else if (to->numbers != NULL)
        to->numbers[at] = from->numbers[row];
    else if (to->texts != NULL)
        to->texts[at] = from->texts[row]; /* the bytes stay where they are */
}

static int table_read(void *context, size_t most, struct sta_table *table, struct sta_error *err)
{
    struct reader *reader = context;
    const struct arranged *rows = reader->rows;
    const struct sta_table *all = &rows->held->table;
    size_t count = STA_MIN(most, all->rows - reader->next);
    size_t columns = rows->columns != NULL ? rows->column_count : all->column_count;
    sta_table_init(table, count);
    for (size_t c = 0; c < columns; c++) {
        const struct sta_table_column *from = &all->columns[rows->columns != NULL ? rows->columns[c] : c];
        struct sta_table_column *to = sta_table_add(table, from->name, from->type, from->unit);
        for (size_t i = 0; i < count; i++)
            copy_cell(to, i, from, rows->order != NULL ? rows->order[reader->next + i] : reader->next + i);
    }
    reader->next += count;
    return STA_OK;
}

static bool table_position(void *context, struct sta_buffer *position)
{
    const struct reader *reader = context;
    if (reader->next >= reader->rows->held->table.rows)
        return false;
    sta_put_u64(position, reader->next);
    return true;
}

static const struct sta_result_class table_class = {
    .destroy = table_destroy,
    .bytes = table_bytes,
    .count = table_count,
    .open = table_open,
    .skip = table_skip,
    .read = table_read,
    .position = table_position,
    .close = free,
};

struct sta_result *sta_result_of_table(struct sta_table *table, void *owner, void (*release)(void *owner))
{
    struct arranged *rows = sta_alloc(sizeof *rows);
    rows->held = sta_alloc(sizeof *rows->held);
    sta_table_count_in(table, NULL); /* the result is counted as a whole */
    *rows->held = (struct held){*table, owner, release};
    *table = (struct sta_table){0};
    return sta_result_create(&table_class, rows);
}

const struct sta_table *sta_result_table(const struct sta_result *result)
{
    STA_ASSERT(result->class == &table_class);
    return &((const struct arranged *)result->self)->held->table;
}

/* ---- another order */

struct sort_key {
    const struct sta_table_column *column;
    bool descending;
};

struct sort {
    struct sort_key *keys;
    size_t count;
};

static int compare_values(const struct sta_table_column *column, uint32_t a, uint32_t b)
{
    if (column->integers != NULL)
        return (column->integers[a] > column->integers[b]) - (column->integers[a] < column->integers[b]);
    if (column->numbers != NULL)
        return (column->numbers[a] > column->numbers[b]) - (column->numbers[a] < column->numbers[b]);
    if (column->texts == NULL)
        return 0;
    return sta_text_order(column->texts[a], column->texts[b]);
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct sort *sort = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    for (size_t i = 0; i < sort->count; i++) {
        const struct sta_table_column *column = sort->keys[i].column;
        if (column->missing[a] != column->missing[b])
            return column->missing[a] ? 1 : -1;
        int order = column->missing[a] ? 0 : compare_values(column, a, b);
        if (order != 0)
            return sort->keys[i].descending ? -order : order;
    }
    return (a > b) - (a < b);
}

static int fail_column(const struct sta_table *table, const char *name, const char *parameter,
                       struct sta_error *err)
{
    char *names = sta_join_names(table->columns, sizeof *table->columns, table->column_count);
    sta_fail_at(err, STA_EINPUT, parameter, "There is no column \"%.60s\" in this table; there are: %s", name,
                names);
    free(names);
    return err->status;
}

static int find_keys(const struct sta_table *table, const struct sta_name_list *order, struct sort *sort,
                     struct sta_error *err)
{
    for (size_t i = 0; i < order->count; i++) {
        const char *name = order->names[i];
        bool descending = *name == '-' && sta_table_find(table, name) == NULL;
        const struct sta_table_column *column = sta_table_find(table, name + descending);
        if (column == NULL)
            return fail_column(table, name + descending, order->parameter, err);
        if (column->type == STA_TYPE_LIST)
            return sta_fail_at(err, STA_EINPUT, order->parameter,
                               "The column \"%s\" holds lists, which have no order", column->name);
        sort->keys[sort->count++] = (struct sort_key){column, descending};
    }
    return STA_OK;
}

static int sort_rows(struct arranged *rows, const struct sta_name_list *order,
                     const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_table *table = &rows->held->table;
    struct sort sort = {sta_alloc_array(order->count, sizeof *sort.keys), 0};
    int status = find_keys(table, order, &sort, err);
    if (status == STA_OK)
        status = sta_account_check(budget->account, table->rows * sizeof *rows->order, "sorting", err);
    if (status == STA_OK) {
        rows->order = sta_try_alloc_array(STA_MAX(table->rows, 1), sizeof *rows->order);
        if (rows->order == NULL)
            status = sta_fail(err, STA_ENOMEM, "no memory to sort %zu rows", table->rows);
    }
    if (status == STA_OK) {
        for (size_t i = 0; i < table->rows; i++)
            rows->order[i] = (uint32_t)i;
        status = sta_sort(budget, rows->order, table->rows, sizeof *rows->order, compare_rows, &sort, err);
    }
    free(sort.keys);
    return status;
}

static int choose_columns(struct arranged *rows, const struct sta_name_list *columns, struct sta_error *err)
{
    const struct sta_table *table = &rows->held->table;
    rows->columns = sta_alloc_array(columns->count, sizeof *rows->columns);
    for (size_t i = 0; i < columns->count; i++) {
        const struct sta_table_column *column = sta_table_find(table, columns->names[i]);
        if (column == NULL)
            return fail_column(table, columns->names[i], columns->parameter, err);
        rows->columns[rows->column_count++] = (uint32_t)(column - table->columns);
    }
    return STA_OK;
}

int sta_result_arrange(struct sta_result *base, const struct sta_name_list *order,
                       const struct sta_name_list *columns, const struct sta_budget *budget,
                       struct sta_result **made, struct sta_error *err)
{
    STA_ASSERT(base->class == &table_class);
    struct arranged *rows = sta_alloc(sizeof *rows);
    rows->base = sta_result_retain(base);
    rows->held = ((const struct arranged *)base->self)->held;
    int status = STA_OK;
    if (order->count > 0)
        status = sort_rows(rows, order, budget, err);
    if (status == STA_OK && columns->count > 0)
        status = choose_columns(rows, columns, err);
    if (status != STA_OK) {
        table_destroy(rows);
        return status;
    }
    *made = sta_result_create(&table_class, rows);
    sta_put(&(*made)->head, base->head.data, base->head.size);
    (*made)->member = base->member;
    (*made)->tail = base->tail;
    (*made)->one_page = base->one_page;
    return STA_OK;
}
