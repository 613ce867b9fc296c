/* The sweep of a slice: each of its units alone, through starts and ends in order. */
#include "analyse/intervals/sweep_private.h"

#include <string.h>

/* A unit being swept. */
struct going {
    const struct sta_sweep *sweep;
    struct sta_sweep_worker *worker;
    unsigned number; /* of the worker */
    struct sta_sweep_unit *state;
    size_t slice;
    int64_t begin, end; /* what of the unit's time the slice accounts for */
};

static inline int64_t cut(const struct sta_sweep *sweep, int64_t at)
{
    at = STA_MAX(at, sweep->options.from);
    return STA_MIN(at, sweep->options.to);
}

static void add_time(struct sta_sweep_worker *worker, uint32_t unit, uint32_t mask, int64_t time)
{
    bool added;
    uint64_t key = (uint64_t)unit << STA_SWEEP_SETS | mask;
    uint32_t cell = sta_map_intern(&worker->cells_by_key, key, (uint32_t)worker->cell_count, &added);
    if (added) {
        STA_GROW(worker->cells, worker->cell_capacity, worker->cell_count + 1);
        worker->cells[worker->cell_count++] = (struct sta_sweep_cell){unit, mask, 0};
    }
    worker->cells[cell].time += time;
}

/* Holds a time back: the same few combinations come again and again. */
static inline void note_time(const struct going *going, uint32_t mask, int64_t time)
{
    struct sta_sweep_recent *recent = &going->worker->recent;
    uint32_t slot = mask % STA_SWEEP_RECENT;
    if (recent->used >> slot & 1 && recent->masks[slot] != mask) {
        add_time(going->worker, going->state->unit, recent->masks[slot], recent->times[slot]);
        recent->times[slot] = 0;
    }
    recent->used |= UINT64_C(1) << slot;
    recent->masks[slot] = mask;
    recent->times[slot] += time;
}

static void put_times(const struct going *going)
{
    struct sta_sweep_recent *recent = &going->worker->recent;
    for (; recent->used != 0; recent->used &= recent->used - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(recent->used);
        add_time(going->worker, going->state->unit, recent->masks[slot], recent->times[slot]);
        recent->times[slot] = 0;
    }
}

static void give_stretch(const struct going *going, int64_t since, int64_t at)
{
    const struct sta_sweep_options *options = &going->sweep->options;
    struct sta_sweep_stretch stretch = {.unit = going->state->unit,
                                        .mask = going->state->mask,
                                        .from = cut(going->sweep, since),
                                        .to = cut(going->sweep, at),
                                        .slice = going->slice,
                                        .at_cut = since == going->begin || at == going->end};
    if (stretch.from < stretch.to && (stretch.mask != 0 || options->idle))
        options->take(options->context, going->number, &stretch);
}

/* Accounts for the present combination up to @at. */
static inline void settle_mask(const struct going *going, int64_t at)
{
    struct sta_sweep_unit *state = going->state;
    int64_t since = state->since;
    state->since = at;
    if (state->mask != 0)
        note_time(going, state->mask, cut(going->sweep, at) - cut(going->sweep, since));
    if (going->sweep->options.take != NULL)
        give_stretch(going, since, at);
}

static inline void settle_set(const struct sta_sweep *sweep, struct sta_sweep_crowd *crowd,
                              struct sta_sweep_set *set, int64_t at)
{
    if (set->count > 0)
        crowd->times[set->count] += cut(sweep, at) - cut(sweep, set->since);
    set->since = at;
}

static void grow_crowd(struct sta_sweep_crowd *crowd, size_t need)
{
    size_t before = crowd->capacity;
    STA_GROW(crowd->times, crowd->capacity, need);
    if (crowd->capacity > before)
        memset(crowd->times + before, 0, (crowd->capacity - before) * sizeof *crowd->times);
}

static inline void span_starts(const struct going *going, const struct sta_span *span)
{
    struct sta_sweep_unit *state = going->state;
    uint32_t fresh = 0;
    for (uint32_t mask = span->mask; mask != 0; mask &= mask - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(mask);
        struct sta_sweep_crowd *crowd = &going->worker->crowds[s];
        settle_set(going->sweep, crowd, &state->sets[s], span->ts);
        fresh |= (uint32_t)(state->sets[s].count++ == 0) << s;
        if (state->sets[s].count >= crowd->capacity)
            grow_crowd(crowd, (size_t)state->sets[s].count + 1);
    }
    if (fresh != 0) {
        settle_mask(going, span->ts);
        state->mask |= fresh;
    }
}

static inline void span_ends(const struct going *going, struct sta_sweep_end end)
{
    struct sta_sweep_unit *state = going->state;
    uint32_t gone = 0;
    for (uint32_t mask = end.mask; mask != 0; mask &= mask - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(mask);
        settle_set(going->sweep, &going->worker->crowds[s], &state->sets[s], end.te);
        gone |= (uint32_t)(--state->sets[s].count == 0) << s;
    }
    if (gone != 0) {
        settle_mask(going, end.te);
        state->mask &= ~gone;
    }
}

/* Spans that were active before the slice: their ends, and room for as many of them as there are. */
static void begin_unit(const struct going *going)
{
    struct sta_sweep_worker *worker = going->worker;
    worker->ahead.count = 0;
    for (uint32_t i = going->state->arriving; i != STA_SWEEP_NOWHERE; i = worker->next[i])
        sta_ends_push(&worker->ahead, worker->arriving.items[i]);
    for (uint32_t s = 0; s < going->sweep->options.sets; s++)
        if (going->state->sets[s].count >= worker->crowds[s].capacity)
            grow_crowd(&worker->crowds[s], (size_t)going->state->sets[s].count + 1);
}

/* A span during which no other begins or ends: the state behind it is that before it, and its end need not wait. */
static inline void pass_span(const struct going *going, const struct sta_span *span)
{
    struct sta_sweep_unit *state = going->state;
    int64_t time = cut(going->sweep, span->te) - cut(going->sweep, span->ts);
    for (uint32_t mask = span->mask; mask != 0; mask &= mask - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(mask);
        struct sta_sweep_crowd *crowd = &going->worker->crowds[s];
        settle_set(going->sweep, crowd, &state->sets[s], span->ts);
        size_t active = (size_t)state->sets[s].count + 1;
        if (active >= crowd->capacity)
            grow_crowd(crowd, active + 1);
        crowd->times[active] += time;
        state->sets[s].since = span->te;
    }
    uint32_t fresh = span->mask & ~state->mask;
    if (fresh == 0)
        return;
    settle_mask(going, span->ts);
    state->mask |= fresh;
    settle_mask(going, span->te);
    state->mask &= ~fresh;
}

/* Where starts and ends fall together starts go first, so that touching spans make one stretch. */
static void sweep_unit(const struct going *going, int64_t slice_end)
{
    struct sta_sweep_worker *worker = going->worker;
    const struct sta_span *span = worker->dealt + going->state->first;
    for (const struct sta_span *last = span + going->state->count; span < last; span++) {
        while (worker->ahead.count > 0 && worker->ahead.items[0].te < span->ts)
            span_ends(going, sta_ends_pop(&worker->ahead));
        int64_t next_start = span + 1 < last ? span[1].ts : slice_end;
        int64_t next_end = worker->ahead.count > 0 ? worker->ahead.items[0].te : INT64_MAX;
        if (span->te < next_start && span->te <= next_end) {
            pass_span(going, span);
            continue;
        }
        span_starts(going, span);
        if (span->te < slice_end)
            sta_ends_push(&worker->ahead, (struct sta_sweep_end){span->te, span->cell, span->mask});
    }
    while (worker->ahead.count > 0)
        span_ends(going, sta_ends_pop(&worker->ahead));
}

/* Accounts for what is active up to the slice's end. */
static void leave_unit(const struct going *going, int64_t slice_end)
{
    settle_mask(going, slice_end);
    for (uint32_t s = 0; s < going->sweep->options.sets; s++)
        settle_set(going->sweep, &going->worker->crowds[s], &going->state->sets[s], slice_end);
    put_times(going);
    going->worker->place[going->state->unit] = STA_SWEEP_NOWHERE;
}

void sta_sweep_measure(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct sta_sweep_worker *worker = &sweep->workers[number];
    for (uint32_t u = 0; u < worker->state_count; u++) {
        struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, u);
        struct going going = {sweep, worker, number, state, slice->number, state->since, slice->to};
        begin_unit(&going);
        sweep_unit(&going, slice->to);
        leave_unit(&going, slice->to);
    }
    atomic_store_explicit(&worker->bytes, sta_sweep_worker_bytes(sweep, worker), memory_order_relaxed);
}
