/* Unions measured by slices and workers against a timeline of single ticks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/intervals/cells.h"
#include "analyse/intervals/timeline.h"
#include "analyse/intervals/unions.h"
#include "common/memory.h"

#define HORIZON 400
#define MOST_SPANS 300
#define SLOTS 7
#define CELLS 5

/* A small deterministic generator, so that a failing case can be run again. */
static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

struct scene {
    struct sta_span spans[MOST_SPANS];
    size_t count;
    struct sta_timeline_block blocks[MOST_SPANS];
    size_t first[MOST_SPANS + 1];
    size_t block_count;
    bool member[CELLS][SLOTS];
    bool covered[SLOTS][HORIZON]; /* by the union */
    struct sta_cells *cells;
    struct sta_unions *unions;
    uint32_t *pieces; /* worker, slot, tick: how often a piece covered it */
};

static int compare_spans(const void *a, const void *b)
{
    const struct sta_span *x = a;
    const struct sta_span *y = b;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

/* Cuts the spans into blocks that overlap in time, each sorted, as segments of several files have them. */
static void make_blocks(struct scene *scene)
{
    size_t at = 0;
    while (at < scene->count) {
        size_t rows = 1 + below(40);
        rows = STA_MIN(rows, scene->count - at);
        qsort(scene->spans + at, rows, sizeof *scene->spans, compare_spans);
        scene->first[scene->block_count] = at;
        scene->blocks[scene->block_count++] = (struct sta_timeline_block){
            .ts_min = scene->spans[at].ts, .ts_max = scene->spans[at + rows - 1].ts, .rows = (uint32_t)rows};
        at += rows;
    }
    scene->first[scene->block_count] = at;
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    memset(scene, 0, sizeof *scene);
    state = seed;
    scene->count = below(MOST_SPANS);
    uint32_t horizon = below(2) ? HORIZON : 20; /* few distinct times make touching and equal spans common */
    for (int c = 0; c < CELLS; c++)
        for (int s = 0; s < SLOTS; s++)
            scene->member[c][s] = below(3) == 0;
    for (size_t i = 0; i < scene->count; i++) {
        int64_t ts = below(horizon - 1);
        int64_t longest = below(8) == 0 ? horizon - ts - 1 : STA_MIN(horizon - ts - 1, 6);
        uint32_t cell = below(CELLS);
        scene->spans[i] =
            (struct sta_span){.ts = ts, .te = ts + 1 + below((uint32_t)longest + 1), .cell = cell};
        scene->spans[i].te = STA_MIN(scene->spans[i].te, HORIZON);
        for (int s = 0; s < SLOTS; s++)
            for (int64_t t = ts; scene->member[cell][s] && t < scene->spans[i].te; t++)
                scene->covered[s][t] = true;
    }
    make_blocks(scene);
}

static int read_scene(void *context, unsigned worker, size_t block, struct sta_span *spans, uint32_t *count,
                      struct sta_error *err)
{
    (void)worker;
    (void)err;
    struct scene *scene = context;
    *count = 0;
    for (size_t i = scene->first[block]; i < scene->first[block + 1]; i++) {
        struct sta_span span = scene->spans[i];
        uint64_t keys[SLOTS];
        size_t key_count = 0;
        for (uint32_t s = 0; s < SLOTS; s++)
            if (scene->member[span.cell][s])
                keys[key_count++] = sta_slot_key(s, 0);
        span.cell = sta_cells_add(scene->cells, span.cell, keys, key_count);
        spans[(*count)++] = span;
    }
    return 0;
}

static void prepare(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_prepare(((struct scene *)context)->unions, worker, slice);
}

static void carry(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_carry(((struct scene *)context)->unions, worker, slice);
}

static void measure(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_measure(((struct scene *)context)->unions, worker, slice);
}

static void note_piece(void *context, unsigned worker, uint32_t slot, int64_t from, int64_t to)
{
    struct scene *scene = context;
    for (int64_t t = from; t < to; t++)
        scene->pieces[(worker * SLOTS + slot) * HORIZON + (size_t)t]++;
}

static int run_scene(struct scene *scene, unsigned workers, size_t slice_rows, bool pieces,
                     struct sta_error *err)
{
    struct sta_budget budget = {.workers = workers, .memory = 1 << 20};
    struct sta_timeline_work work = {read_scene, prepare, carry, measure, scene};
    scene->cells = sta_cells_create();
    scene->unions = sta_unions_create(scene->cells, workers, pieces ? note_piece : NULL, scene);
    return sta_timeline_run(scene->blocks, scene->block_count, &work, slice_rows, &budget, err);
}

static void end_scene(struct scene *scene)
{
    sta_unions_destroy(scene->unions);
    sta_cells_destroy(scene->cells);
}

static int64_t ticks_covered(const struct scene *scene, uint32_t slot)
{
    int64_t sum = 0;
    for (int t = 0; t < HORIZON; t++)
        sum += scene->covered[slot][t];
    return sum;
}

Test(intervals, unions_equal_a_timeline_of_ticks_for_every_cut_and_number_of_workers)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 2500; seed++) {
        make_scene(scene, seed);
        struct sta_error err = STA_ERROR_INIT;
        unsigned workers = 1 + (unsigned)(seed % 4);
        size_t slice_rows = 1 + seed % 97;
        cr_assert_eq(run_scene(scene, workers, slice_rows, false, &err), 0, "%s", err.text);
        for (uint32_t s = 0; s < SLOTS; s++)
            cr_assert_eq(sta_unions_of(scene->unions, s, 0), ticks_covered(scene, s), "seed %lu slot %u",
                         (unsigned long)seed, s);
        end_scene(scene);
    }
    free(scene);
}

Test(intervals, pieces_cover_each_tick_of_a_union_once)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 400; seed++) {
        make_scene(scene, seed);
        struct sta_error err = STA_ERROR_INIT;
        unsigned workers = 1 + (unsigned)(seed % 3);
        scene->pieces = sta_alloc_array((size_t)workers * SLOTS * HORIZON, sizeof *scene->pieces);
        cr_assert_eq(run_scene(scene, workers, 1 + seed % 31, true, &err), 0, "%s", err.text);
        for (uint32_t s = 0; s < SLOTS; s++) {
            uint32_t slot;
            bool any = sta_cells_find_slot(scene->cells, sta_slot_key(s, 0), &slot);
            for (size_t t = 0; any && t < HORIZON; t++) {
                uint32_t times = 0;
                for (unsigned w = 0; w < workers; w++)
                    times += scene->pieces[(w * SLOTS + slot) * HORIZON + t];
                cr_assert_eq(times, scene->covered[s][t], "seed %lu slot %u tick %zu", (unsigned long)seed, s,
                             t);
            }
        }
        free(scene->pieces);
        end_scene(scene);
    }
    free(scene);
}

Test(intervals, sorting_orders_any_times)
{
    static const int64_t extremes[] = {INT64_MIN / 2, -1, 0, 1, 1 << 11, INT64_MAX / 2};
    state = 7;
    struct sta_span spans[500];
    struct sta_span scratch[500];
    for (int round = 0; round < 200; round++) {
        size_t count = below(500);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            spans[i] = (struct sta_span){.ts = extremes[below(6)] + below(5000), .cell = (uint32_t)i};
            sum += (uint64_t)spans[i].ts;
        }
        struct sta_span *sorted = sta_spans_sort(spans, scratch, count);
        for (size_t i = 0; i < count; i++) {
            sum -= (uint64_t)sorted[i].ts;
            cr_assert(i == 0 || sorted[i - 1].ts <= sorted[i].ts);
        }
        cr_assert_eq(sum, 0);
    }
}

static int fail_on_third(void *context, unsigned worker, size_t block, struct sta_span *spans,
                         uint32_t *count, struct sta_error *err)
{
    if (block == 3)
        return sta_fail(err, STA_ECORRUPT, "block 3 is damaged");
    return read_scene(context, worker, block, spans, count, err);
}

Test(intervals, a_failure_of_one_block_ends_the_pass_with_its_sentence)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make_scene(scene, seed);
        if (scene->block_count < 4)
            continue;
        struct sta_budget budget = {.workers = 1 + (unsigned)(seed % 4), .memory = 1 << 20};
        struct sta_timeline_work work = {fail_on_third, prepare, carry, measure, scene};
        struct sta_error err = STA_ERROR_INIT;
        scene->cells = sta_cells_create();
        scene->unions = sta_unions_create(scene->cells, budget.workers, NULL, NULL);
        cr_assert_eq(sta_timeline_run(scene->blocks, scene->block_count, &work, 5, &budget, &err),
                     STA_ECORRUPT);
        cr_assert_str_eq(err.text, "block 3 is damaged");
        end_scene(scene);
    }
    free(scene);
}

Test(intervals, a_cancelled_pass_says_so)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    make_scene(scene, 5);
    _Atomic bool cancel = true;
    struct sta_budget budget = {.workers = 2, .memory = 1 << 20, .cancel = &cancel};
    struct sta_timeline_work work = {read_scene, prepare, carry, measure, scene};
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_timeline_run(scene->blocks, scene->block_count, &work, 5, &budget, &err),
                 STA_ECANCELLED);
    free(scene);
}
