/* The pass: workers share out blocks to read and slices to measure.
 *
 * DESIGN.  One mutex guards who does what next; it is taken once per block and twice per slice.  A worker
 * prefers a slice that is ready over another block to read, so what is held stays near what the open slices
 * need.  Slices are handed out in order; each waits for its turn to carry, which is short, and since the
 * worker of an earlier slice is always at work on it, turns never deadlock.  Without slices (order does not
 * matter) the same loop only hands out blocks. */
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
    void *room; /* its spans, or parcels */
    uint32_t count;
    uint32_t uses; /* slices that still need it */
    bool read;
};

/* Spans of a slice while they are brought together; one per worker. */
struct bench {
    struct sta_span *spans, *scratch;
    size_t capacity;
    struct sta_parcel *parcels;
    size_t parcel_capacity;
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
    size_t *parcel_ends; /* by use of a block */
    struct bench *benches;

    uv_mutex_t lock; /* guards what follows, and held[].uses, .read */
    uv_cond_t changed;
    size_t next_block;  /* in plan.order */
    size_t read_prefix; /* plan.order[0 .. read_prefix) have been read */
    size_t next_slice;
    size_t turn;  /* the slice that may carry now */
    void **spare; /* at most one for each block */
    size_t spare_count;
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

static void *take_spare(struct pass *pass, struct sta_error *err)
{
    uv_mutex_lock(&pass->lock);
    void *room = pass->spare_count > 0 ? pass->spare[--pass->spare_count] : NULL;
    uv_mutex_unlock(&pass->lock);
    size_t per_row = pass->work->parcel_row > 0 ? pass->work->parcel_row : sizeof(struct sta_span);
    return room != NULL ? room
                        : sta_account_alloc(pass->budget->account, pass->largest, per_row,
                                            "events that wait for their turn in time", err);
}

static void give_spare(struct pass *pass, void *room)
{
    if (room != NULL)
        pass->spare[pass->spare_count++] = room;
}

static void note_read(struct pass *pass, uint32_t block)
{
    uv_mutex_lock(&pass->lock);
    pass->held[block].read = true;
    if (pass->held[block].count == 0) {
        give_spare(pass, pass->held[block].room);
        pass->held[block].room = NULL;
    }
    while (pass->read_prefix < pass->block_count && pass->held[pass->plan.order[pass->read_prefix]].read)
        pass->read_prefix++;
    uv_cond_broadcast(&pass->changed);
    uv_mutex_unlock(&pass->lock);
}

static int read_block(struct pass *pass, unsigned worker, uint32_t block, struct sta_error *err)
{
    const struct sta_timeline_work *work = pass->work;
    const struct sta_slice_plan *plan = &pass->plan;
    struct held *held = &pass->held[block];
    struct sta_block_spans spans = {.cuts = plan->bounds + plan->first_slice[block] + 1,
                                    .ends = pass->parcel_ends + plan->first_use[block]};
    if (pass->slice_count > 0) {
        held->room = take_spare(pass, err);
        spans.items = held->room;
        spans.bytes = held->room;
        if (held->room == NULL)
            return err->status;
    }
    int rc = work->read(work->context, worker, block, pass->slice_count > 0 ? &spans : NULL, err);
    held->count = spans.count;
    if (rc == 0)
        note_read(pass, block);
    return rc;
}

/* ---- slices */

static int list_parcels(struct pass *pass, unsigned worker, struct sta_slice *slice, struct sta_error *err)
{
    const struct sta_slice_plan *plan = &pass->plan;
    const size_t begin = plan->first_member[slice->number];
    const size_t end = plan->first_member[slice->number + 1];
    struct bench *bench = &pass->benches[worker];
    int rc = STA_ACCOUNT_GROW(pass->budget->account, bench->parcels, bench->parcel_capacity, end - begin,
                              "a slice of time", err);
    if (rc != 0)
        return rc;
    for (size_t m = begin; m < end; m++) {
        uint32_t block = plan->members[m];
        size_t use = slice->number - plan->first_slice[block];
        const size_t *ends = pass->parcel_ends + plan->first_use[block];
        size_t first = use > 0 ? ends[use - 1] : 0;
        if (ends[use] > first)
            bench->parcels[slice->parcel_count++] =
                (struct sta_parcel){(const char *)pass->held[block].room + first, ends[use] - first};
    }
    slice->parcels = bench->parcels;
    return 0;
}

static size_t rows_between(const struct held *held, int64_t from, int64_t to, const struct sta_span **first)
{
    if (held->count == 0)
        return 0;
    const struct sta_span *spans = held->room;
    size_t low = sta_spans_lower_bound(spans, held->count, from);
    size_t high = to == INT64_MAX ? held->count : sta_spans_lower_bound(spans, held->count, to);
    *first = spans + low;
    return high - low;
}

static void free_bench(struct sta_account *account, struct bench *bench)
{
    sta_account_free(account, bench->spans);
    sta_account_free(account, bench->scratch);
    bench->spans = bench->scratch = NULL;
    bench->capacity = 0;
}

static int make_room(struct sta_account *account, struct bench *bench, size_t count, struct sta_error *err)
{
    static const char what[] = "sorting the events of a slice of time";
    if (count <= bench->capacity)
        return 0;
    free_bench(account, bench);
    size_t capacity = count + count / 4;
    bench->spans = sta_account_alloc(account, capacity, sizeof *bench->spans, what, err);
    if (bench->spans == NULL)
        return err->status;
    bench->scratch = sta_account_alloc(account, capacity, sizeof *bench->scratch, what, err);
    if (bench->scratch == NULL)
        return err->status;
    bench->capacity = capacity;
    return 0;
}

/* Brings the spans of a slice together, in order. */
static int gather(struct pass *pass, unsigned worker, struct sta_slice *slice, struct sta_error *err)
{
    const struct sta_slice_plan *plan = &pass->plan;
    const size_t begin = plan->first_member[slice->number];
    const size_t end = plan->first_member[slice->number + 1];
    struct bench *bench = &pass->benches[worker];
    const struct sta_span *first;
    size_t count = 0;
    for (size_t m = begin; m < end; m++)
        count += rows_between(&pass->held[plan->members[m]], slice->from, slice->to, &first);
    int rc = make_room(pass->budget->account, bench, count, err);
    if (rc != 0)
        return rc;
    for (size_t m = begin; m < end; m++) {
        size_t rows = rows_between(&pass->held[plan->members[m]], slice->from, slice->to, &first);
        if (rows > 0)
            memcpy(bench->spans + slice->count, first, rows * sizeof *first);
        slice->count += rows;
    }
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
            give_spare(pass, held->room);
            held->room = NULL;
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
    int rc = 0;
    if (work->parcel_row > 0)
        rc = list_parcels(pass, worker, &slice, err);
    else
        rc = gather(pass, worker, &slice, err);
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
        sta_budget_step(pass->budget);
    }
    stop_pass(pass, &err);
}

/* ---- start and end */

static int pass_init(struct pass *pass, size_t slice_rows, struct sta_error *err)
{
    struct sta_account *account = pass->budget->account;
    static const char what[] = "the row groups of a pass";
    STA_ASSERT(uv_mutex_init(&pass->lock) == 0 && uv_cond_init(&pass->changed) == 0);
    pass->benches = sta_alloc_array(sta_budget_workers(pass->budget), sizeof *pass->benches);
    int rc = sta_slice_plan_init(&pass->plan, pass->blocks, pass->block_count, slice_rows, pass->budget, err);
    if (rc != 0)
        return rc;
    size_t uses = pass->plan.first_use[pass->block_count] + 1;
    pass->slice_count = pass->work->measure != NULL ? pass->plan.slice_count : 0;
    pass->held = sta_account_calloc(account, pass->block_count + 1, sizeof *pass->held, what, err);
    pass->spare = sta_account_calloc(account, pass->block_count + 1, sizeof *pass->spare, what, err);
    pass->parcel_ends = sta_account_calloc(account, uses, sizeof *pass->parcel_ends, what, err);
    if (pass->held == NULL || pass->spare == NULL || pass->parcel_ends == NULL)
        return err->status;
    for (size_t i = 0; i < pass->block_count; i++) {
        pass->held[i].uses = pass->plan.uses[i];
        pass->largest = STA_MAX(pass->largest, pass->blocks[i].rows);
    }
    return 0;
}

static void pass_fini(struct pass *pass)
{
    struct sta_account *account = pass->budget->account;
    for (size_t i = 0; pass->held != NULL && i < pass->block_count; i++)
        sta_account_free(account, pass->held[i].room);
    for (size_t i = 0; i < pass->spare_count; i++)
        sta_account_free(account, pass->spare[i]);
    for (unsigned i = 0; i < sta_budget_workers(pass->budget); i++) {
        free_bench(account, &pass->benches[i]);
        sta_account_free(account, pass->benches[i].parcels);
    }
    sta_account_free(account, pass->spare);
    free(pass->benches);
    sta_account_free(account, pass->held);
    sta_account_free(account, pass->parcel_ends);
    sta_slice_plan_fini(&pass->plan, account);
    uv_cond_destroy(&pass->changed);
    uv_mutex_destroy(&pass->lock);
}

int sta_timeline_run(const struct sta_timeline_block *blocks, size_t block_count,
                     const struct sta_timeline_work *work, size_t slice_rows, const struct sta_budget *budget,
                     struct sta_error *err)
{
    struct pass pass = {.work = work, .budget = budget, .blocks = blocks, .block_count = block_count};
    int rc = pass_init(&pass, slice_rows, err);
    if (rc == 0) {
        sta_budget_expect(budget, block_count + pass.slice_count);
        sta_parallel_run(sta_budget_workers(budget), run_worker, &pass);
        if (pass.stop)
            *err = pass.error;
        rc = pass.stop ? err->status : 0;
    }
    pass_fini(&pass);
    return rc;
}
