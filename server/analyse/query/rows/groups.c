/* Groups of the rows of a path: one pass, in parallel, into a grouping; two when a histogram has to find its
 * edges first. */
#include "analyse/query/rows/groups.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/budget.h"
#include "analyse/query/rows/group_rows.h"
#include "analyse/query/rows/thread_keys.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

/* What a worker hands to the grouping. */
struct bench {
    struct sta_vector *keys, *arguments;
    int64_t *bins; /* HISTOGRAM: room for the last key */
    struct sta_thread_key_room threads;
    double low, high;
};

struct pass {
    const struct sta_path *path;
    const struct sta_plan_stage *stage;
    struct sta_aggregation *grouping;
    struct bench *benches;
    unsigned workers;
    size_t key_count; /* that rows are grouped by: with the bin, those of a thread as one */
    struct sta_thread_keys threads;
    double *edges; /* HISTOGRAM */
    bool ordered;
};

/* ---- keys and arguments of a part */

static int fetch(struct sta_lane *lane, enum sta_part part, size_t count, struct sta_vector *vectors,
                 struct sta_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = sta_frame_part(lane->top, part, i, &vectors[i], err);
    return rc;
}

/* The keys that rows are grouped by; the bin is left out. */
static int fetch_keys(const struct pass *pass, struct bench *bench, struct sta_lane *lane,
                      struct sta_error *err)
{
    const struct sta_thread_keys *threads = &pass->threads;
    int rc = STA_OK;
    for (size_t i = 0, at = 0; rc == 0 && i < pass->stage->key_count; at++) {
        const bool combined = threads->count > 0 && i == threads->first;
        rc = combined ? sta_thread_keys_fetch(threads, lane, &bench->threads, &bench->keys[at], err)
                      : sta_frame_part(lane->top, STA_PART_KEYS, i, &bench->keys[at], err);
        i += combined ? threads->count : 1;
    }
    return rc;
}

static double number_at(const struct sta_vector *vector, uint32_t row)
{
    return vector->type == STA_TYPE_FLOAT ? vector->numbers[row]
           : vector->type == STA_TYPE_INT ? (double)vector->integers[row]
                                          : vector->bools[row];
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

static int fetch_bins(const struct pass *pass, struct bench *bench, struct sta_lane *lane,
                      struct sta_error *err)
{
    struct sta_vector of;
    int rc = sta_frame_part(lane->top, STA_PART_HISTOGRAM, 0, &of, err);
    if (rc != 0)
        return rc;
    if (bench->bins == NULL)
        bench->bins = sta_alloc_array(STA_VECTOR_ROWS, sizeof *bench->bins);
    for (uint32_t i = 0; i < lane->count; i++) {
        uint32_t row = lane->selected != NULL ? lane->selected[i] : i;
        bench->bins[row] = sta_vector_is_missing(&of, row) ? NO_BIN
                                                           : bin_of(pass->edges, pass->stage->histogram.bins,
                                                                    number_at(&of, of.constant ? 0 : row));
    }
    bench->keys[pass->stage->key_count] = (struct sta_vector){.type = STA_TYPE_INT, .integers = bench->bins};
    return 0;
}

static int group_part(void *self, unsigned worker, struct sta_lane *lane, struct sta_error *err)
{
    struct pass *pass = self;
    struct bench *bench = &pass->benches[worker];
    const struct sta_plan_stage *stage = pass->stage;
    struct sta_aggregation_input rows = {.count = lane->count,
                                         .selected = lane->selected,
                                         .keys = bench->keys,
                                         .arguments = bench->arguments,
                                         .source = lane->trace};
    struct sta_lane_order order;
    int rc = fetch_keys(pass, bench, lane, err);
    if (rc == 0)
        rc = fetch(lane, STA_PART_ARGUMENTS, stage->argument_count, bench->arguments, err);
    if (rc == 0 && stage->kind == STA_PLAN_HISTOGRAM)
        rc = fetch_bins(pass, bench, lane, err);
    if (rc == 0 && pass->ordered) {
        rc = sta_lane_order(lane, &order, err);
        rows.at = order.at;
        rows.place = order.place;
    }
    return rc != 0 ? rc : sta_aggregation_consume(pass->grouping, worker, &rows, err);
}

/* ---- edges of a histogram */

static bool is_grouped(const struct pass *pass, const struct bench *bench, uint32_t row)
{
    for (size_t i = 0; i < pass->stage->key_count && !pass->stage->keep_missing; i++)
        if (sta_vector_is_missing(&bench->keys[i], row))
            return false;
    return true;
}

static int widen_range(void *self, unsigned worker, struct sta_lane *lane, struct sta_error *err)
{
    struct pass *pass = self;
    struct bench *bench = &pass->benches[worker];
    struct sta_vector of;
    int rc = fetch(lane, STA_PART_KEYS, pass->stage->key_count, bench->keys, err);
    if (rc == 0)
        rc = sta_frame_part(lane->top, STA_PART_HISTOGRAM, 0, &of, err);
    for (uint32_t i = 0; rc == 0 && i < lane->count; i++) {
        uint32_t row = lane->selected != NULL ? lane->selected[i] : i;
        if (sta_vector_is_missing(&of, row) || !is_grouped(pass, bench, row))
            continue;
        double value = number_at(&of, of.constant ? 0 : row);
        bench->low = fmin(bench->low, value);
        bench->high = fmax(bench->high, value);
    }
    return rc;
}

static int find_edges(struct pass *pass, struct sta_workshop *workshop, struct sta_error *err)
{
    const struct sta_plan_histogram *histogram = &pass->stage->histogram;
    struct sta_path_visitor visitor = {pass, widen_range};
    double low = INFINITY, high = -INFINITY;
    sta_path_step(pass->path, workshop, "range");
    for (unsigned i = 0; i < pass->workers; i++) {
        pass->benches[i].low = low;
        pass->benches[i].high = high;
    }
    int rc = sta_path_run(pass->path, &visitor, workshop->budget, err);
    for (unsigned i = 0; i < pass->workers; i++) {
        low = fmin(low, pass->benches[i].low);
        high = fmax(high, pass->benches[i].high);
    }
    sta_workshop_end_step(workshop);
    if (rc != 0)
        return rc;
    bool any = low <= high;
    return sta_plan_equal_edges(histogram, any ? low : 0, any ? high : 1, pass->edges, err);
}

static int prepare_edges(struct pass *pass, struct sta_workshop *workshop, struct sta_error *err)
{
    const struct sta_plan_histogram *histogram = &pass->stage->histogram;
    if (pass->stage->kind != STA_PLAN_HISTOGRAM)
        return 0;
    pass->edges = sta_alloc_array((size_t)histogram->bins + 1, sizeof *pass->edges);
    if (histogram->edges == NULL)
        return find_edges(pass, workshop, err);
    for (uint32_t i = 0; i <= histogram->bins; i++)
        pass->edges[i] = histogram->edges[i];
    return 0;
}

/* ---- the pass */

static void pass_init(struct pass *pass, const struct sta_path *path, unsigned workers)
{
    const struct sta_plan_stage *stage = &path->stages[path->stage_count - 1];
    *pass = (struct pass){.path = path, .stage = stage, .workers = workers};
    sta_thread_keys_init(&pass->threads, path);
    pass->key_count = stage->key_count + (stage->kind == STA_PLAN_HISTOGRAM);
    pass->key_count -= pass->threads.count > 0 ? pass->threads.count - 1 : 0;
    pass->benches = sta_alloc_array(workers, sizeof *pass->benches);
    for (unsigned i = 0; i < workers; i++) {
        pass->benches[i].keys = sta_alloc_array(pass->key_count + 1, sizeof(struct sta_vector));
        pass->benches[i].arguments = sta_alloc_array(stage->argument_count + 1, sizeof(struct sta_vector));
    }
    for (size_t i = 0; i < stage->primitive_count; i++)
        pass->ordered |= sta_primitive_needs_order(&stage->primitives[i]);
    if (pass->ordered && path->events != NULL)
        sta_events_rank_chunks(path->events);
}

static void pass_fini(struct pass *pass)
{
    for (unsigned i = 0; i < pass->workers; i++) {
        free(pass->benches[i].keys);
        free(pass->benches[i].arguments);
        free(pass->benches[i].bins);
        sta_thread_key_room_fini(&pass->benches[i].threads);
    }
    free(pass->benches);
    free(pass->edges);
    sta_aggregation_destroy(pass->grouping);
    sta_thread_keys_fini(&pass->threads);
}

static int create_grouping(struct pass *pass, const struct sta_budget *budget, const char *spill_folder,
                           struct sta_error *err)
{
    const struct sta_plan_stage *stage = pass->stage;
    enum sta_type *types = sta_alloc_array(pass->key_count + 1, sizeof *types);
    for (size_t i = 0, at = 0; i < stage->key_count; at++) {
        const bool combined = pass->threads.count > 0 && i == pass->threads.first;
        types[at] = combined ? STA_TYPE_INT : sta_expression_type(stage->keys[i].expression);
        i += combined ? pass->threads.count : 1;
    }
    if (stage->kind == STA_PLAN_HISTOGRAM)
        types[stage->key_count] = STA_TYPE_INT;
    struct sta_aggregation_spec shape = {.keys = types,
                                         .key_count = pass->key_count,
                                         .keep_missing = stage->keep_missing,
                                         .primitives = stage->primitives,
                                         .primitive_count = stage->primitive_count};
    int rc = sta_aggregation_create(&shape, budget, spill_folder, &pass->grouping, err);
    free(types);
    return rc;
}

static char *tell_keys(const struct sta_plan_stage *stage)
{
    char *text = sta_sprintf("%zu aggregates by", stage->primitive_count);
    for (size_t i = 0; i < stage->key_count; i++) {
        char *longer = sta_sprintf("%s%s %s", text, i > 0 ? "," : "", stage->keys[i].name);
        free(text);
        text = longer;
    }
    if (stage->key_count > 0)
        return text;
    free(text);
    return sta_sprintf("%zu aggregates of all rows", stage->primitive_count);
}

static int gather_groups(struct pass *pass, struct sta_workshop *workshop, struct sta_error *err)
{
    struct sta_path_visitor visitor = {pass, group_part};
    sta_path_step(pass->path, workshop, "scan");
    int rc = sta_path_run(pass->path, &visitor, workshop->budget, err);
    sta_workshop_end_step(workshop);
    return rc;
}

/* Groups on their way to the rows of the result, with the keys of threads taken apart. */
struct expanding {
    struct sta_group_rows *into;
    const struct sta_thread_keys *threads;
    struct sta_vector *keys;
};

static void expanding_init(struct expanding *expanding, struct sta_group_rows *into,
                           const struct sta_thread_keys *threads)
{
    *expanding = (struct expanding){.into = into, .threads = threads};
    expanding->keys = sta_alloc_array(into->stage->key_count + 1, sizeof *expanding->keys);
    for (size_t k = threads->first; k < threads->first + threads->count; k++) {
        const bool text = sta_expression_type(into->stage->keys[k].expression) == STA_TYPE_TEXT;
        if (text)
            expanding->keys[k].codes = sta_alloc_array(STA_VECTOR_ROWS, sizeof(uint32_t));
        else
            expanding->keys[k].integers = sta_alloc_array(STA_VECTOR_ROWS, sizeof(int64_t));
        expanding->keys[k].missing = text ? NULL : sta_alloc_array(STA_VECTOR_ROWS, 1);
    }
}

static void expanding_fini(struct expanding *expanding)
{
    const struct sta_thread_keys *threads = expanding->threads;
    for (size_t k = threads->first; k < threads->first + threads->count; k++) {
        free((void *)expanding->keys[k].codes);
        free((void *)expanding->keys[k].integers);
        free((void *)expanding->keys[k].missing);
    }
    free(expanding->keys);
}

static int take_expanded(void *self, const struct sta_vector *keys, const struct sta_vector *values,
                         uint32_t rows, struct sta_error *err)
{
    struct expanding *expanding = self;
    const struct sta_thread_keys *threads = expanding->threads;
    for (size_t k = 0; k < threads->first; k++)
        expanding->keys[k] = keys[k];
    sta_thread_keys_expand(threads, &keys[threads->first], rows, &expanding->keys[threads->first]);
    for (size_t k = threads->first + threads->count; k < expanding->into->stage->key_count; k++)
        expanding->keys[k] = keys[k - threads->count + 1];
    return sta_group_rows_take(expanding->into, expanding->keys, values, rows, err);
}

static int finish_groups(struct pass *pass, struct sta_workshop *workshop, struct sta_materialized *result,
                         struct sta_error *err)
{
    struct sta_group_rows into;
    struct expanding expanding = {.threads = &pass->threads};
    struct sta_aggregation_output sink = {&into, sta_group_rows_take};
    sta_workshop_step(workshop, "group", tell_keys(pass->stage));
    int rc = sta_group_rows_init(&into, pass->stage, pass->edges, result, err);
    if (rc == 0 && pass->threads.count > 0) {
        expanding_init(&expanding, &into, &pass->threads);
        sink = (struct sta_aggregation_output){&expanding, take_expanded};
    }
    if (rc == 0)
        rc = sta_aggregation_finish(pass->grouping, &sink, err);
    if (expanding.keys != NULL)
        expanding_fini(&expanding);
    if (rc == 0)
        rc = sta_group_rows_end(&into, err);
    if (rc == 0)
        rc = sta_materialized_seal(result, err);
    sta_group_rows_fini(&into);
    sta_workshop_end_step(workshop);
    return rc;
}

/* What scanning kept and gathering took is known in the end. */
static void tell_figures(const struct pass *pass, struct sta_workshop *workshop,
                         const struct sta_materialized *result)
{
    struct sta_aggregation_figures figures = sta_aggregation_figures(pass->grouping);
    struct sta_query_step *group = &workshop->steps[workshop->step_count - 1], *scan = group - 1;
    sta_materialized_describe(result, group);
    scan->rows_out = group->rows_in = figures.rows;
    group->memory += figures.memory;
    group->spilled += figures.spilled;
}

int sta_groups_run(const struct sta_path *path, struct sta_workshop *workshop,
                   struct sta_materialized **result, struct sta_error *err)
{
    struct pass pass;
    struct sta_budget share = *workshop->budget; /* what grouping may hold */
    share.memory = sta_workshop_step_memory(workshop);
    pass_init(&pass, path, sta_budget_workers(&share));
    *result = sta_materialized_create(pass.stage->result, pass.stage->result_count,
                                      sta_workshop_rows_memory(workshop), workshop->spill_folder);
    int rc = prepare_edges(&pass, workshop, err);
    if (rc == 0)
        rc = create_grouping(&pass, &share, workshop->spill_folder, err);
    if (rc == 0)
        rc = gather_groups(&pass, workshop, err);
    if (rc == 0)
        rc = finish_groups(&pass, workshop, *result, err);
    if (rc == 0)
        tell_figures(&pass, workshop, *result);
    pass_fini(&pass);
    if (rc != 0) {
        sta_materialized_destroy(*result);
        *result = NULL;
    }
    return rc;
}
