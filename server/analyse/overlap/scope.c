/* Units of events.
 *
 * DESIGN.  A unit is a tuple of keys.  Those of threads, processes, groups and hosts follow from an event's
 * thread, so they are worked out once per thread code; a row costs one load.  Keys that are expressions are
 * numbered by each worker on its own, without a lock; a tuple that is new to a worker gets its number for all
 * of them under one. */
#include "analyse/overlap/scope_private.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/overlap/given_groups.h"
#include "common/memory.h"

struct sta_scope_worker {
    struct sta_scope *scope;
    struct sta_evaluator *evaluator;
    struct sta_key_table table; /* of what this worker has seen; texts by the codes of their vectors */
    const struct sta_dictionary *texts[STA_KEY_COLUMNS]; /* .. of these */
    uint32_t *units;                                     /* by number in table */
    size_t unit_count, unit_capacity;
    size_t bytes; /* what of the scope's is this worker's */
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
        scope->keys[k] = (struct sta_scope_key){.name = names[k], .type = STA_TYPE_INT};
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
        struct sta_scope_key *key = &scope->keys[k];
        key->type = sta_expression_type(request->keys[k]);
        key->unit = sta_static_unit(sta_expression_unit(request->keys[k]));
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

/* Notes how large the table is; under the lock, so that it never seems to shrink. */
static void note_table(struct sta_scope *scope)
{
    atomic_store_explicit(&scope->bytes, sta_key_table_bytes(&scope->table), memory_order_relaxed);
    atomic_store_explicit(&scope->units, sta_key_table_count(&scope->table), memory_order_relaxed);
}

/* Notes what the tables have grown by. */
static void count_bytes(struct sta_scope_worker *worker)
{
    struct sta_scope *scope = worker->scope;
    size_t mine = sta_key_table_bytes(&worker->table) + worker->unit_capacity * sizeof *worker->units;
    pthread_mutex_lock(&scope->lock);
    note_table(scope);
    pthread_mutex_unlock(&scope->lock);
    atomic_fetch_add_explicit(&scope->worker_bytes, mine - worker->bytes, memory_order_relaxed);
    worker->bytes = mine;
}

uint32_t sta_scope_unit_count_now(const struct sta_scope *scope)
{
    return atomic_load_explicit(&scope->units, memory_order_relaxed);
}

size_t sta_scope_bytes(const struct sta_scope *scope)
{
    size_t bytes = atomic_load_explicit(&scope->bytes, memory_order_relaxed) +
                   atomic_load_explicit(&scope->worker_bytes, memory_order_relaxed);
    for (size_t k = 0; k < scope->key_count; k++)
        if (scope->keys[k].own != NULL)
            bytes += sta_dictionary_bytes(scope->keys[k].own);
    return bytes;
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
    size_t before = worker->unit_count;
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
    if (worker->unit_count > before)
        count_bytes(worker);
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
    note_table(fresh);
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
