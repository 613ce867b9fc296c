/* The sweep, fed by slices and workers, against a timeline of single ticks: which sets are active at each,
 * and how many events of each. */
#include <criterion/criterion.h>
#include <string.h>

#include "common/memory.h"
#include "sweep_scene.h"

static void check_cells(const struct scene *scene, uint64_t seed)
{
    int64_t wanted[UNITS][MASKS] = {0}, got[UNITS][MASKS] = {0};
    for (uint32_t u = 0; u < UNITS; u++)
        for (int64_t t = 0; t < HORIZON; t++)
            wanted[u][scene_mask_at(scene, u, t)]++;
    for (unsigned w = 0; w < scene->budget.workers; w++) {
        const struct sta_sweep_found found = sta_sweep_found(scene->sweep, w);
        for (const struct sta_sweep_cell *cell = found.cells; cell < found.cells + found.cell_count; cell++) {
            cr_assert_geq(cell->time, 0);
            got[cell->unit][scene_translate(scene, cell->mask)] += cell->time;
        }
    }
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t mask = 1; mask < MASKS; mask++)
            cr_assert_eq(got[u][mask], wanted[u][mask] * scene->scale, "seed %lu unit %u mask %u: %ld",
                         (unsigned long)seed, u, mask, (long)got[u][mask]);
}

static void check_concurrency(const struct scene *scene, uint64_t seed)
{
    for (uint32_t s = 0; s < SETS; s++) {
        int64_t wanted[MOST_SPANS + 1] = {0}, got[MOST_SPANS + 1] = {0};
        for (uint32_t u = 0; u < UNITS; u++)
            for (int64_t t = 0; t < HORIZON; t++)
                wanted[scene->active[u][s][t]]++;
        for (unsigned w = 0; w < scene->budget.workers; w++) {
            const struct sta_sweep_concurrency of = sta_sweep_found(scene->sweep, w).concurrency[s];
            for (size_t k = 1; k < of.count && k <= MOST_SPANS; k++)
                got[k] += (int64_t)of.times[k];
        }
        for (size_t k = 1; k <= MOST_SPANS; k++)
            cr_assert_eq(got[k], wanted[k] * scene->scale, "seed %lu set %u, %zu active", (unsigned long)seed,
                         s, k);
    }
}

/* Where the next interval of a combination in a unit begins, at @t or later; HORIZON: nowhere. */
static int64_t next_interval(const struct scene *scene, uint32_t unit, uint32_t mask, int64_t t, int64_t *end)
{
    while (t < HORIZON && scene_mask_at(scene, unit, t) != mask)
        t++;
    for (*end = t; *end < HORIZON && scene_mask_at(scene, unit, *end) == mask;)
        ++*end;
    return t;
}

/* Maximal intervals of a combination, in order. */
static void check_joined(const struct scene *scene, const struct sta_joined *joined, uint32_t unit,
                         uint32_t mask, uint64_t seed)
{
    size_t i = joined->first[unit];
    int64_t end = 0;
    for (int64_t t = 0; (t = next_interval(scene, unit, mask, t, &end)) < HORIZON; t = end, i++)
        cr_assert(i < joined->first[unit] + joined->counts[unit] &&
                      joined->items[i].from == t * scene->scale && joined->items[i].to == end * scene->scale,
                  "seed %lu unit %u mask %u at %ld", (unsigned long)seed, unit, mask, (long)t);
    cr_assert_eq(i, joined->first[unit] + joined->counts[unit], "seed %lu: intervals too many",
                 (unsigned long)seed);
}

static void check_intervals(const struct scene *scene, uint64_t seed)
{
    for (uint32_t mask = 1; mask < MASKS; mask++) {
        struct sta_joined joined;
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_pieces_join(scene->pieces[mask], UNITS, &joined, &err), 0);
        for (uint32_t u = 0; u < UNITS; u++)
            check_joined(scene, &joined, u, mask, seed);
        sta_joined_fini(&joined);
    }
}

/* How much of an event lies in the time of a set, tick by tick; *time: of the event in the window. */
static int64_t inside_of(const struct scene *scene, const struct sta_span *span, uint32_t set, int64_t *time)
{
    int64_t inside = 0;
    *time = 0;
    for (int64_t t = STA_MAX(span->ts, scene->from); t < STA_MIN(span->te, scene->to); t++) {
        inside += scene->active[span->cell][set][t] > 0;
        ++*time;
    }
    return inside;
}

/* What all workers have found. */
static struct sta_sweep_exposed exposed_of(const struct scene *scene, uint32_t a, uint32_t b)
{
    struct sta_sweep_exposed sum = {0};
    for (unsigned w = 0; w < scene->budget.workers; w++) {
        const struct sta_sweep_exposed *part = &sta_sweep_found(scene->sweep, w).exposed[a * SETS + b];
        sum.hidden += part->hidden;
        sum.partial += part->partial;
        sum.exposed += part->exposed;
        sum.time += part->time;
        sum.time_exposed += part->time_exposed;
        sum.size += part->size;
        sum.size_exposed += part->size_exposed;
    }
    return sum;
}

static void check_exposure(const struct scene *scene, uint64_t seed)
{
    for (uint32_t a = 0; a < SETS; a++)
        for (uint32_t b = 0; b < SETS; b++) {
            struct sta_sweep_exposed wanted = {0};
            for (size_t i = 0; i < scene->count; i++) {
                int64_t time, inside = inside_of(scene, &scene->spans[i], b, &time);
                if (!(scene->spans[i].mask >> a & 1) || time == 0)
                    continue;
                wanted.hidden += inside == time;
                wanted.exposed += inside == 0;
                wanted.partial += inside > 0 && inside < time;
                wanted.time += time * scene->scale;
                wanted.time_exposed += (time - inside) * scene->scale;
                wanted.size += time;
                wanted.size_exposed += time - inside;
            }
            const struct sta_sweep_exposed got = exposed_of(scene, a, b);
            cr_assert(got.hidden == wanted.hidden && got.exposed == wanted.exposed &&
                          got.partial == wanted.partial && got.time == wanted.time &&
                          got.time_exposed == wanted.time_exposed,
                      "seed %lu sets %u %u: %ld %ld %ld %ld %ld, not %ld %ld %ld %ld %ld",
                      (unsigned long)seed, a, b, (long)got.hidden, (long)got.partial, (long)got.exposed,
                      (long)got.time, (long)got.time_exposed, (long)wanted.hidden, (long)wanted.partial,
                      (long)wanted.exposed, (long)wanted.time, (long)wanted.time_exposed);
            const double bytes[] = {(double)got.size / STA_BYTE_PARTS,
                                    (double)got.size_exposed / STA_BYTE_PARTS};
            cr_assert_float_eq(bytes[0], (double)wanted.size, 1e-6);
            cr_assert_float_eq(bytes[1], (double)wanted.size_exposed, 1e-6);
        }
}

static void check_scene(uint64_t seed)
{
    static struct scene scene;
    scene_make(&scene, seed);
    scene.sums_only = seed % 2 == 0;
    scene.one_hot = seed % 4 == 3;
    scene.concurrency = !scene.one_hot && seed % 7 < 4;
    scene.exposure = !scene.one_hot && seed % 5 < 3;
    scene_run(&scene, 1 + below(3), 1 + below(40), 0);
    check_cells(&scene, seed);
    if (scene.concurrency)
        check_concurrency(&scene, seed);
    if (!scene.sums_only)
        check_intervals(&scene, seed);
    if (scene.exposure)
        check_exposure(&scene, seed);
    scene_end(&scene);
}

Test(intervals, equals_a_timeline_of_ticks_for_every_cut_window_and_number_of_workers)
{
    for (uint64_t seed = 1; seed <= 6000; seed++)
        check_scene(seed);
}

static size_t count_long(const struct sta_joined *joined, int64_t length)
{
    size_t count = 0;
    for (uint32_t u = 0; u < UNITS; u++)
        for (size_t i = joined->first[u]; i < joined->first[u] + joined->counts[u]; i++)
            count += joined->items[i].to - joined->items[i].from >= length;
    return count;
}

Test(intervals, the_longest_are_there_whoever_saw_them)
{
    static struct scene scene;
    for (uint64_t seed = 5000; seed < 6000; seed++) {
        uint32_t longest = 1 + (uint32_t)(seed % 7);
        scene_make(&scene, seed);
        scene_run(&scene, 1 + below(3), 1 + below(40), longest);
        for (uint32_t mask = 1; mask < MASKS; mask++) {
            struct sta_joined joined;
            struct sta_error err = STA_ERROR_INIT;
            size_t lengths[HORIZON + 2] = {0}; /* how many intervals are at least so long */
            int64_t end = 0;
            cr_assert_eq(sta_pieces_join(scene.pieces[mask], UNITS, &joined, &err), 0);
            for (uint32_t u = 0; u < UNITS; u++)
                for (int64_t t = 0; (t = next_interval(&scene, u, mask, t, &end)) < HORIZON; t = end)
                    for (int64_t l = 0; l <= end - t; l++)
                        lengths[l]++;
            cr_assert_eq(sta_joined_count(&joined), (int64_t)lengths[1], "seed %lu", (unsigned long)seed);
            for (int64_t l = 1; l <= HORIZON; l++)
                if (lengths[l] <= longest)
                    cr_assert_eq(count_long(&joined, l * scene.scale), lengths[l], "seed %lu length %ld",
                                 (unsigned long)seed, (long)l);
            for (uint32_t u = 0; u < UNITS; u++)
                for (size_t i = 1; i < joined.counts[u]; i++)
                    cr_assert_lt(joined.items[joined.first[u] + i - 1].to,
                                 joined.items[joined.first[u] + i].from);
            sta_joined_fini(&joined);
        }
        scene_end(&scene);
    }
}

Test(intervals, counts_what_is_active_over_many_slices_that_touch_nothing_of_a_unit)
{
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.scale = 1;
    scene.concurrency = true;
    scene.from = INT64_MIN;
    scene.to = INT64_MAX;
    scene.spans[scene.count++] = (struct sta_span){0, HORIZON, 0, 1}; /* one long call .. */
    for (int64_t t = 1; t < 100; t++)
        scene.spans[scene.count++] = (struct sta_span){t, t + 1, 1, 2}; /* .. while another unit is busy */
    for (size_t i = 0; i < scene.count; i++)
        scene_note(&scene, &scene.spans[i]);
    scene_cut(&scene);
    scene_run(&scene, 2, 1, 0);
    check_cells(&scene, 0);
    check_concurrency(&scene, 0);
    check_intervals(&scene, 0);
    scene_end(&scene);
}

static int fail_on_third(void *context, unsigned worker, size_t row_group, const void **rows,
                         struct sta_error *err)
{
    if (row_group == 3)
        return sta_fail(err, STA_ECORRUPT, "row group 3 is damaged");
    return scene_read(context, worker, row_group, rows, err);
}

Test(intervals, a_failure_of_one_row_group_ends_the_pass_with_its_sentence)
{
    static struct scene scene;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        scene_make(&scene, seed);
        if (scene.row_group_count < 4)
            continue;
        scene_begin(&scene, (struct sta_budget){.workers = 1 + (unsigned)(seed % 4), .memory = 1 << 20}, 0);
        struct sta_ordered_consumer consumer = scene_consumer(&scene);
        struct sta_ordered_pass pass = {.row_groups = scene.row_groups,
                                        .row_group_count = scene.row_group_count,
                                        .read = fail_on_third,
                                        .context = &scene,
                                        .consumers = &consumer,
                                        .consumer_count = 1,
                                        .slice_rows = 5};
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_ordered_run(&pass, &scene.budget, &err), STA_ECORRUPT);
        cr_assert_str_eq(err.text, "row group 3 is damaged");
        scene_end(&scene);
    }
}

Test(intervals, a_cancelled_pass_says_so)
{
    static struct scene scene;
    scene_make(&scene, 5);
    _Atomic bool cancel = true;
    scene_begin(&scene, (struct sta_budget){.workers = 2, .memory = 1 << 20, .cancel = &cancel}, 0);
    struct sta_ordered_consumer consumer = scene_consumer(&scene);
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(scene_pass(&scene, &consumer, 1, 5, &err), STA_ECANCELLED);
    scene_end(&scene);
}

/* Each allocation of a pass is refused once, wherever it is: the pass ends with a sentence, and lets go of
 * all. */
Test(intervals, what_a_pass_holds_is_charged_and_refused_anywhere)
{
    static struct scene scene;
    struct sta_account account;
    size_t refused = 0, limit = 0;
    for (int status = STA_ELIMIT; status == STA_ELIMIT; limit += 512, refused++) {
        sta_account_init(&account, limit, "query_memory", NULL);
        scene_make(&scene, 5);
        scene.concurrency = scene.exposure = true;
        scene_begin(&scene, (struct sta_budget){.workers = 2, .memory = 1 << 20, .account = &account}, 0);
        struct sta_ordered_consumer consumer = scene_consumer(&scene);
        struct sta_error err = STA_ERROR_INIT;
        status = scene_pass(&scene, &consumer, 1, 5, &err);
        cr_assert(status == STA_OK || (status == STA_ELIMIT && strstr(err.text, "query_memory") != NULL),
                  "%s", err.text);
        scene_end(&scene);
        cr_assert_eq(account.used, 0, "what a pass held is released");
        sta_account_fini(&account);
    }
    cr_assert_gt(refused, 30);
}
