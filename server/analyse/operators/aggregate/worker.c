/* Rows into a worker's table: minibatch by minibatch, keys first, then primitive by primitive. */
#include "analyse/operators/aggregate/worker.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/key_kernels.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

/* ---- making and freeing */

/* Calls that read the same arguments in the same way share what is prepared of them. */
static uint32_t first_alike(const struct sta_shape *shape, uint32_t number)
{
    uint32_t other = 0;
    while (shape->calls[other].leading != shape->calls[number].leading ||
           shape->calls[other].other != shape->calls[number].other ||
           shape->calls[other].function->missing_is_zero != shape->calls[number].function->missing_is_zero ||
           shape->calls[other].primitive.aggregate == STA_AGGREGATE_ROWS)
        other++;
    return other;
}

void sta_group_worker_init(struct sta_group_worker *worker, const struct sta_shape *shape,
                           struct sta_group_limits *limits, const struct sta_budget *budget)
{
    *worker = (struct sta_group_worker){.shape = shape,
                                        .limits = limits,
                                        .budget = budget,
                                        .account = budget != NULL ? budget->account : NULL};
    worker->working_set = STA_GROUP_WORKING_SET;
    sta_group_table_init(&worker->table, shape, &worker->arena);
    worker->arguments = sta_alloc_array(shape->call_count, sizeof *worker->arguments);
    worker->argument_of = sta_alloc_array(shape->call_count, sizeof *worker->argument_of);
    for (uint32_t f = 0; f < shape->call_count; f++)
        worker->argument_of[f] =
            shape->calls[f].primitive.aggregate == STA_AGGREGATE_ROWS ? f : first_alike(shape, f);
    worker->key_dictionaries = sta_alloc_array(shape->key_count, sizeof *worker->key_dictionaries);
}

void sta_group_worker_fini(struct sta_group_worker *worker)
{
    if (worker->shape == NULL)
        return;
    for (size_t f = 0; f < worker->shape->call_count; f++)
        free(worker->arguments[f].space);
    free(worker->arguments);
    free(worker->argument_of);
    free(worker->key_dictionaries);
    free(worker->words);
    sta_exact_terms_fini(&worker->terms);
    sta_group_worker_free_tables(worker);
    free(worker->sealed_keys);
    for (size_t r = 0; r < worker->run_count; r++)
        sta_run_destroy(worker->runs[r]);
    free(worker->runs);
    sta_spill_destroy(worker->spill);
}

void sta_group_worker_free_tables(struct sta_group_worker *worker)
{
    sta_group_table_fini(&worker->table);
    for (size_t t = 0; t < worker->sealed_count; t++)
        sta_group_table_fini(&worker->sealed[t]);
    free(worker->sealed);
    worker->sealed = NULL;
    worker->sealed_count = 0;
    sta_state_arena_fini(&worker->arena);
    sta_account_release(worker->account, worker->charged);
    worker->charged = 0;
}

/* ---- arguments */

static bool may_be_missing(const struct sta_vector *vector)
{
    return sta_vector_is_codes(vector) || vector->type == STA_TYPE_NULL || vector->missing != NULL;
}

/* Values of all rows of a minibatch as words. */
#define GATHER(value)                                                                                        \
    for (uint32_t i = 0; i < minibatch->count; i++) {                                                        \
        size_t at = (size_t)sta_minibatch_row(minibatch, i) * step;                                          \
        values[i] = (value);                                                                                 \
    }

static void gather(const struct sta_vector *vector, uint64_t dictionary,
                   const struct sta_minibatch *minibatch, uint64_t *values)
{
    const size_t step = vector->constant ? 0 : 1;
    const uint64_t *words = sta_vector_values(vector);
    switch (vector->type) {
    case STA_TYPE_INT:
    case STA_TYPE_FLOAT:
        GATHER(words[at]);
        break;
    case STA_TYPE_BOOL:
        GATHER(vector->bools[at]);
        break;
    case STA_TYPE_TEXT:
    case STA_TYPE_LIST:
        GATHER(dictionary << 32 | vector->codes[at]);
        break;
    default:
        memset(values, 0, minibatch->count * sizeof *values);
    }
}

static uint64_t dictionary_of(const struct sta_shape *shape, uint32_t argument,
                              const struct sta_vector *vector)
{
    struct sta_texts *texts = shape->argument_texts[argument];
    return sta_vector_is_codes(vector) && texts != NULL ? sta_texts_dictionary(texts, vector->texts) : 0;
}

/* Leaves out rows without a value. */
static void drop_missing(struct sta_argument *argument, const struct sta_vector *vector)
{
    struct sta_agg_input *input = &argument->input;
    uint32_t count = 0;
    for (uint32_t i = 0; i < input->minibatch.count; i++) {
        uint32_t row = sta_minibatch_row(&input->minibatch, i);
        argument->space->rows[count] = row;
        argument->space->groups[count] = input->groups[i];
        if (input->states != NULL)
            argument->space->states[count] = input->states[i];
        count += !sta_vector_is_missing(vector, row);
    }
    input->minibatch = (struct sta_minibatch){.count = count, .rows = argument->space->rows};
    input->groups = argument->space->groups;
    input->states = input->states != NULL ? argument->space->states : NULL;
}

static bool lies_as_needed(const struct sta_vector *vector, const struct sta_minibatch *minibatch)
{
    return minibatch->rows == NULL && !vector->constant &&
           (vector->type == STA_TYPE_INT || vector->type == STA_TYPE_FLOAT);
}

static void prepare_other(const struct sta_agg_call *call, struct sta_argument *argument,
                          const struct sta_shape *shape, const struct sta_vector *vector)
{
    struct sta_agg_input *input = &argument->input;
    gather(vector, dictionary_of(shape, call->other, vector), &input->minibatch, argument->space->others);
    for (uint32_t i = 0; i < input->minibatch.count; i++)
        argument->space->other_missing[i] =
            sta_vector_is_missing(vector, sta_minibatch_row(&input->minibatch, i));
    input->others = argument->space->others;
    input->other_missing = argument->space->other_missing;
}

/* The values of the leading argument, of which those that are missing count as 0 if @clear. */
static const uint64_t *prepare_values(const struct sta_argument *argument, const struct sta_vector *vector,
                                      uint64_t dictionary, bool clear)
{
    const struct sta_minibatch *minibatch = &argument->input.minibatch;
    if (lies_as_needed(vector, minibatch) && !clear)
        return (const uint64_t *)sta_vector_values(vector) + minibatch->first;
    if (vector->type == STA_TYPE_INT && !vector->constant) {
        sta_key_kernels_here()->integers(vector->integers, clear ? vector->missing : NULL, minibatch,
                                         argument->space->values);
        return argument->space->values;
    }
    gather(vector, dictionary, minibatch, argument->space->values);
    for (uint32_t i = 0; clear && i < minibatch->count; i++)
        argument->space->values[i] &=
            (uint64_t)sta_vector_is_missing(vector, sta_minibatch_row(minibatch, i)) - 1;
    return argument->space->values;
}

static void prepare(struct sta_group_worker *worker, const struct sta_agg_call *call,
                    struct sta_argument *argument, const struct sta_agg_input *whole)
{
    const struct sta_aggregation_input *batch = whole->batch;
    argument->input = *whole;
    argument->ready = true;
    if (call->primitive.aggregate == STA_AGGREGATE_ROWS)
        return;
    const struct sta_vector *vector = &batch->arguments[call->leading];
    const bool clear = call->function->missing_is_zero && vector->missing != NULL;
    if (argument->space == NULL)
        argument->space = sta_alloc(sizeof *argument->space);
    if (may_be_missing(vector) && !clear)
        drop_missing(argument, vector);
    argument->input.values =
        prepare_values(argument, vector, dictionary_of(worker->shape, call->leading, vector), clear);
    if (call->other != call->leading)
        prepare_other(call, argument, worker->shape, &batch->arguments[call->other]);
}

/* ---- calls */

static bool want_states(const struct sta_shape *shape, const struct sta_agg_input *whole)
{
    bool all_by_number = sta_agg_has_few_groups(whole);
    for (size_t f = 0; f < shape->call_count; f++)
        all_by_number = all_by_number && shape->calls[f].function->by_number;
    return !all_by_number;
}

/* Of several calls that read one list, the first keeps it. */
static bool keeps_list(const struct sta_shape *shape, uint32_t call)
{
    uint32_t list = shape->calls[call].list;
    return list == STA_NO_LIST || shape->lists[list].calls[0] == call;
}

static void update_calls(struct sta_group_worker *worker, const struct sta_agg_input *whole)
{
    const struct sta_shape *shape = worker->shape;
    for (size_t f = 0; f < shape->call_count; f++)
        worker->arguments[f].ready = false;
    for (uint32_t f = 0; f < shape->call_count; f++) {
        const struct sta_agg_call *call = &shape->calls[f];
        struct sta_argument *argument = &worker->arguments[worker->argument_of[f]];
        if (!keeps_list(shape, f))
            continue;
        if (!argument->ready)
            prepare(worker, call, argument, whole);
        struct sta_agg_input input = argument->input;
        input.log = call->list == STA_NO_LIST ? NULL : &worker->table.logs[call->list];
        input.terms = &worker->terms;
        if (input.minibatch.count > 0)
            call->function->update(call, &input);
    }
}

/* ---- keys */

static int widen(struct sta_group_worker *worker, const struct sta_aggregation_input *batch,
                 const struct sta_minibatch *minibatch, struct sta_error *err)
{
    const struct sta_shape *shape = worker->shape;
    const struct sta_key_layout *before = worker->table.layout.words > 0 ? &worker->table.layout : NULL;
    struct sta_key_order orders[STA_MOST_KEY_FIELDS] = {0};
    struct sta_key_layout layout;
    for (size_t k = 0; k < shape->key_count; k++) {
        orders[k].type = shape->key_types[k];
        if (before != NULL)
            orders[k].range = sta_key_layout_range(before, k);
        sta_key_kernels_here()->measure(&batch->keys[k], worker->key_dictionaries[k], minibatch,
                                        &orders[k].range);
    }
    sta_key_layout_init_widened(&layout, orders, shape->key_count, before);
    worker->words =
        sta_realloc_array(worker->words, layout.words * STA_MINIBATCH_ROWS, sizeof *worker->words);
    return sta_group_table_relayout(&worker->table, &layout, err);
}

static int pack(struct sta_group_worker *worker, const struct sta_aggregation_input *batch,
                const struct sta_minibatch *minibatch, struct sta_error *err)
{
    int rc = STA_OK;
    const struct sta_key_layout *layout = &worker->table.layout;
    if (layout->words == 0)
        rc = widen(worker, batch, minibatch, err);
    if (rc != 0 ||
        sta_key_kernels_here()->pack(layout, batch->keys, worker->key_dictionaries, minibatch, worker->words))
        return rc;
    rc = widen(worker, batch, minibatch, err);
    if (rc == 0)
        STA_ASSERT(sta_key_kernels_here()->pack(layout, batch->keys, worker->key_dictionaries, minibatch,
                                                worker->words));
    return rc;
}

int sta_group_worker_add_empty(struct sta_group_worker *worker, struct sta_error *err)
{
    const struct sta_aggregation_input none = {0};
    const struct sta_minibatch one = {.count = 1};
    int rc = pack(worker, &none, &one, err);
    if (rc == 0)
        rc = sta_group_table_reserve(&worker->table, 1, err);
    if (rc == 0)
        sta_key_kernels_here()->find(&worker->table, worker->words, 1, worker->groups);
    return rc;
}

/* ---- rows */

/* The group that there is without keys, and space for what @rows rows add to lists. */
static int make_one_group(struct sta_group_worker *worker, uint32_t rows, struct sta_error *err)
{
    int rc = worker->table.layout.words == 0 ? sta_group_worker_add_empty(worker, err) : STA_OK;
    if (rc == 0)
        rc = sta_group_worker_make_space(worker, rows, err);
    return rc == 0 && worker->table.count == 0 ? sta_group_worker_add_empty(worker, err) : rc;
}

/* Without keys there is nothing to find: the one group, 0, is that of all rows, and no other number was ever
 * written to the groups of rows. */
static int take_into_one_group(struct sta_group_worker *worker, const struct sta_aggregation_input *batch,
                               const struct sta_minibatch *minibatch, struct sta_error *err)
{
    int rc = make_one_group(worker, minibatch->count, err);
    if (rc != 0)
        return rc;
    const struct sta_agg_input whole = {
        .minibatch = *minibatch, .table = &worker->table, .groups = worker->groups, .batch = batch};
    update_calls(worker, &whole);
    worker->rows += minibatch->count;
    return STA_OK;
}

/* The rows that are marked, at once: nothing is written by row. */
static int take_marked(struct sta_group_worker *worker, const struct sta_aggregation_input *batch,
                       struct sta_error *err)
{
    const struct sta_shape *shape = worker->shape;
    const struct sta_agg_input rows = {
        .minibatch = {.count = batch->count}, .table = &worker->table, .batch = batch};
    int rc = make_one_group(worker, 1, err);
    for (size_t f = 0; rc == 0 && f < shape->call_count; f++)
        shape->calls[f].function->update(&shape->calls[f], &rows);
    worker->rows += rc == 0 ? batch->count : 0;
    return rc;
}

static int take_minibatch(struct sta_group_worker *worker, const struct sta_aggregation_input *batch,
                          struct sta_minibatch minibatch, struct sta_error *err)
{
    const struct sta_shape *shape = worker->shape;
    if (shape->key_count == 0)
        return take_into_one_group(worker, batch, &minibatch, err);
    if (!shape->keep_missing)
        sta_key_kernels_here()->drop_missing(batch->keys, shape->key_count, &minibatch, worker->kept);
    if (minibatch.count == 0)
        return STA_OK;
    int rc = pack(worker, batch, &minibatch, err);
    if (rc == 0)
        rc = sta_group_worker_make_space(worker, minibatch.count, err);
    if (rc != 0)
        return rc;
    sta_key_kernels_here()->find(&worker->table, worker->words, minibatch.count, worker->groups);
    struct sta_agg_input whole = {
        .minibatch = minibatch, .table = &worker->table, .groups = worker->groups, .batch = batch};
    sta_key_kernels_here()->range(worker->groups, minibatch.count, &whole.low_group, &whole.high_group);
    if (want_states(shape, &whole)) {
        for (uint32_t i = 0; i < minibatch.count; i++)
            worker->states[i] = sta_group_states(&worker->table, worker->groups[i]);
        whole.states = worker->states;
    }
    update_calls(worker, &whole);
    worker->rows += minibatch.count;
    if (worker->limits->most_groups > 0 && worker->table.count > worker->limits->most_groups)
        atomic_store_explicit(&worker->limits->full, true, memory_order_relaxed);
    return STA_OK;
}

int sta_group_worker_unite(struct sta_group_worker *worker, const struct sta_aggregation_input *batch,
                           const uint8_t *records, uint32_t entries, struct sta_error *err)
{
    const struct sta_minibatch minibatch = {.count = batch->count};
    int rc = pack(worker, batch, &minibatch, err);
    if (rc == 0)
        rc = sta_group_worker_make_space(worker, STA_MAX(entries, minibatch.count), err);
    if (rc != 0)
        return rc;
    sta_key_kernels_here()->find(&worker->table, worker->words, minibatch.count, worker->groups);
    for (uint32_t i = 0; i < minibatch.count; i++)
        sta_group_table_unite(&worker->table, worker->groups[i], records + i * worker->shape->record,
                              &worker->terms);
    return STA_OK;
}

void sta_group_worker_see(struct sta_group_worker *worker, const struct sta_aggregation_input *rows)
{
    const struct sta_shape *shape = worker->shape;
    for (size_t k = 0; k < shape->key_count; k++)
        if (rows->keys[k].type == STA_TYPE_TEXT)
            worker->key_dictionaries[k] = sta_texts_dictionary(shape->key_texts[k], rows->keys[k].texts);
}

int sta_group_worker_number(struct sta_group_worker *worker, const struct sta_aggregation_input *rows,
                            struct sta_minibatch minibatch, struct sta_error *err)
{
    int rc = pack(worker, rows, &minibatch, err);
    if (rc == 0)
        rc = sta_group_table_reserve(&worker->table, minibatch.count, err);
    if (rc == 0)
        sta_key_kernels_here()->find(&worker->table, worker->words, minibatch.count, worker->groups);
    return rc;
}

int sta_group_worker_update(struct sta_group_worker *worker, const struct sta_aggregation_input *rows,
                            struct sta_error *err)
{
    int rc = rows->marks != NULL ? take_marked(worker, rows, err) : STA_OK;
    sta_group_worker_see(worker, rows);
    for (uint32_t first = 0; rc == 0 && rows->marks == NULL && first < rows->count;
         first += STA_MINIBATCH_ROWS) {
        struct sta_minibatch minibatch = {.count = STA_MIN(STA_MINIBATCH_ROWS, rows->count - first),
                                          .first = first};
        if (rows->selected != NULL)
            minibatch.rows = rows->selected + first;
        rc = take_minibatch(worker, rows, minibatch, err);
    }
    return rc;
}
