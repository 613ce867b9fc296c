/* What units are called: their keys, compared, as columns of tables and as JSON. */
#include "analyse/overlap/scope_private.h"

#include <string.h>

#include "analyse/exec/sort.h"
#include "common/buffer.h"
#include "common/memory.h"

uint32_t sta_scope_unit_count(const struct sta_scope *scope)
{
    return scope->units != NULL ? sta_numbering_count(scope->units) : 1;
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

static struct sta_text text_of(const struct sta_scope *scope, size_t key, struct sta_key_value value)
{
    return sta_dictionary_text(sta_numbering_texts(scope->units, key), (uint32_t)value.bits);
}

/* Compares two units by a key. */
static int compare_keys(const struct sta_scope *scope, uint32_t left, uint32_t right, size_t k,
                        bool descending)
{
    const struct sta_key_value a = sta_numbering_value(scope->units, left, k);
    const struct sta_key_value b = sta_numbering_value(scope->units, right, k);
    const enum sta_type type = scope->keys[k].type;
    int order = 0;
    if (a.missing || b.missing)
        return (int)a.missing - (int)b.missing;
    if (type == STA_TYPE_TEXT && a.bits != b.bits)
        order = sta_text_order(text_of(scope, k, a), text_of(scope, k, b));
    else if (type == STA_TYPE_FLOAT)
        order = (number_of(a) > number_of(b)) - (number_of(a) < number_of(b));
    else if (type != STA_TYPE_TEXT)
        order = ((int64_t)a.bits > (int64_t)b.bits) - ((int64_t)a.bits < (int64_t)b.bits);
    return descending ? -order : order;
}

int sta_scope_compare(const struct sta_scope *scope, uint32_t a, uint32_t b, const char *key, bool descending)
{
    size_t k = 0;
    while (k < scope->key_count && strcmp(scope->keys[k].name, key) != 0)
        k++;
    STA_ASSERT(k < scope->key_count);
    return compare_keys(scope, a, b, k, descending);
}

int sta_scope_compare_units(const struct sta_scope *scope, uint32_t a, uint32_t b)
{
    int order = 0;
    for (size_t k = 0; order == 0 && k < scope->key_count; k++)
        order = compare_keys(scope, a, b, k, false);
    return order;
}

static int compare_places(const void *a, const void *b, void *context)
{
    return sta_scope_compare_units(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

int sta_scope_sort(const struct sta_scope *scope, uint32_t *units, size_t count,
                   const struct sta_budget *budget, struct sta_error *err)
{
    return sta_sort(budget, units, count, sizeof *units, compare_places, (void *)(uintptr_t)scope, err);
}

/* Texts are copied into the table once for each unit. */
static void put_texts(const struct sta_scope *scope, struct sta_table *table, struct sta_table_column *column,
                      const uint32_t *units, size_t k)
{
    const size_t bytes = sta_scope_unit_count(scope) * sizeof(struct sta_text);
    struct sta_text *of_unit = sta_arena_alloc(&table->arena, bytes, _Alignof(struct sta_text));
    memset(of_unit, 0, bytes);
    for (size_t row = 0; row < table->rows; row++) {
        const struct sta_key_value value = sta_numbering_value(scope->units, units[row], k);
        struct sta_text *text = &of_unit[units[row]];
        if (value.missing || column->refused)
            continue;
        if (text->bytes == NULL) {
            *text = text_of(scope, k, value);
            text->bytes = sta_arena_copy(&table->arena, text->bytes, text->length);
        }
        column->texts[row] = *text;
        column->missing[row] = 0;
    }
}

static void put_numbers(const struct sta_scope *scope, const struct sta_table *table,
                        struct sta_table_column *column, const uint32_t *units, size_t k)
{
    for (size_t row = 0; row < table->rows; row++) {
        const struct sta_key_value value = sta_numbering_value(scope->units, units[row], k);
        if (value.missing)
            continue;
        if (column->type == STA_TYPE_FLOAT)
            sta_table_set_number(column, row, number_of(value));
        else
            sta_table_set_int(column, row, (int64_t)value.bits);
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

bool sta_scope_is_missing(const struct sta_scope *scope, uint32_t unit)
{
    return scope->key_count > 0 && sta_numbering_value(scope->units, unit, 0).missing;
}

void sta_scope_put_json(const struct sta_scope *scope, uint32_t unit, size_t number, struct sta_buffer *out)
{
    const struct sta_scope_key *key = &scope->keys[number];
    const struct sta_key_value value = sta_numbering_value(scope->units, unit, number);
    if (value.missing) {
        sta_put_text(out, "null");
    } else if (key->type == STA_TYPE_TEXT) {
        struct sta_text text = text_of(scope, number, value);
        sta_put_json_string(out, text.bytes, text.length);
    } else if (key->type == STA_TYPE_FLOAT) {
        sta_put_double(out, number_of(value));
    } else if (key->type == STA_TYPE_BOOL) {
        sta_put_text(out, value.bits ? "true" : "false");
    } else {
        sta_put_int(out, (int64_t)value.bits);
    }
}
