/* Groups to rows: outputs are computed from keys and primitives. */
#include <string.h>

#include "analyse/query/rows/group_rows.h"
#include "analyse/operators/vectors.h"

/* ---- outputs of a batch of groups */

struct groups {
    const struct sta_plan_stage *stage;
    const struct sta_vector *keys, *values;
};

/* A sta_column_source over keys, then primitives. */
static int grouped_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct groups *groups = context;
    size_t keys = groups->stage->key_count;
    *vector = column < keys ? groups->keys[column] : groups->values[column - keys];
    return 0;
}

int sta_group_outputs(const struct sta_group_rows *into, const struct sta_vector *keys,
                      const struct sta_vector *values, uint32_t rows, struct sta_vector *outputs,
                      struct sta_error *err)
{
    struct groups groups = {into->stage, keys, values};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < into->stage->output_count; i++)
        rc = sta_program_run(into->programs[i], into->evaluators[i], rows, grouped_column, &groups,
                             &outputs[i], err);
    return rc;
}

/* Each count as a share of all rows that were grouped. */
static void put_fractions(struct sta_group_rows *into, uint32_t rows)
{
    const struct sta_plan_stage *stage = into->stage;
    const int64_t *counts = into->vectors[stage->key_count].integers;
    const double all = (double)sta_aggregation_figures(into->grouping).rows;
    for (uint32_t row = 0; row < rows; row++)
        into->fractions[row] = (double)counts[row] / all;
    into->vectors[stage->result_count - 1] =
        (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = into->fractions};
}

static int take_groups(struct sta_group_rows *into, const struct sta_vector *keys,
                       const struct sta_vector *values, uint32_t rows, struct sta_error *err)
{
    const struct sta_plan_stage *stage = into->stage;
    int rc = sta_group_outputs(into, keys, values, rows, into->vectors + stage->key_count, err);
    for (size_t i = 0; i < stage->key_count; i++)
        into->vectors[i] = keys[i];
    if (rc == 0 && stage->fraction)
        put_fractions(into, rows);
    return rc != 0 ? rc : sta_materialized_append(into->result, into->vectors, NULL, rows, err);
}

/* ---- all of it */

void sta_group_rows_init(struct sta_group_rows *into, const struct sta_plan_stage *stage,
                         const struct sta_aggregation *grouping, const struct sta_thread_keys *threads,
                         const double *edges, struct sta_materialized *result)
{
    *into =
        (struct sta_group_rows){.stage = stage, .grouping = grouping, .threads = threads, .result = result};
    if (threads->count > 0) {
        into->keys = sta_arena_array(&into->memory, stage->key_count, sizeof *into->keys);
        into->key_space = sta_arena_array(&into->memory, threads->count, sizeof *into->key_space);
    }
    if (stage->fraction)
        into->fractions = sta_arena_array(&into->memory, STA_VECTOR_ROWS, sizeof *into->fractions);
    into->programs = sta_arena_array(&into->memory, stage->output_count, sizeof(struct sta_program *));
    into->evaluators = sta_arena_array(&into->memory, stage->output_count, sizeof(struct sta_evaluator *));
    into->vectors = sta_arena_array(&into->memory, stage->result_count, sizeof *into->vectors);
    if (stage->kind == STA_PLAN_HISTOGRAM)
        sta_histogram_rows_init(into, edges);
    if (stage->kind == STA_PLAN_DESCRIBE)
        sta_describe_rows_init(into);
    for (size_t i = 0; i < stage->output_count && stage->kind != STA_PLAN_HISTOGRAM; i++) {
        into->programs[i] = sta_program_create(stage->outputs[i].expression);
        into->evaluators[i] = sta_evaluator_create();
    }
}

/* The keys of groups, those of threads taken apart. */
static const struct sta_vector *expand_keys(struct sta_group_rows *into, const struct sta_vector *keys,
                                            uint32_t rows)
{
    const struct sta_thread_keys *threads = into->threads;
    const size_t first = threads->first, behind = into->stage->key_count - first - threads->count;
    memcpy(into->keys, keys, first * sizeof *keys);
    sta_thread_keys_expand(threads, &keys[first], rows, into->key_space, &into->keys[first]);
    memcpy(&into->keys[first + threads->count], &keys[first + 1], behind * sizeof *keys);
    return into->keys;
}

int sta_group_rows_take(void *self, const struct sta_vector *keys, const struct sta_vector *values,
                        uint32_t rows, struct sta_error *err)
{
    struct sta_group_rows *into = self;
    if (into->threads->count > 0)
        keys = expand_keys(into, keys, rows);
    if (into->stage->kind == STA_PLAN_HISTOGRAM)
        return sta_histogram_rows_take(into, keys, values, rows, err);
    if (into->stage->kind == STA_PLAN_DESCRIBE)
        return sta_describe_rows_take(into, keys, values, rows, err);
    return take_groups(into, keys, values, rows, err);
}

int sta_group_rows_end(struct sta_group_rows *into, struct sta_error *err)
{
    return into->stage->kind == STA_PLAN_HISTOGRAM ? sta_histogram_rows_end(into, err) : 0;
}

void sta_group_rows_fini(struct sta_group_rows *into)
{
    for (size_t i = 0; i < into->stage->output_count; i++) {
        sta_program_destroy(into->programs[i]);
        sta_evaluator_destroy(into->evaluators[i]);
    }
    sta_describe_rows_fini(into->describe);
    sta_arena_fini(&into->memory);
}
