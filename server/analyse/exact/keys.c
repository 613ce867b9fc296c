/* Keys from threads by a table, keys from values by remembering each distinct one. */
#include "analyse/exact/keys.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/operators/keys.h"
#include "analyse/sources/shared.h"
#include "common/buffer.h"
#include "common/memory.h"

/* Views of exact.md section 2 that are the values of an expression. */
static const struct {
    const char *name, *expression;
} value_views[] = {
    {"file_name", "file_name"},
    {"file_dir", "replace(dirname(file_name), \"^$\", \".\")"},
    {"file_pattern", "replace(file_name, \"[0-9]+\", \"[0-9]\")"},
    {"cat", "cat"},
    {"func_name", "func_name"},
    {"epoch", "epoch"},
    {"step", "step"},
};

enum entity { ENTITY_HOST, ENTITY_PROCESS, ENTITY_THREAD };

/* .. that follow from the thread. */
static const struct {
    const char *name;
    enum entity entity;
} entity_views[] = {{"process", ENTITY_PROCESS},
                    {"thread", ENTITY_THREAD},
                    {"proc_name", ENTITY_THREAD},
                    {"host_name", ENTITY_HOST}};

/* What one worker remembers: keys by code of the dictionary that the values came with. */
struct worker {
    struct sta_evaluator *evaluator;
    const struct sta_dictionary *texts;
    uint32_t *key_of_text; /* UNKNOWN: not yet met */
    size_t capacity;
    struct sta_dictionary_cache numbers;
    uint32_t *codes; /* of the present row group */
};

#define UNKNOWN (STA_NO_CODE - 1)

struct sta_exact_keys {
    enum sta_key_source source;
    const char *name;
    const struct sta_bound_query *bound;
    enum entity entity;   /* THREAD */
    uint32_t *of_threads; /* THREAD */
    /* VALUE */
    struct sta_program *program;
    enum sta_type type;
    struct sta_dictionary *values; /* texts, or the eight bytes of what is none */
    struct worker *workers;
    unsigned worker_count;
    struct sta_account account; /* of what is sized by the trace */
};

#define WHAT "the keys of rows"

/* ---- what there is */

static bool is_built_in(const char *name)
{
    for (size_t i = 0; i < STA_COUNT_OF(entity_views); i++)
        if (strcmp(entity_views[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < STA_COUNT_OF(value_views); i++)
        if (strcmp(value_views[i].name, name) == 0)
            return true;
    return false;
}

static int fail_unknown(const struct sta_bound_query *bound, const char *by, struct sta_error *err)
{
    struct sta_buffer names;
    sta_buffer_init(&names);
    sta_put_text(&names, "time_range");
    for (size_t i = 0; i < STA_COUNT_OF(entity_views); i++)
        sta_put_format(&names, ", %s", entity_views[i].name);
    for (size_t i = 0; i < STA_COUNT_OF(value_views); i++)
        sta_put_format(&names, ", %s", value_views[i].name);
    for (size_t i = 0; i < bound->preset->view_count; i++)
        if (!is_built_in(bound->preset->views[i].name))
            sta_put_format(&names, ", %s", bound->preset->views[i].name);
    sta_put_char(&names, '\0');
    sta_fail_at(err, STA_EINPUT, "/by", "there is no view by \"%.100s\" of preset %s; there are %.900s", by,
                bound->preset->name, names.data);
    sta_buffer_fini(&names);
    return err->status;
}

static const char *expression_of(const struct sta_bound_query *bound, const char *by)
{
    for (size_t i = 0; i < STA_COUNT_OF(value_views); i++)
        if (strcmp(value_views[i].name, by) == 0)
            return value_views[i].expression;
    for (size_t i = 0; i < bound->preset->view_count; i++)
        if (strcmp(bound->preset->views[i].name, by) == 0)
            return bound->preset->views[i].expression;
    return NULL;
}

/* ---- by thread */

static int find_entities(struct sta_exact_keys *keys, struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(keys->bound->query->snapshot);
    keys->source = STA_KEY_THREAD;
    keys->of_threads = sta_account_alloc(&keys->account, (size_t)entities->thread_count + 1,
                                         sizeof *keys->of_threads, WHAT, err);
    for (uint32_t t = 0; keys->of_threads != NULL && t < entities->thread_count; t++) {
        const struct sta_entity_thread *thread = &entities->threads[t];
        keys->of_threads[t] = keys->entity == ENTITY_HOST      ? thread->host
                              : keys->entity == ENTITY_PROCESS ? thread->process
                                                               : t;
    }
    return keys->of_threads != NULL ? STA_OK : err->status;
}

/* ---- by value */

static int bind_expression(struct sta_exact_keys *keys, const char *text, unsigned workers,
                           struct sta_error *err)
{
    struct sta_expression *expression;
    keys->source = STA_KEY_VALUE;
    int rc =
        sta_expression_parse(text, strlen(text), sta_columns_schema(keys->bound->columns), &expression, err);
    if (rc == 0) {
        keys->type = expression->type;
        keys->program = sta_program_create(expression);
        sta_expression_destroy(expression);
    }
    if (rc != 0) {
        sta_error_wrap(err, "cannot group by %s of preset %s", keys->name, keys->bound->preset->name);
        return sta_at(err, "/by", -1);
    }
    keys->values = sta_dictionary_create_in(&keys->account);
    keys->worker_count = workers;
    keys->workers = sta_alloc_array(workers, sizeof *keys->workers);
    for (unsigned w = 0; w < workers; w++) {
        keys->workers[w].evaluator = sta_evaluator_create();
        keys->workers[w].codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *keys->workers[w].codes);
        sta_dictionary_cache_init(&keys->workers[w].numbers, keys->values);
    }
    return 0;
}

int sta_exact_keys_create(const struct sta_bound_query *bound, const char *by, unsigned workers,
                          struct sta_exact_keys **made, struct sta_error *err)
{
    struct sta_exact_keys *keys = *made = sta_alloc(sizeof *keys);
    keys->bound = bound;
    sta_account_init_part(&keys->account, sta_columns_account(bound->columns));
    keys->name = by;
    if (by == NULL)
        return 0;
    if (strcmp(by, "time_range") == 0) {
        keys->source = STA_KEY_TIME;
        return 0;
    }
    for (size_t i = 0; i < STA_COUNT_OF(entity_views); i++)
        if (strcmp(entity_views[i].name, by) == 0) {
            keys->entity = entity_views[i].entity;
            return find_entities(keys, err);
        }
    const char *expression = expression_of(bound, by);
    return expression != NULL ? bind_expression(keys, expression, workers, err)
                              : fail_unknown(bound, by, err);
}

void sta_exact_keys_destroy(struct sta_exact_keys *keys)
{
    if (keys == NULL)
        return;
    for (unsigned w = 0; w < keys->worker_count; w++) {
        sta_evaluator_destroy(keys->workers[w].evaluator);
        sta_account_free(&keys->account, keys->workers[w].key_of_text);
        free(keys->workers[w].codes);
    }
    free(keys->workers);
    sta_account_free(&keys->account, keys->of_threads);
    sta_program_destroy(keys->program);
    sta_dictionary_destroy(keys->values);
    sta_account_close(&keys->account);
    free(keys);
}

enum sta_key_source sta_exact_keys_source(const struct sta_exact_keys *keys)
{
    return keys->source;
}

const uint32_t *sta_exact_keys_of_threads(const struct sta_exact_keys *keys)
{
    return keys->of_threads;
}

/* ---- reading values */

static int find_key(struct sta_exact_keys *keys, struct worker *worker, uint32_t code, uint32_t *key,
                    struct sta_error *err)
{
    size_t before = worker->capacity;
    if (STA_ACCOUNT_GROW(&keys->account, worker->key_of_text, worker->capacity, (size_t)code + 1, WHAT,
                         err) != STA_OK)
        return err->status;
    for (size_t i = before; i < worker->capacity; i++)
        worker->key_of_text[i] = UNKNOWN;
    if (worker->key_of_text[code] == UNKNOWN) {
        struct sta_text text = sta_dictionary_text(worker->texts, code);
        worker->key_of_text[code] = sta_dictionary_intern(keys->values, text.bytes, text.length);
    }
    *key = worker->key_of_text[code];
    return STA_OK;
}

static int read_texts(struct sta_exact_keys *keys, struct worker *worker, const struct sta_vector *vector,
                      uint32_t rows, struct sta_error *err)
{
    if (worker->texts != vector->texts) {
        worker->texts = vector->texts;
        for (size_t i = 0; i < worker->capacity; i++)
            worker->key_of_text[i] = UNKNOWN;
    }
    int rc = STA_OK;
    for (uint32_t row = 0; row < rows && rc == STA_OK; row++) {
        uint32_t code = vector->codes[vector->constant ? 0 : row];
        if (code == STA_NO_CODE)
            worker->codes[row] = STA_NO_CODE;
        else if (code < worker->capacity && worker->key_of_text[code] != UNKNOWN)
            worker->codes[row] = worker->key_of_text[code];
        else
            rc = find_key(keys, worker, code, &worker->codes[row], err);
    }
    return rc == STA_OK ? sta_account_failure(&keys->account, err) : rc;
}

/* A value that is no text as eight bytes, which order like it; of 0.0 there is one. */
static uint64_t bytes_of(const struct sta_vector *vector, uint32_t at)
{
    if (vector->type == STA_TYPE_FLOAT)
        return htobe64(sta_order_number(vector->numbers[at]));
    return htobe64(
        sta_order_integer(vector->type == STA_TYPE_BOOL ? vector->bools[at] : vector->integers[at]));
}

static void read_numbers(struct worker *worker, const struct sta_vector *vector, uint32_t rows)
{
    uint64_t last = 0;
    uint32_t key = UNKNOWN;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t at = vector->constant ? 0 : row;
        if (vector->missing != NULL && vector->missing[at]) {
            worker->codes[row] = STA_NO_CODE;
            continue;
        }
        uint64_t bytes = bytes_of(vector, at);
        if (key == UNKNOWN || bytes != last)
            key = sta_dictionary_cache_intern(&worker->numbers, (const char *)&bytes, sizeof bytes);
        last = bytes;
        worker->codes[row] = key;
    }
}

int sta_exact_keys_read(struct sta_exact_keys *keys, unsigned number, struct sta_column_reader *reader,
                        const uint32_t **codes, struct sta_error *err)
{
    struct worker *worker = &keys->workers[number];
    uint32_t rows = sta_column_reader_row_group(reader)->rows;
    struct sta_vector vector;
    int rc =
        sta_program_run(keys->program, worker->evaluator, rows, sta_column_reader_get, reader, &vector, err);
    if (rc != 0)
        return rc;
    if (vector.type == STA_TYPE_TEXT || vector.type == STA_TYPE_LIST)
        rc = read_texts(keys, worker, &vector, rows, err);
    else if (vector.type == STA_TYPE_NULL)
        memset(worker->codes, 0xff, rows * sizeof *worker->codes);
    else
        read_numbers(worker, &vector, rows);
    *codes = worker->codes;
    return rc;
}

/* ---- of and for other processes */

void sta_exact_keys_put_values(const struct sta_exact_keys *keys, struct sta_buffer *out)
{
    if (keys->source != STA_KEY_VALUE)
        return;
    const uint32_t count = sta_dictionary_count(keys->values);
    sta_put_varint(out, count);
    for (uint32_t code = 0; code < count; code++) {
        const struct sta_text value = sta_dictionary_text(keys->values, code);
        sta_put_block(out, value.bytes, value.length);
    }
}

int sta_exact_keys_get_values(struct sta_exact_keys *keys, struct sta_cursor *in, struct sta_account *account,
                              uint32_t **codes, uint32_t *count, struct sta_error *err)
{
    *codes = NULL;
    *count = 0;
    if (keys->source != STA_KEY_VALUE)
        return STA_OK;
    const uint32_t values = (uint32_t)sta_shared_get_index(in, UINT32_MAX);
    if (in->failed || values > (size_t)(in->end - in->at))
        return sta_shared_fail(err);
    *codes = sta_account_alloc(account, (size_t)values + 1, sizeof **codes, "the keys of another rank", err);
    for (; *codes != NULL && *count < values; (*count)++) {
        size_t length;
        const char *value = sta_get_block(in, &length);
        const bool fits = value != NULL && (keys->type == STA_TYPE_TEXT || keys->type == STA_TYPE_LIST ||
                                            keys->type == STA_TYPE_NULL || length == sizeof(uint64_t));
        if (!fits)
            return sta_shared_fail(err);
        (*codes)[*count] = sta_dictionary_intern(keys->values, value, length);
    }
    return *codes != NULL ? sta_account_failure(&keys->account, err) : err->status;
}

/* ---- rows */

static int compare_keys(const void *a, const void *b, void *context)
{
    const struct sta_exact_keys *keys = context;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    if (x == STA_NO_CODE || y == STA_NO_CODE)
        return (x == STA_NO_CODE) - (y == STA_NO_CODE);
    if (keys->source != STA_KEY_VALUE && keys->entity != ENTITY_HOST)
        return (x > y) - (x < y); /* processes and threads are numbered in their order */
    const struct sta_dictionary *texts = keys->source == STA_KEY_VALUE
                                             ? keys->values
                                             : sta_snapshot_entities(keys->bound->query->snapshot)->hosts;
    return sta_text_order(sta_dictionary_text(texts, x), sta_dictionary_text(texts, y));
}

int sta_exact_keys_sort(const struct sta_exact_keys *keys, const struct sta_budget *budget, uint32_t *codes,
                        size_t count, struct sta_error *err)
{
    return sta_sort(budget, codes, count, sizeof *codes, compare_keys, (void *)keys, err);
}

static void put_values(const struct sta_exact_keys *keys, const uint32_t *codes, size_t count,
                       struct sta_table *table)
{
    struct sta_table_column *column = sta_table_add(table, keys->name, keys->type, NULL);
    for (size_t row = 0; row < count; row++) {
        if (codes[row] == STA_NO_CODE)
            continue;
        struct sta_text text = sta_dictionary_text(keys->values, codes[row]);
        uint64_t bytes;
        if (keys->type == STA_TYPE_TEXT || keys->type == STA_TYPE_LIST) {
            sta_table_set_text(table, column, row, text.bytes, text.length);
            continue;
        }
        memcpy(&bytes, text.bytes, sizeof bytes);
        if (keys->type == STA_TYPE_FLOAT)
            sta_table_set_number(column, row, sta_unorder_number(be64toh(bytes)));
        else
            sta_table_set_int(column, row, sta_unorder_integer(be64toh(bytes)));
    }
}

static void put_id(struct sta_table *table, const char *name, size_t row, int64_t id)
{
    if (id != STA_NO_ID)
        sta_table_set_int(sta_table_find(table, name), row, id);
}

static void put_entities(const struct sta_exact_keys *keys, const uint32_t *codes, size_t count,
                         struct sta_table *table)
{
    const struct sta_entities *entities = sta_snapshot_entities(keys->bound->query->snapshot);
    sta_table_add(table, "host_name", STA_TYPE_TEXT, NULL);
    if (keys->entity != ENTITY_HOST)
        sta_table_add(table, "pid", STA_TYPE_INT, NULL);
    if (keys->entity == ENTITY_THREAD)
        sta_table_add(table, "tid", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < count; row++) {
        uint32_t host = codes[row];
        if (keys->entity == ENTITY_PROCESS) {
            host = entities->processes[codes[row]].host;
            put_id(table, "pid", row, entities->processes[codes[row]].pid);
        } else if (keys->entity == ENTITY_THREAD) {
            host = entities->threads[codes[row]].host;
            put_id(table, "pid", row, entities->threads[codes[row]].pid);
            put_id(table, "tid", row, entities->threads[codes[row]].tid);
        }
        if (host == STA_NO_CODE)
            continue;
        struct sta_text text = sta_dictionary_text(entities->hosts, host);
        sta_table_set_text(table, sta_table_find(table, "host_name"), row, text.bytes, text.length);
    }
}

void sta_exact_keys_put(const struct sta_exact_keys *keys, const uint32_t *codes, size_t count,
                        struct sta_table *table)
{
    if (keys->source == STA_KEY_VALUE)
        put_values(keys, codes, count, table);
    else if (keys->source == STA_KEY_THREAD)
        put_entities(keys, codes, count, table);
}
