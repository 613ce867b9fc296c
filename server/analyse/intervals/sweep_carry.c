/* The steps of the sweep before it measures: spans dealt out to units, and the state carried from slice to slice. */
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
        (struct sta_sweep_unit){.unit = unit, .last = INT64_MIN, .arriving = STA_SWEEP_NOWHERE};
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

static void count_spans(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                        const struct sta_slice *slice)
{
    STA_GROW(worker->places, worker->places_capacity, slice->count);
    for (size_t i = 0; i < slice->count; i++) {
        const struct sta_span *span = &slice->spans[i];
        uint32_t place = touch(sweep, worker, span->cell);
        struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, place);
        state->unsorted |= span->ts < state->last;
        state->last = span->ts;
        state->count++;
        worker->places[i] = place;
        int64_t te = sta_sweep_cut(sweep, span->te);
        if (te > slice->to)
            sta_ends_add(&worker->leaving, (struct sta_sweep_end){te, span->cell, span->mask});
    }
}

/* Cuts them to the window too, which keeps their order. */
static void deal_out(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                     const struct sta_slice *slice)
{
    size_t sum = 0;
    STA_GROW(worker->dealt, worker->span_capacity, slice->count + worker->state_count);
    for (uint32_t u = 0; u < worker->state_count; u++) {
        struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, u);
        state->first = sum;
        sum += state->count;
        state->count = 0;
        worker->dealt[sum++] = (struct sta_span){.ts = slice->to};
    }
    for (size_t i = 0; i < slice->count; i++) {
        struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, worker->places[i]);
        struct sta_span span = slice->spans[i];
        span.ts = sta_sweep_cut(sweep, span.ts);
        span.te = sta_sweep_cut(sweep, span.te);
        worker->dealt[state->first + state->count++] = span;
    }
}

static void sort_unit(struct sta_sweep_worker *worker, const struct sta_sweep_unit *state)
{
    STA_GROW(worker->scratch, worker->scratch_capacity, state->count);
    struct sta_span *mine = worker->dealt + state->first;
    const struct sta_span *sorted = sta_spans_sort(mine, worker->scratch, state->count);
    if (sorted != mine)
        memcpy(mine, sorted, state->count * sizeof *mine);
}

void sta_sweep_prepare(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct sta_sweep_worker *worker = &sweep->workers[number];
    worker->state_count = worker->leaving.count = worker->arriving.count = 0;
    count_spans(sweep, worker, slice);
    deal_out(sweep, worker, slice);
    for (uint32_t u = 0; u < worker->state_count; u++)
        if (sta_sweep_unit_at(sweep, worker, u)->unsorted)
            sort_unit(worker, sta_sweep_unit_at(sweep, worker, u));
}

/* ---- carry: in turn */

static void add_arriving(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                         struct sta_sweep_end end)
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
static void count_span(struct sta_sweep *sweep, const struct sta_sweep_end *end, uint32_t change)
{
    uint32_t *counts = sweep->counts + (size_t)end->unit * sweep->options.sets;
    for (uint32_t mask = end->mask; mask != 0; mask &= mask - 1)
        counts[__builtin_ctz(mask)] += change;
}

void sta_sweep_carry(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct sta_sweep_worker *worker = &sweep->workers[number];
    while (sweep->pending.count > 0 && sweep->pending.items[0].te <= slice->to)
        add_arriving(sweep, worker, sta_ends_pop(&sweep->pending));
    grow_units(sweep, worker->place_capacity);
    for (uint32_t u = 0; u < worker->state_count; u++)
        take_unit(sweep, sta_sweep_unit_at(sweep, worker, u), slice->to);
    for (size_t i = 0; i < worker->arriving.count; i++)
        count_span(sweep, &worker->arriving.items[i], UINT32_MAX);
    for (size_t i = 0; i < worker->leaving.count; i++) {
        count_span(sweep, &worker->leaving.items[i], 1);
        sta_ends_push(&sweep->pending, worker->leaving.items[i]);
    }
    size_t per_unit = sizeof *sweep->since + sweep->options.sets * sizeof *sweep->counts;
    atomic_store_explicit(&sweep->bytes,
                          sweep->pending.capacity * sizeof *sweep->pending.items +
                              sweep->unit_capacity * per_unit,
                          memory_order_relaxed);
}
