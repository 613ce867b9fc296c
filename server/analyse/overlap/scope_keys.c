/* What units are called: their keys, compared, as columns of tables and as JSON. */
#include "analyse/overlap/scope_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"

uint32_t sta_scope_unit_count(const struct sta_scope *scope)
{
    return sta_key_table_count(&scope->table);
}

uint32_t sta_scope_unit_of_thread(const struct sta_scope *scope, uint32_t code)
{
    return scope->unit_of_thread != NULL ? scope->unit_of_thread[code] : 0;
}

static double number_of(struct sta_key_value value)
{
    double number;
    memcpy(&number, &value.bits, sizeof number);
    return number;
}

static int compare_values(const struct sta_scope_key *key, struct sta_key_value a, struct sta_key_value b)
{
    if (a.missing || b.missing)
        return (int)a.missing - (int)b.missing;
    if (key->type == STA_TYPE_TEXT)
        return a.bits == b.bits ? 0
                                : sta_text_order(sta_dictionary_text(key->texts, (uint32_t)a.bits),
                                                 sta_dictionary_text(key->texts, (uint32_t)b.bits));
    if (key->type == STA_TYPE_FLOAT)
        return (number_of(a) > number_of(b)) - (number_of(a) < number_of(b));
    return ((int64_t)a.bits > (int64_t)b.bits) - ((int64_t)a.bits < (int64_t)b.bits);
}

int sta_scope_compare(const struct sta_scope *scope, uint32_t a, uint32_t b, const char *key, bool descending)
{
    struct sta_key_value left[STA_KEY_COLUMNS], right[STA_KEY_COLUMNS];
    size_t k = 0;
    while (k < scope->key_count && strcmp(scope->keys[k].name, key) != 0)
        k++;
    STA_ASSERT(k < scope->key_count);
    sta_key_table_values(&scope->table, a, left);
    sta_key_table_values(&scope->table, b, right);
    int order = compare_values(&scope->keys[k], left[k], right[k]);
    return descending && !left[k].missing && !right[k].missing ? -order : order;
}

struct placed_unit {
    const struct sta_scope *scope;
    uint32_t unit;
};

static int compare_units(const void *a, const void *b)
{
    const struct placed_unit *x = a;
    const struct placed_unit *y = b;
    struct sta_key_value left[STA_KEY_COLUMNS], right[STA_KEY_COLUMNS];
    int order = 0;
    sta_key_table_values(&x->scope->table, x->unit, left);
    sta_key_table_values(&y->scope->table, y->unit, right);
    for (size_t k = 0; order == 0 && k < x->scope->key_count; k++)
        order = compare_values(&x->scope->keys[k], left[k], right[k]);
    return order;
}

int sta_scope_compare_units(struct sta_scope *scope, uint32_t a, uint32_t b)
{
    struct placed_unit x = {scope, a};
    struct placed_unit y = {scope, b};
    pthread_mutex_lock(&scope->lock);
    int order = compare_units(&x, &y);
    pthread_mutex_unlock(&scope->lock);
    return order;
}

void sta_scope_sort(const struct sta_scope *scope, uint32_t *units, size_t count)
{
    struct placed_unit *placed = sta_alloc_array(count + 1, sizeof *placed);
    for (size_t i = 0; i < count; i++)
        placed[i] = (struct placed_unit){scope, units[i]};
    qsort(placed, count, sizeof *placed, compare_units);
    for (size_t i = 0; i < count; i++)
        units[i] = placed[i].unit;
    free(placed);
}

/* Texts are copied into the table once for each unit. */
static void put_texts(const struct sta_scope *scope, struct sta_table *table, struct sta_table_column *column,
                      const uint32_t *units, size_t k)
{
    struct sta_key_value values[STA_KEY_COLUMNS];
    struct sta_text *of_unit = sta_alloc_array(sta_scope_unit_count(scope), sizeof *of_unit);
    for (size_t row = 0; row < table->rows; row++) {
        struct sta_text *text = &of_unit[units[row]];
        sta_key_table_values(&scope->table, units[row], values);
        if (values[k].missing)
            continue;
        if (text->bytes == NULL) {
            *text = sta_dictionary_text(scope->keys[k].texts, (uint32_t)values[k].bits);
            text->bytes = sta_arena_copy(&table->arena, text->bytes, text->length);
        }
        column->texts[row] = *text;
        column->missing[row] = 0;
    }
    free(of_unit);
}

static void put_numbers(const struct sta_scope *scope, const struct sta_table *table,
                        struct sta_table_column *column, const uint32_t *units, size_t k)
{
    struct sta_key_value values[STA_KEY_COLUMNS];
    for (size_t row = 0; row < table->rows; row++) {
        sta_key_table_values(&scope->table, units[row], values);
        if (values[k].missing)
            continue;
        if (column->type == STA_TYPE_FLOAT)
            sta_table_set_number(column, row, number_of(values[k]));
        else
            sta_table_set_int(column, row, (int64_t)values[k].bits);
    }
}

void sta_scope_put_keys(const struct sta_scope *scope, struct sta_table *table, const uint32_t *units)
{
    for (size_t k = 0; k < scope->key_count; k++) {
        const struct sta_scope_key *key = &scope->keys[k];
        struct sta_table_column *column = sta_table_add(table, key->name, key->type, key->unit);
        if (key->type == STA_TYPE_TEXT)
            put_texts(scope, table, column, units, k);
        else if (key->type != STA_TYPE_NULL)
            put_numbers(scope, table, column, units, k);
    }
}

void sta_scope_put_json(const struct sta_scope *scope, uint32_t unit, size_t number, struct sta_buffer *out)
{
    const struct sta_scope_key *key = &scope->keys[number];
    struct sta_key_value values[STA_KEY_COLUMNS];
    sta_key_table_values(&scope->table, unit, values);
    struct sta_key_value value = values[number];
    if (value.missing) {
        sta_put_text(out, "null");
    } else if (key->type == STA_TYPE_TEXT) {
        struct sta_text text = sta_dictionary_text(key->texts, (uint32_t)value.bits);
        sta_put_json_string(out, text.bytes, text.length);
    } else if (key->type == STA_TYPE_FLOAT) {
        sta_put_double(out, number_of(value));
    } else if (key->type == STA_TYPE_BOOL) {
        sta_put_text(out, value.bits ? "true" : "false");
    } else {
        sta_put_int(out, (int64_t)value.bits);
    }
}
