/* Typed, named columns with units. */
#include "common/table.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"

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
    return malloc_usable_size(column->integers) + malloc_usable_size(column->numbers) +
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

void sta_table_fini(struct sta_table *table)
{
    sta_account_release(table->account, columns_bytes(table));
    for (size_t i = 0; i < table->column_count; i++) {
        free(table->columns[i].name);
        free(table->columns[i].integers);
        free(table->columns[i].numbers);
        free(table->columns[i].texts);
        free(table->columns[i].missing);
    }
    free(table->columns);
    free(table->next);
    sta_arena_fini(&table->arena);
    *table = (struct sta_table){0};
}

struct sta_table_column *sta_table_add(struct sta_table *table, const char *name, enum sta_type type,
                                       const char *unit)
{
    STA_GROW(table->columns, table->column_capacity, table->column_count + 1);
    struct sta_table_column *column = &table->columns[table->column_count++];
    *column = (struct sta_table_column){.name = sta_strdup(name), .unit = unit, .type = type};
    if (type == STA_TYPE_INT || type == STA_TYPE_BOOL)
        column->integers = sta_alloc_array(table->rows, sizeof *column->integers);
    else if (type == STA_TYPE_FLOAT)
        column->numbers = sta_alloc_array(table->rows, sizeof *column->numbers);
    else if (type != STA_TYPE_NULL)
        column->texts = sta_alloc_array(table->rows, sizeof *column->texts);
    column->missing = sta_alloc_array(table->rows, sizeof *column->missing);
    memset(column->missing, 1, table->rows);
    sta_account_overdraw(table->account, column_bytes(column));
    return column;
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
    column->integers[row] = value;
    column->missing[row] = 0;
}

void sta_table_set_number(struct sta_table_column *column, size_t row, double value)
{
    STA_ASSERT(column->type == STA_TYPE_FLOAT);
    if (!isfinite(value))
        return;
    column->numbers[row] = value;
    column->missing[row] = 0;
}

void sta_table_set_text(struct sta_table *table, struct sta_table_column *column, size_t row,
                        const char *bytes, size_t length)
{
    STA_ASSERT(column->type == STA_TYPE_TEXT || column->type == STA_TYPE_LIST);
    column->texts[row] = (struct sta_text){sta_arena_copy(&table->arena, bytes, length), (uint32_t)length};
    column->missing[row] = 0;
}
