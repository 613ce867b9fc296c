/* Rows written down.
 *
 * DESIGN.  A materialized result is sorted as events are: a pipeline passes its rows on with all their
 * columns, and plain rows are read from that in the order that is asked for. */
#include "analyse/query/rows/stages.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

int sta_collect_plain(const struct sta_plain *plain, const struct sta_query_context *context, uint64_t limit,
                      struct sta_materialized *rows, struct sta_error *err)
{
    struct sta_plain_reader *reader = sta_plain_reader_create(plain, context->budget, limit, NULL);
    const struct sta_vector *vectors;
    uint32_t count = 1;
    int rc = STA_OK;
    while (rc == 0 && count > 0 && limit > 0) {
        rc = sta_plain_next(reader, limit, &vectors, &count, err);
        if (rc == 0 && count > 0)
            rc = sta_materialized_append(rows, vectors, NULL, count, err);
        limit -= count;
    }
    sta_plain_reader_destroy(reader);
    return rc == 0 ? sta_materialized_seal(rows, err) : rc;
}

/* ---- rows of a materialized result, in their order */

static int append_rows(const struct sta_plan_stage *stage, struct sta_pipeline_state *state,
                       struct sta_vector *vectors, struct sta_materialized *rows, struct sta_error *err)
{
    int rc = STA_OK;
    for (size_t i = 0; rc == 0 && i < stage->output_count; i++) {
        if (stage->outputs[i].unused)
            vectors[i] = sta_vector_nothing(stage->result[i].type, NULL);
        else
            rc = sta_executor_part(state->top, STA_PART_OUTPUTS, i, &vectors[i], err);
    }
    return rc != 0 ? rc : sta_materialized_append(rows, vectors, state->selected, state->count, err);
}

int sta_collect_passing(const struct sta_pipeline *pipeline, const struct sta_query_context *context,
                        uint64_t limit, struct sta_materialized *rows, struct sta_error *err)
{
    const struct sta_plan_stage *stage = &pipeline->stages[pipeline->stage_count - 1];
    struct sta_pipeline_state *state = sta_pipeline_state_create(pipeline, context->budget);
    struct sta_vector *vectors = sta_alloc_array(stage->output_count + 1, sizeof *vectors);
    int rc = STA_OK;
    for (size_t i = 0; rc == 0 && limit > 0 && i < pipeline->part_count; i++) {
        rc = sta_budget_check(context->budget, err);
        if (rc == 0)
            rc = sta_pipeline_state_load(state, pipeline->parts[i], err);
        state->count = (uint32_t)STA_MIN((uint64_t)state->count, limit);
        limit -= state->count;
        if (rc == 0 && state->count > 0)
            rc = append_rows(stage, state, vectors, rows, err);
    }
    free(vectors);
    sta_pipeline_state_destroy(state);
    return rc == 0 ? sta_materialized_seal(rows, err) : rc;
}

/* ---- a materialized result in another order */

/* A stage that passes all columns on and shows the first @columns. */
static void stage_init(struct sta_plan_stage *stage, const struct sta_materialized *materialized,
                       const struct sta_plan_order *by, size_t by_count, size_t columns)
{
    size_t all;
    const struct sta_column_info *info = sta_materialized_columns(materialized, &all);
    struct sta_schema_column *schema = sta_alloc_array(all + 1, sizeof *schema);
    *stage = (struct sta_plan_stage){.schema = {schema, all},
                                     .input_count = all,
                                     .kind = STA_PLAN_ROWS,
                                     .output_count = columns,
                                     .order_count = by_count};
    stage->outputs = sta_alloc_array(columns + 1, sizeof *stage->outputs);
    stage->result = sta_alloc_array(columns + 1, sizeof *stage->result);
    stage->order = sta_alloc_array(by_count + 1, sizeof *stage->order);
    for (size_t i = 0; i < all; i++)
        schema[i] =
            (struct sta_schema_column){.name = info[i].name, .type = info[i].type, .unit = info[i].unit};
    for (size_t i = 0; i < columns; i++) {
        stage->outputs[i].expression = sta_column_expression(&stage->schema, (uint32_t)i);
        stage->result[i] = info[i];
    }
    for (size_t i = 0; i < by_count; i++)
        stage->order[i] = (struct sta_plan_order){(uint32_t)columns + by[i].column, by[i].descending};
}

static void stage_fini(struct sta_plan_stage *stage)
{
    for (size_t i = 0; i < stage->output_count; i++)
        sta_expression_destroy(stage->outputs[i].expression);
    free(stage->outputs);
    free(stage->result);
    free(stage->order);
    free((void *)stage->schema.columns);
}

static int collect(const struct sta_pipeline *pipeline, struct sta_query_context *context, uint64_t limit,
                   struct sta_materialized *rows, struct sta_error *err)
{
    struct sta_plain plain;
    if (pipeline->stages[0].order_count == 0)
        return sta_collect_passing(pipeline, context, limit, rows, err);
    int rc = sta_plain_init(&plain, pipeline, context->budget->account, context, err);
    if (rc == 0)
        rc = sta_collect_plain(&plain, context, limit, rows, err);
    sta_plain_fini(&plain);
    return rc;
}

int sta_materialized_order(const struct sta_materialized *materialized, const struct sta_plan_order *by,
                           size_t by_count, uint64_t limit, size_t columns, struct sta_query_context *context,
                           struct sta_materialized **ordered, struct sta_error *err)
{
    struct sta_plan_stage stage;
    struct sta_pipeline pipeline;
    stage_init(&stage, materialized, by, by_count, columns);
    *ordered = sta_query_context_rows(context, stage.result, columns);
    sta_pipeline_init(&pipeline, NULL, materialized, &stage, 1, context);
    int rc = collect(&pipeline, context, limit, *ordered, err);
    sta_pipeline_fini(&pipeline);
    stage_fini(&stage);
    if (rc != 0) {
        sta_materialized_destroy(*ordered);
        *ordered = NULL;
    }
    return rc;
}
