/* Typed, named columns with units. */
#include "common/table.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"
#include "common/parallel.h"

const char *sta_type_name(enum sta_type type)
{
    static const char *const names[] = {"null", "condition", "integer", "number", "text", "list"};
    return names[type];
}

const char *sta_static_unit(const char *unit)
{
    static const char *const units[] = {"s", "us", "B", "B/s"};
    for (size_t i = 0; unit != NULL && i < STA_COUNT_OF(units); i++)
        if (strcmp(unit, units[i]) == 0)
            return units[i];
    return NULL;
}

void sta_table_init(struct sta_table *table, size_t rows)
{
    *table = (struct sta_table){.rows = rows, .row_count = rows};
}

static size_t column_bytes(const struct sta_table_column *column)
{
    return column->refused ? 0
                           : malloc_usable_size(column->integers) + malloc_usable_size(column->numbers) +
                                 malloc_usable_size(column->texts) + malloc_usable_size(column->missing);
}

static size_t columns_bytes(const struct sta_table *table)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table->column_count; i++)
        bytes += column_bytes(&table->columns[i]);
    return bytes;
}

size_t sta_table_bytes(const struct sta_table *table)
{
    return columns_bytes(table) + table->arena.bytes;
}

void sta_table_count_in(struct sta_table *table, struct sta_account *account)
{
    size_t bytes = sta_table_bytes(table);
    sta_account_overdraw(account, bytes);
    sta_account_release(table->account, bytes);
    table->account = account;
    table->arena.account = account;
}

static void free_arrays(const struct sta_table_column *column)
{
    sta_free(column->integers);
    sta_free(column->numbers);
    sta_free(column->texts);
    sta_free(column->missing);
}

void sta_table_fini(struct sta_table *table)
{
    sta_account_release(table->account, columns_bytes(table));
    for (size_t i = 0; i < table->column_count; i++) {
        free(table->columns[i].name);
        if (!table->columns[i].refused)
            free_arrays(&table->columns[i]);
    }
    free_arrays(&table->sink);
    free(table->columns);
    free(table->next);
    sta_arena_fini(&table->arena);
    *table = (struct sta_table){0};
}

/* Zeroed; NULL: refused, and the account has the sticky failure. */
static void *alloc_values(const struct sta_table *table, size_t size)
{
    void *values = sta_account_alloc_sticky(table->account, table->rows, size, "the rows of a table");
    return values != NULL ? sta_parallel_zero(values, table->rows * size) : NULL;
}

static bool alloc_arrays(const struct sta_table *table, struct sta_table_column *column)
{
    void *values = NULL;
    if (column->type == STA_TYPE_INT || column->type == STA_TYPE_BOOL)
        values = column->integers = alloc_values(table, sizeof *column->integers);
    else if (column->type == STA_TYPE_FLOAT)
        values = column->numbers = alloc_values(table, sizeof *column->numbers);
    else if (column->type != STA_TYPE_NULL)
        values = column->texts = alloc_values(table, sizeof *column->texts);
    if (values != NULL || column->type == STA_TYPE_NULL)
        column->missing = alloc_values(table, sizeof *column->missing);
    if (column->missing != NULL)
        return true;
    sta_account_free(table->account, values);
    return false;
}

/* Arrays that may be written and read, with no meaning, until who makes the table sees the failure. */
static void share_arrays(struct sta_table *table, struct sta_table_column *column)
{
    struct sta_table_column *sink = &table->sink;
    if (sink->missing == NULL) {
        sink->integers = sta_alloc_array(table->rows, sizeof *sink->integers);
        sink->numbers = sta_alloc_array(table->rows, sizeof *sink->numbers);
        sink->texts = sta_alloc_array(table->rows, sizeof *sink->texts);
        sink->missing = sta_alloc_array(table->rows, sizeof *sink->missing);
        memset(sink->missing, 1, table->rows);
    }
    const bool integer = column->type == STA_TYPE_INT || column->type == STA_TYPE_BOOL;
    const bool text = column->type == STA_TYPE_TEXT || column->type == STA_TYPE_LIST;
    column->integers = integer ? sink->integers : NULL;
    column->numbers = column->type == STA_TYPE_FLOAT ? sink->numbers : NULL;
    column->texts = text ? sink->texts : NULL;
    column->missing = sink->missing;
    column->refused = true;
}

struct sta_table_column *sta_table_add(struct sta_table *table, const char *name, enum sta_type type,
                                       const char *unit)
{
    STA_GROW(table->columns, table->column_capacity, table->column_count + 1);
    struct sta_table_column *column = &table->columns[table->column_count++];
    *column = (struct sta_table_column){.name = sta_strdup(name), .unit = unit, .type = type};
    if (alloc_arrays(table, column))
        memset(column->missing, 1, table->rows);
    else
        share_arrays(table, column);
    return column;
}

void sta_table_add_all(struct sta_table *table, const struct sta_column_info *columns, size_t count)
{
    for (size_t c = 0; c < count; c++)
        sta_table_add(table, columns[c].name, columns[c].type, columns[c].unit);
}

struct sta_table_column *sta_table_find(const struct sta_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

void sta_table_set_int(struct sta_table_column *column, size_t row, int64_t value)
{
    STA_ASSERT(column->type == STA_TYPE_INT || column->type == STA_TYPE_BOOL);
    if (column->refused)
        return;
    column->integers[row] = value;
    column->missing[row] = 0;
}

void sta_table_set_number(struct sta_table_column *column, size_t row, double value)
{
    STA_ASSERT(column->type == STA_TYPE_FLOAT);
    if (!isfinite(value) || column->refused)
        return;
    column->numbers[row] = value;
    column->missing[row] = 0;
}

void sta_table_set_text(struct sta_table *table, struct sta_table_column *column, size_t row,
                        const char *bytes, size_t length)
{
    STA_ASSERT(column->type == STA_TYPE_TEXT || column->type == STA_TYPE_LIST);
    if (column->refused)
        return;
    column->texts[row] = (struct sta_text){sta_arena_copy(&table->arena, bytes, length), (uint32_t)length};
    column->missing[row] = 0;
}

void sta_table_set_string(struct sta_table *table, struct sta_table_column *column, size_t row,
                          const char *text)
{
    if (text != NULL)
        sta_table_set_text(table, column, row, text, strlen(text));
}

void sta_table_copy_row(struct sta_table *table, size_t row, const struct sta_table *from, size_t from_row)
{
    STA_ASSERT(table->column_count == from->column_count);
    for (size_t i = 0; i < table->column_count; i++) {
        struct sta_table_column *to = &table->columns[i];
        const struct sta_table_column *column = &from->columns[i];
        STA_ASSERT(to->type == column->type);
        if (column->missing[from_row])
            continue;
        if (column->integers != NULL)
            sta_table_set_int(to, row, column->integers[from_row]);
        else if (column->numbers != NULL)
            sta_table_set_number(to, row, column->numbers[from_row]);
        else if (column->texts != NULL)
            sta_table_set_text(table, to, row, column->texts[from_row].bytes, column->texts[from_row].length);
    }
}

/* ---- as bytes: rows, columns; of each column its name, unit, type, and for each row whether there is a
 * value, and that */

static void write_column(const struct sta_table_column *column, size_t rows, struct sta_buffer *out)
{
    sta_put_block(out, column->name, strlen(column->name));
    sta_put_block(out, column->unit != NULL ? column->unit : "",
                  column->unit != NULL ? strlen(column->unit) : 0);
    sta_put_u32(out, column->type);
    for (size_t row = 0; row < rows; row++) {
        uint64_t bits = 0;
        sta_put_u32(out, !column->missing[row]);
        if (column->missing[row])
            continue;
        if (column->texts != NULL) {
            sta_put_block(out, column->texts[row].bytes, column->texts[row].length);
            continue;
        }
        memcpy(&bits, column->numbers != NULL ? (const void *)&column->numbers[row] : &column->integers[row],
               sizeof bits);
        sta_put_u64(out, bits);
    }
}

void sta_table_write(const struct sta_table *table, struct sta_buffer *out)
{
    sta_put_u64(out, table->rows);
    sta_put_u32(out, (uint32_t)table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        write_column(&table->columns[i], table->rows, out);
}

static void read_value(struct sta_cursor *bytes, struct sta_table *table, struct sta_table_column *column,
                       size_t row)
{
    if (column->texts != NULL) {
        size_t size = 0;
        const char *text = sta_get_block(bytes, &size);
        if (text != NULL)
            sta_table_set_text(table, column, row, text, size);
        return;
    }
    const uint64_t bits = sta_get_u64(bytes);
    double number;
    memcpy(&number, &bits, sizeof number);
    if (column->numbers != NULL)
        sta_table_set_number(column, row, number);
    else if (column->integers != NULL)
        sta_table_set_int(column, row, (int64_t)bits);
}

static bool read_column(struct sta_cursor *bytes, struct sta_table *table)
{
    char name[256], unit[16];
    size_t name_size = 0, unit_size = 0;
    const char *name_at = sta_get_block(bytes, &name_size), *unit_at = sta_get_block(bytes, &unit_size);
    const uint32_t type = sta_get_u32(bytes);
    if (bytes->failed || name_size >= sizeof name || unit_size >= sizeof unit || type > STA_TYPE_LIST)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)name_size, name_at);
    snprintf(unit, sizeof unit, "%.*s", (int)unit_size, unit_at);
    struct sta_table_column *column = sta_table_add(table, name, (enum sta_type)type, sta_static_unit(unit));
    for (size_t row = 0; row < table->rows && !bytes->failed; row++)
        if (sta_get_u32(bytes) != 0)
            read_value(bytes, table, column, row);
    return !bytes->failed;
}

bool sta_table_read(struct sta_cursor *bytes, struct sta_table *table)
{
    const uint64_t rows = sta_get_u64(bytes);
    const uint32_t columns = sta_get_u32(bytes);
    bool good = !bytes->failed && rows <= (size_t)(bytes->end - bytes->at);
    sta_table_init(table, good ? rows : 0);
    for (uint32_t i = 0; good && i < columns; i++)
        good = read_column(bytes, table);
    return good && bytes->at == bytes->end;
}
