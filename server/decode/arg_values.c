/* Values of args into columns; texts become codes through a memory of recent ones.
 *
 * DESIGN.  Of texts that were not seen lately some wait until they are interned together: they lie anywhere
 * in a dictionary that may be far larger than the caches, so that memory is waited for once in place of each
 * time, and those that are new take its lock once.  Until then they are copied, since a line's texts end with
 * it. */
#include "decode/arg_values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"
#include "decode/template_path.h"

#define VALUE_CACHES 64               /* keys whose texts are remembered; a cache is some 40 KiB */
#define TOGETHER 64                   /* texts of a key that are interned at once */
#define WAITING_TEXT ((uint32_t)1024) /* longest text that waits for others */
#define NO_COLUMN UINT32_MAX

/* Texts of one key. */
struct value_texts {
    struct sta_dictionary_cache cache;
    struct sta_buffer texts; /* those that wait, one behind the other */
    uint32_t text_count, lengths[TOGETHER];
    uint64_t hashes[TOGETHER];
    uint32_t count, at[TOGETHER], which[TOGETHER]; /* values of the key's column that wait; for which text */
};

struct sta_arg_values {
    struct sta_tables *tables;
    struct value_texts *values[STA_ARGS_KEYS_LIMIT]; /* by key, made when first needed */
    unsigned value_caches;
    uint32_t column_of_key[STA_ARGS_KEYS_LIMIT];
    uint32_t column_count;
    struct column_state {
        uint32_t key;
        uint32_t before;            /* values that the present batch had of it at its beginning */
        uint32_t others;            /* added since then that are no integers */
        uint8_t kinds;              /* of these, as in sta_tables_kinds */
    } columns[STA_ARGS_KEYS_LIMIT]; /* in the order in which their keys were seen */
};

static_assert(STA_VALUE_INT == 0, "the kinds of a column are zero but for what is no integer");

struct sta_arg_values *sta_arg_values_create(struct sta_tables *tables)
{
    struct sta_arg_values *args = sta_alloc(sizeof *args);
    args->tables = tables;
    memset(args->column_of_key, 0xff, sizeof args->column_of_key);
    return args;
}

void sta_arg_values_destroy(struct sta_arg_values *args)
{
    for (size_t i = 0; i < STA_ARGS_KEYS_LIMIT; i++) {
        if (args->values[i] != NULL)
            sta_buffer_fini(&args->values[i]->texts);
        free(args->values[i]);
    }
    free(args);
}

static void number_column(struct sta_arg_values *args, uint32_t key)
{
    args->column_of_key[key] = args->column_count;
    args->columns[args->column_count++] = (struct column_state){.key = key};
}

/* The columns of the batch that are not where this thread has them go there. */
static void order_columns(struct sta_arg_values *args, struct sta_batch *batch)
{
    struct sta_args_column *made = sta_alloc_array(STA_ARGS_KEYS_LIMIT, sizeof *made);
    for (uint32_t i = 0; i < batch->args_count; i++)
        if (args->column_of_key[batch->args[i].key] == NO_COLUMN)
            number_column(args, batch->args[i].key);
    for (uint32_t i = 0; i < args->column_count; i++)
        made[i].key = args->columns[i].key;
    for (uint32_t i = 0; i < batch->args_count; i++)
        made[args->column_of_key[batch->args[i].key]] = batch->args[i];
    free(batch->args);
    batch->args = made;
    batch->args_count = args->column_count;
    batch->args_capacity = STA_ARGS_KEYS_LIMIT;
}

void sta_arg_values_begin(struct sta_arg_values *args, struct sta_batch *batch)
{
    bool ordered = batch->args_count <= args->column_count;
    for (uint32_t i = 0; i < batch->args_count && ordered; i++)
        ordered = batch->args[i].key == args->columns[i].key;
    if (!ordered)
        order_columns(args, batch);
    STA_GROW(batch->args, batch->args_capacity, args->column_count);
    for (; batch->args_count < args->column_count; batch->args_count++)
        batch->args[batch->args_count] =
            (struct sta_args_column){.key = args->columns[batch->args_count].key};
    for (uint32_t i = 0; i < args->column_count; i++)
        args->columns[i].before = batch->args[i].count;
}

uint32_t sta_arg_values_column(struct sta_arg_values *args, struct sta_batch *batch, uint32_t key)
{
    if (args->column_of_key[key] != NO_COLUMN)
        return args->column_of_key[key];
    STA_GROW(batch->args, batch->args_capacity, batch->args_count + 1);
    batch->args[batch->args_count++] = (struct sta_args_column){.key = key};
    number_column(args, key);
    return args->column_of_key[key];
}

static __attribute__((noinline)) void grow_column(struct sta_args_column *column)
{
    uint32_t capacity = column->capacity ? column->capacity * 2 : 256;
    column->rows = sta_realloc_array(column->rows, capacity, sizeof *column->rows);
    column->kinds = sta_realloc_array(column->kinds, capacity, sizeof *column->kinds);
    column->values = sta_realloc_array(column->values, capacity, sizeof *column->values);
    memset(column->kinds + column->capacity, 0, capacity - column->capacity);
    column->capacity = capacity;
}

/* Gives the texts of a key that wait their codes. */
static void intern_waiting(const struct sta_batch *batch, struct value_texts *known, uint32_t column)
{
    struct sta_text texts[TOGETHER];
    uint32_t codes[TOGETHER];
    const char *text = known->texts.data;
    for (uint32_t i = 0; i < known->text_count; i++) {
        texts[i] = (struct sta_text){text, known->lengths[i]};
        text += known->lengths[i];
    }
    sta_dictionary_cache_intern_many(&known->cache, texts, known->hashes, known->text_count, codes);
    for (uint32_t i = 0; i < known->count; i++)
        batch->args[column].values[known->at[i]].code = codes[known->which[i]];
    known->count = known->text_count = 0;
    sta_buffer_clear(&known->texts);
}

/* Two records of one task follow each other. */
static bool waits_last(const struct value_texts *known, uint64_t hash, const char *text, uint32_t length)
{
    const uint32_t last = known->text_count - 1;
    return known->text_count > 0 && known->hashes[last] == hash && known->lengths[last] == length &&
           memcmp(known->texts.data + known->texts.size - length, text, length) == 0;
}

/* Return: false when it does not wait: it is long, or there is no memory. */
static bool let_wait(struct value_texts *known, uint64_t hash, const char *text, uint32_t length)
{
    if (waits_last(known, hash, text, length))
        return true;
    char *buffer = length <= WAITING_TEXT ? sta_buffer_reserve(&known->texts, length + 1) : NULL;
    if (buffer == NULL)
        return false;
    memcpy(buffer, text, length);
    known->texts.size += length;
    known->lengths[known->text_count] = length;
    known->hashes[known->text_count++] = hash;
    return true;
}

static struct value_texts *texts_of(struct sta_arg_values *args, uint32_t key)
{
    if (args->values[key] == NULL && args->value_caches < VALUE_CACHES) {
        args->value_caches++;
        args->values[key] = sta_alloc(sizeof *args->values[key]);
        sta_dictionary_cache_init(&args->values[key]->cache, sta_tables_values(args->tables, key));
    }
    return args->values[key];
}

/* Sets the code of a text, the last value of its key's column; of one that waits it is set later. */
static void set_text(struct sta_arg_values *args, const struct sta_batch *batch, uint32_t column,
                     const char *text, uint32_t length)
{
    const struct sta_args_column *in = &batch->args[column];
    union sta_value *value = &in->values[in->count - 1];
    struct value_texts *known = texts_of(args, in->key);
    uint64_t hash;
    *value = (union sta_value){.integer = 0};
    if (known == NULL) {
        value->code = sta_dictionary_intern(sta_tables_values(args->tables, in->key), text, length);
        return;
    }
    value->code = sta_dictionary_cache_find(&known->cache, text, length, &hash);
    if (value->code != STA_NO_CODE)
        return;
    if (!let_wait(known, hash, text, length)) {
        value->code = sta_dictionary_cache_intern(&known->cache, text, length);
        return;
    }
    known->at[known->count] = in->count - 1;
    known->which[known->count++] = known->text_count - 1;
    if (known->count == TOGETHER)
        intern_waiting(batch, known, column);
}

/* Sets the last value of a column, which is not written as an integer. */
static enum sta_value_kind set_other_value(struct sta_arg_values *args, const struct sta_batch *batch,
                                           uint32_t column, const struct sta_json_value *value)
{
    union sta_value *out = &batch->args[column].values[batch->args[column].count - 1];
    if (value->kind == STA_JSON_BOOL) {
        out->integer = value->integer;
        return STA_VALUE_BOOL;
    }
    if (value->kind == STA_JSON_STRING && sta_parse_int(value->text, value->length, &out->integer))
        return STA_VALUE_INT;
    if (value->kind == STA_JSON_NUMBER && sta_parse_double(value->text, value->length, &out->number))
        return STA_VALUE_FLOAT;
    set_text(args, batch, column, value->text, value->length);
    return STA_VALUE_TEXT;
}

static inline uint32_t add_row(struct sta_args_column *column, uint32_t row)
{
    const uint32_t at = column->count;
    if (at == column->capacity)
        grow_column(column);
    column->count = at + 1;
    column->rows[at] = row;
    return at;
}

/* Takes over a value of a binary source, which needs no look at its text. */
static inline void add_made(struct sta_arg_values *args, const struct sta_batch *batch, uint32_t column,
                            const struct sta_json_value *value)
{
    const enum sta_value_kind kind = value->kind == STA_JSON_DOUBLE ? STA_VALUE_FLOAT : STA_VALUE_TEXT;
    struct sta_args_column *to = &batch->args[column];
    const uint32_t at = add_row(to, batch->count);
    to->values[at].integer = value->integer; /* a number by its bits */
    to->kinds[at] = (uint8_t)kind;
    args->columns[column].others++;
    args->columns[column].kinds |= (uint8_t)(1u << kind);
}

static inline bool is_made(const struct sta_json_value *value)
{
    return value->kind == STA_JSON_CODE || value->kind == STA_JSON_LATER || value->kind == STA_JSON_DOUBLE;
}

static __attribute__((noinline)) void add_other(struct sta_arg_values *args, const struct sta_batch *batch,
                                                uint32_t column, const struct sta_json_value *value)
{
    if (value->kind == STA_JSON_ABSENT || value->kind == STA_JSON_NULL)
        return;
    const uint32_t at = add_row(&batch->args[column], batch->count);
    const enum sta_value_kind kind = set_other_value(args, batch, column, value);
    batch->args[column].kinds[at] = (uint8_t)kind;
    args->columns[column].others += kind != STA_VALUE_INT;
    args->columns[column].kinds |= (uint8_t)(1u << kind);
}

static inline void add_int(struct sta_args_column *column, uint32_t row, int64_t integer)
{
    const uint32_t at = add_row(column, row);
    column->values[at].integer = integer;
}

static inline void add_value(struct sta_arg_values *args, struct sta_batch *batch, uint32_t column,
                             const struct sta_json_value *value)
{
    if (value->kind == STA_JSON_INT)
        add_int(&batch->args[column], batch->count, value->integer);
    else
        add_other(args, batch, column, value);
}

void sta_arg_values_add(struct sta_arg_values *args, struct sta_batch *batch,
                        const struct sta_record_arg *record_args, const struct sta_stored_arg *stored,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct sta_json_value *value = &record_args[stored[i].arg].value;
        if (is_made(value))
            add_made(args, batch, stored[i].column, value);
        else
            add_value(args, batch, stored[i].column, value);
    }
}

void sta_arg_values_add_path(struct sta_arg_values *args, struct sta_batch *batch,
                             const struct sta_template_path *path)
{
    const uint64_t plain = path->plain & ~path->others;
    struct sta_args_column *columns = batch->args;
    const uint32_t row = batch->count;
    for (unsigned i = 0; i < path->stored_count; i++) {
        const struct sta_stored_arg stored = path->stored[i];
        if (plain >> stored.arg & 1) {
            add_int(&columns[stored.column], row, path->values[stored.arg].integer);
        } else {
            const struct sta_json_value value = sta_path_value(path, stored.arg);
            add_value(args, batch, stored.column, &value);
        }
    }
}

void sta_arg_values_end(struct sta_arg_values *args, const struct sta_batch *batch)
{
    for (uint32_t i = 0; i < args->column_count; i++) {
        struct column_state *state = &args->columns[i];
        if (args->values[state->key] != NULL && args->values[state->key]->count > 0)
            intern_waiting(batch, args->values[state->key], i);
        const bool integers = batch->args[i].count - state->before > state->others;
        sta_tables_note_kinds(args->tables, state->key, state->kinds | (integers ? 1u << STA_VALUE_INT : 0u));
        *state = (struct column_state){.key = state->key};
    }
}
