/* The sweep, fed by slices and workers, against a timeline of single ticks: which sets are active at each,
 * and how many events of each. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/intervals/pieces.h"
#include "analyse/intervals/span.h"
#include "analyse/intervals/sweep.h"
#include "common/account.h"
#include "common/memory.h"

#define HORIZON 200
#define MOST_SPANS 120
#define UNITS 3
#define MOST_WORKERS 4
#define SETS 4
#define MASKS (1u << SETS)

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
    struct sta_ordered_block blocks[MOST_SPANS];
    size_t first[MOST_SPANS + 1];
    size_t block_count;
    int64_t from, to; /* the window */
    int64_t scale;    /* what the sweep gets is that much longer */
    uint32_t active[UNITS][SETS][HORIZON];
    struct sta_sweep *sweep;
    struct sta_pieces *pieces[MASKS]; /* by combination */
    bool sums_only;                   /* nobody takes the intervals */
    bool concurrency, exposure;
    bool one_hot;                                       /* the sweep's sets are the masks of the spans */
    uint16_t translation[STA_SWEEP_MASK_BITS / 8][256]; /* of its masks to those of the spans */
    struct sta_budget budget;
    size_t reading[MOST_WORKERS]; /* by worker: the block */
};

static int compare_spans(const void *a, const void *b)
{
    const struct sta_span *x = a;
    const struct sta_span *y = b;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

/* Open ends stay open. */
static int64_t scaled(const struct scene *scene, int64_t at)
{
    return at == INT64_MIN || at == INT64_MAX ? at : at * scene->scale;
}

/* Cuts the spans into blocks that overlap in time, each sorted, as segments of several files have them. */
static void make_blocks(struct scene *scene)
{
    for (size_t at = 0; at < scene->count;) {
        size_t rows = 1 + below(20);
        rows = STA_MIN(rows, scene->count - at);
        qsort(scene->spans + at, rows, sizeof *scene->spans, compare_spans);
        scene->first[scene->block_count] = at;
        scene->blocks[scene->block_count++] =
            (struct sta_ordered_block){.ts_min = scene->spans[at].ts * scene->scale,
                                       .ts_max = scene->spans[at + rows - 1].ts * scene->scale,
                                       .rows = (uint32_t)rows};
        at += rows;
    }
    scene->first[scene->block_count] = scene->count;
}

static void note_span(struct scene *scene, const struct sta_span *span)
{
    for (uint32_t s = 0; s < SETS; s++)
        for (int64_t t = STA_MAX(span->ts, scene->from);
             span->mask >> s & 1 && t < STA_MIN(span->te, scene->to); t++)
            scene->active[span->cell][s][t]++;
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    memset(scene, 0, sizeof *scene);
    state = seed;
    scene->count = below(MOST_SPANS);
    scene->scale = seed % 3 == 0 ? INT64_C(1) << 41 : 1; /* lengths beyond what fits a record */
    uint32_t horizon = below(2) ? HORIZON : 16; /* few distinct times make touching and equal spans common */
    bool window = below(3) == 0;
    scene->from = window ? below(horizon) : INT64_MIN;
    scene->to = window ? scene->from + below(horizon) : INT64_MAX;
    for (size_t i = 0; i < scene->count; i++) {
        int64_t ts = below(horizon - 1);
        int64_t longest = below(6) == 0 ? horizon - ts - 1 : STA_MIN(horizon - ts - 1, 6);
        int64_t te = STA_MIN(ts + 1 + below((uint32_t)longest + 1), HORIZON);
        scene->spans[i] = (struct sta_span){ts, te, below(UNITS), 1 + below(MASKS - 1)};
        note_span(scene, &scene->spans[i]);
    }
    make_blocks(scene);
}

static int read_block(void *context, unsigned worker, size_t block, const void **rows, struct sta_error *err)
{
    struct scene *scene = context;
    scene->reading[worker] = block;
    *rows = &scene->reading[worker];
    return 0;
}

/* Those inside the window. */
static int take_scene(void *context, unsigned worker, const void *rows, struct sta_ordered_out *out,
                      struct sta_error *err)
{
    struct scene *scene = context;
    const size_t block = *(const size_t *)rows;
    const struct sta_span *from = scene->spans + scene->first[block];
    uint32_t count = (uint32_t)(scene->first[block + 1] - scene->first[block]);
    int64_t ts[20], dur[20], sizes[20];
    uint32_t units[20], masks[20], wanted[20];
    uint32_t wanted_count = 0;
    for (uint32_t row = 0; row < count; row++) {
        ts[row] = from[row].ts * scene->scale;
        dur[row] = (from[row].te - from[row].ts) * scene->scale;
        units[row] = from[row].cell;
        masks[row] = scene->one_hot ? 1u << (from[row].mask - 1) : from[row].mask;
        sizes[row] = from[row].te - from[row].ts; /* a byte for each tick, so that shares are whole */
        if (from[row].ts < scene->to && from[row].te > scene->from && scene->from < scene->to)
            wanted[wanted_count++] = row;
    }
    struct sta_sweep_events events = {
        .rows = {wanted, wanted_count, ts, units, UNITS}, .dur = dur, .masks = masks, .sizes = sizes};
    return sta_sweep_give(scene->sweep, &events, out, err);
}

static int prepare(void *context, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_prepare(((struct scene *)context)->sweep, worker, slice, err);
}

static int carry(void *context, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_carry(((struct scene *)context)->sweep, worker, slice, err);
}

static int measure(void *context, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_measure(((struct scene *)context)->sweep, worker, slice, err);
}

static int settle(void *context, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_sweep_settle(((struct scene *)context)->sweep, worker, slice, err);
}

static int note_interval(void *context, unsigned worker, const struct sta_sweep_interval *interval,
                         struct sta_error *err)
{
    return sta_pieces_add(((struct scene *)context)->pieces[interval->mask], worker, interval, err);
}

static int compare_units(const void *context, const struct sta_span *span, const struct sta_span *other)
{
    (void)context;
    if (span->ts != other->ts)
        return span->ts < other->ts ? -1 : 1;
    return (span->cell > other->cell) - (span->cell < other->cell);
}

static uint32_t translate(const struct scene *scene, uint32_t mask)
{
    uint32_t spans = 0;
    for (; scene->one_hot && mask != 0; mask &= mask - 1)
        spans |= (uint32_t)__builtin_ctz(mask) + 1;
    return scene->one_hot ? spans : mask;
}

static void make_translation(struct scene *scene)
{
    for (uint32_t byte = 0; byte < STA_SWEEP_MASK_BITS / 8; byte++)
        for (uint32_t value = 0; value < 256; value++)
            scene->translation[byte][value] = (uint16_t)translate(scene, value << 8 * byte);
}

static void begin_scene(struct scene *scene, struct sta_budget budget, uint32_t longest)
{
    scene->budget = budget;
    make_translation(scene);
    struct sta_sweep_options options = {.sets = scene->one_hot ? MASKS - 1 : SETS,
                                        .one_hot = scene->one_hot,
                                        .translation = scene->one_hot ? scene->translation : NULL,
                                        .budget = &scene->budget,
                                        .from = scaled(scene, scene->from),
                                        .to = scaled(scene, scene->to),
                                        .take = scene->sums_only ? NULL : note_interval,
                                        .context = scene,
                                        .concurrency = scene->concurrency,
                                        .exposure = scene->exposure,
                                        .range_from = INT64_MIN,
                                        .range_to = INT64_MAX};
    struct sta_pieces_options kept = {.budget = &scene->budget, .longest = longest, .compare = compare_units};
    scene->sweep = sta_sweep_create(&options);
    for (uint32_t mask = 1; mask < MASKS; mask++)
        scene->pieces[mask] = sta_pieces_create(&kept);
}

static void end_scene(struct scene *scene)
{
    sta_sweep_destroy(scene->sweep);
    for (uint32_t mask = 1; mask < MASKS; mask++)
        sta_pieces_destroy(scene->pieces[mask]);
}

static struct sta_ordered_consumer consumer_of(struct scene *scene)
{
    return (struct sta_ordered_consumer){scene,   sta_sweep_record(scene->sweep), take_scene, prepare, carry,
                                         measure, scene->exposure ? settle : NULL};
}

static int pass_scene(struct scene *scene, const struct sta_ordered_consumer *consumers, size_t count,
                      size_t slice_rows, struct sta_error *err)
{
    struct sta_ordered_pass pass = {.blocks = scene->blocks,
                                    .block_count = scene->block_count,
                                    .read = read_block,
                                    .context = scene,
                                    .consumers = consumers,
                                    .consumer_count = count,
                                    .slice_rows = slice_rows};
    return sta_ordered_run(&pass, &scene->budget, err);
}

static void run_scene(struct scene *scene, unsigned workers, size_t slice_rows, uint32_t longest)
{
    struct sta_error err = STA_ERROR_INIT;
    begin_scene(scene, (struct sta_budget){.workers = workers, .memory = 1 << 20}, longest);
    struct sta_ordered_consumer consumer = consumer_of(scene);
    cr_assert_eq(pass_scene(scene, &consumer, 1, slice_rows, &err), 0);
}

static uint32_t mask_at(const struct scene *scene, uint32_t unit, int64_t t)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; t < HORIZON && s < SETS; s++)
        mask |= (uint32_t)(scene->active[unit][s][t] > 0) << s;
    return mask;
}

static void check_cells(const struct scene *scene, uint64_t seed)
{
    int64_t wanted[UNITS][MASKS] = {0}, got[UNITS][MASKS] = {0};
    size_t count;
    struct sta_sweep_cell *cells;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_sweep_cells(scene->sweep, &cells, &count, &err), 0);
    for (uint32_t u = 0; u < UNITS; u++)
        for (int64_t t = 0; t < HORIZON; t++)
            wanted[u][mask_at(scene, u, t)]++;
    for (size_t c = 0; c < count; c++) {
        cr_assert(c == 0 || cells[c - 1].unit < cells[c].unit ||
                  (cells[c - 1].unit == cells[c].unit && cells[c - 1].mask < cells[c].mask));
        cr_assert_gt(cells[c].time, 0);
        got[cells[c].unit][translate(scene, cells[c].mask)] += cells[c].time;
    }
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t mask = 1; mask < MASKS; mask++)
            cr_assert_eq(got[u][mask], wanted[u][mask] * scene->scale, "seed %lu unit %u mask %u: %ld",
                         (unsigned long)seed, u, mask, (long)got[u][mask]);
    sta_account_free(scene->budget.account, cells);
}

static void check_concurrency(const struct scene *scene, uint64_t seed)
{
    for (uint32_t s = 0; s < SETS; s++) {
        int64_t wanted[MOST_SPANS + 1] = {0};
        size_t count;
        __int128 *concurrency;
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_sweep_concurrency(scene->sweep, s, &concurrency, &count, &err), 0);
        for (uint32_t u = 0; u < UNITS; u++)
            for (int64_t t = 0; t < HORIZON; t++)
                wanted[scene->active[u][s][t]]++;
        for (size_t k = 1; k <= MOST_SPANS; k++)
            cr_assert_eq(k < count ? concurrency[k] : 0, wanted[k] * scene->scale,
                         "seed %lu set %u, %zu active", (unsigned long)seed, s, k);
        sta_account_free(scene->budget.account, concurrency);
    }
}

/* Where the next interval of a combination in a unit begins, at @t or later; HORIZON: nowhere. */
static int64_t next_interval(const struct scene *scene, uint32_t unit, uint32_t mask, int64_t t, int64_t *end)
{
    while (t < HORIZON && mask_at(scene, unit, t) != mask)
        t++;
    for (*end = t; *end < HORIZON && mask_at(scene, unit, *end) == mask;)
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
            struct sta_sweep_exposed got = sta_sweep_exposed(scene->sweep, a, b);
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
    make_scene(&scene, seed);
    scene.sums_only = seed % 2 == 0;
    scene.one_hot = seed % 4 == 3;
    scene.concurrency = !scene.one_hot && seed % 7 < 4;
    scene.exposure = !scene.one_hot && seed % 5 < 3;
    run_scene(&scene, 1 + below(3), 1 + below(40), 0);
    check_cells(&scene, seed);
    if (scene.concurrency)
        check_concurrency(&scene, seed);
    if (!scene.sums_only)
        check_intervals(&scene, seed);
    if (scene.exposure)
        check_exposure(&scene, seed);
    end_scene(&scene);
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
        make_scene(&scene, seed);
        run_scene(&scene, 1 + below(3), 1 + below(40), longest);
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
        end_scene(&scene);
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
        note_span(&scene, &scene.spans[i]);
    make_blocks(&scene);
    run_scene(&scene, 2, 1, 0);
    check_cells(&scene, 0);
    check_concurrency(&scene, 0);
    check_intervals(&scene, 0);
    end_scene(&scene);
}

static int fail_on_third(void *context, unsigned worker, size_t block, const void **rows,
                         struct sta_error *err)
{
    if (block == 3)
        return sta_fail(err, STA_ECORRUPT, "block 3 is damaged");
    return read_block(context, worker, block, rows, err);
}

Test(intervals, a_failure_of_one_block_ends_the_pass_with_its_sentence)
{
    static struct scene scene;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make_scene(&scene, seed);
        if (scene.block_count < 4)
            continue;
        begin_scene(&scene, (struct sta_budget){.workers = 1 + (unsigned)(seed % 4), .memory = 1 << 20}, 0);
        struct sta_ordered_consumer consumer = consumer_of(&scene);
        struct sta_ordered_pass pass = {.blocks = scene.blocks,
                                        .block_count = scene.block_count,
                                        .read = fail_on_third,
                                        .context = &scene,
                                        .consumers = &consumer,
                                        .consumer_count = 1,
                                        .slice_rows = 5};
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_ordered_run(&pass, &scene.budget, &err), STA_ECORRUPT);
        cr_assert_str_eq(err.text, "block 3 is damaged");
        end_scene(&scene);
    }
}

Test(intervals, a_cancelled_pass_says_so)
{
    static struct scene scene;
    make_scene(&scene, 5);
    _Atomic bool cancel = true;
    begin_scene(&scene, (struct sta_budget){.workers = 2, .memory = 1 << 20, .cancel = &cancel}, 0);
    struct sta_ordered_consumer consumer = consumer_of(&scene);
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(pass_scene(&scene, &consumer, 1, 5, &err), STA_ECANCELLED);
    end_scene(&scene);
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
        make_scene(&scene, 5);
        scene.concurrency = scene.exposure = true;
        begin_scene(&scene, (struct sta_budget){.workers = 2, .memory = 1 << 20, .account = &account}, 0);
        struct sta_ordered_consumer consumer = consumer_of(&scene);
        struct sta_error err = STA_ERROR_INIT;
        status = pass_scene(&scene, &consumer, 1, 5, &err);
        cr_assert(status == STA_OK || (status == STA_ELIMIT && strstr(err.text, "query_memory") != NULL),
                  "%s", err.text);
        end_scene(&scene);
        cr_assert_eq(account.used, 0, "what a pass held is released");
        sta_account_fini(&account);
    }
    cr_assert_gt(refused, 30);
}
