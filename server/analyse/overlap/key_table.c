/* Numbers for values, numbers for prefixes. */
#include "analyse/overlap/key_table.h"

#include <stdlib.h>

#include "common/memory.h"

void sta_key_table_init(struct sta_key_table *table, size_t columns)
{
    STA_ASSERT(columns <= STA_KEY_COLUMNS);
    *table = (struct sta_key_table){.columns = columns};
}

void sta_key_table_fini(struct sta_key_table *table)
{
    for (size_t c = 0; c < table->columns; c++) {
        struct sta_key_column *column = &table->items[c];
        sta_map_fini(&column->codes);
        sta_map_fini(&column->prefixes);
        free(column->values);
        free(column->pairs);
    }
    *table = (struct sta_key_table){0};
}

static uint32_t add_value(struct sta_key_column *column, struct sta_key_value value)
{
    STA_GROW(column->values, column->value_capacity, column->value_count + 1);
    column->values[column->value_count] = value;
    return (uint32_t)column->value_count++;
}

static uint32_t special_value(struct sta_key_column *column, uint32_t *number, struct sta_key_value value)
{
    if (*number == 0)
        *number = add_value(column, value) + 1;
    return *number - 1;
}

static uint32_t number_of_value(struct sta_key_column *column, struct sta_key_value value)
{
    if (value.missing)
        return special_value(column, &column->missing, value);
    if (value.bits == UINT64_MAX)
        return special_value(column, &column->all_ones, value);
    bool added;
    uint32_t number = sta_map_intern(&column->codes, value.bits, (uint32_t)column->value_count, &added);
    if (added)
        add_value(column, value);
    return number;
}

uint32_t sta_key_table_step(struct sta_key_table *table, size_t column_number, uint32_t before,
                            struct sta_key_value value)
{
    struct sta_key_column *column = &table->items[column_number];
    uint64_t pair = (uint64_t)before << 32 | number_of_value(column, value);
    bool added;
    uint32_t prefix = sta_map_intern(&column->prefixes, pair, (uint32_t)column->pair_count, &added);
    if (added) {
        STA_GROW(column->pairs, column->pair_capacity, column->pair_count + 1);
        column->pairs[column->pair_count++] = pair;
    }
    return prefix;
}

void sta_key_table_values(const struct sta_key_table *table, uint32_t tuple, struct sta_key_value *values)
{
    uint32_t at = tuple;
    for (size_t c = table->columns; c-- > 0;) {
        uint64_t pair = table->items[c].pairs[at];
        values[c] = table->items[c].values[(uint32_t)pair];
        at = (uint32_t)(pair >> 32);
    }
}

uint32_t sta_key_table_intern(struct sta_key_table *table, const struct sta_key_value *values)
{
    uint32_t number = 0;
    for (size_t c = 0; c < table->columns; c++)
        number = sta_key_table_step(table, c, number, values[c]);
    return number;
}

static size_t map_bytes(const struct sta_map *map)
{
    return map->capacity * (sizeof *map->keys + sizeof *map->values);
}

size_t sta_key_table_bytes(const struct sta_key_table *table)
{
    size_t bytes = 0;
    for (size_t c = 0; c < table->columns; c++) {
        const struct sta_key_column *column = &table->items[c];
        bytes += map_bytes(&column->codes) + map_bytes(&column->prefixes);
        bytes +=
            column->value_capacity * sizeof *column->values + column->pair_capacity * sizeof *column->pairs;
    }
    return bytes;
}

uint32_t sta_key_table_count(const struct sta_key_table *table)
{
    return table->columns == 0 ? 1 : (uint32_t)table->items[table->columns - 1].pair_count;
}
