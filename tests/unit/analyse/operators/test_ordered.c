/* Rows in order of time: several consumers of one pass, each with records of its own, against a plain walk
 * through all rows in order, whatever the slices and the number of workers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/ordered.h"
#include "analyse/operators/ordered/ordered_private.h"
#include "common/account.h"
#include "common/memory.h"

#define ROWS 300
#define UNITS 4
#define WORKERS 4
#define ROW_GROUP_ROWS 24

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

struct row {
    int64_t ts;
    uint32_t unit, weight;
};

struct scene {
    struct row rows[ROWS];
    size_t count;
    struct sta_ordered_row_group row_groups[ROWS];
    size_t first[ROWS + 1];
    size_t row_group_count;
    size_t reading[WORKERS];
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    memset(scene, 0, sizeof *scene);
    state = seed;
    scene->count = 1 + below(ROWS - 1);
    uint32_t horizon = below(2) ? 1000 : 12;
    for (size_t i = 0; i < scene->count; i++)
        scene->rows[i] = (struct row){below(horizon), below(UNITS), 1 + below(9)};
    for (size_t at = 0, rows; at < scene->count; at += rows) {
        rows = 1 + below(ROW_GROUP_ROWS);
        rows = STA_MIN(rows, scene->count - at);
        qsort(scene->rows + at, rows, sizeof *scene->rows, compare_rows);
        scene->first[scene->row_group_count] = at;
        scene->row_groups[scene->row_group_count++] =
            (struct sta_ordered_row_group){scene->rows[at].ts, scene->rows[at + rows - 1].ts, (uint32_t)rows};
        scene->first[scene->row_group_count] = at + rows;
    }
}

static int read_row_group(void *context, unsigned worker, size_t row_group, const void **rows,
                          struct sta_error *err)
{
    struct scene *scene = context;
    scene->reading[worker] = row_group;
    *rows = &scene->reading[worker];
    return 0;
}

/* ---- a consumer by unit: the running sum of a unit's weights, times the time, over its rows.  The sum at a
 * slice's start is known when the slice is carried, or, of the second kind, when it is settled. */

struct weighed {
    int64_t ts;
    uint64_t weight, pad[3]; /* a payload, in a size that nobody else has */
};

struct running {
    struct scene *scene;
    bool settles;
    uint64_t sums[UNITS];            /* in turn */
    uint64_t starts[WORKERS][UNITS]; /* of the slice */
    uint64_t local[WORKERS][UNITS];  /* found in the slice: with sums from 0, .. */
    uint64_t times[WORKERS][UNITS];  /* .. what each unit of the sum before would add, .. */
    uint64_t added[WORKERS][UNITS];  /* .. and what the sum grows by */
    uint64_t results[WORKERS][UNITS];
    size_t in_turn[2]; /* slices seen by carry and settle */
};

static int give_weighed(void *self, unsigned worker, const void *rows, struct sta_ordered_out *out,
                        struct sta_error *err)
{
    const struct running *running = self;
    const struct scene *scene = running->scene;
    const size_t row_group = *(const size_t *)rows;
    const struct row *from = scene->rows + scene->first[row_group];
    int64_t ts[ROW_GROUP_ROWS];
    uint32_t units[ROW_GROUP_ROWS], numbers[ROW_GROUP_ROWS], count = scene->row_groups[row_group].rows;
    struct sta_ordered_part part = {0};
    for (uint32_t i = 0; i < count; i++) {
        ts[i] = from[i].ts;
        units[i] = from[i].unit;
        numbers[i] = i;
    }
    struct sta_ordered_rows given = {numbers, count, ts, units, UNITS};
    int rc;
    while ((rc = sta_ordered_place(out, &given, &part, err)) == 0 && part.first < part.end)
        for (uint32_t i = part.first; i < part.end; i++)
            ((struct weighed *)part.records)[part.next[units[i]]++] =
                (struct weighed){.ts = ts[i], .weight = from[i].weight};
    return rc;
}

static int prepare_running(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    struct running *running = self;
    memset(running->local[worker], 0, sizeof running->local[worker]);
    memset(running->times[worker], 0, sizeof running->times[worker]);
    memset(running->added[worker], 0, sizeof running->added[worker]);
    for (size_t u = 0; u < slice->unit_count; u++) {
        const struct weighed *records = slice->units[u].records;
        for (size_t i = 0; i < slice->units[u].count; i++)
            running->added[worker][slice->units[u].unit] += records[i].weight;
    }
    return 0;
}

static void exchange(struct running *running, unsigned worker)
{
    for (uint32_t u = 0; u < UNITS; u++) {
        running->starts[worker][u] = running->sums[u];
        running->sums[u] += running->added[worker][u];
    }
}

static void finish(struct running *running, unsigned worker)
{
    for (uint32_t u = 0; u < UNITS; u++)
        running->results[worker][u] +=
            running->local[worker][u] + running->starts[worker][u] * running->times[worker][u];
}

static int carry_running(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    struct running *running = self;
    cr_assert_eq(running->in_turn[0]++, slice->number);
    if (!running->settles)
        exchange(running, worker);
    return 0;
}

static int measure_running(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    struct running *running = self;
    for (size_t u = 0; u < slice->unit_count; u++) {
        const struct weighed *records = slice->units[u].records;
        const uint32_t unit = slice->units[u].unit;
        uint64_t sum = 0;
        for (size_t i = 0; i < slice->units[u].count; i++) {
            cr_assert(records[i].ts >= slice->from && (records[i].ts < slice->to || slice->to == INT64_MAX));
            cr_assert(i == 0 || records[i - 1].ts <= records[i].ts);
            sum += records[i].weight;
            running->local[worker][unit] += sum * (uint64_t)records[i].ts;
            running->times[worker][unit] += (uint64_t)records[i].ts;
        }
    }
    if (!running->settles)
        finish(running, worker);
    return 0;
}

static int settle_running(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    struct running *running = self;
    cr_assert_eq(running->in_turn[1]++, slice->number);
    exchange(running, worker);
    finish(running, worker);
    return 0;
}

/* ---- a consumer of all rows as one unit, which leaves some out */

struct plain {
    int64_t ts;
    uint64_t weight;
};

struct listing {
    struct scene *scene;
    struct plain seen[ROWS]; /* in turn */
    size_t count;
};

static bool is_listed(const struct row *row)
{
    return row->weight % 3 != 0;
}

static int give_listed(void *self, unsigned worker, const void *rows, struct sta_ordered_out *out,
                       struct sta_error *err)
{
    const struct listing *listing = self;
    const size_t row_group = *(const size_t *)rows;
    const struct row *from = listing->scene->rows + listing->scene->first[row_group];
    struct plain *records = sta_ordered_reserve(out, listing->scene->row_groups[row_group].rows, err);
    size_t count = 0;
    if (records == NULL)
        return err->status;
    for (uint32_t i = 0; i < listing->scene->row_groups[row_group].rows; i++)
        if (is_listed(&from[i]))
            records[count++] = (struct plain){from[i].ts, from[i].weight};
    return sta_ordered_put(out, count, err);
}

static int nothing(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return 0;
}

static int list(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    struct listing *listing = self;
    size_t count;
    const struct plain *records = sta_slice_records(slice, &count);
    for (size_t i = 0; i < count; i++)
        listing->seen[listing->count++] = records[i];
    return 0;
}

/* ---- against a plain walk */

static void check_running(const struct scene *scene, const struct running *running)
{
    struct row sorted[ROWS];
    uint64_t sums[UNITS] = {0}, wanted[UNITS] = {0};
    memcpy(sorted, scene->rows, sizeof sorted);
    qsort(sorted, scene->count, sizeof *sorted, compare_rows);
    for (size_t i = 0; i < scene->count; i++) {
        sums[sorted[i].unit] += sorted[i].weight;
        wanted[sorted[i].unit] += sums[sorted[i].unit] * (uint64_t)sorted[i].ts;
    }
    for (uint32_t u = 0; u < UNITS; u++) {
        uint64_t got = 0;
        for (unsigned w = 0; w < WORKERS; w++)
            got += running->results[w][u];
        cr_assert_eq(got, wanted[u], "unit %u: %lu, not %lu", u, (unsigned long)got,
                     (unsigned long)wanted[u]);
    }
}

static void check_listing(const struct scene *scene, const struct listing *listing)
{
    uint64_t weights = 0, wanted = 0;
    size_t count = 0;
    for (size_t i = 0; i < scene->count; i++)
        if (is_listed(&scene->rows[i])) {
            count++;
            wanted += scene->rows[i].weight * (uint64_t)scene->rows[i].ts;
        }
    for (size_t i = 0; i < listing->count; i++) {
        cr_assert(i == 0 || listing->seen[i - 1].ts <= listing->seen[i].ts);
        weights += listing->seen[i].weight * (uint64_t)listing->seen[i].ts;
    }
    cr_assert_eq(listing->count, count);
    cr_assert_eq(weights, wanted);
}

/* The order of equal times is that of row groups and rows, which a sum does not show; so times differ here.
 */
static void make_times_differ(struct scene *scene)
{
    for (size_t i = 0; i < scene->count; i++)
        scene->rows[i].ts = scene->rows[i].ts * 1000 + (int64_t)i;
    for (size_t b = 0; b < scene->row_group_count; b++) {
        scene->row_groups[b].ts_min = scene->rows[scene->first[b]].ts;
        scene->row_groups[b].ts_max = scene->rows[scene->first[b + 1] - 1].ts;
    }
}

Test(ordered, several_consumers_of_one_pass_get_their_records_in_order_whatever_the_slices)
{
    static struct scene scene;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        make_scene(&scene, seed);
        make_times_differ(&scene);
        struct sta_account account;
        sta_account_init(&account, (size_t)1 << 30, "query_memory", NULL);
        struct sta_budget budget = {.workers = 1 + below(WORKERS), .account = &account};
        struct running carried = {.scene = &scene}, settled = {.scene = &scene, .settles = true};
        struct listing listing = {.scene = &scene};
        struct sta_ordered_consumer consumers[] = {
            {&carried, sizeof(struct weighed), give_weighed, prepare_running, carry_running, measure_running,
             NULL},
            {&listing, sizeof(struct plain), give_listed, nothing, list, nothing, NULL},
            {&settled, sizeof(struct weighed), give_weighed, prepare_running, carry_running, measure_running,
             settle_running}};
        struct sta_ordered_pass pass = {.row_groups = scene.row_groups,
                                        .row_group_count = scene.row_group_count,
                                        .read = read_row_group,
                                        .context = &scene,
                                        .consumers = consumers,
                                        .consumer_count = STA_COUNT_OF(consumers),
                                        .slice_rows = seed % 3 == 0 ? 1 : 1 + below(60)};
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_ordered_run(&pass, &budget, &err), 0, "seed %lu: %s", (unsigned long)seed, err.text);
        check_running(&scene, &carried);
        check_running(&scene, &settled);
        check_listing(&scene, &listing);
        cr_assert_eq(settled.in_turn[0], settled.in_turn[1]);
        cr_assert_eq(account.used, 0);
        sta_account_fini(&account);
    }
}

/* ---- the plan */

/* Row groups that all span the run: the plan costs as much as the rows, not slices times row groups. */
Test(ordered, a_plan_of_many_files_that_span_the_run_grows_with_their_rows)
{
    enum { ROW_GROUPS = 20000, ROWS_EACH = 50000 };
    struct sta_ordered_row_group *row_groups = sta_alloc_array(ROW_GROUPS, sizeof *row_groups);
    for (size_t i = 0; i < ROW_GROUPS; i++)
        row_groups[i] =
            (struct sta_ordered_row_group){(int64_t)i, INT64_C(3600000000) + (int64_t)i, ROWS_EACH};
    struct sta_account account;
    struct sta_budget budget = {.workers = 1, .account = &account};
    struct sta_slice_plan plan;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, (size_t)256 << 20, "query_memory", NULL);
    cr_assert_eq(sta_slice_plan_init(&plan, row_groups, ROW_GROUPS, STA_SLICE_ROWS, &budget, &err), 0, "%s",
                 err.text);
    const size_t share = STA_SLICE_ROWS / STA_SLICE_ROW_GROUPS;
    cr_assert_gt(plan.slice_count, 100, "slices for many workers");
    cr_assert_leq(plan.first_use[ROW_GROUPS], (size_t)ROW_GROUPS * (2 + ROWS_EACH / share));
    sta_slice_plan_fini(&plan, &account);
    cr_assert_eq(account.used, 0);
    sta_account_fini(&account);
    free(row_groups);
}

/* Slices of few row groups have the size that was aimed at. */
Test(ordered, slices_of_few_row_groups_have_the_rows_aimed_at)
{
    struct sta_ordered_row_group row_groups[] = {
        {0, 1000000, 65536}, {0, 1000000, 65536}, {1000000, 2000000, 65536}};
    struct sta_budget budget = {.workers = 1};
    struct sta_slice_plan plan;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(
        sta_slice_plan_init(&plan, row_groups, STA_COUNT_OF(row_groups), STA_SLICE_ROWS, &budget, &err), 0);
    cr_assert(plan.slice_count >= 11 && plan.slice_count <= 14, "%zu", plan.slice_count);
    sta_slice_plan_fini(&plan, NULL);
}
