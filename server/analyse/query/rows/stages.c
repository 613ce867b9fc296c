/* Stage by stage; see stages.h. */
#include "analyse/query/rows/stages.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/query/rows/compare.h"
#include "analyse/query/rows/groups.h"
#include "analyse/query/rows/order.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

struct running {
    const struct sta_plan *plan;
    struct sta_events *events;
    struct sta_query_context *context;
    struct sta_materialized *materialized; /* of the stage before; NULL: events */
};

static bool is_last(const struct running *running, size_t stage)
{
    return stage + 1 == running->plan->stage_count;
}

/* Rows of a stage that go on as they come. */
static bool passes_on(const struct running *running, size_t stage)
{
    const struct sta_plan_stage *s = &running->plan->stages[stage];
    return s->kind == STA_PLAN_ROWS && s->order_count == 0 && !s->has_limit && !is_last(running, stage);
}

/* ---- plain rows that a later stage works on */

static int read_plain(const struct running *running, const struct sta_plain *plain,
                      struct sta_materialized *materialized, struct sta_error *err)
{
    const struct sta_query_context *context = running->context;
    const struct sta_plan_stage *stage = plain->stage;
    uint64_t left = stage->has_limit ? stage->limit : UINT64_MAX;
    struct sta_plain_reader *reader =
        sta_plain_reader_create(plain, context->budget, context->spill_folder, left, NULL);
    const struct sta_vector *vectors;
    uint32_t rows = 1;
    int rc = STA_OK;
    while (rc == 0 && rows > 0 && left > 0) {
        rc = sta_plain_next(reader, left, &vectors, &rows, err);
        if (rc == 0 && rows > 0)
            rc = sta_materialized_append(materialized, vectors, NULL, rows, err);
        left -= rows;
    }
    sta_plain_reader_destroy(reader);
    return rc;
}

/* ---- rows of a materialized, in their order; behind them what order_by needs beyond them */

struct rows {
    const struct sta_plan_stage *stage;
    struct sta_column_info *columns;
    struct sta_plan_order *order; /* by columns */
    size_t count;
};

/* @comparing: order_by speaks of what compare gives. */
static void rows_init(struct rows *rows, const struct sta_plan_stage *stage, bool comparing)
{
    *rows = (struct rows){.stage = stage, .count = stage->output_count};
    rows->columns = sta_alloc_array(stage->output_count + stage->order_count + 1, sizeof *rows->columns);
    rows->order = sta_alloc_array(stage->order_count + 1, sizeof *rows->order);
    for (size_t i = 0; i < stage->output_count; i++)
        rows->columns[i] = stage->result[i];
    for (size_t i = 0; i < stage->order_count && !comparing; i++) {
        uint32_t column = stage->order[i].column;
        rows->order[i] = stage->order[i];
        if (column < stage->output_count)
            continue;
        const struct sta_schema_column *more = &stage->schema.columns[column - stage->output_count];
        rows->order[i].column = (uint32_t)rows->count;
        rows->columns[rows->count++] = (struct sta_column_info){more->name, more->unit, more->type};
    }
}

static void rows_fini(struct rows *rows)
{
    free(rows->columns);
    free(rows->order);
}

static int append_rows(const struct rows *rows, struct sta_pipeline_state *state, struct sta_vector *vectors,
                       struct sta_materialized *materialized, struct sta_error *err)
{
    const struct sta_plan_stage *stage = rows->stage;
    size_t count = stage->output_count;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (stage->outputs[i].unused)
            vectors[i] = sta_vector_nothing(stage->result[i].type, NULL);
        else
            rc = sta_executor_part(state->top, STA_PART_OUTPUTS, i, &vectors[i], err);
    }
    for (size_t i = 0; rc == 0 && count < rows->count; i++)
        if (stage->order[i].column >= stage->output_count)
            rc = sta_executor_column(state->top, stage->order[i].column - (uint32_t)stage->output_count,
                                     &vectors[count++], err);
    return rc != 0 ? rc : sta_materialized_append(materialized, vectors, state->selected, state->count, err);
}

/* @left: rows at most */
static int copy_rows(const struct rows *rows, const struct sta_pipeline *pipeline, uint64_t left,
                     const struct sta_budget *budget, struct sta_materialized *materialized,
                     struct sta_error *err)
{
    struct sta_pipeline_state *state = sta_pipeline_state_create(pipeline, budget);
    struct sta_vector *vectors = sta_alloc_array(rows->count + 1, sizeof *vectors);
    int rc = 0;
    for (size_t i = 0; rc == 0 && left > 0 && i < pipeline->part_count; i++) {
        rc = sta_budget_check(budget, err);
        if (rc == 0)
            rc = sta_pipeline_state_load(state, pipeline->parts[i], err);
        state->count = (uint32_t)STA_MIN((uint64_t)state->count, left);
        left -= state->count;
        if (rc == 0 && state->count > 0)
            rc = append_rows(rows, state, vectors, materialized, err);
    }
    free(vectors);
    sta_pipeline_state_destroy(state);
    return rc;
}

/* ---- what follows once a stage has its rows */

/* Replaces the materialized by another one. */
static void take_over(struct running *running, struct sta_materialized *materialized)
{
    sta_materialized_destroy(running->materialized);
    running->materialized = materialized;
}

static int order_rows(struct running *running, const struct sta_plan_order *by, size_t by_count,
                      uint64_t limit, size_t columns, struct sta_error *err)
{
    struct sta_materialized *ordered;
    struct sta_query_step *step =
        sta_query_context_step(running->context, "sort", sta_sprintf("by %zu columns", by_count));
    step->rows_in = sta_materialized_rows(running->materialized);
    int rc = sta_materialized_order(running->materialized, by, by_count, limit, columns, running->context,
                                    &ordered, err);
    if (rc != 0)
        return rc;
    sta_query_context_made(step, ordered);
    sta_query_context_end_step(running->context);
    take_over(running, ordered);
    return 0;
}

/* order_by and, with a stage behind, limit. */
static int order_and_cut(struct running *running, size_t number, const struct sta_plan_order *order,
                         struct sta_error *err)
{
    const struct sta_plan_stage *stage = &running->plan->stages[number];
    size_t columns = is_last(running, number) ? running->plan->column_count : stage->result_count;
    uint64_t limit = stage->has_limit && !is_last(running, number) ? stage->limit : UINT64_MAX;
    if (stage->order_count == 0 && limit >= sta_materialized_rows(running->materialized))
        return 0;
    return order_rows(running, order, stage->order_count, limit, columns, err);
}

static int compare(struct running *running, struct sta_error *err)
{
    const struct sta_events *events = running->events;
    struct sta_materialized *compared;
    const char **labels = sta_alloc_array(events->trace_count, sizeof *labels);
    struct sta_query_step *step =
        sta_query_context_step(running->context, "compare",
                               sta_sprintf("to %s", events->traces[running->plan->compare.baseline].label));
    for (size_t i = 0; i < events->trace_count; i++)
        labels[i] = events->traces[i].label;
    step->rows_in = sta_materialized_rows(running->materialized);
    int rc = sta_compare_run(running->plan, running->materialized, labels, events->trace_count,
                             running->context, &compared, err);
    free(labels);
    if (rc != 0)
        return rc;
    sta_query_context_made(step, compared);
    sta_query_context_end_step(running->context);
    take_over(running, compared);
    return 0;
}

/* The sum of the counts, and each as a share of it. */
static int put_fractions(struct running *running, const struct sta_plan_stage *stage, struct sta_error *err)
{
    const struct sta_materialized *counted = running->materialized;
    uint32_t count_column = (uint32_t)stage->key_count, last = (uint32_t)stage->result_count - 1;
    struct sta_materialized_batch *batch = sta_materialized_batch_create(counted);
    struct sta_materialized *materialized =
        sta_query_context_rows(running->context, stage->result, stage->result_count);
    struct sta_vector *vectors = sta_alloc_array(stage->result_count, sizeof *vectors);
    double *fractions = sta_alloc_array(STA_VECTOR_ROWS, sizeof *fractions);
    int64_t sum = 0;
    uint32_t rows = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2 * sta_materialized_batch_count(counted); i++) {
        size_t number = i % sta_materialized_batch_count(counted);
        bool summing = i < sta_materialized_batch_count(counted);
        rc = sta_materialized_batch_seek(batch, number, &rows, err);
        for (uint32_t c = 0; rc == 0 && c < last; c++)
            rc = sta_materialized_batch_get(batch, c, &vectors[c], err);
        for (uint32_t row = 0; rc == 0 && row < rows; row++)
            if (summing)
                sum += vectors[count_column].integers[row];
            else
                fractions[row] = (double)vectors[count_column].integers[row] / (double)sum;
        vectors[last] = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = fractions};
        if (rc == 0 && !summing)
            rc = sta_materialized_append(materialized, vectors, NULL, rows, err);
    }
    if (rc == 0)
        rc = sta_materialized_seal(materialized, err);
    free(fractions);
    free(vectors);
    sta_materialized_batch_destroy(batch);
    if (rc != 0) {
        sta_materialized_destroy(materialized);
        return rc;
    }
    take_over(running, materialized);
    return 0;
}

/* ---- stages */

static int run_groups(struct running *running, const struct sta_pipeline *pipeline, size_t number,
                      struct sta_error *err)
{
    const struct sta_plan_stage *stage = &running->plan->stages[number];
    struct sta_materialized *result;
    int rc = sta_groups_run(pipeline, running->context, &result, err);
    if (rc != 0)
        return rc;
    take_over(running, result);
    return stage->fraction ? put_fractions(running, stage, err) : 0;
}

/* Rows of events, for a stage behind: sorted and cut as they are read. */
static int run_rows_of_events(struct running *running, const struct sta_pipeline *pipeline, size_t number,
                              struct sta_error *err)
{
    const struct sta_plan_stage *stage = &running->plan->stages[number];
    struct sta_plain plain;
    int rc = sta_plain_init(&plain, pipeline, running->context, err);
    struct sta_query_step *step =
        sta_pipeline_step(pipeline, running->context, stage->order_count > 0 ? "sort rows" : "rows");
    running->materialized = sta_query_context_rows(running->context, stage->result, stage->result_count);
    if (rc == 0)
        rc = read_plain(running, &plain, running->materialized, err);
    if (rc == 0)
        rc = sta_materialized_seal(running->materialized, err);
    sta_plain_fini(&plain);
    sta_query_context_made(step, running->materialized);
    sta_query_context_end_step(running->context);
    return rc;
}

static int run_rows(struct running *running, const struct sta_pipeline *pipeline, size_t number,
                    struct sta_error *err)
{
    const struct sta_plan_stage *stage = &running->plan->stages[number];
    bool comparing = is_last(running, number) && running->plan->compare.asked;
    bool cuts = stage->has_limit && stage->order_count == 0 && !is_last(running, number);
    struct rows rows;
    rows_init(&rows, stage, comparing);
    struct sta_query_step *step = sta_pipeline_step(pipeline, running->context, "rows");
    struct sta_materialized *materialized =
        sta_query_context_rows(running->context, rows.columns, rows.count);
    int rc = copy_rows(&rows, pipeline, cuts ? stage->limit : UINT64_MAX, running->context->budget,
                       materialized, err);
    if (rc == 0)
        rc = sta_materialized_seal(materialized, err);
    sta_query_context_made(step, materialized);
    sta_query_context_end_step(running->context);
    take_over(running, materialized);
    if (rc == 0 && !comparing)
        rc = order_and_cut(running, number, rows.order, err);
    rows_fini(&rows);
    return rc;
}

/* A pipeline that ends in stage @last. */
static int run_path(struct running *running, const struct sta_pipeline *pipeline, size_t last,
                    struct sta_error *err)
{
    const struct sta_plan_stage *stage = &running->plan->stages[last];
    bool comparing = is_last(running, last) && running->plan->compare.asked;
    if (stage->kind == STA_PLAN_ROWS && pipeline->events != NULL)
        return run_rows_of_events(running, pipeline, last, err);
    int rc = stage->kind == STA_PLAN_ROWS ? run_rows(running, pipeline, last, err)
                                          : run_groups(running, pipeline, last, err);
    if (rc == 0 && comparing)
        rc = compare(running, err);
    if (rc == 0 && (stage->kind != STA_PLAN_ROWS || comparing))
        rc = order_and_cut(running, last, stage->order, err);
    return rc;
}

static bool ends_plain(const struct running *running, size_t last)
{
    return running->materialized == NULL && is_last(running, last) &&
           running->plan->stages[last].kind == STA_PLAN_ROWS;
}

int sta_stages_run(const struct sta_plan *plan, struct sta_events *events, struct sta_query_context *context,
                   struct sta_outcome *outcome, struct sta_error *err)
{
    struct running running = {.plan = plan, .events = events, .context = context};
    int rc = 0;
    *outcome = (struct sta_outcome){.materialized = NULL};
    for (size_t first = 0, last; rc == 0 && first < plan->stage_count; first = last + 1) {
        for (last = first; passes_on(&running, last);)
            last++;
        struct sta_pipeline pipeline;
        rc = sta_pipeline_init(&pipeline, running.materialized == NULL ? events : NULL, running.materialized,
                               &plan->stages[first], last - first + 1, context, err);
        if (rc == 0 && ends_plain(&running, last)) {
            outcome->pipeline = pipeline;
            sta_pipeline_step(&pipeline, context, "read");
            return sta_plain_init(&outcome->plain, &outcome->pipeline, context, err);
        }
        if (rc == 0)
            rc = run_path(&running, &pipeline, last, err);
        sta_pipeline_fini(&pipeline);
    }
    outcome->materialized = running.materialized;
    return rc;
}

int sta_stages_work(const struct sta_plan *plan, struct sta_events *events, struct sta_query_context *context,
                    const struct sta_share_wanted *wanted, const struct sta_stripe *stripe,
                    const struct sta_byte_sink *sink, struct sta_error *err)
{
    const struct running running = {.plan = plan, .events = events, .context = context};
    struct sta_pipeline pipeline;
    struct sta_plain plain = {.pipeline = NULL};
    size_t last = 0;
    while (passes_on(&running, last))
        last++;
    if ((plan->stages[last].kind == STA_PLAN_ROWS) != wanted->rows)
        return sta_fail(err, STA_EINPUT, "nothing of this query is shared");
    int rc = sta_pipeline_init(&pipeline, events, NULL, plan->stages, last + 1, context, err);
    if (rc == 0 && wanted->rows)
        rc = sta_plain_init(&plain, &pipeline, context, err);
    if (rc == 0)
        rc = wanted->rows ? sta_plain_work(&plain, context, wanted, stripe, sink, err)
                          : sta_groups_work(&pipeline, context, wanted, stripe, sink, err);
    sta_plain_fini(&plain);
    sta_pipeline_fini(&pipeline);
    return rc;
}

void sta_outcome_fini(struct sta_outcome *outcome)
{
    sta_materialized_destroy(outcome->materialized);
    sta_plain_fini(&outcome->plain);
    if (outcome->pipeline.programs != NULL)
        sta_pipeline_fini(&outcome->pipeline);
}
