/* The steps of the sweep before it measures: which spans are whose, and the state carried from slice to
 * slice. */
#include "analyse/intervals/sweep_private.h"

#include <string.h>

/* ---- prepare */

static void grow_places(struct sta_sweep_worker *worker, uint32_t unit)
{
    size_t before = worker->place_capacity;
    STA_GROW(worker->place, worker->place_capacity, (size_t)unit + 1);
    memset(worker->place + before, 0xff, (worker->place_capacity - before) * sizeof *worker->place);
}

static uint32_t add_state(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit)
{
    if (worker->state_count == worker->state_capacity) {
        worker->state_capacity = worker->state_capacity > 0 ? worker->state_capacity * 2 : 64;
        worker->states = sta_realloc_array(worker->states, worker->state_capacity, sweep->state_size);
    }
    uint32_t place = (uint32_t)worker->state_count++;
    *sta_sweep_unit_at(sweep, worker, place) =
        (struct sta_sweep_unit){.unit = unit, .first = STA_SWEEP_NOWHERE, .arriving = STA_SWEEP_NOWHERE};
    worker->place[unit] = place;
    return place;
}

/* Where the state of a unit is, which the slice thereby touches. */
static inline uint32_t touch(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit)
{
    if (unit >= worker->place_capacity)
        grow_places(worker, unit);
    uint32_t place = worker->place[unit];
    return place != STA_SWEEP_NOWHERE ? place : add_state(sweep, worker, unit);
}

static void add_part(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                     const struct sta_packed_unit *unit, const struct sta_packed_span *spans)
{
    struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, touch(sweep, worker, unit->unit));
    STA_GROW(worker->parts, worker->part_capacity, worker->part_count + 1);
    uint32_t place = (uint32_t)worker->part_count++;
    worker->parts[place] = (struct sta_sweep_part){spans, unit->count, STA_SWEEP_NOWHERE};
    if (state->first == STA_SWEEP_NOWHERE) {
        state->first = place;
    } else {
        struct sta_sweep_part *before = &worker->parts[state->last];
        before->next = place;
        state->unsorted |= spans->ts < before->spans[before->count - 1].ts;
    }
    state->last = place;
    state->count += unit->count;
}

static void open_parcel(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, const char *bytes)
{
    const struct sta_parcel_head *head = (const struct sta_parcel_head *)(const void *)bytes;
    const struct sta_packed_unit *units = (const struct sta_packed_unit *)(const void *)(head + 1);
    const struct sta_packed_span *spans = (const struct sta_packed_span *)(const void *)(bytes + head->spans);
    for (uint32_t u = 0; u < head->units; spans += units[u++].count)
        add_part(sweep, worker, &units[u], spans);
    const struct sta_packed_end *ends = (const struct sta_packed_end *)(const void *)spans;
    for (uint32_t e = 0; e < head->ends; e++)
        sta_ends_add(&worker->leaving, ends[e]);
}

/* Makes the parts of a unit one, at place @at of those sorted. */
static void sort_unit(struct sta_sweep_worker *worker, const struct sta_sweep_unit *state, size_t at)
{
    struct sta_packed_span *room = worker->sorted + at;
    size_t put = 0;
    for (uint32_t p = state->first; p != STA_SWEEP_NOWHERE; p = worker->parts[p].next) {
        memcpy(room + put, worker->parts[p].spans, worker->parts[p].count * sizeof *room);
        put += worker->parts[p].count;
    }
    const struct sta_packed_span *sorted = sta_packed_spans_sort(room, worker->scratch + at, put);
    worker->parts[state->first] = (struct sta_sweep_part){sorted, (uint32_t)put, STA_SWEEP_NOWHERE};
}

static void sort_units(const struct sta_sweep *sweep, struct sta_sweep_worker *worker)
{
    size_t room = 0;
    for (uint32_t u = 0; u < worker->state_count; u++) {
        const struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, u);
        room += state->unsorted ? state->count : 0;
    }
    STA_GROW(worker->sorted, worker->sorted_capacity, room);
    STA_GROW(worker->scratch, worker->scratch_capacity, room);
    size_t at = 0;
    for (uint32_t u = 0; u < worker->state_count; u++) {
        const struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, u);
        if (!state->unsorted)
            continue;
        sort_unit(worker, state, at);
        at += state->count;
    }
}

void sta_sweep_prepare(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct sta_sweep_worker *worker = &sweep->workers[number];
    worker->state_count = worker->part_count = worker->leaving.count = worker->arriving.count = 0;
    for (size_t p = 0; p < slice->parcel_count; p++)
        open_parcel(sweep, worker, slice->parcels[p].bytes);
    sort_units(sweep, worker);
}

/* ---- carry: in turn */

static void add_arriving(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                         struct sta_packed_end end)
{
    struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, touch(sweep, worker, end.unit));
    STA_GROW(worker->next, worker->next_capacity, worker->arriving.count + 1);
    worker->next[worker->arriving.count] = state->arriving;
    state->arriving = (uint32_t)worker->arriving.count;
    sta_ends_add(&worker->arriving, end);
}

static void grow_units(struct sta_sweep *sweep, size_t need)
{
    size_t before = sweep->unit_capacity;
    size_t sets = sweep->options.sets;
    STA_GROW(sweep->since, sweep->unit_capacity, need);
    if (sweep->unit_capacity == before)
        return;
    sweep->counts = sta_realloc_array(sweep->counts, sweep->unit_capacity * sets, sizeof *sweep->counts);
    memset(sweep->since + before, 0, (sweep->unit_capacity - before) * sizeof *sweep->since);
    memset(sweep->counts + before * sets, 0, (sweep->unit_capacity - before) * sets * sizeof *sweep->counts);
}

/* Takes over the state of a unit as the earlier slices left it. */
static void take_unit(struct sta_sweep *sweep, struct sta_sweep_unit *state, int64_t slice_end)
{
    const uint32_t *counts = sweep->counts + (size_t)state->unit * sweep->options.sets;
    state->since = sweep->since[state->unit];
    state->mask = 0;
    for (uint32_t s = 0; s < sweep->options.sets; s++) {
        state->counts[s] = counts[s];
        state->mask |= (uint32_t)(counts[s] > 0) << s;
    }
    sweep->since[state->unit] = slice_end;
}

/* Adds +1 or -1 to the counts of a span's sets; unsigned arithmetic wraps as wanted. */
static void count_span(struct sta_sweep *sweep, const struct sta_packed_end *end, uint32_t change)
{
    uint32_t *counts = sweep->counts + (size_t)end->unit * sweep->options.sets;
    for (uint32_t mask = end->mask; mask != 0; mask &= mask - 1)
        counts[__builtin_ctz(mask)] += change;
}

void sta_sweep_carry(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct sta_sweep_worker *worker = &sweep->workers[number];
    for (size_t i = 0; i < worker->leaving.count; i++)
        sta_ends_push(&sweep->pending, worker->leaving.items[i]);
    while (sweep->pending.count > 0 && sweep->pending.items[0].te <= slice->to)
        add_arriving(sweep, worker, sta_ends_pop(&sweep->pending));
    grow_units(sweep, worker->place_capacity);
    for (uint32_t u = 0; u < worker->state_count; u++)
        take_unit(sweep, sta_sweep_unit_at(sweep, worker, u), slice->to);
    for (size_t i = 0; i < worker->arriving.count; i++)
        count_span(sweep, &worker->arriving.items[i], UINT32_MAX);
    for (size_t i = 0; i < worker->leaving.count; i++)
        count_span(sweep, &worker->leaving.items[i], 1);
    size_t per_unit = sizeof *sweep->since + sweep->options.sets * sizeof *sweep->counts;
    atomic_store_explicit(&sweep->bytes,
                          sweep->pending.capacity * sizeof *sweep->pending.items +
                              sweep->unit_capacity * per_unit,
                          memory_order_relaxed);
}
