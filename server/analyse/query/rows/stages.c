/* Stage by stage; see stages.h. */
#include "analyse/query/rows/stages.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

int sta_stages_bind(const struct sta_query *query, struct sta_plan *plan, struct sta_events **events,
                    struct sta_error *err)
{
    int rc = sta_plan_begin(query, plan, err);
    if (rc == 0)
        rc = sta_events_create(query, plan, events, err);
    return rc == 0 ? sta_plan_stages(query, &(*events)->schema, plan, err) : rc;
}

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

/* Whether the result of a stage is compared: order_by is about the result of that. */
static bool is_compared(const struct running *running, size_t stage)
{
    return is_last(running, stage) && running->plan->compare.asked;
}

/* Rows of a stage that go on as they come. */
static bool passes_on(const struct running *running, size_t stage)
{
    const struct sta_plan_stage *s = &running->plan->stages[stage];
    return s->kind == STA_PLAN_ROWS && s->order_count == 0 && !s->has_limit && !is_last(running, stage);
}

/* ---- what follows once a stage has its rows */

/* Replaces the materialized result by another one. */
static void take_over(struct running *running, struct sta_materialized *materialized)
{
    sta_materialized_destroy(running->materialized);
    running->materialized = materialized;
}

/* What a step has made. */
static void end_step(struct running *running, struct sta_query_step *step, struct sta_materialized *made)
{
    sta_query_context_made(step, made);
    sta_query_context_end_step(running->context);
    take_over(running, made);
}

/* order_by and, with a stage behind, limit. */
static int order_and_cut(struct running *running, size_t number, struct sta_error *err)
{
    const struct sta_plan_stage *stage = &running->plan->stages[number];
    const size_t columns = is_last(running, number) ? running->plan->column_count : stage->result_count;
    const uint64_t limit = stage->has_limit && !is_last(running, number) ? stage->limit : UINT64_MAX;
    const uint64_t rows = sta_materialized_rows(running->materialized);
    struct sta_materialized *ordered;
    if (stage->order_count == 0 && limit >= rows)
        return STA_OK;
    struct sta_query_step *step =
        sta_query_context_step(running->context, "sort", sta_sprintf("by %zu columns", stage->order_count));
    step->rows_in = rows;
    int rc = sta_materialized_order(running->materialized, stage->order, stage->order_count, limit, columns,
                                    running->context, &ordered, err);
    if (rc == 0)
        end_step(running, step, ordered);
    return rc;
}

static int compare(struct running *running, struct sta_error *err)
{
    const char *baseline = running->events->traces[running->plan->compare.baseline].label;
    struct sta_materialized *compared;
    struct sta_query_step *step =
        sta_query_context_step(running->context, "compare", sta_sprintf("to %s", baseline));
    step->rows_in = sta_materialized_rows(running->materialized);
    int rc = sta_compare_run(running->plan, running->materialized, running->events, running->context,
                             &compared, err);
    if (rc == 0)
        end_step(running, step, compared);
    return rc;
}

/* ---- stages */

static int run_groups(struct running *running, const struct sta_pipeline *pipeline, struct sta_error *err)
{
    struct sta_materialized *result;
    int rc = sta_groups_run(pipeline, running->context, &result, err);
    if (rc == 0)
        take_over(running, result);
    return rc;
}

/* Rows of events for a stage behind, or of the stage before: sorted and cut as they are read. */
static int run_rows(struct running *running, const struct sta_pipeline *pipeline, size_t number,
                    struct sta_error *err)
{
    const struct sta_plan_stage *stage = &running->plan->stages[number];
    struct sta_query_context *context = running->context;
    const uint64_t limit = stage->has_limit && !is_last(running, number) ? stage->limit : UINT64_MAX;
    const bool sorts = stage->order_count > 0 && !is_compared(running, number);
    const bool passing = pipeline->events == NULL && !sorts;
    struct sta_plain plain = {.pipeline = NULL};
    int rc = passing ? STA_OK : sta_plain_init(&plain, pipeline, context->budget->account, context, err);
    struct sta_query_step *step = sta_pipeline_step(pipeline, context, sorts ? "sort rows" : "rows");
    struct sta_materialized *rows = sta_query_context_rows(context, stage->result, stage->result_count);
    if (rc == 0)
        rc = passing ? sta_collect_passing(pipeline, context, limit, rows, err)
                     : sta_collect_plain(&plain, context, limit, rows, err);
    sta_plain_fini(&plain);
    end_step(running, step, rows);
    return rc;
}

/* A pipeline that ends in stage @last. */
static int run_path(struct running *running, const struct sta_pipeline *pipeline, size_t last,
                    struct sta_error *err)
{
    const bool rows = running->plan->stages[last].kind == STA_PLAN_ROWS,
               compares = is_compared(running, last);
    int rc = rows ? run_rows(running, pipeline, last, err) : run_groups(running, pipeline, err);
    if (rc == 0 && compares)
        rc = compare(running, err);
    return rc == 0 && (!rows || compares) ? order_and_cut(running, last, err) : rc;
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
        sta_pipeline_init(&pipeline, running.materialized == NULL ? events : NULL, running.materialized,
                          &plan->stages[first], last - first + 1, context);
        if (ends_plain(&running, last)) {
            outcome->pipeline = pipeline;
            sta_pipeline_step(&pipeline, context, "read");
            return sta_plain_init(&outcome->plain, &outcome->pipeline, NULL, context, err);
        }
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
    sta_pipeline_init(&pipeline, events, NULL, plan->stages, last + 1, context);
    int rc = wanted->rows ? sta_plain_init(&plain, &pipeline, NULL, context, err) : STA_OK;
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
