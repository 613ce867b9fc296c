/* Units of events.
 *
 * DESIGN.  A unit is a tuple of keys, and has a dense number.  Those of threads, processes, groups and hosts
 * follow from an event's thread, so they are numbered once per thread code; a row costs one load.  Keys that
 * are expressions are numbered row by row. */
#include "analyse/overlap/scope.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/operators/vectors.h"
#include "common/account.h"
#include "common/buffer.h"
#include "common/memory.h"

static const char WHAT[] = "the units of an overlap";

struct sta_scope_key {
    const char *name;
    enum sta_type type;
    const char *unit;
    struct sta_program *program; /* KEYS */
};

/* What a worker computes keys with. */
struct scope_worker {
    struct sta_evaluator *evaluators[STA_KEY_COLUMNS]; /* by key: each keeps the vector that it made; KEYS */
    int64_t *bins;                                     /* by row; BIN */
};

struct sta_scope {
    const struct sta_columns *columns;
    const struct sta_scope_request *request;
    struct sta_scope_key keys[STA_KEY_COLUMNS];
    size_t key_count;
    uint32_t *unit_of_thread;     /* by thread code; NULL for JOB, KEYS and BIN */
    struct sta_numbering *units;  /* NULL for JOB, which has one */
    struct scope_worker *workers; /* of KEYS and BIN */
    const struct sta_budget *budget;
};

/* ---- scopes that follow from the thread */

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
    const char *const *names = sta_scope_names(scope->request, &scope->key_count);
    for (size_t k = 0; k < scope->key_count; k++)
        scope->keys[k] = (struct sta_scope_key){.name = names[k], .type = STA_TYPE_INT};
    if (scope->key_count > 0 && scope->request->kind <= STA_SCOPE_HOST)
        scope->keys[0].type = STA_TYPE_TEXT;
}

/* Keys of some thread codes, as columns. */
struct thread_keys {
    uint32_t hosts[STA_VECTOR_ROWS];
    int64_t ids[2][STA_VECTOR_ROWS]; /* pid, tid */
    uint8_t missing[2][STA_VECTOR_ROWS];
    uint32_t selected[STA_VECTOR_ROWS];
};

static void put_keys(struct thread_keys *keys, uint32_t row, const struct sta_entity_thread *thread,
                     const struct sta_group_key *group_of_process)
{
    const struct sta_group_key *group = group_of_process != NULL ? &group_of_process[thread->process] : NULL;
    const int64_t ids[] = {group != NULL ? group->pid : thread->pid, thread->tid};
    keys->hosts[row] = group != NULL ? group->host : thread->host;
    for (size_t i = 0; i < STA_COUNT_OF(ids); i++) {
        keys->ids[i][row] = ids[i];
        keys->missing[i][row] = ids[i] == STA_NO_ID;
    }
}

static int number_threads(struct sta_scope *scope, const struct sta_group_key *group_of_process,
                          struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(sta_columns_snapshot(scope->columns));
    const uint32_t codes = entities->thread_code_count;
    struct thread_keys *keys = sta_alloc(sizeof *keys);
    const struct sta_vector vectors[] = {
        {.type = STA_TYPE_TEXT, .codes = keys->hosts, .texts = entities->hosts},
        {.type = STA_TYPE_INT, .integers = keys->ids[0], .missing = keys->missing[0]},
        {.type = STA_TYPE_INT, .integers = keys->ids[1], .missing = keys->missing[1]}};
    scope->unit_of_thread =
        sta_account_calloc(scope->budget->account, (size_t)codes + 1, sizeof(uint32_t), WHAT, err);
    int rc = scope->unit_of_thread == NULL ? err->status : 0;
    for (uint32_t first = 0; first < codes && rc == 0; first += STA_VECTOR_ROWS) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < STA_VECTOR_ROWS && i < codes - first; i++) {
            const uint32_t thread = entities->thread_of_code[first + i];
            if (thread >= entities->thread_count)
                continue; /* a code that no event of this version uses */
            put_keys(keys, i, &entities->threads[thread], group_of_process);
            keys->selected[count++] = i;
        }
        rc = sta_numbering_take(scope->units, 0, vectors, keys->selected, count,
                                scope->unit_of_thread + first, err);
    }
    free(keys);
    return rc;
}

static int bind_groups(struct sta_scope *scope, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_group_key *groups;
    int rc = sta_given_groups(sta_columns_snapshot(scope->columns), scope->request->rank_groups, budget,
                              &groups, err);
    if (rc != 0)
        return rc;
    rc = number_threads(scope, groups, err);
    sta_account_free(scope->budget->account, groups);
    return rc;
}

/* ---- scopes by expressions */

static void bind_keys(struct sta_scope *scope)
{
    const struct sta_scope_request *request = scope->request;
    for (size_t k = 0; k < request->key_count; k++) {
        struct sta_scope_key *key = &scope->keys[k];
        key->type = request->keys[k]->type;
        key->unit = sta_static_unit(request->keys[k]->unit);
        key->program = sta_program_create(request->keys[k]);
        sta_program_limit(key->program, scope->budget->memory / 4 / request->key_count,
                          scope->budget->spill_folder);
    }
}

static int units_of_keys(struct sta_scope *scope, unsigned worker, struct sta_column_reader *reader,
                         const uint32_t *selected, uint32_t count, uint32_t *units, struct sta_error *err)
{
    const uint32_t rows = sta_column_reader_row_group(reader)->rows;
    struct sta_vector keys[STA_KEY_COLUMNS];
    int rc = 0;
    for (size_t k = 0; k < scope->key_count && rc == 0; k++)
        rc = sta_program_run(scope->keys[k].program, scope->workers[worker].evaluators[k], rows,
                             sta_column_reader_get, reader, &keys[k], err);
    return rc == 0 ? sta_numbering_take(scope->units, worker, keys, selected, count, units, err) : rc;
}

static int units_of_bins(struct sta_scope *scope, unsigned worker, struct sta_column_reader *reader,
                         const uint32_t *selected, uint32_t count, uint32_t *units, struct sta_error *err)
{
    int64_t *bins = scope->workers[worker].bins;
    const struct sta_column_values *ts;
    const uint32_t rows = sta_column_reader_row_group(reader)->rows;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_TS, &ts, err);
    if (rc != 0)
        return rc;
    for (uint32_t row = 0; row < rows; row++)
        bins[row] = ts->integers[row] / scope->request->bin;
    const struct sta_vector key = sta_vector_of_integers(bins);
    return sta_numbering_take(scope->units, worker, &key, selected, count, units, err);
}

static int units_of_threads(const struct sta_scope *scope, struct sta_column_reader *reader, uint32_t *units,
                            struct sta_error *err)
{
    const struct sta_column_values *threads;
    uint32_t rows = sta_column_reader_row_group(reader)->rows;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_THREAD, &threads, err);
    if (rc != 0)
        return rc;
    for (uint32_t row = 0; row < rows; row++)
        units[row] = scope->unit_of_thread[threads->codes[row]];
    return 0;
}

int sta_scope_units(struct sta_scope *scope, unsigned worker, struct sta_column_reader *reader,
                    const uint32_t *selected, uint32_t count, uint32_t *units, struct sta_error *err)
{
    switch (scope->request->kind) {
    case STA_SCOPE_KEYS:
        return units_of_keys(scope, worker, reader, selected, count, units, err);
    case STA_SCOPE_BIN:
        return units_of_bins(scope, worker, reader, selected, count, units, err);
    case STA_SCOPE_JOB:
        memset(units, 0, sta_column_reader_row_group(reader)->rows * sizeof *units);
        return 0;
    default:
        return units_of_threads(scope, reader, units, err);
    }
}

/* ---- start and end */

static void create_workers(struct sta_scope *scope)
{
    const unsigned count = sta_budget_workers(scope->budget);
    scope->workers = sta_alloc_array(count, sizeof *scope->workers);
    for (struct scope_worker *worker = scope->workers; worker < scope->workers + count; worker++) {
        for (size_t k = 0; k < scope->request->key_count; k++) {
            worker->evaluators[k] = sta_evaluator_create();
            sta_evaluator_watch(worker->evaluators[k], scope->budget->cancel);
        }
        if (scope->request->kind == STA_SCOPE_BIN)
            worker->bins = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *worker->bins);
    }
}

int sta_scope_create(const struct sta_columns *columns, const struct sta_scope_request *request,
                     const struct sta_budget *budget, struct sta_scope **scope, struct sta_error *err)
{
    struct sta_scope *fresh = *scope = sta_alloc(sizeof *fresh);
    enum sta_type types[STA_KEY_COLUMNS];
    *fresh = (struct sta_scope){.columns = columns, .request = request, .budget = budget};
    name_keys(fresh);
    if (request->kind == STA_SCOPE_KEYS)
        bind_keys(fresh);
    if (request->kind == STA_SCOPE_KEYS || request->kind == STA_SCOPE_BIN)
        create_workers(fresh);
    for (size_t k = 0; k < fresh->key_count; k++)
        types[k] = fresh->keys[k].type;
    if (fresh->key_count > 0)
        fresh->units = sta_numbering_create(types, fresh->key_count, budget);
    if (request->kind == STA_SCOPE_RANK_GROUP)
        return bind_groups(fresh, budget, err);
    return request->kind < STA_SCOPE_JOB ? number_threads(fresh, NULL, err) : STA_OK;
}

void sta_scope_destroy(struct sta_scope *scope)
{
    if (scope == NULL)
        return;
    for (size_t k = 0; k < scope->key_count; k++)
        sta_program_destroy(scope->keys[k].program);
    for (unsigned w = 0; scope->workers != NULL && w < sta_budget_workers(scope->budget); w++) {
        for (size_t k = 0; k < scope->key_count; k++)
            sta_evaluator_destroy(scope->workers[w].evaluators[k]);
        free(scope->workers[w].bins);
    }
    free(scope->workers);
    sta_numbering_destroy(scope->units);
    sta_account_free(scope->budget->account, scope->unit_of_thread);
    free(scope);
}

/* ---- what units are called: their keys, compared, as columns of tables and as JSON */

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

int sta_scope_compare(const struct sta_scope *scope, uint32_t left, uint32_t right, size_t k, bool descending)
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

int sta_scope_compare_units(const struct sta_scope *scope, uint32_t a, uint32_t b)
{
    int order = 0;
    for (size_t k = 0; order == 0 && k < scope->key_count; k++)
        order = sta_scope_compare(scope, a, b, k, false);
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

void sta_overlap_put_value(enum sta_type type, struct sta_key_value value, const struct sta_dictionary *texts,
                           struct sta_buffer *out)
{
    if (value.missing) {
        sta_put_text(out, "null");
    } else if (type == STA_TYPE_TEXT) {
        struct sta_text text = sta_dictionary_text(texts, (uint32_t)value.bits);
        sta_put_json_string(out, text.bytes, text.length);
    } else if (type == STA_TYPE_FLOAT) {
        sta_put_double(out, number_of(value));
    } else if (type == STA_TYPE_BOOL) {
        sta_put_text(out, value.bits ? "true" : "false");
    } else {
        sta_put_int(out, (int64_t)value.bits);
    }
}

void sta_scope_put_json(const struct sta_scope *scope, uint32_t unit, size_t key, struct sta_buffer *out)
{
    sta_overlap_put_value(scope->keys[key].type, sta_numbering_value(scope->units, unit, key),
                          sta_numbering_texts(scope->units, key), out);
}
