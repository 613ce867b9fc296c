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
    const int column = sta_expression_column(stage->keys[key].expression);
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

/* What a key of a thread is, so that it orders like it: missing last. */
struct part {
    bool missing;
    int64_t value;
    struct sta_text text;
};

struct combining {
    const struct sta_entities *entities;
    int columns[3];
    size_t count;
};

static struct part part_of(const struct combining *combining, uint32_t thread, size_t key)
{
    static const struct sta_entity_thread nobody = {.host = STA_NO_CODE, .pid = STA_NO_ID, .tid = STA_NO_ID};
    const struct sta_entities *entities = combining->entities;
    const struct sta_entity_thread *own =
        thread < entities->thread_count ? &entities->threads[thread] : &nobody;
    if (combining->columns[key] == STA_LOGICAL_host_name) {
        struct part part = {.missing = own->host == STA_NO_CODE, .value = own->host};
        if (!part.missing)
            part.text = sta_dictionary_text(entities->hosts, own->host);
        return part;
    }
    const int64_t id = combining->columns[key] == STA_LOGICAL_pid ? own->pid : own->tid;
    return (struct part){.missing = id == STA_NO_ID, .value = id};
}

static int compare_parts(const struct part *a, const struct part *b)
{
    if (a->missing || b->missing)
        return a->missing - b->missing;
    if (a->text.bytes == NULL)
        return (a->value > b->value) - (a->value < b->value);
    if (a->value == b->value)
        return 0;
    return sta_text_order(a->text, b->text);
}

static int by_combination(const void *left, const void *right, void *context)
{
    const struct combining *combining = context;
    int order = 0;
    for (size_t k = 0; order == 0 && k < combining->count; k++) {
        const struct part a = part_of(combining, *(const uint32_t *)left, k);
        const struct part b = part_of(combining, *(const uint32_t *)right, k);
        order = compare_parts(&a, &b);
    }
    return order;
}

#define WHAT "the threads of the trace as keys"

static int init_values(struct sta_thread_keys *keys, const struct combining *combining, size_t most,
                       struct sta_error *err)
{
    keys->values = sta_alloc_array(keys->count, sizeof *keys->values);
    for (size_t k = 0; k < keys->count; k++) {
        struct sta_thread_key_values *values = &keys->values[k];
        const bool text = combining->columns[k] == STA_LOGICAL_host_name;
        values->type = text ? STA_TYPE_TEXT : STA_TYPE_INT;
        values->texts = text ? combining->entities->hosts : NULL;
        if (text)
            values->codes = sta_account_calloc(keys->account, most, sizeof *values->codes, WHAT, err);
        else
            values->integers = sta_account_calloc(keys->account, most, sizeof *values->integers, WHAT, err);
        values->missing = sta_account_calloc(keys->account, most, sizeof *values->missing, WHAT, err);
        if ((text ? values->codes == NULL : values->integers == NULL) || values->missing == NULL)
            return err->status;
    }
    return 0;
}

/* Return: whether a key is missing. */
static bool put_values(struct sta_thread_keys *keys, const struct combining *combining, uint32_t thread,
                       uint32_t rank)
{
    bool any = false;
    for (size_t k = 0; k < keys->count; k++) {
        struct sta_thread_key_values *values = &keys->values[k];
        const struct part part = part_of(combining, thread, k);
        values->missing[rank] = part.missing;
        if (values->codes != NULL)
            values->codes[rank] = part.missing ? STA_NO_CODE : (uint32_t)part.value;
        else
            values->integers[rank] = part.missing ? 0 : part.value;
        any |= part.missing;
    }
    return any;
}

/* Ranks threads, and `nobody` behind them, by their keys. */
static int rank_threads(struct sta_thread_keys *keys, struct combining *combining, bool keep_missing,
                        uint32_t *rank_of_thread, struct sta_error *err)
{
    const uint32_t count = combining->entities->thread_count + 1;
    uint32_t *threads = sta_account_alloc(keys->account, count, sizeof *threads, WHAT, err);
    int rc = threads != NULL ? init_values(keys, combining, count, err) : err->status;
    for (uint32_t t = 0; rc == 0 && t < count; t++)
        threads[t] = t;
    if (rc == 0)
        qsort_r(threads, count, sizeof *threads, by_combination, combining);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        keys->ranks += i == 0 || by_combination(&threads[i - 1], &threads[i], combining) != 0;
        const bool missing = put_values(keys, combining, threads[i], keys->ranks - 1);
        rank_of_thread[threads[i]] = missing && !keep_missing ? STA_NO_CODE : keys->ranks - 1;
    }
    sta_account_free(keys->account, threads);
    return rc;
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
    struct combining combining = {.entities = entities, .count = keys->count};
    STA_ASSERT(keys->count <= STA_COUNT_OF(combining.columns));
    for (size_t k = 0; k < keys->count; k++)
        combining.columns[k] = sta_expression_column(stage->keys[keys->first + k].expression);
    uint32_t *ranks =
        sta_account_alloc(account, (size_t)entities->thread_count + 1, sizeof *ranks, WHAT, err);
    if (ranks == NULL)
        return err->status;
    int rc = rank_threads(keys, &combining, stage->keep_missing, ranks, err);
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
    for (size_t k = 0; keys->values != NULL && k < keys->count; k++) {
        sta_account_free(keys->account, keys->values[k].integers);
        sta_account_free(keys->account, keys->values[k].codes);
        sta_account_free(keys->account, keys->values[k].missing);
    }
    free(keys->values);
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
    for (size_t k = 0; k < keys->count; k++, space++) {
        const struct sta_thread_key_values *values = &keys->values[k];
        vectors[k] = (struct sta_vector){.type = values->type, .texts = values->texts};
        sta_vector_point(&vectors[k], space->integers);
        if (values->codes != NULL) {
            for (uint32_t row = 0; row < rows; row++)
                space->codes[row] = values->codes[ranks->integers[row]];
            continue;
        }
        for (uint32_t row = 0; row < rows; row++) {
            space->integers[row] = values->integers[ranks->integers[row]];
            space->missing[row] = values->missing[ranks->integers[row]];
        }
        vectors[k].missing = space->missing;
    }
}
