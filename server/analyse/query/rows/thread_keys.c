/* Keys of threads as one; see thread_keys.h. */
#include "analyse/query/rows/thread_keys.h"

#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"

/* ---- which keys */

static bool is_of_thread(const struct sta_pipeline *pipeline, size_t key)
{
    const struct sta_plan_stage *stage = &pipeline->stages[0];
    const int column = stage->keys[key].expression->column;
    const struct sta_events_trace *trace = &pipeline->events->traces[0];
    return (column == STA_LOGICAL_pid || column == STA_LOGICAL_tid || column == STA_LOGICAL_host_name) &&
           trace->map[column].program == NULL && trace->map[column].column == (uint32_t)column;
}

/* The first keys in a row of which there are two or more. */
static void find_keys(struct sta_thread_keys *keys, const struct sta_pipeline *pipeline)
{
    const struct sta_plan_stage *stage = &pipeline->stages[0];
    if (pipeline->events == NULL || pipeline->events->trace_count != 1 || pipeline->stage_count != 1 ||
        stage->kind != STA_PLAN_GROUPS)
        return;
    for (keys->first = 0; keys->first < stage->key_count; keys->first += keys->count + 1) {
        for (keys->count = 0; keys->first + keys->count < stage->key_count &&
                              is_of_thread(pipeline, keys->first + keys->count);)
            keys->count++;
        if (keys->count > 1)
            return;
    }
    keys->count = 0;
}

/* ---- combinations */

#define WHAT "the threads of the trace as keys"

/* A key of each thread, and behind these of none, where it is missing. */
static int init_values(const struct sta_thread_keys *keys, const struct sta_entities *entities, int column,
                       struct sta_vector *vector, struct sta_error *err)
{
    const uint32_t count = entities->thread_count;
    const bool text = column == STA_LOGICAL_host_name;
    int64_t *ids = sta_account_calloc(keys->account, (size_t)count + 1, sizeof *ids + 1, WHAT, err);
    uint32_t *codes = (uint32_t *)ids;
    uint8_t *missing = (uint8_t *)(ids + count + 1);
    if (ids == NULL)
        return err->status;
    *vector = text ? (struct sta_vector){.type = STA_TYPE_TEXT, .codes = codes, .texts = entities->hosts}
                   : (struct sta_vector){.type = STA_TYPE_INT, .integers = ids, .missing = missing};
    for (uint32_t t = 0; t < count && text; t++)
        codes[t] = entities->threads[t].host;
    for (uint32_t t = 0; t < count && !text; t++) {
        const int64_t id = column == STA_LOGICAL_pid ? entities->threads[t].pid : entities->threads[t].tid;
        missing[t] = id == STA_NO_ID;
        ids[t] = missing[t] ? 0 : id;
    }
    if (text)
        codes[count] = STA_NO_CODE;
    else
        missing[count] = 1;
    return STA_OK;
}

/* Missing last. */
static int compare_values(const struct sta_vector *key, uint32_t a, uint32_t b)
{
    const bool missing = sta_vector_is_missing(key, a);
    if (missing || sta_vector_is_missing(key, b))
        return missing - sta_vector_is_missing(key, b);
    if (key->type == STA_TYPE_INT)
        return (key->integers[a] > key->integers[b]) - (key->integers[a] < key->integers[b]);
    return key->codes[a] == key->codes[b] ? 0
                                          : sta_text_order(sta_dictionary_text(key->texts, key->codes[a]),
                                                           sta_dictionary_text(key->texts, key->codes[b]));
}

static int by_combination(const void *left, const void *right, void *context)
{
    const struct sta_thread_keys *keys = context;
    int order = 0;
    for (size_t k = 0; order == 0 && k < keys->count; k++)
        order = compare_values(&keys->values[k], *(const uint32_t *)left, *(const uint32_t *)right);
    return order;
}

static bool any_missing(const struct sta_thread_keys *keys, uint32_t thread)
{
    bool any = false;
    for (size_t k = 0; k < keys->count; k++)
        any |= sta_vector_is_missing(&keys->values[k], thread);
    return any;
}

/* Ranks threads, and `none` behind them, by their keys. */
static int rank_threads(struct sta_thread_keys *keys, uint32_t none, bool keep_missing,
                        uint32_t *rank_of_thread, struct sta_error *err)
{
    uint32_t *threads = keys->threads =
        sta_account_alloc(keys->account, (size_t)none + 1, sizeof *threads, WHAT, err);
    if (threads == NULL)
        return err->status;
    for (uint32_t t = 0; t <= none; t++)
        threads[t] = t;
    qsort_r(threads, (size_t)none + 1, sizeof *threads, by_combination, keys);
    for (uint32_t i = 0; i <= none; i++) {
        const uint32_t thread = threads[i];
        if (i == 0 || by_combination(&threads[keys->ranks - 1], &thread, keys) != 0)
            threads[keys->ranks++] = thread;
        rank_of_thread[thread] = any_missing(keys, thread) && !keep_missing ? STA_NO_CODE : keys->ranks - 1;
    }
    return STA_OK;
}

int sta_thread_keys_init(struct sta_thread_keys *keys, const struct sta_pipeline *pipeline,
                         struct sta_account *account, struct sta_error *err)
{
    *keys = (struct sta_thread_keys){.account = account};
    find_keys(keys, pipeline);
    if (keys->count == 0)
        return 0;
    const struct sta_plan_stage *stage = &pipeline->stages[0];
    const struct sta_entities *entities = sta_snapshot_entities(pipeline->events->traces[0].snapshot);
    keys->values = sta_alloc_array(keys->count, sizeof *keys->values);
    int rc = STA_OK;
    for (size_t k = 0; rc == 0 && k < keys->count; k++)
        rc = init_values(keys, entities, stage->keys[keys->first + k].expression->column, &keys->values[k],
                         err);
    if (rc != 0)
        return rc;
    uint32_t *ranks =
        sta_account_alloc(account, (size_t)entities->thread_count + 1, sizeof *ranks, WHAT, err);
    if (ranks == NULL)
        return err->status;
    rc = rank_threads(keys, entities->thread_count, stage->keep_missing, ranks, err);
    if (rc == 0)
        keys->of_code = sta_account_alloc(account, (size_t)entities->thread_code_count + 1,
                                          sizeof *keys->of_code, WHAT, err);
    if (keys->of_code != NULL) {
        keys->of_code[0] = ranks[entities->thread_count];
        for (uint32_t code = 0; code < entities->thread_code_count; code++)
            keys->of_code[code + 1] = ranks[STA_MIN(entities->thread_of_code[code], entities->thread_count)];
    }
    sta_account_free(account, ranks);
    return keys->of_code != NULL ? 0 : err->status;
}

void sta_thread_keys_fini(struct sta_thread_keys *keys)
{
    for (size_t k = 0; keys->values != NULL && k < keys->count; k++)
        sta_account_free(keys->account, (void *)sta_vector_values(&keys->values[k]));
    free(keys->values);
    sta_account_free(keys->account, keys->threads);
    sta_account_free(keys->account, keys->of_code);
}

/* ---- rows */

/* Return: whether a row is dropped. */
static bool look_up(const uint32_t *of_code, const uint32_t *codes, const struct sta_pipeline_state *state,
                    int64_t *restrict ranks)
{
    const uint32_t *selected = state->selected, count = state->count;
    uint32_t any = 0;
    for (uint32_t i = 0; selected == NULL && i < count; i++) {
        const uint32_t rank = of_code[codes[i] + 1];
        ranks[i] = rank;
        any |= rank == STA_NO_CODE;
    }
    for (uint32_t i = 0; selected != NULL && i < count; i++) {
        const uint32_t rank = of_code[codes[selected[i]] + 1];
        ranks[selected[i]] = rank;
        any |= rank == STA_NO_CODE;
    }
    return any != 0;
}

int sta_thread_keys_fetch(const struct sta_thread_keys *keys, struct sta_pipeline_state *state,
                          struct sta_vector_space *space, struct sta_vector *vector, struct sta_error *err)
{
    const struct sta_column_values *threads;
    int rc = sta_pipeline_state_physical(state, STA_COLUMN_THREAD, &threads, err);
    if (rc != 0)
        return rc;
    const bool any = look_up(keys->of_code, threads->codes, state, space->integers);
    for (uint32_t i = 0; any && i < state->count; i++) {
        const uint32_t row = state->selected != NULL ? state->selected[i] : i;
        space->missing[row] = space->integers[row] == STA_NO_CODE;
    }
    *vector = (struct sta_vector){
        .type = STA_TYPE_INT, .integers = space->integers, .missing = any ? space->missing : NULL};
    return STA_OK;
}

void sta_thread_keys_expand(const struct sta_thread_keys *keys, const struct sta_vector *ranks, uint32_t rows,
                            struct sta_vector_space *space, struct sta_vector *vectors)
{
    uint32_t threads[STA_VECTOR_ROWS];
    for (uint32_t row = 0; row < rows; row++)
        threads[row] = keys->threads[ranks->integers[row]];
    for (size_t k = 0; k < keys->count; k++)
        vectors[k] = sta_vector_gather_to(&keys->values[k], threads, rows, &space[k]);
}
