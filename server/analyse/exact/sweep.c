/* The sweep.
 *
 * DESIGN.  `prepare` notes which spans reach beyond their slice.  `carry`, in the order of slices, takes what
 * earlier slices handed on and hands on what reaches further.  `measure` then goes through the slice bin by
 * bin, alone: first the covers are built of the spans that belong to them, then every span's pieces are
 * measured, those of groups also against the covers.
 *
 * A worker takes slices in order, and spans are cut at the end of each, so that running ends left from an
 * earlier one lie before whatever comes and need no reset. */
#include "analyse/exact/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exact/covers.h"
#include "common/memory.h"

struct reach {
    int64_t end;
    uint32_t leaf;
};

struct reaches {
    struct reach *items;
    size_t count, capacity;
};

struct spans {
    struct sta_span *items;
    size_t count, capacity;
};

struct running {
    int64_t end;                      /* of the union so far */
    struct sta_exact_measure measure; /* of the present bin */
};

struct worker {
    struct running *running; /* by slot */
    uint32_t *slot_seen;     /* by slot: the round in which it was listed */
    size_t running_capacity, slot_capacity;
    uint32_t *leaf_seen; /* by leaf, likewise */
    size_t leaf_capacity;
    uint32_t round;   /* counts the bins, from 1 */
    uint32_t *leaves; /* of the round */
    size_t leaf_count, leaves_capacity;
    uint32_t *slots;                    /* those of the leaves, and .. */
    struct sta_exact_measure *measures; /* .. what was measured in each */
    size_t slot_count, slots_capacity, measures_capacity;
    size_t bin;
    int64_t width;         /* measured of the bin; 0: none */
    struct reaches beyond; /* spans of the slice that reach beyond it */
    struct reaches open;   /* what reaches into the present bin */
    struct spans spans;    /* of the present bin, cut to it */
    struct sta_covers covers;
    char padding[64]; /* a cache line of its own */
};

struct sta_exact_sweep {
    struct sta_exact_sweep_options options;
    struct worker *workers;
    /* Used in turn only: the leaves that reach beyond the last slice carried, and how far. */
    int64_t *reach; /* by leaf */
    size_t reach_capacity;
    uint32_t *open;
    size_t open_count, open_capacity;
};

struct sta_exact_sweep *sta_exact_sweep_create(const struct sta_exact_sweep_options *options)
{
    struct sta_exact_sweep *sweep = sta_alloc(sizeof *sweep);
    sweep->options = *options;
    sweep->workers = sta_alloc_array(options->workers, sizeof *sweep->workers);
    for (unsigned w = 0; w < options->workers; w++) {
        sweep->workers[w].round = 1;
        sta_covers_init(&sweep->workers[w].covers, options->shape->layer_count + 1, options->group_count);
    }
    return sweep;
}

void sta_exact_sweep_destroy(struct sta_exact_sweep *sweep)
{
    if (sweep == NULL)
        return;
    for (unsigned w = 0; w < sweep->options.workers; w++) {
        struct worker *worker = &sweep->workers[w];
        free(worker->running);
        free(worker->measures);
        free(worker->slot_seen);
        free(worker->leaf_seen);
        free(worker->leaves);
        free(worker->slots);
        free(worker->beyond.items);
        free(worker->open.items);
        free(worker->spans.items);
        sta_covers_fini(&worker->covers);
    }
    free(sweep->workers);
    free(sweep->reach);
    free(sweep->open);
    free(sweep);
}

double sta_exact_sweep_bytes_per_slot(const struct sta_exact_sweep *sweep)
{
    return sweep->options.workers *
           (double)(sizeof(struct running) + sizeof(struct sta_exact_measure) + 2 * sizeof(uint32_t));
}

/* ---- before a slice is measured */

static void grow_zeroed(void *array, size_t *capacity, size_t need, size_t size)
{
    char **bytes = array;
    size_t before = *capacity;
    if (need <= before)
        return;
    size_t room = before > 0 ? before * 2 : 1024;
    while (room < need)
        room *= 2;
    *bytes = sta_realloc_array(*bytes, room, size);
    memset(*bytes + before * size, 0, (room - before) * size);
    *capacity = room;
}

static void add_reach(struct reaches *list, int64_t end, uint32_t leaf)
{
    STA_GROW(list->items, list->capacity, list->count + 1);
    list->items[list->count++] = (struct reach){end, leaf};
}

void sta_exact_sweep_prepare(struct sta_exact_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct worker *worker = &sweep->workers[number];
    struct sta_leaf_counts counts = sta_leaves_count(sweep->options.leaves);
    grow_zeroed(&worker->running, &worker->running_capacity, counts.slots, sizeof *worker->running);
    grow_zeroed(&worker->slot_seen, &worker->slot_capacity, counts.slots, sizeof *worker->slot_seen);
    grow_zeroed(&worker->leaf_seen, &worker->leaf_capacity, counts.leaves, sizeof *worker->leaf_seen);
    worker->beyond.count = 0;
    for (size_t i = 0; i < slice->count; i++)
        if (slice->spans[i].te > slice->to)
            add_reach(&worker->beyond, slice->spans[i].te, slice->spans[i].cell);
}

void sta_exact_sweep_carry(struct sta_exact_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct worker *worker = &sweep->workers[number];
    size_t kept = 0;
    worker->open.count = 0;
    for (size_t i = 0; i < sweep->open_count; i++) {
        uint32_t leaf = sweep->open[i];
        add_reach(&worker->open, sweep->reach[leaf], leaf);
        if (sweep->reach[leaf] > slice->to)
            sweep->open[kept++] = leaf;
    }
    sweep->open_count = kept;
    for (size_t i = 0; i < worker->beyond.count; i++) {
        const struct reach *reach = &worker->beyond.items[i];
        grow_zeroed(&sweep->reach, &sweep->reach_capacity, (size_t)reach->leaf + 1, sizeof *sweep->reach);
        if (sweep->reach[reach->leaf] <= slice->to) { /* it is not on the list */
            STA_GROW(sweep->open, sweep->open_capacity, sweep->open_count + 1);
            sweep->open[sweep->open_count++] = reach->leaf;
        }
        sweep->reach[reach->leaf] = STA_MAX(sweep->reach[reach->leaf], reach->end);
    }
}

/* ---- a bin is done with */

/* Lists the slots of the round's leaves, each once, with their measures, which start anew. */
static void list_slots(struct sta_exact_sweep *sweep, struct worker *worker)
{
    worker->slot_count = 0;
    for (size_t i = 0; i < worker->leaf_count; i++) {
        const struct sta_leaf *leaf = sta_leaves_at(sweep->options.leaves, worker->leaves[i]);
        STA_GROW(worker->slots, worker->slots_capacity, worker->slot_count + leaf->count);
        STA_GROW(worker->measures, worker->measures_capacity, worker->slot_count + leaf->count);
        for (uint32_t k = 0; k < leaf->count; k++) {
            uint32_t slot = leaf->slots[k];
            if (worker->slot_seen[slot] == worker->round)
                continue;
            worker->slot_seen[slot] = worker->round;
            worker->slots[worker->slot_count] = slot;
            worker->measures[worker->slot_count++] = worker->running[slot].measure;
            worker->running[slot].measure = (struct sta_exact_measure){0};
        }
    }
}

static void hand_in(struct sta_exact_sweep *sweep, struct worker *worker)
{
    if (worker->width == 0)
        return;
    list_slots(sweep, worker);
    struct sta_tally tally = {.bin = worker->bin,
                              .width = worker->width,
                              .slots = worker->slots,
                              .slot_count = worker->slot_count,
                              .measures = worker->measures};
    sta_tallies_take(sweep->options.tallies, &tally);
    worker->width = 0;
    worker->leaf_count = 0;
    worker->round++;
}

void sta_exact_sweep_finish(struct sta_exact_sweep *sweep)
{
    for (unsigned w = 0; w < sweep->options.workers; w++)
        hand_in(sweep, &sweep->workers[w]);
}

/* ---- a stretch: the part of a slice that lies in one bin */

static void add_span(struct worker *worker, int64_t ts, int64_t te, uint32_t leaf)
{
    worker->spans.items[worker->spans.count++] = (struct sta_span){.ts = ts, .te = te, .cell = leaf};
}

/* Brings together the spans of [from, to), cut to it; `open` becomes what reaches beyond it.  Return: the
 * next span of the slice. */
static size_t gather(struct worker *worker, const struct sta_slice *slice, size_t next, int64_t from,
                     int64_t to)
{
    size_t kept = 0;
    STA_GROW(worker->spans.items, worker->spans.capacity, worker->open.count + slice->count - next);
    worker->spans.count = 0;
    for (size_t i = 0; i < worker->open.count; i++) {
        const struct reach reach = worker->open.items[i];
        if (reach.end <= from)
            continue;
        add_span(worker, from, STA_MIN(reach.end, to), reach.leaf);
        if (reach.end > to)
            worker->open.items[kept++] = reach;
    }
    worker->open.count = kept;
    for (; next < slice->count && slice->spans[next].ts < to; next++) {
        const struct sta_span *span = &slice->spans[next];
        if (span->ts >= from)
            add_span(worker, span->ts, STA_MIN(span->te, to), span->cell);
        else if (span->te > from) /* began before the first bin */
            add_span(worker, from, STA_MIN(span->te, to), span->cell);
        if (span->te > to)
            add_reach(&worker->open, span->te, span->cell);
    }
    return next;
}

static void build_covers(struct sta_exact_sweep *sweep, struct worker *worker)
{
    sta_covers_clear(&worker->covers);
    for (size_t i = 0; i < worker->spans.count; i++) {
        const struct sta_span *span = &worker->spans.items[i];
        const struct sta_leaf *leaf = sta_leaves_at(sweep->options.leaves, span->cell);
        for (uint32_t c = 0; c < leaf->kind->cover_count && span->ts < span->te; c++)
            sta_covers_add(&worker->covers, leaf->kind->covers[c], leaf->group, span->ts, span->te);
    }
}

/* A piece [from, to) that a group's slot has gained at the time @now. */
static void compare_piece(const struct sta_exact_sweep *sweep, struct worker *worker, uint32_t number,
                          uint32_t group, int64_t now, int64_t from, int64_t to)
{
    const struct sta_exact_shape *shape = sweep->options.shape;
    struct sta_exact_measure *measure = &worker->running[number].measure;
    uint32_t l = sta_leaves_slot(sweep->options.leaves, number)->layer;
    if (shape->layers[l].exposed)
        measure->covered += sta_covers_inside(&worker->covers, shape->layer_count, group, now, from, to);
    if (shape->layers[l].has_children)
        measure->inner += sta_covers_inside(&worker->covers, l, group, now, from, to);
}

static void measure_span(const struct sta_exact_sweep *sweep, struct worker *worker,
                         const struct sta_span *span, const struct sta_leaf *leaf)
{
    const int64_t ts = span->ts;
    const int64_t te = span->te;
    for (uint32_t k = 0; k < leaf->plain; k++) {
        struct running *slot = &worker->running[leaf->slots[k]];
        int64_t from = STA_MAX(ts, slot->end);
        int64_t end = STA_MAX(te, slot->end);
        slot->measure.total += end - from;
        slot->end = end;
    }
    for (uint32_t k = leaf->plain; k < leaf->measured; k++) {
        struct running *slot = &worker->running[leaf->slots[k]];
        int64_t from = STA_MAX(ts, slot->end);
        if (from >= te)
            continue;
        slot->measure.total += te - from;
        slot->end = te;
        compare_piece(sweep, worker, leaf->slots[k], leaf->group, ts, from, te);
    }
}

static void measure_stretch(struct sta_exact_sweep *sweep, struct worker *worker)
{
    if (sweep->options.group_count > 0)
        build_covers(sweep, worker);
    for (size_t i = 0; i < worker->spans.count; i++) {
        const struct sta_span *span = &worker->spans.items[i];
        if (worker->leaf_seen[span->cell] != worker->round) {
            worker->leaf_seen[span->cell] = worker->round;
            STA_GROW(worker->leaves, worker->leaves_capacity, worker->leaf_count + 1);
            worker->leaves[worker->leaf_count++] = span->cell;
        }
        if (span->ts < span->te)
            measure_span(sweep, worker, span, sta_leaves_at(sweep->options.leaves, span->cell));
    }
}

void sta_exact_sweep_measure(struct sta_exact_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    const struct sta_exact_bins *bins = sweep->options.bins;
    struct worker *worker = &sweep->workers[number];
    int64_t from = STA_MAX(slice->from, bins->from);
    int64_t end = STA_MIN(slice->to, bins->to);
    size_t next = 0;
    while (from < end) {
        size_t bin = sta_bin_of(bins, from);
        from = bin < bins->count ? STA_MAX(from, sta_bin_from(bins, bin)) : end;
        if (from >= end) /* nothing but bins without events */
            break;
        int64_t to = STA_MIN(end, sta_bin_to(bins, bin));
        if (bin != worker->bin)
            hand_in(sweep, worker);
        worker->bin = bin;
        worker->width += to - from;
        next = gather(worker, slice, next, from, to);
        measure_stretch(sweep, worker);
        if (to == sta_bin_to(bins, bin) && worker->width == to - sta_bin_from(bins, bin))
            hand_in(sweep, worker);
        from = to;
    }
}
