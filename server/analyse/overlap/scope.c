/* Units of events.
 *
 * DESIGN.  A unit is a tuple of keys.  Those of threads, processes, groups and hosts follow from an event's thread, so they are worked out
 * once per thread code; a row costs one load.  Keys that are expressions are numbered by each worker on its own, without a
 * lock; a tuple that is new to a worker gets its number for all of them under one. */
#include "analyse/overlap/scope.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/overlap/given_groups.h"
#include "analyse/rank_groups.h"
#include "common/buffer.h"
#include "common/memory.h"

struct key {
    const char *name;
    enum sta_type type;
    const char *unit;
    struct sta_program *program;        /* KEYS */
    const struct sta_dictionary *texts; /* TEXT: of the codes in the table */
    struct sta_dictionary *own;         /* those texts, when they had to be gathered */
};

struct sta_scope {
    const struct sta_columns *columns;
    const struct sta_scope_request *request;
    struct key keys[STA_KEY_COLUMNS];
    size_t key_count;
    uint32_t *unit_of_thread; /* by thread code; NULL for JOB, KEYS and BIN */
    pthread_mutex_t lock;     /* over table while workers run */
    struct sta_key_table table;
};

struct sta_scope_worker {
    struct sta_scope *scope;
    struct sta_evaluator *evaluator;
    struct sta_key_table table; /* of what this worker has seen; texts by the codes of their vectors */
    const struct sta_dictionary *texts[STA_KEY_COLUMNS]; /* .. of these */
    uint32_t *units;                                     /* by number in table */
    size_t unit_count, unit_capacity;
};

/* ---- scopes that follow from the thread */

static struct sta_key_value text_value(uint32_t code)
{
    return (struct sta_key_value){.bits = code, .missing = code == STA_NO_CODE};
}

static struct sta_key_value id_value(int64_t id)
{
    return (struct sta_key_value){.bits = (uint64_t)id, .missing = id == STA_NO_ID};
}

/* The columns of each scope that follows from the thread, or from the time. */
static const char *const thread_names[] = {"host_name", "pid", "tid"};
static const char *const bin_names[] = {"time_range"};
static const size_t name_counts[] = {
    [STA_SCOPE_THREAD] = 3, [STA_SCOPE_PROCESS] = 2, [STA_SCOPE_RANK_GROUP] = 2,
    [STA_SCOPE_HOST] = 1,   [STA_SCOPE_JOB] = 0,     [STA_SCOPE_BIN] = 1};

const char *const *sta_scope_names(const struct sta_scope_request *request, size_t *count)
{
    *count = request->kind == STA_SCOPE_KEYS ? request->key_count : name_counts[request->kind];
    if (request->kind == STA_SCOPE_KEYS)
        return request->key_names;
    return request->kind == STA_SCOPE_BIN ? bin_names : thread_names;
}

static void name_keys(struct sta_scope *scope)
{
    const struct sta_entities *entities = sta_snapshot_entities(sta_columns_snapshot(scope->columns));
    const char *const *names = sta_scope_names(scope->request, &scope->key_count);
    for (size_t k = 0; k < scope->key_count; k++)
        scope->keys[k] = (struct key){.name = names[k], .type = STA_TYPE_INT};
    if (scope->key_count > 0 && scope->request->kind <= STA_SCOPE_HOST) {
        scope->keys[0].type = STA_TYPE_TEXT;
        scope->keys[0].texts = entities->hosts;
    }
}

static void number_threads(struct sta_scope *scope, const struct sta_group_key *group_of_process)
{
    const struct sta_entities *entities = sta_snapshot_entities(sta_columns_snapshot(scope->columns));
    scope->unit_of_thread = sta_alloc_array((size_t)entities->thread_code_count + 1, sizeof(uint32_t));
    for (uint32_t code = 0; code < entities->thread_code_count; code++) {
        if (entities->thread_of_code[code] >= entities->thread_count)
            continue; /* a code that no event of this version uses */
        const struct sta_entity_thread *thread = &entities->threads[entities->thread_of_code[code]];
        struct sta_key_value values[] = {text_value(thread->host), id_value(thread->pid),
                                         id_value(thread->tid)};
        if (group_of_process != NULL) {
            values[0] = text_value(group_of_process[thread->process].host);
            values[1] = id_value(group_of_process[thread->process].pid);
        }
        scope->unit_of_thread[code] = sta_key_table_intern(&scope->table, values);
    }
}

static int bind_groups(struct sta_scope *scope, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_group_key *groups;
    int rc = sta_given_groups(sta_columns_snapshot(scope->columns), scope->request->rank_groups, budget,
                              &groups, err);
    if (rc != 0)
        return rc;
    number_threads(scope, groups);
    free(groups);
    return 0;
}

/* ---- scopes by expressions */

static int bind_keys(struct sta_scope *scope, struct sta_error *err)
{
    const struct sta_scope_request *request = scope->request;
    for (size_t k = 0; k < request->key_count; k++) {
        struct key *key = &scope->keys[k];
        key->type = sta_expression_type(request->keys[k]);
        key->unit = sta_expression_unit(request->keys[k]);
        if (key->type == STA_TYPE_TEXT)
            key->texts = key->own = sta_dictionary_create();
        int rc = sta_program_create(request->keys[k], &key->program, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static struct sta_key_value value_at(const struct sta_vector *vector, uint32_t row)
{
    struct sta_key_value value = {0};
    row = vector->constant ? 0 : row;
    switch (vector->type) {
    case STA_TYPE_TEXT:
        return text_value(vector->codes[row]);
    case STA_TYPE_INT:
        value.bits = (uint64_t)vector->integers[row];
        break;
    case STA_TYPE_BOOL:
        value.bits = vector->bools[row];
        break;
    case STA_TYPE_FLOAT: {
        double number = vector->numbers[row] + 0.0; /* -0.0 is 0.0 */
        memcpy(&value.bits, &number, sizeof value.bits);
        break;
    }
    default:
        value.missing = true;
    }
    value.missing |= vector->missing != NULL && vector->missing[row];
    if (value.missing)
        value.bits = 0;
    return value;
}

/* The unit of a tuple that this worker has not seen. */
static uint32_t meet_unit(struct sta_scope_worker *worker, uint32_t tuple)
{
    struct sta_scope *scope = worker->scope;
    struct sta_key_value values[STA_KEY_COLUMNS];
    sta_key_table_values(&worker->table, tuple, values);
    for (size_t k = 0; k < scope->key_count; k++) {
        if (scope->keys[k].own == NULL || values[k].missing)
            continue;
        struct sta_text text = sta_dictionary_text(worker->texts[k], (uint32_t)values[k].bits);
        values[k] = text_value(sta_dictionary_intern(scope->keys[k].own, text.bytes, text.length));
    }
    pthread_mutex_lock(&scope->lock);
    uint32_t unit = sta_key_table_intern(&scope->table, values);
    pthread_mutex_unlock(&scope->lock);
    return unit;
}

static void forget_tuples(struct sta_scope_worker *worker)
{
    sta_key_table_fini(&worker->table);
    sta_key_table_init(&worker->table, worker->scope->key_count);
    worker->unit_count = 0;
}

/* Codes mean nothing beside those of another dictionary. */
static void note_texts(struct sta_scope_worker *worker, size_t key, const struct sta_vector *vector)
{
    if (vector->type != STA_TYPE_TEXT || vector->texts == worker->texts[key])
        return;
    if (worker->texts[key] != NULL)
        forget_tuples(worker);
    worker->texts[key] = vector->texts;
}

static void to_units(struct sta_scope_worker *worker, const uint32_t *selected, uint32_t count,
                     uint32_t *units)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = selected != NULL ? selected[i] : i;
        uint32_t tuple = units[row];
        while (tuple >= worker->unit_count) {
            STA_GROW(worker->units, worker->unit_capacity, worker->unit_count + 1);
            worker->units[worker->unit_count] = meet_unit(worker, (uint32_t)worker->unit_count);
            worker->unit_count++;
        }
        units[row] = worker->units[tuple];
    }
}

static int units_of_keys(struct sta_scope_worker *worker, struct sta_column_reader *reader,
                         const uint32_t *selected, uint32_t count, uint32_t *units, struct sta_error *err)
{
    struct sta_scope *scope = worker->scope;
    uint32_t rows = sta_column_reader_block(reader)->rows;
    for (size_t k = 0; k < scope->key_count; k++) {
        struct sta_vector vector;
        int rc = sta_program_run(scope->keys[k].program, worker->evaluator, rows, sta_column_reader_get,
                                 reader, &vector, err);
        if (rc != 0)
            return rc;
        note_texts(worker, k, &vector);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t row = selected != NULL ? selected[i] : i;
            units[row] =
                sta_key_table_step(&worker->table, k, k > 0 ? units[row] : 0, value_at(&vector, row));
        }
    }
    to_units(worker, selected, count, units);
    return 0;
}

static int units_of_bins(struct sta_scope_worker *worker, struct sta_column_reader *reader,
                         const uint32_t *selected, uint32_t count, uint32_t *units, struct sta_error *err)
{
    const struct sta_column_values *ts;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_TS, &ts, err);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        uint32_t row = selected != NULL ? selected[i] : i;
        struct sta_key_value bin = {.bits = (uint64_t)(ts->integers[row] / worker->scope->request->bin)};
        units[row] = sta_key_table_step(&worker->table, 0, 0, bin);
    }
    if (rc == 0)
        to_units(worker, selected, count, units);
    return rc;
}

static int units_of_threads(const struct sta_scope *scope, struct sta_column_reader *reader, uint32_t *units,
                            struct sta_error *err)
{
    const struct sta_column_values *threads;
    uint32_t rows = sta_column_reader_block(reader)->rows;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_THREAD, &threads, err);
    if (rc != 0)
        return rc;
    for (uint32_t row = 0; row < rows; row++)
        units[row] = scope->unit_of_thread[threads->codes[row]];
    return 0;
}

int sta_scope_units(struct sta_scope_worker *worker, struct sta_column_reader *reader,
                    const uint32_t *selected, uint32_t count, uint32_t *units, struct sta_error *err)
{
    switch (worker->scope->request->kind) {
    case STA_SCOPE_KEYS:
        return units_of_keys(worker, reader, selected, count, units, err);
    case STA_SCOPE_BIN:
        return units_of_bins(worker, reader, selected, count, units, err);
    case STA_SCOPE_JOB:
        memset(units, 0, sta_column_reader_block(reader)->rows * sizeof *units);
        return 0;
    default:
        return units_of_threads(worker->scope, reader, units, err);
    }
}

/* ---- start and end */

int sta_scope_create(const struct sta_columns *columns, const struct sta_scope_request *request,
                     const struct sta_budget *budget, struct sta_scope **scope, struct sta_error *err)
{
    struct sta_scope *fresh = sta_alloc(sizeof *fresh);
    *fresh = (struct sta_scope){.columns = columns, .request = request};
    pthread_mutex_init(&fresh->lock, NULL);
    int rc = 0;
    name_keys(fresh);
    if (request->kind == STA_SCOPE_KEYS)
        rc = bind_keys(fresh, err);
    sta_key_table_init(&fresh->table, fresh->key_count);
    if (rc == 0 && request->kind == STA_SCOPE_RANK_GROUP)
        rc = bind_groups(fresh, budget, err);
    else if (request->kind < STA_SCOPE_JOB)
        number_threads(fresh, NULL);
    *scope = fresh;
    return rc;
}

void sta_scope_destroy(struct sta_scope *scope)
{
    if (scope == NULL)
        return;
    for (size_t k = 0; k < scope->key_count; k++) {
        sta_dictionary_destroy(scope->keys[k].own);
        if (scope->keys[k].program != NULL)
            sta_program_destroy(scope->keys[k].program);
    }
    sta_key_table_fini(&scope->table);
    free(scope->unit_of_thread);
    pthread_mutex_destroy(&scope->lock);
    free(scope);
}

struct sta_scope_worker *sta_scope_worker_create(struct sta_scope *scope)
{
    struct sta_scope_worker *worker = sta_alloc(sizeof *worker);
    worker->scope = scope;
    worker->evaluator = sta_evaluator_create();
    sta_key_table_init(&worker->table, scope->key_count);
    return worker;
}

void sta_scope_worker_destroy(struct sta_scope_worker *worker)
{
    if (worker == NULL)
        return;
    sta_evaluator_destroy(worker->evaluator);
    sta_key_table_fini(&worker->table);
    free(worker->units);
    free(worker);
}

/* ---- after the pass */

uint32_t sta_scope_unit_count(const struct sta_scope *scope)
{
    return sta_key_table_count(&scope->table);
}

uint32_t sta_scope_unit_of_thread(const struct sta_scope *scope, uint32_t code)
{
    return scope->unit_of_thread != NULL ? scope->unit_of_thread[code] : 0;
}

static int compare_texts(struct sta_text a, struct sta_text b)
{
    int order = memcmp(a.bytes, b.bytes, STA_MIN(a.length, b.length));
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static double number_of(struct sta_key_value value)
{
    double number;
    memcpy(&number, &value.bits, sizeof number);
    return number;
}

static int compare_values(const struct key *key, struct sta_key_value a, struct sta_key_value b)
{
    if (a.missing || b.missing)
        return (int)a.missing - (int)b.missing;
    if (key->type == STA_TYPE_TEXT)
        return a.bits == b.bits ? 0
                                : compare_texts(sta_dictionary_text(key->texts, (uint32_t)a.bits),
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
        const struct key *key = &scope->keys[k];
        struct sta_table_column *column = sta_table_add(table, key->name, key->type, key->unit);
        if (key->type == STA_TYPE_TEXT)
            put_texts(scope, table, column, units, k);
        else if (key->type != STA_TYPE_NULL)
            put_numbers(scope, table, column, units, k);
    }
}

void sta_scope_put_json(const struct sta_scope *scope, uint32_t unit, size_t number, struct sta_buffer *out)
{
    const struct key *key = &scope->keys[number];
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
