/* The pass: workers share out blocks to read and slices to measure.
 *
 * DESIGN.  One mutex guards who does what next; it is taken once per block and twice per slice.  A worker prefers a slice that is ready over
 * another block to read, so what is held stays near what the open slices need.  Slices are handed out in order; each waits for its
 * turn to carry, which is short, and since the worker of an earlier slice is always at work on it, turns never deadlock.
 * Without slices (order does not matter) the same loop only hands out blocks. */
#include "analyse/intervals/timeline.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "analyse/intervals/slices.h"
#include "analyse/budget.h"
#include "common/memory.h"
#include "common/parallel.h"

/* The spans of a block that has been read. */
struct held {
    struct sta_span *spans;
    uint32_t count;
    uint32_t uses; /* slices that still need it */
    bool read;
};

/* Spans of a slice while they are brought together; one per worker. */
struct bench {
    struct sta_span *spans, *scratch;
    size_t capacity;
    struct sta_run *runs;
    size_t run_capacity;
};

struct pass {
    const struct sta_timeline_work *work;
    const struct sta_budget *budget;
    const struct sta_timeline_block *blocks;
    size_t block_count;
    uint32_t largest; /* rows of a block */
    struct sta_slice_plan plan;
    size_t slice_count; /* 0 when order does not matter */
    struct held *held;
    struct bench *benches;

    uv_mutex_t lock; /* guards what follows, and held[].uses, .read */
    uv_cond_t changed;
    size_t next_block;  /* in plan.order */
    size_t read_prefix; /* plan.order[0 .. read_prefix) have been read */
    size_t next_slice;
    size_t turn; /* the slice that may carry now */
    struct sta_span **spare;
    size_t spare_count, spare_capacity;
    struct sta_error error;
    _Atomic bool stop;
};

static void stop_pass(struct pass *pass, const struct sta_error *why)
{
    uv_mutex_lock(&pass->lock);
    if (!pass->stop)
        pass->error = *why;
    pass->stop = true;
    uv_cond_broadcast(&pass->changed);
    uv_mutex_unlock(&pass->lock);
}

/* ---- blocks */

static struct sta_span *take_spare(struct pass *pass)
{
    uv_mutex_lock(&pass->lock);
    struct sta_span *spans = pass->spare_count > 0 ? pass->spare[--pass->spare_count] : NULL;
    uv_mutex_unlock(&pass->lock);
    return spans != NULL ? spans : sta_try_alloc_array(pass->largest, sizeof *spans);
}

static void give_spare(struct pass *pass, struct sta_span *spans)
{
    if (spans == NULL)
        return;
    STA_GROW(pass->spare, pass->spare_capacity, pass->spare_count + 1);
    pass->spare[pass->spare_count++] = spans;
}

static void note_read(struct pass *pass, uint32_t block)
{
    uv_mutex_lock(&pass->lock);
    pass->held[block].read = true;
    if (pass->held[block].count == 0) {
        give_spare(pass, pass->held[block].spans);
        pass->held[block].spans = NULL;
    }
    while (pass->read_prefix < pass->block_count && pass->held[pass->plan.order[pass->read_prefix]].read)
        pass->read_prefix++;
    uv_cond_broadcast(&pass->changed);
    uv_mutex_unlock(&pass->lock);
}

static int read_block(struct pass *pass, unsigned worker, uint32_t block, struct sta_error *err)
{
    const struct sta_timeline_work *work = pass->work;
    struct held *held = &pass->held[block];
    struct sta_block_spans spans = {.cuts = pass->plan.bounds + pass->plan.first_slice[block] + 1};
    if (pass->slice_count > 0) {
        held->spans = spans.items = take_spare(pass);
        if (held->spans == NULL)
            return sta_fail(err, STA_ENOMEM, "memory ran out while reading events");
    }
    int rc = work->read(work->context, worker, block, pass->slice_count > 0 ? &spans : NULL, err);
    held->count = spans.count;
    if (rc == 0)
        note_read(pass, block);
    return rc;
}

/* ---- slices */

/* What a block gives to a slice. */
static struct sta_run run_of(const struct held *held, const struct sta_slice *slice)
{
    if (held->count == 0)
        return (struct sta_run){0};
    size_t low = sta_spans_lower_bound(held->spans, held->count, slice->from);
    size_t high =
        slice->to == INT64_MAX ? held->count : sta_spans_lower_bound(held->spans, held->count, slice->to);
    return (struct sta_run){held->spans + low, high - low};
}

static void list_runs(struct pass *pass, unsigned worker, struct sta_slice *slice)
{
    const struct sta_slice_plan *plan = &pass->plan;
    const size_t begin = plan->first_member[slice->number];
    const size_t end = plan->first_member[slice->number + 1];
    struct bench *bench = &pass->benches[worker];
    STA_GROW(bench->runs, bench->run_capacity, end - begin);
    for (size_t m = begin; m < end; m++) {
        bench->runs[slice->run_count] = run_of(&pass->held[plan->members[m]], slice);
        slice->count += bench->runs[slice->run_count].count;
        slice->run_count += bench->runs[slice->run_count].count > 0;
    }
    slice->runs = bench->runs;
}

static int make_room(struct bench *bench, size_t count, struct sta_error *err)
{
    if (count <= bench->capacity)
        return 0;
    free(bench->spans);
    free(bench->scratch);
    bench->capacity = count + count / 4;
    bench->spans = sta_try_alloc_array(bench->capacity, sizeof *bench->spans);
    bench->scratch = sta_try_alloc_array(bench->capacity, sizeof *bench->scratch);
    if (bench->spans != NULL && bench->scratch != NULL)
        return 0;
    bench->capacity = 0;
    return sta_fail(err, STA_ENOMEM, "memory ran out while sorting %zu events", count);
}

/* Brings the runs of a slice together, in order. */
static int gather(struct pass *pass, unsigned worker, struct sta_slice *slice, struct sta_error *err)
{
    struct bench *bench = &pass->benches[worker];
    int rc = make_room(bench, slice->count, err);
    if (rc != 0)
        return rc;
    size_t put = 0;
    for (size_t r = 0; r < slice->run_count; put += slice->runs[r++].count)
        memcpy(bench->spans + put, slice->runs[r].spans, slice->runs[r].count * sizeof *bench->spans);
    slice->spans = sta_spans_sort(bench->spans, bench->scratch, slice->count);
    return 0;
}

/* The blocks that no later slice needs give back their memory. */
static void let_go(struct pass *pass, size_t slice)
{
    const struct sta_slice_plan *plan = &pass->plan;
    uv_mutex_lock(&pass->lock);
    for (size_t i = plan->first_member[slice]; i < plan->first_member[slice + 1]; i++) {
        struct held *held = &pass->held[plan->members[i]];
        if (--held->uses == 0) {
            give_spare(pass, held->spans);
            held->spans = NULL;
        }
    }
    uv_mutex_unlock(&pass->lock);
}

/* Waits until all earlier slices have carried.  Return: false when the pass has stopped. */
static bool await_turn(struct pass *pass, size_t slice)
{
    uv_mutex_lock(&pass->lock);
    while (pass->turn != slice && !pass->stop)
        uv_cond_wait(&pass->changed, &pass->lock);
    bool mine = pass->turn == slice && !pass->stop;
    uv_mutex_unlock(&pass->lock);
    return mine;
}

static void pass_turn(struct pass *pass)
{
    uv_mutex_lock(&pass->lock);
    pass->turn++;
    uv_cond_broadcast(&pass->changed);
    uv_mutex_unlock(&pass->lock);
}

static int do_slice(struct pass *pass, unsigned worker, size_t number, struct sta_error *err)
{
    const struct sta_timeline_work *work = pass->work;
    struct sta_slice slice = {
        .number = number, .from = pass->plan.bounds[number], .to = pass->plan.bounds[number + 1]};
    list_runs(pass, worker, &slice);
    int rc = work->by_runs ? 0 : gather(pass, worker, &slice, err);
    if (rc != 0)
        return rc;
    work->prepare(work->context, worker, &slice);
    if (!await_turn(pass, number))
        return 0;
    work->carry(work->context, worker, &slice);
    pass_turn(pass);
    work->measure(work->context, worker, &slice);
    let_go(pass, number);
    return 0;
}

/* ---- who does what next */

enum task_kind { TASK_NONE, TASK_BLOCK, TASK_SLICE };

struct task {
    enum task_kind kind;
    size_t number; /* block or slice */
};

static struct task next_task(struct pass *pass)
{
    struct task task = {.kind = TASK_NONE};
    uv_mutex_lock(&pass->lock);
    while (!pass->stop) {
        if (pass->next_slice < pass->slice_count && pass->read_prefix >= pass->plan.reads[pass->next_slice]) {
            task = (struct task){TASK_SLICE, pass->next_slice++};
            break;
        }
        if (pass->next_block < pass->block_count) {
            task = (struct task){TASK_BLOCK, pass->plan.order[pass->next_block++]};
            break;
        }
        if (pass->next_slice >= pass->slice_count)
            break;
        uv_cond_wait(&pass->changed, &pass->lock);
    }
    uv_mutex_unlock(&pass->lock);
    return task;
}

static void run_worker(void *context, unsigned worker)
{
    struct pass *pass = context;
    struct sta_error err = STA_ERROR_INIT;
    int rc = 0;
    while (rc == 0) {
        struct task task = next_task(pass);
        if (task.kind == TASK_NONE)
            return;
        rc = sta_budget_check(pass->budget, &err);
        if (rc == 0)
            rc = task.kind == TASK_BLOCK ? read_block(pass, worker, (uint32_t)task.number, &err)
                                         : do_slice(pass, worker, task.number, &err);
    }
    stop_pass(pass, &err);
}

/* ---- start and end */

static void pass_init(struct pass *pass, size_t slice_rows)
{
    STA_ASSERT(uv_mutex_init(&pass->lock) == 0 && uv_cond_init(&pass->changed) == 0);
    sta_slice_plan_init(&pass->plan, pass->blocks, pass->block_count, slice_rows);
    pass->slice_count = pass->work->measure != NULL ? pass->plan.slice_count : 0;
    pass->held = sta_alloc_array(pass->block_count + 1, sizeof *pass->held);
    pass->benches = sta_alloc_array(sta_budget_workers(pass->budget), sizeof *pass->benches);
    for (size_t i = 0; i < pass->block_count; i++) {
        pass->held[i].uses = pass->plan.uses[i];
        pass->largest = STA_MAX(pass->largest, pass->blocks[i].rows);
    }
}

static void pass_fini(struct pass *pass)
{
    for (size_t i = 0; i < pass->block_count; i++)
        free(pass->held[i].spans);
    for (size_t i = 0; i < pass->spare_count; i++)
        free(pass->spare[i]);
    for (unsigned i = 0; i < sta_budget_workers(pass->budget); i++) {
        free(pass->benches[i].spans);
        free(pass->benches[i].scratch);
        free(pass->benches[i].runs);
    }
    free(pass->spare);
    free(pass->benches);
    free(pass->held);
    sta_slice_plan_fini(&pass->plan);
    uv_cond_destroy(&pass->changed);
    uv_mutex_destroy(&pass->lock);
}

int sta_timeline_run(const struct sta_timeline_block *blocks, size_t block_count,
                     const struct sta_timeline_work *work, size_t slice_rows, const struct sta_budget *budget,
                     struct sta_error *err)
{
    struct pass pass = {.work = work, .budget = budget, .blocks = blocks, .block_count = block_count};
    pass_init(&pass, slice_rows);
    sta_parallel_run(sta_budget_workers(budget), run_worker, &pass);
    bool failed = pass.stop;
    if (failed)
        *err = pass.error;
    pass_fini(&pass);
    return failed ? err->status : 0;
}
