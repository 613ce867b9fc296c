/* Which parts a path has, its programs, and the parallel visit of all parts. */
#include "analyse/query/rows/path.h"

#include <stdlib.h>

#include "analyse/budget.h"
#include "analyse/exec/tasks.h"
#include "analyse/skipping.h"
#include "common/memory.h"

/* ---- parts */

/* Demands that filters make on columns of events reach the statistics of blocks as long as the columns are
 * the trace's own. */
static void add_demands(const struct sta_path *path, const struct sta_events_trace *trace,
                        struct sta_skipping *skipping)
{
    size_t count = 0;
    const struct sta_plan_stage *first = &path->stages[0];
    const struct sta_demand *demands =
        first->filter != NULL ? sta_expression_demands(first->filter, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (demands[i].column >= path->events->schema.count)
            continue;
        const struct sta_events_column *column = &trace->map[demands[i].column];
        if (column->column == STA_NO_COLUMN)
            continue;
        if (column->program == NULL || demands[i].kind == STA_DEMAND_RANGE)
            sta_skipping_demand(skipping, &demands[i], column->column);
    }
}

static void choose_blocks(struct sta_path *path, uint32_t number)
{
    const struct sta_events_trace *trace = &path->events->traces[number];
    struct sta_skipping *skipping = sta_skipping_create(trace->columns);
    struct sta_scan scan = trace->scan;
    uint32_t *blocks;
    add_demands(path, trace, skipping);
    scan.skip = sta_skipping_rules_out;
    scan.skip_context = skipping;
    size_t count = sta_scan_choose(&scan, &blocks);
    path->parts = sta_realloc_array(path->parts, path->part_count + count + 1, sizeof *path->parts);
    for (size_t i = 0; i < count; i++) {
        path->parts[path->part_count++] = (struct sta_path_part){number, blocks[i]};
        path->part_rows += sta_snapshot_block(trace->snapshot, blocks[i])->rows;
    }
    path->skipped += sta_snapshot_block_count(trace->snapshot) - count;
    free(blocks);
    sta_skipping_destroy(skipping);
}

static void choose_parts(struct sta_path *path)
{
    if (path->events != NULL) {
        for (size_t i = 0; i < path->events->trace_count; i++)
            choose_blocks(path, (uint32_t)i);
        return;
    }
    path->part_count = sta_materialized_batch_count(path->materialized);
    path->part_rows = sta_materialized_rows(path->materialized);
    path->parts = sta_alloc_array(path->part_count + 1, sizeof *path->parts);
    for (size_t i = 0; i < path->part_count; i++)
        path->parts[i].block = (uint32_t)i;
}

static size_t trace_count(const struct sta_path *path)
{
    return path->events != NULL ? path->events->trace_count : 1;
}

int sta_path_init(struct sta_path *path, struct sta_events *events,
                  const struct sta_materialized *materialized, const struct sta_plan_stage *stages,
                  size_t stage_count, struct sta_error *err)
{
    *path = (struct sta_path){
        .events = events, .materialized = materialized, .stages = stages, .stage_count = stage_count};
    size_t count = trace_count(path) * stage_count;
    path->programs = sta_alloc_array(count, sizeof(struct sta_stage_programs *));
    for (size_t i = 0; i < count; i++) {
        int rc = sta_stage_programs_create(&stages[i % stage_count], &path->programs[i], err);
        if (rc != 0)
            return rc;
    }
    choose_parts(path);
    return 0;
}

void sta_path_fini(struct sta_path *path)
{
    for (size_t i = 0; path->programs != NULL && i < trace_count(path) * path->stage_count; i++)
        sta_stage_programs_destroy(path->programs[i]);
    free(path->programs);
    free(path->parts);
    *path = (struct sta_path){0};
}

/* The column of the events' schema that a column of the last stage's schema is, or STA_NO_COLUMN. */
static uint32_t event_column(const struct sta_path *path, uint32_t column)
{
    if (path->events == NULL)
        return STA_NO_COLUMN;
    for (size_t s = path->stage_count - 1; s > 0;
         s--) { /* what comes into a stage is what the one before shows */
        const struct sta_plan_stage *before = &path->stages[s - 1];
        int shown =
            column < before->output_count ? sta_expression_column(before->outputs[column].expression) : -1;
        if (shown < 0)
            return STA_NO_COLUMN;
        column = (uint32_t)shown;
    }
    return column < path->events->schema.count ? column : STA_NO_COLUMN;
}

bool sta_path_range(const struct sta_path *path, size_t number, uint32_t column, double *low, double *high)
{
    uint32_t of_events = event_column(path, column);
    if (of_events == STA_NO_COLUMN)
        return false;
    const struct sta_path_part *part = &path->parts[number];
    const struct sta_events_trace *trace = &path->events->traces[part->trace];
    const struct sta_events_column *mapped = &trace->map[of_events];
    if (mapped->program != NULL || mapped->column == STA_NO_COLUMN)
        return false;
    return sta_columns_range(trace->columns, sta_snapshot_block(trace->snapshot, part->block), mapped->column,
                             low, high);
}

bool sta_path_never_misses(const struct sta_path *path, uint32_t column)
{
    uint32_t of_events = event_column(path, column);
    return of_events == STA_LOGICAL_ts || of_events == STA_LOGICAL_te || of_events == STA_LOGICAL_dur ||
           (of_events >= STA_LOGICAL_ts_ticks && of_events <= STA_LOGICAL_dur_ticks);
}

bool sta_path_is_ticks(const struct sta_path *path, uint32_t column)
{
    bool whole = event_column(path, column) == STA_LOGICAL_ts;
    for (size_t i = 0; whole && i < path->events->trace_count; i++)
        whole = sta_snapshot_info(path->events->traces[i].snapshot)->ticks_per_us == 1;
    return whole;
}

/* What happens to the rows on the way, for people. */
static char *describe(const struct sta_path *path)
{
    size_t filters = 0, derived = 0;
    for (size_t i = 0; i < path->stage_count; i++) {
        filters += path->stages[i].filter != NULL;
        derived += path->stages[i].derived_count;
    }
    char *from = path->events != NULL ? sta_sprintf("events of %zu trace%s", path->events->trace_count,
                                                    path->events->trace_count == 1 ? "" : "s")
                                      : sta_strdup("rows of the stage before");
    char *text = sta_sprintf("%s, %zu filter%s, %zu derived column%s", from, filters, filters == 1 ? "" : "s",
                             derived, derived == 1 ? "" : "s");
    free(from);
    return text;
}

struct sta_query_step *sta_path_step(const struct sta_path *path, struct sta_workshop *workshop,
                                     const char *name)
{
    struct sta_query_step *step = sta_workshop_step(workshop, name, describe(path));
    step->rows_in = path->part_rows;
    if (path->events != NULL) {
        step->blocks_read = path->part_count;
        step->blocks_skipped = path->skipped;
    }
    return step;
}

/* ---- work */

struct working {
    const struct sta_path *path;
    const struct sta_path_work *work;
    const struct sta_budget *budget;
    struct sta_lane **lanes; /* by worker, made when it has its first piece */
};

static int run_piece(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct working *working = context;
    if (working->lanes[worker] == NULL)
        working->lanes[worker] = sta_lane_create(working->path, working->budget);
    return working->work->run(working->work->self, worker, working->lanes[worker], number, err);
}

int sta_path_work(const struct sta_path *path, const struct sta_path_work *work,
                  const struct sta_budget *budget, struct sta_error *err)
{
    const unsigned workers = sta_budget_workers(budget);
    struct working working = {.path = path, .work = work, .budget = budget};
    working.lanes = sta_alloc_array(workers, sizeof(struct sta_lane *));
    int rc = work->count > 0 ? sta_tasks_run(budget, work->count, run_piece, &working, err)
                             : sta_budget_check(budget, err);
    for (unsigned w = 0; w < workers; w++)
        sta_lane_destroy(working.lanes[w]);
    free(working.lanes);
    return rc;
}

/* ---- visiting all parts */

struct visit {
    const struct sta_path *path;
    const struct sta_path_visitor *visitor;
};

static int visit_part(void *self, unsigned worker, struct sta_lane *lane, size_t part, struct sta_error *err)
{
    const struct visit *visit = self;
    int rc = sta_lane_load(lane, visit->path->parts[part], err);
    return rc == 0 && lane->count > 0 ? visit->visitor->visit(visit->visitor->self, worker, lane, err) : rc;
}

int sta_path_run(const struct sta_path *path, const struct sta_path_visitor *visitor,
                 const struct sta_budget *budget, struct sta_error *err)
{
    struct visit visit = {path, visitor};
    struct sta_path_work work = {&visit, path->part_count, visit_part};
    return sta_path_work(path, &work, budget, err);
}
