/* Groups of the rows of a pipeline: one pass, in parallel, into a grouping; two when a histogram has to find
 * its edges first. */
#include "analyse/query/rows/stages.h"

#include <stdlib.h>
#include <uv.h>

#include "analyse/exec/budget.h"
#include "analyse/query/rows/group_rows.h"
#include "analyse/query/rows/thread_keys.h"
#include "analyse/operators/vectors.h"
#include "analyse/sources/shared.h"
#include "common/memory.h"

/* What a worker hands to the grouping. */
struct local {
    struct sta_vector *keys, *arguments;
    struct sta_vector_space *space; /* of the bins of HISTOGRAM, or of the keys of threads; NULL: neither */
};

struct pass {
    struct sta_arena memory; /* of locals and edges */
    const struct sta_pipeline *pipeline;
    const struct sta_plan_stage *stage;
    struct sta_aggregation *grouping;
    bool finds_range; /* it is of the least and the largest value that HISTOGRAM counts */
    struct local *locals;
    size_t key_count; /* that rows are grouped by: with the bin, those of a thread as one */
    struct sta_thread_keys threads;
    double *edges; /* HISTOGRAM */
    bool ordered;
    struct sta_buffer query; /* for other ranks */
};

/* A pass over stripes. */
struct gathering {
    struct pass *pass;
    const struct sta_budget *budget;
};

/* ---- keys and arguments of a part */

static int fetch(struct sta_pipeline_state *state, enum sta_part part, size_t count,
                 struct sta_vector *vectors, struct sta_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = sta_executor_part(state->top, part, i, &vectors[i], err);
    return rc;
}

/* The keys that rows are grouped by; the bin is left out. */
static int fetch_keys(const struct pass *pass, struct local *local, struct sta_pipeline_state *state,
                      struct sta_error *err)
{
    const struct sta_thread_keys *threads = &pass->threads;
    int rc = STA_OK;
    for (size_t i = 0, at = 0; rc == 0 && i < pass->stage->key_count; at++) {
        const bool combined = threads->count > 0 && i == threads->first;
        rc = combined ? sta_thread_keys_fetch(threads, state, local->space, &local->keys[at], err)
                      : sta_executor_part(state->top, STA_PART_KEYS, i, &local->keys[at], err);
        i += combined ? threads->count : 1;
    }
    return rc;
}

static double number_at(const struct sta_vector *vector, uint32_t row)
{
    return vector->type == STA_TYPE_FLOAT ? vector->numbers[row] : (double)vector->integers[row];
}

#define NO_BIN (-1) /* the group exists, the value is in no bin */

static int64_t bin_of(const double *edges, uint32_t bins, double value)
{
    if (!(value >= edges[0] && value <= edges[bins]))
        return NO_BIN;
    uint32_t low = 0, high = bins; /* edges[low] <= value, and edges[high] > value or the last */
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (value >= edges[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int fetch_bins(const struct pass *pass, struct local *local, struct sta_pipeline_state *state,
                      struct sta_error *err)
{
    struct sta_vector of;
    int rc = sta_executor_part(state->top, STA_PART_HISTOGRAM, 0, &of, err);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < state->count; i++) {
        uint32_t row = state->selected != NULL ? state->selected[i] : i;
        local->space->integers[row] =
            sta_vector_is_missing(&of, row)
                ? NO_BIN
                : bin_of(pass->edges, pass->stage->histogram.bins, number_at(&of, of.constant ? 0 : row));
    }
    local->keys[pass->stage->key_count] = sta_vector_of_integers(local->space->integers);
    return 0;
}

static int group_part(void *self, unsigned worker, struct sta_pipeline_state *state, struct sta_error *err)
{
    struct pass *pass = self;
    struct local *local = &pass->locals[worker];
    const struct sta_plan_stage *stage = pass->stage;
    struct sta_aggregation_input rows = {.count = state->count,
                                         .selected = state->selected,
                                         .marks = state->marks,
                                         .marked_rows = state->rows,
                                         .keys = local->keys,
                                         .arguments = local->arguments,
                                         .source = state->trace};
    struct sta_pipeline_state_order order;
    int rc = fetch_keys(pass, local, state, err);
    if (rc == 0)
        rc = fetch(state, STA_PART_ARGUMENTS, stage->gathered.argument_count, local->arguments, err);
    if (rc == 0 && stage->kind == STA_PLAN_HISTOGRAM)
        rc = fetch_bins(pass, local, state, err);
    if (rc == 0 && pass->ordered) {
        rc = sta_pipeline_state_order(state, &order, err);
        rows.at = order.at;
        rows.place = order.place;
    }
    return rc != 0 ? rc : sta_aggregation_consume(pass->grouping, worker, &rows, err);
}

/* ---- the range of what a histogram counts */

static bool is_grouped(const struct pass *pass, const struct local *local, uint32_t row)
{
    for (size_t i = 0; i < pass->stage->key_count && !pass->stage->keep_missing; i++)
        if (sta_vector_is_missing(&local->keys[i], row))
            return false;
    return true;
}

/* Rows that are in a group are all of one, whose values have a least and a largest one. */
static int range_part(void *self, unsigned worker, struct sta_pipeline_state *state, struct sta_error *err)
{
    struct pass *pass = self;
    struct local *local = &pass->locals[worker];
    struct sta_vector of;
    struct sta_aggregation_input rows = {.selected = local->space->codes, .arguments = &of};
    int rc = fetch(state, STA_PART_KEYS, pass->stage->key_count, local->keys, err);
    if (rc == 0)
        rc = sta_executor_part(state->top, STA_PART_HISTOGRAM, 0, &of, err);
    for (uint32_t i = 0; rc == 0 && i < state->count; i++) {
        const uint32_t row = state->selected != NULL ? state->selected[i] : i;
        local->space->codes[rows.count] = row;
        rows.count += is_grouped(pass, local, row);
    }
    return rc != 0 ? rc : sta_aggregation_consume(pass->grouping, worker, &rows, err);
}

/* ---- stripes */

static int scan_stripe(void *self, const struct sta_stripe *stripe, struct sta_error *err)
{
    const struct gathering *gathering = self;
    struct pass *pass = gathering->pass;
    const struct sta_pipeline_visitor visitor = {.self = pass,
                                                 .visit = pass->finds_range ? range_part : group_part,
                                                 .takes_marks = !pass->finds_range &&
                                                                sta_aggregation_takes_marks(pass->grouping)};
    return sta_pipeline_run(pass->pipeline, &visitor, stripe, gathering->budget, err);
}

/* What another rank has gathered. */
static int take_stripe(void *self, struct sta_cursor *state, struct sta_error *err)
{
    const struct gathering *gathering = self;
    return sta_aggregation_deserialize(gathering->pass->grouping, state, err);
}

static int gather(struct pass *pass, const struct sta_share_wanted *wanted, const struct sta_budget *budget,
                  struct sta_error *err)
{
    struct gathering gathering = {pass, budget};
    const struct sta_stripe_work work = {&gathering, scan_stripe, take_stripe};
    return sta_share_stripes(&pass->query, wanted, &work, budget, err);
}

/* ---- edges of a histogram */

static int create_range(struct pass *pass, const struct sta_budget *budget, struct sta_error *err)
{
    const enum sta_type type = pass->stage->histogram.of->type;
    const struct sta_primitive ends[] = {{.aggregate = STA_AGGREGATE_MIN, .types = {type}},
                                         {.aggregate = STA_AGGREGATE_MAX, .types = {type}}};
    const struct sta_aggregation_spec spec = {.primitives = ends, .primitive_count = STA_COUNT_OF(ends)};
    pass->finds_range = true;
    return sta_aggregation_create(&spec, budget, NULL, &pass->grouping, err);
}

static int find_edges(struct pass *pass, struct sta_query_context *context, struct sta_error *err)
{
    const struct sta_share_wanted wanted = {.range = true};
    struct sta_aggregation_table ends = {.rows = 0};
    sta_pipeline_step(pass->pipeline, context, "range");
    int rc = create_range(pass, context->budget, err);
    if (rc == 0)
        rc = gather(pass, &wanted, context->budget, err);
    if (rc == 0)
        rc = sta_aggregation_collect(pass->grouping, &ends, err);
    sta_query_context_end_step(context);
    if (rc == 0) {
        const bool any = !sta_vector_is_missing(&ends.values[0], 0);
        const double low = any ? number_at(&ends.values[0], 0) : 0;
        const double high = any ? number_at(&ends.values[1], 0) : 1;
        rc = sta_plan_equal_edges(&pass->stage->histogram, low, high, pass->edges, err);
    }
    sta_aggregation_table_fini(&ends);
    sta_aggregation_destroy(pass->grouping);
    pass->grouping = NULL;
    pass->finds_range = false;
    return rc;
}

/* @wanted: with edges, where another process has found them; NULL: it is this one that asks. */
static int prepare_edges(struct pass *pass, struct sta_query_context *context,
                         const struct sta_share_wanted *wanted, struct sta_error *err)
{
    const struct sta_plan_histogram *histogram = &pass->stage->histogram;
    const double *edges = histogram->edges;
    if (pass->stage->kind != STA_PLAN_HISTOGRAM)
        return 0;
    pass->edges = sta_arena_array(&pass->memory, (size_t)histogram->bins + 1, sizeof *pass->edges);
    if (edges == NULL && wanted == NULL)
        return find_edges(pass, context, err);
    if (edges == NULL && wanted->edge_count != (size_t)histogram->bins + 1)
        return sta_shared_fail(err);
    edges = edges != NULL ? edges : wanted->edges;
    for (uint32_t i = 0; i <= histogram->bins; i++)
        pass->edges[i] = edges[i];
    return 0;
}

/* ---- the pass */

static int pass_init(struct pass *pass, const struct sta_pipeline *pipeline, const struct sta_budget *budget,
                     struct sta_error *err)
{
    const unsigned workers = sta_budget_workers(budget);
    const struct sta_plan_stage *stage = &pipeline->stages[pipeline->stage_count - 1];
    *pass = (struct pass){.pipeline = pipeline, .stage = stage};
    int rc = sta_thread_keys_init(&pass->threads, pipeline, budget->account, err);
    pass->key_count = stage->key_count + (stage->kind == STA_PLAN_HISTOGRAM);
    pass->key_count -= pass->threads.count > 0 ? pass->threads.count - 1 : 0;
    pass->locals = sta_arena_array(&pass->memory, workers, sizeof *pass->locals);
    for (unsigned i = 0; i < workers; i++) {
        struct local *local = &pass->locals[i];
        local->keys = sta_arena_array(&pass->memory, pass->key_count, sizeof *local->keys);
        local->arguments =
            sta_arena_array(&pass->memory, stage->gathered.argument_count, sizeof *local->arguments);
        if (stage->kind == STA_PLAN_HISTOGRAM || pass->threads.count > 0)
            local->space = sta_arena_array(&pass->memory, 1, sizeof *local->space);
    }
    for (size_t i = 0; i < stage->gathered.primitive_count; i++)
        pass->ordered |= sta_primitive_needs_order(&stage->gathered.primitives[i]);
    return rc;
}

static void pass_fini(struct pass *pass)
{
    sta_buffer_fini(&pass->query);
    sta_aggregation_destroy(pass->grouping);
    sta_thread_keys_fini(&pass->threads);
    sta_arena_fini(&pass->memory);
}

static int create_grouping(struct pass *pass, const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_plan_stage *stage = pass->stage;
    enum sta_type *types = sta_alloc_array(pass->key_count + 1, sizeof *types);
    for (size_t i = 0, at = 0; i < stage->key_count; at++) {
        const bool combined = pass->threads.count > 0 && i == pass->threads.first;
        types[at] = combined ? STA_TYPE_INT : stage->keys[i].expression->type;
        i += combined ? pass->threads.count : 1;
    }
    if (stage->kind == STA_PLAN_HISTOGRAM)
        types[stage->key_count] = STA_TYPE_INT;
    struct sta_aggregation_spec shape = {.keys = types,
                                         .key_count = pass->key_count,
                                         .keep_missing = stage->keep_missing,
                                         .primitives = stage->gathered.primitives,
                                         .primitive_count = stage->gathered.primitive_count};
    int rc = sta_aggregation_create(&shape, budget, budget->spill_folder, &pass->grouping, err);
    free(types);
    return rc;
}

static char *name_keys(const struct sta_plan_stage *stage)
{
    char *text = sta_sprintf("%zu aggregates by", stage->gathered.primitive_count);
    for (size_t i = 0; i < stage->key_count; i++) {
        char *longer = sta_sprintf("%s%s %s", text, i > 0 ? "," : "", stage->keys[i].name);
        free(text);
        text = longer;
    }
    if (stage->key_count > 0)
        return text;
    free(text);
    return sta_sprintf("%zu aggregates of all rows", stage->gathered.primitive_count);
}

static int gather_groups(struct pass *pass, struct sta_query_context *context, struct sta_error *err)
{
    const bool finds_edges = pass->edges != NULL && pass->stage->histogram.edges == NULL;
    const struct sta_share_wanted wanted = {
        .edges = pass->edges, .edge_count = finds_edges ? (size_t)pass->stage->histogram.bins + 1 : 0};
    sta_pipeline_step(pass->pipeline, context, "scan");
    int rc = gather(pass, &wanted, context->budget, err);
    sta_query_context_end_step(context);
    return rc;
}

static int finish_groups(struct pass *pass, struct sta_query_context *context,
                         struct sta_materialized *result, struct sta_error *err)
{
    struct sta_group_rows into;
    const struct sta_aggregation_output sink = {&into, sta_group_rows_take};
    sta_query_context_step(context, "group", name_keys(pass->stage));
    sta_group_rows_init(&into, pass->stage, pass->grouping, &pass->threads, pass->edges, result);
    int rc = sta_aggregation_finish(pass->grouping, &sink, err);
    if (rc == 0)
        rc = sta_group_rows_end(&into, err);
    if (rc == 0)
        rc = sta_materialized_seal(result, err);
    sta_group_rows_fini(&into);
    sta_query_context_end_step(context);
    return rc;
}

/* What scanning kept and gathering took is known in the end. */
static void set_figures(const struct pass *pass, struct sta_query_context *context,
                        const struct sta_materialized *result)
{
    struct sta_aggregation_figures figures = sta_aggregation_figures(pass->grouping);
    struct sta_query_step *group = &context->steps[context->step_count - 1], *scan = group - 1;
    sta_query_context_made(group, result);
    scan->rows_out = group->rows_in = figures.rows;
    group->memory += figures.memory;
    group->spilled += figures.spilled;
    context->sums_too_large += figures.too_large;
}

/* All that comes before the first row.  @wanted: as of prepare_edges. */
static int begin(struct pass *pass, const struct sta_pipeline *pipeline, struct sta_query_context *context,
                 const struct sta_share_wanted *wanted, struct sta_error *err)
{
    struct sta_budget share = *context->budget; /* what grouping may hold */
    share.memory = sta_query_context_step_memory(context);
    int rc = pass_init(pass, pipeline, &share, err);
    sta_share_put_query(&pass->query, pipeline, context);
    if (rc == 0 && wanted != NULL && wanted->range)
        return pass->stage->kind == STA_PLAN_HISTOGRAM ? create_range(pass, &share, err)
                                                       : sta_shared_fail(err);
    if (rc == 0 && pass->ordered && pipeline->events != NULL)
        rc = sta_events_rank_chunks(pipeline->events, err);
    if (rc == 0)
        rc = prepare_edges(pass, context, wanted, err);
    return rc == 0 ? create_grouping(pass, &share, err) : rc;
}

int sta_groups_work(const struct sta_pipeline *pipeline, struct sta_query_context *context,
                    const struct sta_share_wanted *wanted, const struct sta_stripe *stripe,
                    const struct sta_byte_sink *sink, struct sta_error *err)
{
    struct pass pass;
    struct gathering gathering = {&pass, context->budget};
    int rc = begin(&pass, pipeline, context, wanted, err);
    const uint64_t began = uv_hrtime();
    if (rc == 0)
        rc = scan_stripe(&gathering, stripe, err);
    if (rc == 0)
        rc = sta_aggregation_serialize(pass.grouping, uv_hrtime() - began, sink, err);
    pass_fini(&pass);
    return rc;
}

int sta_groups_run(const struct sta_pipeline *pipeline, struct sta_query_context *context,
                   struct sta_materialized **result, struct sta_error *err)
{
    struct pass pass;
    int rc = begin(&pass, pipeline, context, NULL, err);
    *result = sta_query_context_rows(context, pass.stage->result, pass.stage->result_count);
    if (rc == 0)
        rc = gather_groups(&pass, context, err);
    if (rc == 0)
        rc = finish_groups(&pass, context, *result, err);
    if (rc == 0)
        set_figures(&pass, context, *result);
    pass_fini(&pass);
    if (rc != 0) {
        sta_materialized_destroy(*result);
        *result = NULL;
    }
    return rc;
}
