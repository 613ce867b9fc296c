/* A scene of random spans and the sweep over it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "sweep_scene.h"

/* A small deterministic generator, so that a failing case can be run again. */
static uint64_t state;

uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

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

/* Cuts the spans into row groups that overlap in time, each sorted, as segments of several files have them.
 */
void scene_cut(struct scene *scene)
{
    for (size_t at = 0; at < scene->count;) {
        size_t rows = 1 + below(20);
        rows = STA_MIN(rows, scene->count - at);
        qsort(scene->spans + at, rows, sizeof *scene->spans, compare_spans);
        scene->first[scene->row_group_count] = at;
        scene->row_groups[scene->row_group_count++] =
            (struct sta_ordered_row_group){.ts_min = scene->spans[at].ts * scene->scale,
                                           .ts_max = scene->spans[at + rows - 1].ts * scene->scale,
                                           .rows = (uint32_t)rows};
        at += rows;
    }
    scene->first[scene->row_group_count] = scene->count;
}

void scene_note(struct scene *scene, const struct sta_span *span)
{
    for (uint32_t s = 0; s < SETS; s++)
        for (int64_t t = STA_MAX(span->ts, scene->from);
             span->mask >> s & 1 && t < STA_MIN(span->te, scene->to); t++)
            scene->active[span->cell][s][t]++;
}

void scene_make(struct scene *scene, uint64_t seed)
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
        scene_note(scene, &scene->spans[i]);
    }
    scene_cut(scene);
}

int scene_read(void *context, unsigned worker, size_t row_group, const void **rows, struct sta_error *err)
{
    struct scene *scene = context;
    scene->reading[worker] = row_group;
    *rows = &scene->reading[worker];
    return 0;
}

/* Those inside the window. */
static int read_events(void *context, unsigned worker, const void *rows, struct sta_sweep_events *events,
                       struct sta_error *err)
{
    struct scene *scene = context;
    const size_t row_group = *(const size_t *)rows;
    const struct sta_span *from = scene->spans + scene->first[row_group];
    uint32_t count = (uint32_t)(scene->first[row_group + 1] - scene->first[row_group]);
    struct scene_columns *to = &scene->columns[worker];
    uint32_t wanted_count = 0;
    for (uint32_t row = 0; row < count; row++) {
        to->ts[row] = from[row].ts * scene->scale;
        to->dur[row] = (from[row].te - from[row].ts) * scene->scale;
        to->units[row] = from[row].cell;
        to->masks[row] = scene->one_hot ? 1u << (from[row].mask - 1) : from[row].mask;
        to->sizes[row] = from[row].te - from[row].ts; /* a byte for each tick, so that shares are whole */
        if (from[row].ts < scene->to && from[row].te > scene->from && scene->from < scene->to)
            to->wanted[wanted_count++] = row;
    }
    *events = (struct sta_sweep_events){.rows = {to->wanted, wanted_count, to->ts, to->units, UNITS},
                                        .dur = to->dur,
                                        .masks = to->masks,
                                        .sizes = to->sizes};
    return 0;
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

uint32_t scene_translate(const struct scene *scene, uint32_t mask)
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
            scene->translation[byte][value] = (uint16_t)scene_translate(scene, value << 8 * byte);
}

void scene_begin(struct scene *scene, struct sta_budget budget, uint32_t longest)
{
    scene->budget = budget;
    make_translation(scene);
    struct sta_sweep_options options = {.read = read_events,
                                        .reader = scene,
                                        .sets = scene->one_hot ? MASKS - 1 : SETS,
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

void scene_end(struct scene *scene)
{
    sta_sweep_destroy(scene->sweep);
    for (uint32_t mask = 1; mask < MASKS; mask++)
        sta_pieces_destroy(scene->pieces[mask]);
}

struct sta_ordered_consumer scene_consumer(struct scene *scene)
{
    return sta_sweep_consumer(scene->sweep);
}

int scene_pass(struct scene *scene, const struct sta_ordered_consumer *consumers, size_t count,
               size_t slice_rows, struct sta_error *err)
{
    struct sta_ordered_pass pass = {.row_groups = scene->row_groups,
                                    .row_group_count = scene->row_group_count,
                                    .read = scene_read,
                                    .context = scene,
                                    .consumers = consumers,
                                    .consumer_count = count,
                                    .slice_rows = slice_rows};
    return sta_ordered_run(&pass, &scene->budget, err);
}

void scene_run(struct scene *scene, unsigned workers, size_t slice_rows, uint32_t longest)
{
    struct sta_error err = STA_ERROR_INIT;
    scene_begin(scene, (struct sta_budget){.workers = workers, .memory = 1 << 20}, longest);
    struct sta_ordered_consumer consumer = scene_consumer(scene);
    cr_assert_eq(scene_pass(scene, &consumer, 1, slice_rows, &err), 0);
}

uint32_t scene_mask_at(const struct scene *scene, uint32_t unit, int64_t t)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; t < HORIZON && s < SETS; s++)
        mask |= (uint32_t)(scene->active[unit][s][t] > 0) << s;
    return mask;
}
