/* Counts of layers from the columns that hold them: "count" of exact tables, "count_sum" of compatible ones,
 * "count" of their steps. */
#include "serve/responses/by_layer.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/response.h"

static const char *const endings[] = {"count", "count_sum"};

static uint64_t sum_of(const struct sta_table *table, const struct sta_table_column *column)
{
    uint64_t sum = 0;
    for (size_t row = 0; column != NULL && column->integers != NULL && row < table->rows; row++)
        sum += column->missing[row] ? 0 : (uint64_t)column->integers[row];
    return sum;
}

/* @prefix: "" or "<layer>_". */
static uint64_t taken_by(const struct sta_table *table, const char *prefix)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < STA_COUNT_OF(endings); i++) {
        char *name = sta_sprintf("%s%s", prefix, endings[i]);
        sum += sum_of(table, sta_table_find(table, name));
        free(name);
    }
    return sum;
}

static void put_layer(struct sta_buffer *out, const struct sta_table *table, const char *layer)
{
    char *prefix = sta_sprintf("%s_", layer);
    sta_put_member_uint(out, layer, taken_by(table, prefix));
    free(prefix);
}

/* Layers from categories have no derived metrics: each column of such an ending is one of a layer. */
static void put_found(struct sta_buffer *out, const struct sta_table *table)
{
    for (size_t c = 0; c < table->column_count; c++)
        for (size_t i = 0; i < STA_COUNT_OF(endings); i++) {
            const struct sta_table_column *column = &table->columns[c];
            size_t length = strlen(column->name);
            size_t ending = strlen(endings[i]) + 1;
            if (length <= ending || column->name[length - ending] != '_' ||
                strcmp(column->name + length - ending + 1, endings[i]) != 0)
                continue;
            char *layer = sta_strndup(column->name, length - ending);
            sta_put_member_uint(out, layer, sum_of(table, column));
            free(layer);
        }
}

void sta_put_by_layer(struct sta_buffer *out, const struct sta_table *table, const struct sta_preset *preset,
                      const char *layer)
{
    sta_begin_object(out, "by_layer");
    if (layer != NULL)
        sta_put_member_uint(out, layer, taken_by(table, ""));
    else if (preset->layers_from_categories)
        put_found(out, table);
    else
        for (size_t l = 0; l < preset->layer_count; l++)
            put_layer(out, table, preset->layers[l].name);
    sta_put_char(out, '}');
}
