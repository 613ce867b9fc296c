/* The sweep: starts and ends of a slice in order, on the state that earlier slices leave.
 *
 * DESIGN.  The state at a slice's start is small: of each unit and set how many spans are active, and the ends of those that are.  Spans
 * that end beyond their slice wait in one heap for the slice in which they end.  `prepare` splits a slice's spans into those that end in it
 * and those that leave it; `carry`, in the order of slices, takes from the heap what ends here, copies the counts of the units that the
 * slice touches, and leaves the counts at its end; `measure` then runs on copies.  What must run in order thus costs some steps per span
 * that crosses a cut and per unit of the slice.
 *
 * A unit that a slice does not touch stays as it is, and is accounted for by the next slice that touches it: `since` says from when.
 * Times are cut to the window when they are measured; the order of events stays that of their real times. */
#include "analyse/intervals/sweep.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/memory.h"

#define NOWHERE UINT32_MAX
#define MASK_BITS STA_SWEEP_SETS

struct set_state {
    int64_t since; /* count has been the same */
    uint32_t count;
};

/* A unit that the present slice touches. */
struct unit_state {
    int64_t since; /* mask has been the same */
    uint32_t unit, mask;
    uint32_t cell; /* of (unit, mask), unless mask is 0 */
    struct set_state sets[];
};

struct spans {
    struct sta_span *items;
    size_t count, capacity;
};

struct crowd {
    int64_t *times; /* by number of active spans */
    size_t capacity;
};

struct worker {
    uint32_t *place; /* by unit: where its state is, or NOWHERE */
    size_t place_capacity;
    char *states;
    size_t state_count, state_capacity;
    struct spans ends;    /* of the slice: ts is when a span ends */
    struct spans leaving; /* spans of the slice that end beyond it */
    struct spans scratch;
    size_t own_ends; /* ends[own_ends ..] came from the heap */

    struct sta_map cells_by_key; /* unit and mask -> place in cells */
    struct sta_sweep_cell *cells;
    size_t cell_count, cell_capacity;
    struct crowd crowds[STA_SWEEP_SETS];
    _Atomic size_t bytes;
    char padding[64]; /* a cache line of its own */
};

struct sta_sweep {
    struct sta_sweep_options options;
    size_t state_size;
    struct worker *workers;
    /* Used in turn only: as all slices that have carried leave it. */
    struct spans pending; /* a heap by te: active, and end later */
    uint32_t *counts;     /* by unit, then set */
    int64_t *since;       /* by unit: up to where it has been swept */
    size_t unit_capacity;
    _Atomic size_t bytes;
};

/* ---- start and end */

struct sta_sweep *sta_sweep_create(const struct sta_sweep_options *options)
{
    STA_ASSERT(options->sets >= 1 && options->sets <= STA_SWEEP_SETS);
    struct sta_sweep *sweep = sta_alloc(sizeof *sweep);
    sweep->options = *options;
    sweep->state_size = sizeof(struct unit_state) + options->sets * sizeof(struct set_state);
    sweep->workers = sta_alloc_array(options->workers, sizeof *sweep->workers);
    for (unsigned w = 0; w < options->workers; w++)
        for (uint32_t s = 0; s < options->sets; s++) {
            struct crowd *crowd = &sweep->workers[w].crowds[s];
            STA_GROW(crowd->times, crowd->capacity, 1);
            memset(crowd->times, 0, crowd->capacity * sizeof *crowd->times);
        }
    return sweep;
}

static void worker_fini(struct worker *worker)
{
    free(worker->place);
    free(worker->states);
    free(worker->ends.items);
    free(worker->leaving.items);
    free(worker->scratch.items);
    sta_map_fini(&worker->cells_by_key);
    free(worker->cells);
    for (uint32_t s = 0; s < STA_SWEEP_SETS; s++)
        free(worker->crowds[s].times);
}

void sta_sweep_destroy(struct sta_sweep *sweep)
{
    if (sweep == NULL)
        return;
    for (unsigned w = 0; w < sweep->options.workers; w++)
        worker_fini(&sweep->workers[w]);
    free(sweep->workers);
    free(sweep->pending.items);
    free(sweep->counts);
    free(sweep->since);
    free(sweep);
}

static size_t worker_bytes(const struct sta_sweep *sweep, const struct worker *worker)
{
    size_t spans = worker->ends.capacity + worker->leaving.capacity + worker->scratch.capacity;
    size_t bytes = worker->place_capacity * sizeof *worker->place + spans * sizeof(struct sta_span) +
                   worker->state_capacity * sweep->state_size + worker->cell_capacity * sizeof *worker->cells;
    bytes += worker->cells_by_key.capacity *
             (sizeof *worker->cells_by_key.keys + sizeof(*worker->cells_by_key.values));
    for (uint32_t s = 0; s < sweep->options.sets; s++)
        bytes += worker->crowds[s].capacity * sizeof *worker->crowds[s].times;
    return bytes;
}

size_t sta_sweep_bytes(const struct sta_sweep *sweep)
{
    size_t bytes = atomic_load_explicit(&sweep->bytes, memory_order_relaxed);
    for (unsigned w = 0; w < sweep->options.workers; w++)
        bytes += atomic_load_explicit(&sweep->workers[w].bytes, memory_order_relaxed);
    return bytes;
}

/* ---- prepare */

static void push(struct spans *spans, struct sta_span span)
{
    STA_GROW(spans->items, spans->capacity, spans->count + 1);
    spans->items[spans->count++] = span;
}

static struct unit_state *state_at(const struct sta_sweep *sweep, const struct worker *worker, uint32_t place)
{
    return (struct unit_state *)(void *)(worker->states + place * sweep->state_size);
}

static void grow_states(const struct sta_sweep *sweep, struct worker *worker)
{
    size_t capacity = worker->state_capacity > 0 ? worker->state_capacity * 2 : 64;
    worker->states = sta_realloc_array(worker->states, capacity, sweep->state_size);
    worker->state_capacity = capacity;
}

/* Notes that the slice has a unit. */
static void touch(const struct sta_sweep *sweep, struct worker *worker, uint32_t unit)
{
    size_t before = worker->place_capacity;
    if (unit >= before) {
        STA_GROW(worker->place, worker->place_capacity, (size_t)unit + 1);
        memset(worker->place + before, 0xff, (worker->place_capacity - before) * sizeof *worker->place);
    }
    if (worker->place[unit] != NOWHERE)
        return;
    if (worker->state_count == worker->state_capacity)
        grow_states(sweep, worker);
    worker->place[unit] = (uint32_t)worker->state_count;
    state_at(sweep, worker, (uint32_t)worker->state_count++)->unit = unit;
}

void sta_sweep_prepare(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct worker *worker = &sweep->workers[number];
    worker->state_count = worker->ends.count = worker->leaving.count = 0;
    STA_GROW(worker->ends.items, worker->ends.capacity, slice->count);
    for (size_t i = 0; i < slice->count; i++) {
        const struct sta_span *span = &slice->spans[i];
        touch(sweep, worker, span->cell);
        if (span->te < slice->to)
            worker->ends.items[worker->ends.count++] =
                (struct sta_span){.ts = span->te, .cell = span->cell, .mask = span->mask};
        else
            push(&worker->leaving, *span);
    }
    worker->own_ends = worker->ends.count;
}

/* ---- carry: in turn */

static void heap_push(struct spans *heap, struct sta_span span)
{
    push(heap, span);
    size_t at = heap->count - 1;
    for (size_t above; at > 0 && heap->items[above = (at - 1) / 2].te > span.te; at = above)
        heap->items[at] = heap->items[above];
    heap->items[at] = span;
}

static struct sta_span heap_pop(struct spans *heap)
{
    struct sta_span least = heap->items[0];
    struct sta_span last = heap->items[--heap->count];
    size_t at = 0;
    for (size_t below; (below = at * 2 + 1) < heap->count; at = below) {
        below += below + 1 < heap->count && heap->items[below + 1].te < heap->items[below].te;
        if (heap->items[below].te >= last.te)
            break;
        heap->items[at] = heap->items[below];
    }
    heap->items[at] = last;
    return least;
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
static void take_unit(struct sta_sweep *sweep, struct unit_state *state, int64_t slice_end)
{
    const uint32_t *counts = sweep->counts + (size_t)state->unit * sweep->options.sets;
    state->since = sweep->since[state->unit];
    state->mask = 0;
    for (uint32_t s = 0; s < sweep->options.sets; s++) {
        state->sets[s] = (struct set_state){state->since, counts[s]};
        state->mask |= (uint32_t)(counts[s] > 0) << s;
    }
    sweep->since[state->unit] = slice_end;
}

/* Adds +1 or -1 to the counts of a span's sets; unsigned arithmetic wraps as wanted. */
static void count_span(struct sta_sweep *sweep, const struct sta_span *span, uint32_t change)
{
    uint32_t *counts = sweep->counts + (size_t)span->cell * sweep->options.sets;
    for (uint32_t mask = span->mask; mask != 0; mask &= mask - 1)
        counts[__builtin_ctz(mask)] += change;
}

void sta_sweep_carry(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct worker *worker = &sweep->workers[number];
    while (sweep->pending.count > 0 && sweep->pending.items[0].te < slice->to) {
        struct sta_span span = heap_pop(&sweep->pending);
        touch(sweep, worker, span.cell);
        push(&worker->ends, (struct sta_span){.ts = span.te, .cell = span.cell, .mask = span.mask});
    }
    grow_units(sweep, worker->place_capacity);
    for (uint32_t i = 0; i < worker->state_count; i++)
        take_unit(sweep, state_at(sweep, worker, i), slice->to);
    for (size_t i = worker->own_ends; i < worker->ends.count; i++)
        count_span(sweep, &worker->ends.items[i], UINT32_MAX);
    for (size_t i = 0; i < worker->leaving.count; i++) {
        count_span(sweep, &worker->leaving.items[i], 1);
        heap_push(&sweep->pending, worker->leaving.items[i]);
    }
    size_t per_unit = sizeof *sweep->since + sweep->options.sets * sizeof *sweep->counts;
    atomic_store_explicit(&sweep->bytes,
                          sweep->pending.capacity * sizeof(struct sta_span) + sweep->unit_capacity * per_unit,
                          memory_order_relaxed);
}

/* ---- measure */

static int64_t cut(const struct sta_sweep *sweep, int64_t at)
{
    at = STA_MAX(at, sweep->options.from);
    return STA_MIN(at, sweep->options.to);
}

static uint32_t cell_of(struct worker *worker, uint32_t unit, uint32_t mask)
{
    bool added;
    uint64_t key = (uint64_t)unit << MASK_BITS | mask;
    uint32_t cell = sta_map_intern(&worker->cells_by_key, key, (uint32_t)worker->cell_count, &added);
    if (added) {
        STA_GROW(worker->cells, worker->cell_capacity, worker->cell_count + 1);
        worker->cells[worker->cell_count++] = (struct sta_sweep_cell){unit, mask, 0};
    }
    return cell;
}

/* Accounts for the present combination up to @at. */
static void settle_mask(const struct sta_sweep *sweep, unsigned number, struct unit_state *state, int64_t at)
{
    int64_t from = cut(sweep, state->since);
    int64_t to = cut(sweep, at);
    if (state->mask == 0 || from >= to)
        return;
    sweep->workers[number].cells[state->cell].time += to - from;
    if (sweep->options.stretch != NULL)
        sweep->options.stretch(sweep->options.context, number, state->unit, state->mask, from, to);
}

static void change_mask(const struct sta_sweep *sweep, unsigned number, struct unit_state *state,
                        uint32_t mask, int64_t at)
{
    settle_mask(sweep, number, state, at);
    state->since = at;
    state->mask = mask;
    if (mask != 0)
        state->cell = cell_of(&sweep->workers[number], state->unit, mask);
}

static void settle_set(const struct sta_sweep *sweep, struct crowd *crowd, struct set_state *set, int64_t at)
{
    if (set->count > 0)
        crowd->times[set->count] += cut(sweep, at) - cut(sweep, set->since);
    set->since = at;
}

static void grow_crowd(struct crowd *crowd, size_t need)
{
    size_t before = crowd->capacity;
    STA_GROW(crowd->times, crowd->capacity, need);
    if (crowd->capacity > before)
        memset(crowd->times + before, 0, (crowd->capacity - before) * sizeof *crowd->times);
}

static void span_starts(const struct sta_sweep *sweep, unsigned number, struct unit_state *state,
                        const struct sta_span *span)
{
    uint32_t fresh = 0;
    for (uint32_t mask = span->mask; mask != 0; mask &= mask - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(mask);
        struct crowd *crowd = &sweep->workers[number].crowds[s];
        settle_set(sweep, crowd, &state->sets[s], span->ts);
        if (state->sets[s].count++ == 0)
            fresh |= 1u << s;
        if (state->sets[s].count >= crowd->capacity)
            grow_crowd(crowd, (size_t)state->sets[s].count + 1);
    }
    if (fresh != 0)
        change_mask(sweep, number, state, state->mask | fresh, span->ts);
}

static void span_ends(const struct sta_sweep *sweep, unsigned number, struct unit_state *state,
                      const struct sta_span *end)
{
    uint32_t gone = 0;
    for (uint32_t mask = end->mask; mask != 0; mask &= mask - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(mask);
        settle_set(sweep, &sweep->workers[number].crowds[s], &state->sets[s], end->ts);
        if (--state->sets[s].count == 0)
            gone |= 1u << s;
    }
    if (gone != 0)
        change_mask(sweep, number, state, state->mask & ~gone, end->ts);
}

/* Where starts and ends fall together starts go first, so that touching spans make one stretch. */
static void merge(const struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice,
                  const struct sta_span *ends)
{
    const struct worker *worker = &sweep->workers[number];
    const struct sta_span *start = slice->spans;
    const struct sta_span *last_start = start + slice->count;
    const struct sta_span *end = ends;
    const struct sta_span *last_end = ends + worker->ends.count;
    while (start < last_start || end < last_end) {
        if (end == last_end || (start < last_start && start->ts <= end->ts)) {
            span_starts(sweep, number, state_at(sweep, worker, worker->place[start->cell]), start);
            start++;
        } else {
            span_ends(sweep, number, state_at(sweep, worker, worker->place[end->cell]), end);
            end++;
        }
    }
}

static void begin_units(const struct sta_sweep *sweep, struct worker *worker)
{
    for (uint32_t i = 0; i < worker->state_count; i++) {
        struct unit_state *state = state_at(sweep, worker, i);
        if (state->mask != 0)
            state->cell = cell_of(worker, state->unit, state->mask);
        for (uint32_t s = 0; s < sweep->options.sets; s++)
            if (state->sets[s].count >= worker->crowds[s].capacity)
                grow_crowd(&worker->crowds[s], (size_t)state->sets[s].count + 1);
    }
}

/* Accounts for what is active up to the slice's end. */
static void leave_units(const struct sta_sweep *sweep, unsigned number, int64_t slice_end)
{
    struct worker *worker = &sweep->workers[number];
    for (uint32_t i = 0; i < worker->state_count; i++) {
        struct unit_state *state = state_at(sweep, worker, i);
        settle_mask(sweep, number, state, slice_end);
        for (uint32_t s = 0; s < sweep->options.sets; s++)
            settle_set(sweep, &worker->crowds[s], &state->sets[s], slice_end);
        worker->place[state->unit] = NOWHERE;
    }
}

void sta_sweep_measure(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct worker *worker = &sweep->workers[number];
    STA_GROW(worker->scratch.items, worker->scratch.capacity, worker->ends.count);
    const struct sta_span *ends =
        sta_spans_sort(worker->ends.items, worker->scratch.items, worker->ends.count);
    begin_units(sweep, worker);
    merge(sweep, number, slice, ends);
    leave_units(sweep, number, slice->to);
    atomic_store_explicit(&worker->bytes, worker_bytes(sweep, worker), memory_order_relaxed);
}

/* ---- results */

static int compare_cells(const void *a, const void *b)
{
    const struct sta_sweep_cell *x = a;
    const struct sta_sweep_cell *y = b;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    return (x->mask > y->mask) - (x->mask < y->mask);
}

struct sta_sweep_cell *sta_sweep_cells(const struct sta_sweep *sweep, size_t *count)
{
    size_t all = 0;
    for (unsigned w = 0; w < sweep->options.workers; w++)
        all += sweep->workers[w].cell_count;
    struct sta_sweep_cell *cells = sta_alloc_array(all + 1, sizeof *cells);
    size_t put = 0;
    for (unsigned w = 0; w < sweep->options.workers; w++)
        for (size_t i = 0; i < sweep->workers[w].cell_count; i++)
            if (sweep->workers[w].cells[i].time > 0)
                cells[put++] = sweep->workers[w].cells[i];
    qsort(cells, put, sizeof *cells, compare_cells);
    size_t kept = 0;
    for (size_t i = 0; i < put; i++) {
        if (kept > 0 && compare_cells(&cells[kept - 1], &cells[i]) == 0)
            cells[kept - 1].time += cells[i].time;
        else
            cells[kept++] = cells[i];
    }
    *count = kept;
    return cells;
}

int64_t *sta_sweep_crowd(const struct sta_sweep *sweep, uint32_t set, size_t *count)
{
    size_t most = 1;
    for (unsigned w = 0; w < sweep->options.workers; w++)
        most = STA_MAX(most, sweep->workers[w].crowds[set].capacity);
    int64_t *times = sta_alloc_array(most, sizeof *times);
    for (unsigned w = 0; w < sweep->options.workers; w++)
        for (size_t k = 1; k < sweep->workers[w].crowds[set].capacity; k++)
            times[k] += sweep->workers[w].crowds[set].times[k];
    while (most > 1 && times[most - 1] == 0)
        most--;
    *count = most;
    return times;
}
