/* Which parts a pipeline has, its programs, and the parallel visit of all parts. */
#include "analyse/query/rows/pipeline.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/tasks.h"
#include "analyse/sources/predicates.h"
#include "common/memory.h"

/* ---- parts */

/* Predicates that the first filter has on columns of events, as long as these are the trace's own.  Return:
 * whether they are the whole filter. */
static bool add_predicates(const struct sta_pipeline *pipeline, const struct sta_events_trace *trace,
                           struct sta_predicates *predicates)
{
    const struct sta_expression *filter = pipeline->stages[0].filter;
    bool all = filter == NULL || filter->is_predicates;
    for (size_t i = 0; filter != NULL && i < filter->predicate_count; i++) {
        const struct sta_predicate *conjunct = &filter->predicates[i];
        const struct sta_events_column *column =
            conjunct->column < pipeline->events->schema.count ? &trace->map[conjunct->column] : NULL;
        const bool own = column != NULL && column->column != STA_NO_COLUMN &&
                         (column->program == NULL || conjunct->kind == STA_PREDICATE_RANGE);
        if (own)
            sta_predicates_add(predicates, conjunct, column->column);
        all = all && own;
    }
    return all;
}

static void choose_row_groups(struct sta_pipeline *pipeline, uint32_t number)
{
    const struct sta_events_trace *trace = &pipeline->events->traces[number];
    struct sta_predicates *predicates = sta_predicates_create(trace->columns);
    struct sta_scan scan = trace->scan;
    uint32_t *row_groups;
    pipeline->predicates[number] = predicates;
    pipeline->predicates_suffice &= add_predicates(pipeline, trace, predicates);
    scan.skip = sta_predicates_rule_out;
    scan.skip_context = predicates;
    size_t count = sta_scan_choose(&scan, &row_groups);
    pipeline->parts =
        sta_realloc_array(pipeline->parts, pipeline->part_count + count + 1, sizeof *pipeline->parts);
    for (size_t i = 0; i < count; i++) {
        pipeline->parts[pipeline->part_count++] = (struct sta_pipeline_part){number, row_groups[i]};
        pipeline->part_rows += sta_snapshot_row_group(trace->snapshot, row_groups[i])->rows;
    }
    pipeline->skipped += sta_snapshot_row_group_count(trace->snapshot) - count;
    free(row_groups);
}

static void choose_parts(struct sta_pipeline *pipeline)
{
    if (pipeline->events != NULL) {
        pipeline->predicates =
            sta_alloc_array(pipeline->events->trace_count, sizeof(struct sta_predicates *));
        pipeline->predicates_suffice = true;
        for (size_t i = 0; i < pipeline->events->trace_count; i++)
            choose_row_groups(pipeline, (uint32_t)i);
        return;
    }
    pipeline->part_count = sta_materialized_batch_count(pipeline->materialized);
    pipeline->part_rows = sta_materialized_rows(pipeline->materialized);
    pipeline->parts = sta_alloc_array(pipeline->part_count + 1, sizeof *pipeline->parts);
    for (size_t i = 0; i < pipeline->part_count; i++)
        pipeline->parts[i].row_group = (uint32_t)i;
}

static size_t trace_count(const struct sta_pipeline *pipeline)
{
    return pipeline->events != NULL ? pipeline->events->trace_count : 1;
}

void sta_pipeline_init(struct sta_pipeline *pipeline, struct sta_events *events,
                       const struct sta_materialized *materialized, const struct sta_plan_stage *stages,
                       size_t stage_count, const struct sta_query_context *context)
{
    *pipeline = (struct sta_pipeline){
        .events = events, .materialized = materialized, .stages = stages, .stage_count = stage_count};
    size_t count = trace_count(pipeline) * stage_count;
    pipeline->programs = sta_alloc_array(count, sizeof(struct sta_stage_programs *));
    for (size_t i = 0; i < count; i++)
        pipeline->programs[i] = sta_stage_programs_create(&stages[i % stage_count],
                                                          sta_query_context_texts_memory(context) / count,
                                                          context->budget->spill_folder);
    choose_parts(pipeline);
}

void sta_pipeline_fini(struct sta_pipeline *pipeline)
{
    for (size_t i = 0; pipeline->programs != NULL && i < trace_count(pipeline) * pipeline->stage_count; i++)
        sta_stage_programs_destroy(pipeline->programs[i]);
    for (size_t i = 0; pipeline->predicates != NULL && i < trace_count(pipeline); i++)
        sta_predicates_destroy(pipeline->predicates[i]);
    free(pipeline->predicates);
    free(pipeline->programs);
    free(pipeline->parts);
    *pipeline = (struct sta_pipeline){0};
}

/* The column of what comes into the first stage that a column of the last stage's schema is, or
 * STA_NO_COLUMN. */
static uint32_t first_column(const struct sta_pipeline *pipeline, uint32_t column)
{
    for (size_t s = pipeline->stage_count - 1; s > 0;
         s--) { /* what comes into a stage is what the one before shows */
        const struct sta_plan_stage *before = &pipeline->stages[s - 1];
        int shown = column < before->output_count ? before->outputs[column].expression->column : -1;
        if (shown < 0)
            return STA_NO_COLUMN;
        column = (uint32_t)shown;
    }
    return column < pipeline->stages[0].input_count ? column : STA_NO_COLUMN;
}

/* Likewise of the events' schema. */
static uint32_t event_column(const struct sta_pipeline *pipeline, uint32_t column)
{
    return pipeline->events != NULL ? first_column(pipeline, column) : STA_NO_COLUMN;
}

bool sta_pipeline_range(const struct sta_pipeline *pipeline, size_t number, uint32_t column, double *low,
                        double *high)
{
    const struct sta_pipeline_part *part = &pipeline->parts[number];
    const uint32_t first = first_column(pipeline, column);
    if (first == STA_NO_COLUMN)
        return false;
    if (pipeline->events == NULL)
        return sta_materialized_range(pipeline->materialized, part->row_group, first, low, high);
    const struct sta_events_trace *trace = &pipeline->events->traces[part->trace];
    const struct sta_events_column *mapped = &trace->map[first];
    return mapped->program == NULL && mapped->column != STA_NO_COLUMN &&
           sta_columns_range(trace->columns, sta_pipeline_row_group(pipeline, number), mapped->column, low,
                             high);
}

bool sta_pipeline_tests(const struct sta_pipeline *pipeline, uint32_t number, uint32_t column,
                        const struct sta_value_range *range, struct sta_column_tests *tests)
{
    const uint32_t of_events = event_column(pipeline, column);
    if (of_events == STA_NO_COLUMN)
        return false;
    const struct sta_events_trace *trace = &pipeline->events->traces[number];
    const struct sta_events_column *mapped = &trace->map[of_events];
    return mapped->program == NULL && mapped->column != STA_NO_COLUMN &&
           sta_column_tests_of_range(trace->columns, mapped->column, range, tests);
}

bool sta_pipeline_never_misses(const struct sta_pipeline *pipeline, uint32_t column)
{
    uint32_t of_events = event_column(pipeline, column);
    return of_events == STA_LOGICAL_ts || of_events == STA_LOGICAL_te || of_events == STA_LOGICAL_dur ||
           (of_events >= STA_LOGICAL_ts_ticks && of_events <= STA_LOGICAL_dur_ticks);
}

bool sta_pipeline_is_ticks(const struct sta_pipeline *pipeline, uint32_t column)
{
    bool whole = event_column(pipeline, column) == STA_LOGICAL_ts;
    for (size_t i = 0; whole && i < pipeline->events->trace_count; i++)
        whole = sta_snapshot_info(pipeline->events->traces[i].snapshot)->ticks_per_us == 1;
    return whole;
}

/* What happens to the rows on the way, for people. */
static char *describe(const struct sta_pipeline *pipeline)
{
    size_t filters = 0, derived = 0;
    for (size_t i = 0; i < pipeline->stage_count; i++) {
        filters += pipeline->stages[i].filter != NULL;
        derived += pipeline->stages[i].derived_count;
    }
    char *from = pipeline->events != NULL
                     ? sta_sprintf("events of %zu trace%s", pipeline->events->trace_count,
                                   pipeline->events->trace_count == 1 ? "" : "s")
                     : sta_strdup("rows of the stage before");
    char *text = sta_sprintf("%s, %zu filter%s, %zu derived column%s", from, filters, filters == 1 ? "" : "s",
                             derived, derived == 1 ? "" : "s");
    free(from);
    return text;
}

struct sta_query_step *sta_pipeline_step(const struct sta_pipeline *pipeline,
                                         struct sta_query_context *context, const char *name)
{
    struct sta_query_step *step = sta_query_context_step(context, name, describe(pipeline));
    step->rows_in = pipeline->part_rows;
    if (pipeline->events != NULL) {
        step->row_groups_read = pipeline->part_count;
        step->row_groups_skipped = pipeline->skipped;
    }
    return step;
}

/* ---- work */

struct working {
    const struct sta_pipeline *pipeline;
    const struct sta_pipeline_work *work;
    const struct sta_budget *budget;
    struct sta_pipeline_state **states; /* by worker, made at its first task */
};

static int run_task(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct working *working = context;
    if (working->states[worker] == NULL)
        working->states[worker] = sta_pipeline_state_create(working->pipeline, working->budget);
    return working->work->run(working->work->self, worker, working->states[worker], number, err);
}

int sta_pipeline_work(const struct sta_pipeline *pipeline, const struct sta_pipeline_work *work,
                      const struct sta_budget *budget, struct sta_error *err)
{
    const unsigned workers = sta_budget_workers(budget);
    struct working working = {.pipeline = pipeline, .work = work, .budget = budget};
    working.states = sta_alloc_array(workers, sizeof(struct sta_pipeline_state *));
    int rc = work->count > 0 ? sta_tasks_run(budget, work->count, run_task, &working, err)
                             : sta_budget_check(budget, err);
    for (unsigned w = 0; w < workers; w++)
        sta_pipeline_state_destroy(working.states[w]);
    free(working.states);
    return rc;
}

/* ---- visiting parts */

struct visit {
    const struct sta_pipeline *pipeline;
    const struct sta_pipeline_visitor *visitor;
    const struct sta_stripe *stripe; /* NULL: all parts */
};

static int visit_part(void *self, unsigned worker, struct sta_pipeline_state *state, size_t part,
                      struct sta_error *err)
{
    const struct visit *visit = self;
    const struct sta_pipeline_part where = visit->pipeline->parts[part];
    if (visit->stripe != NULL && !sta_stripe_has(visit->stripe, where.row_group))
        return STA_OK;
    int rc = visit->visitor->takes_marks ? sta_pipeline_state_load_marked(state, where, err)
                                         : sta_pipeline_state_load(state, where, err);
    return rc == 0 && state->count > 0 ? visit->visitor->visit(visit->visitor->self, worker, state, err) : rc;
}

int sta_pipeline_run(const struct sta_pipeline *pipeline, const struct sta_pipeline_visitor *visitor,
                     const struct sta_stripe *stripe, const struct sta_budget *budget, struct sta_error *err)
{
    struct visit visit = {pipeline, visitor, stripe};
    struct sta_pipeline_work work = {&visit, pipeline->part_count, visit_part};
    return sta_pipeline_work(pipeline, &work, budget, err);
}
