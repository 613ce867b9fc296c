/* The sweep, fed by slices and workers, against a timeline of single ticks: which sets are active at each,
 * and how many events of each. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/intervals/parcel.h"
#include "analyse/intervals/pieces.h"
#include "analyse/intervals/sweep.h"
#include "common/account.h"
#include "common/memory.h"

#define HORIZON 200
#define MOST_SPANS 120
#define UNITS 3
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
    struct sta_timeline_block blocks[MOST_SPANS];
    size_t first[MOST_SPANS + 1];
    size_t block_count;
    int64_t from, to; /* the window */
    int64_t scale;    /* what the sweep gets is that much longer */
    uint32_t active[UNITS][SETS][HORIZON];
    struct sta_sweep *sweep;
    struct sta_pieces *pieces; /* a track per combination */
    bool sums_only;            /* nobody takes the stretches */
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
            (struct sta_timeline_block){.ts_min = scene->spans[at].ts * scene->scale,
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
    scene->scale = seed % 3 == 0 ? INT64_C(1) << 27 : 1; /* lengths beyond 32 bits */
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

/* Those inside the window. */
static int read_scene(void *context, unsigned worker, size_t block, struct sta_block_spans *spans,
                      struct sta_error *err)
{
    const struct scene *scene = context;
    const struct sta_span *from = scene->spans + scene->first[block];
    uint32_t count = (uint32_t)(scene->first[block + 1] - scene->first[block]);
    int64_t ts[20], dur[20];
    uint32_t units[20], masks[20];
    for (uint32_t row = 0; row < count; row++) {
        ts[row] = from[row].ts * scene->scale;
        dur[row] = (from[row].te - from[row].ts) * scene->scale;
        units[row] = from[row].cell;
        masks[row] = from[row].mask;
    }
    struct sta_pack_events events = {ts, dur, scaled(scene, scene->to), units, masks};
    struct sta_packer *packer = sta_packer_create();
    uint32_t row = 0;
    for (size_t cut = 0; row < count; cut++) {
        struct sta_pack_list list = sta_packer_list(packer, UNITS, count);
        for (; row < count && (spans->cuts[cut] == INT64_MAX || ts[row] < spans->cuts[cut]); row++)
            sta_pack_row(&list, row, units[row],
                         from[row].ts < scene->to && from[row].te > scene->from && scene->from < scene->to);
        sta_packer_put(packer, &events, &list, cut, spans);
    }
    sta_packer_destroy(packer);
    return 0;
}

static void prepare(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_sweep_prepare(((struct scene *)context)->sweep, worker, slice);
}

static void carry(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_sweep_carry(((struct scene *)context)->sweep, worker, slice);
}

static void measure(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_sweep_measure(((struct scene *)context)->sweep, worker, slice);
}

static void note_stretch(void *context, unsigned worker, const struct sta_sweep_stretch *stretch)
{
    sta_pieces_add(((struct scene *)context)->pieces, worker, stretch, stretch->mask);
}

static int compare_units(const void *context, uint32_t unit, uint32_t other)
{
    return (unit > other) - (unit < other);
}

static void run_scene(struct scene *scene, unsigned workers, size_t slice_rows, uint32_t longest)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = {.workers = workers, .memory = 1 << 20};
    struct sta_timeline_work work = {read_scene, prepare, carry, measure, scene, STA_PARCEL_ROW};
    struct sta_sweep_options options = {
        SETS, workers, scaled(scene, scene->from), scaled(scene, scene->to), note_stretch, scene, false};
    if (scene->sums_only)
        options.take = NULL;
    struct sta_pieces_options kept = {
        .tracks = MASKS, .workers = workers, .longest = longest, .compare = compare_units};
    scene->sweep = sta_sweep_create(&options);
    scene->pieces = sta_pieces_create(&kept);
    cr_assert_eq(sta_timeline_run(scene->blocks, scene->block_count, &work, slice_rows, &budget, &err), 0);
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
    int64_t wanted[UNITS][MASKS] = {0};
    size_t count;
    struct sta_sweep_cell *cells = sta_sweep_cells(scene->sweep, &count);
    for (uint32_t u = 0; u < UNITS; u++)
        for (int64_t t = 0; t < HORIZON; t++)
            wanted[u][mask_at(scene, u, t)]++;
    for (size_t c = 0; c < count; c++) {
        cr_assert(c == 0 || cells[c - 1].unit < cells[c].unit ||
                  (cells[c - 1].unit == cells[c].unit && cells[c - 1].mask < cells[c].mask));
        cr_assert_eq(cells[c].time, wanted[cells[c].unit][cells[c].mask] * scene->scale,
                     "seed %lu unit %u mask %u: %ld", (unsigned long)seed, cells[c].unit, cells[c].mask,
                     (long)cells[c].time);
        wanted[cells[c].unit][cells[c].mask] = 0;
    }
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t mask = 1; mask < MASKS; mask++)
            cr_assert_eq(wanted[u][mask], 0, "seed %lu unit %u lacks mask %u", (unsigned long)seed, u, mask);
    free(cells);
}

static void check_crowds(const struct scene *scene, uint64_t seed)
{
    for (uint32_t s = 0; s < SETS; s++) {
        int64_t wanted[MOST_SPANS + 1] = {0};
        size_t count;
        int64_t *crowd = sta_sweep_crowd(scene->sweep, s, &count);
        for (uint32_t u = 0; u < UNITS; u++)
            for (int64_t t = 0; t < HORIZON; t++)
                wanted[scene->active[u][s][t]]++;
        for (size_t k = 1; k <= MOST_SPANS; k++)
            cr_assert_eq(k < count ? crowd[k] : 0, wanted[k] * scene->scale, "seed %lu set %u, %zu active",
                         (unsigned long)seed, s, k);
        free(crowd);
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

/* Maximal intervals of each combination, in order, and what lies before any moment. */
static void check_track(const struct scene *scene, const struct sta_tracks *tracks, uint32_t unit,
                        uint32_t mask, uint64_t seed)
{
    size_t track = (size_t)unit * MASKS + mask;
    size_t i = tracks->first[track];
    int64_t end = 0;
    int64_t covered = 0;
    for (int64_t t = 0; (t = next_interval(scene, unit, mask, t, &end)) < HORIZON; t = end, i++) {
        cr_assert(i < tracks->first[track] + tracks->counts[track] && tracks->from[i] == t * scene->scale &&
                      sta_tracks_end(tracks, i) == end * scene->scale,
                  "seed %lu unit %u mask %u at %ld", (unsigned long)seed, unit, mask, (long)t);
    }
    cr_assert_eq(i, tracks->first[track] + tracks->counts[track], "seed %lu: intervals too many",
                 (unsigned long)seed);
    for (int64_t t = 0; t < HORIZON; t++) {
        cr_assert_eq(sta_tracks_before(tracks, track, t * scene->scale), covered * scene->scale);
        covered += mask_at(scene, unit, t) == mask;
    }
}

static void check_stretches(const struct scene *scene, uint64_t seed)
{
    struct sta_tracks tracks;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_pieces_join(scene->pieces, UNITS, &(struct sta_budget){.workers = 1}, &tracks, &err), 0);
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t mask = 1; mask < MASKS; mask++)
            check_track(scene, &tracks, u, mask, seed);
    sta_tracks_fini(&tracks);
}

static void check_scene(uint64_t seed)
{
    static struct scene scene;
    make_scene(&scene, seed);
    scene.sums_only = seed % 2 == 0;
    run_scene(&scene, 1 + below(3), 1 + below(40), 0);
    check_cells(&scene, seed);
    check_crowds(&scene, seed);
    if (!scene.sums_only)
        check_stretches(&scene, seed);
    sta_sweep_destroy(scene.sweep);
    sta_pieces_destroy(scene.pieces);
}

Test(intervals, equals_a_timeline_of_ticks_for_every_cut_window_and_number_of_workers)
{
    for (uint64_t seed = 1; seed <= 6000; seed++)
        check_scene(seed);
}

/* Those of the joined and the whole ones that are at least as long as @length. */
static size_t count_long(const struct sta_tracks *tracks, const struct sta_span *whole, size_t whole_count,
                         int64_t length)
{
    size_t count = 0;
    for (size_t track = 0; track < (size_t)UNITS * MASKS; track++)
        for (size_t i = tracks->first[track]; i < tracks->first[track] + tracks->counts[track]; i++)
            count += sta_tracks_end(tracks, i) - tracks->from[i] >= length;
    for (size_t i = 0; i < whole_count; i++)
        count += whole[i].te - whole[i].ts >= length;
    return count;
}

Test(intervals, the_longest_are_there_whoever_saw_them)
{
    static struct scene scene;
    for (uint64_t seed = 5000; seed < 6000; seed++) {
        struct sta_tracks tracks;
        size_t whole_count;
        uint32_t longest = 1 + (uint32_t)(seed % 7);
        make_scene(&scene, seed);
        run_scene(&scene, 1 + below(3), 1 + below(40), longest);
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_pieces_join(scene.pieces, UNITS, &(struct sta_budget){.workers = 1}, &tracks, &err),
                     0);
        struct sta_span *whole = sta_pieces_longest(scene.pieces, &whole_count);
        size_t lengths[HORIZON + 2] = {0}; /* how many intervals are at least so long */
        int64_t end = 0;
        for (uint32_t u = 0; u < UNITS; u++)
            for (uint32_t mask = 1; mask < MASKS; mask++)
                for (int64_t t = 0; (t = next_interval(&scene, u, mask, t, &end)) < HORIZON; t = end)
                    for (int64_t l = 0; l <= end - t; l++)
                        lengths[l]++;
        for (int64_t l = 1; l <= HORIZON; l++)
            if (lengths[l] <= longest)
                cr_assert_eq(count_long(&tracks, whole, whole_count, l * scene.scale), lengths[l],
                             "seed %lu length %ld", (unsigned long)seed, (long)l);
        free(whole);
        sta_tracks_fini(&tracks);
        sta_sweep_destroy(scene.sweep);
        sta_pieces_destroy(scene.pieces);
    }
}

Test(intervals, counts_what_is_active_over_many_slices_that_touch_nothing_of_a_unit)
{
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.scale = 1;
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
    check_crowds(&scene, 0);
    check_stretches(&scene, 0);
    sta_sweep_destroy(scene.sweep);
    sta_pieces_destroy(scene.pieces);
}

Test(intervals, sorting_orders_any_times)
{
    static const int64_t extremes[] = {INT64_MIN / 2, -1, 0, 1, 1 << 11, INT64_MAX / 2};
    state = 7;
    static struct sta_span spans[500], scratch[500];
    static struct sta_packed_span packed[500], packed_scratch[500];
    for (int round = 0; round < 400; round++) {
        size_t count = below(round % 2 ? 500 : 60);
        for (size_t i = 0; i < count; i++) {
            spans[i] = (struct sta_span){.ts = extremes[below(6)] + below(5000), .cell = (uint32_t)i};
            packed[i] = (struct sta_packed_span){.ts = spans[i].ts, .length = (uint32_t)i};
        }
        const struct sta_span *sorted = sta_spans_sort(spans, scratch, count);
        const struct sta_packed_span *also = sta_packed_spans_sort(packed, packed_scratch, count);
        uint8_t met[500] = {0};
        for (size_t i = 0; i < count; i++) {
            bool after = i == 0 || sorted[i - 1].ts < sorted[i].ts ||
                         (sorted[i - 1].ts == sorted[i].ts && sorted[i - 1].cell < sorted[i].cell);
            cr_assert(after && met[sorted[i].cell]++ == 0);
            cr_assert(also[i].ts == sorted[i].ts && also[i].length == sorted[i].cell);
        }
    }
}

static int fail_on_third(void *context, unsigned worker, size_t block, struct sta_block_spans *spans,
                         struct sta_error *err)
{
    if (block == 3)
        return sta_fail(err, STA_ECORRUPT, "block 3 is damaged");
    return read_scene(context, worker, block, spans, err);
}

Test(intervals, a_failure_of_one_block_ends_the_pass_with_its_sentence)
{
    static struct scene scene;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make_scene(&scene, seed);
        if (scene.block_count < 4)
            continue;
        struct sta_budget budget = {.workers = 1 + (unsigned)(seed % 4), .memory = 1 << 20};
        struct sta_timeline_work work = {fail_on_third, prepare, carry, measure, &scene, STA_PARCEL_ROW};
        struct sta_sweep_options options = {.sets = SETS, .workers = budget.workers, .to = HORIZON};
        struct sta_error err = STA_ERROR_INIT;
        scene.sweep = sta_sweep_create(&options);
        cr_assert_eq(sta_timeline_run(scene.blocks, scene.block_count, &work, 5, &budget, &err),
                     STA_ECORRUPT);
        cr_assert_str_eq(err.text, "block 3 is damaged");
        sta_sweep_destroy(scene.sweep);
    }
}

Test(intervals, a_cancelled_pass_says_so)
{
    static struct scene scene;
    make_scene(&scene, 5);
    _Atomic bool cancel = true;
    struct sta_budget budget = {.workers = 2, .memory = 1 << 20, .cancel = &cancel};
    struct sta_timeline_work work = {read_scene, prepare, carry, measure, &scene, STA_PARCEL_ROW};
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_timeline_run(scene.blocks, scene.block_count, &work, 5, &budget, &err), STA_ECANCELLED);
}

Test(intervals, spans_that_wait_for_their_slice_are_charged)
{
    static struct scene scene;
    struct sta_account account;
    sta_account_init(&account, (size_t)1 << 30, "query_memory", NULL);
    size_t refused = 0, limit = 0;
    for (int status = STA_ELIMIT; status == STA_ELIMIT; limit += 512, refused++) {
        make_scene(&scene, 5);
        account.limit = limit;
        struct sta_budget budget = {.workers = 2, .memory = 1 << 20, .account = &account};
        struct sta_timeline_work work = {read_scene, prepare, carry, measure, &scene, STA_PARCEL_ROW};
        struct sta_sweep_options options = {.sets = SETS, .workers = 2, .to = HORIZON};
        struct sta_error err = STA_ERROR_INIT;
        scene.sweep = sta_sweep_create(&options);
        status = sta_timeline_run(scene.blocks, scene.block_count, &work, 5, &budget, &err);
        cr_assert(status == STA_OK || (status == STA_ELIMIT && strstr(err.text, "query_memory") != NULL),
                  "%s", err.text);
        cr_assert_eq(account.used, 0, "what a pass held is released");
        sta_sweep_destroy(scene.sweep);
    }
    cr_assert_gt(refused, 3);
    cr_assert_gt(account.peak, 1000);
    sta_account_fini(&account);
}
