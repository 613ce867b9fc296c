/* The sweep of a slice: each of its units alone, through starts and ends in order.
 *
 * DESIGN.  How long something was so is the sum of the moments at which it ceased to be so, less the sum of
 * those at which it began: a change from k to k + 1 adds its moment to what k has and takes it from what k +
 * 1 has, and nothing need be known of the change before.  These sums wrap around, and come back.  Most calls
 * are the innermost ones, one after another, with nothing else between: a row of them adds only its time. */
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
    int64_t *events;    /* by set: spans that began */
};

/* ---- times of combinations */

static void add_cell(struct sta_sweep_worker *worker, uint32_t unit, uint32_t mask, uint64_t time)
{
    bool added;
    uint64_t key = (uint64_t)unit << STA_SWEEP_SETS | mask;
    uint32_t cell = sta_map_intern(&worker->cells_by_key, key, (uint32_t)worker->cell_count, &added);
    if (added) {
        STA_GROW(worker->cells, worker->cell_capacity, worker->cell_count + 1);
        worker->cells[worker->cell_count++] = (struct sta_sweep_cell){unit, mask, 0};
    }
    worker->cells[cell].time = (int64_t)((uint64_t)worker->cells[cell].time + time);
}

static void empty_slot(const struct going *going, uint32_t slot)
{
    struct sta_sweep_recent *recent = &going->worker->recent;
    if (recent->masks[slot] != 0)
        add_cell(going->worker, going->state->unit, recent->masks[slot], recent->times[slot]);
    recent->masks[slot] = 0;
    recent->times[slot] = 0;
}

/* The time of a combination, held back: the same few come again and again. */
static inline uint64_t *mask_time(const struct going *going, uint32_t mask)
{
    struct sta_sweep_recent *recent = &going->worker->recent;
    uint32_t slot = mask % STA_SWEEP_RECENT;
    if (__builtin_expect(recent->masks[slot] != mask, 0)) {
        empty_slot(going, slot);
        recent->masks[slot] = mask;
        recent->used |= UINT64_C(1) << slot;
    }
    return &recent->times[slot];
}

static void put_times(const struct going *going)
{
    struct sta_sweep_recent *recent = &going->worker->recent;
    for (; recent->used != 0; recent->used &= recent->used - 1)
        empty_slot(going, (uint32_t)__builtin_ctzll(recent->used));
}

/* ---- changes */

/* Gives what the present combination lasted up to @at. */
static void give_stretch(const struct going *going, int64_t at)
{
    const struct sta_sweep_options *options = &going->sweep->options;
    struct sta_sweep_unit *state = going->state;
    int64_t since = state->since;
    struct sta_sweep_stretch stretch = {.unit = state->unit,
                                        .mask = state->mask,
                                        .from = sta_sweep_cut(going->sweep, since),
                                        .to = sta_sweep_cut(going->sweep, at),
                                        .slice = going->slice,
                                        .at_cut = since == going->begin || at == going->end};
    state->since = at;
    if (stretch.from < stretch.to && (stretch.mask != 0 || options->idle))
        options->take(options->context, going->number, &stretch);
}

static inline void change_mask(const struct going *going, uint32_t mask, int64_t at)
{
    struct sta_sweep_unit *state = going->state;
    if (mask == state->mask)
        return;
    *mask_time(going, state->mask) += (uint64_t)at;
    *mask_time(going, mask) -= (uint64_t)at;
    if (going->sweep->options.take != NULL)
        give_stretch(going, at);
    state->mask = mask;
}

/* The times of a set by number of active spans, with room for up to @count. */
static inline uint64_t *crowd_times(const struct going *going, uint32_t set, size_t count)
{
    struct sta_sweep_crowd *crowd = &going->worker->crowds[set];
    size_t before = crowd->capacity;
    if (__builtin_expect(count >= before, 0)) {
        STA_GROW(crowd->times, crowd->capacity, count + 1);
        memset(crowd->times + before, 0, (crowd->capacity - before) * sizeof *crowd->times);
    }
    return crowd->times;
}

static inline void span_starts(const struct going *going, uint32_t mask, int64_t at)
{
    uint32_t *counts = going->state->counts;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        going->events[s]++;
        uint64_t *times = crowd_times(going, s, (size_t)counts[s] + 1);
        times[counts[s]] += (uint64_t)at;
        times[++counts[s]] -= (uint64_t)at;
    }
    change_mask(going, going->state->mask | mask, at);
}

static inline void span_ends(const struct going *going, uint32_t mask, int64_t at)
{
    uint32_t *counts = going->state->counts;
    uint32_t gone = 0;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        uint64_t *times = going->worker->crowds[s].times;
        times[counts[s]] += (uint64_t)at;
        times[--counts[s]] -= (uint64_t)at;
        gone |= (uint32_t)(counts[s] == 0) << s;
    }
    change_mask(going, going->state->mask & ~gone, at);
}

/* Spans of the same sets have been active for @time in all, one after another, while nothing else changed. */
static inline void spans_passed(const struct going *going, uint32_t mask, int64_t count, uint64_t time)
{
    const struct sta_sweep_unit *state = going->state;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        going->events[s] += count;
        uint64_t *times = crowd_times(going, s, (size_t)state->counts[s] + 1);
        times[state->counts[s]] -= time;
        times[state->counts[s] + 1] += time;
    }
    *mask_time(going, state->mask) -= time;
    *mask_time(going, state->mask | mask) += time;
}

/* ---- ends that are ahead */

static inline int64_t next_end(const struct sta_sweep_worker *worker)
{
    const struct sta_sweep_ends *nested = &worker->nested;
    const struct sta_sweep_ends *others = &worker->others;
    int64_t next = nested->count > 0 ? nested->items[nested->count - 1].te : INT64_MAX;
    return others->count > 0 ? STA_MIN(next, others->items[0].te) : next;
}

static inline void put_end(struct sta_sweep_worker *worker, struct sta_packed_end end)
{
    const struct sta_sweep_ends *nested = &worker->nested;
    if (nested->count == 0 || end.te <= nested->items[nested->count - 1].te)
        sta_ends_add(&worker->nested, end);
    else
        sta_ends_push(&worker->others, end);
}

/* There is one. */
static inline struct sta_packed_end take_end(struct sta_sweep_worker *worker)
{
    struct sta_sweep_ends *nested = &worker->nested;
    const struct sta_sweep_ends *others = &worker->others;
    if (nested->count == 0 ||
        (others->count > 0 && others->items[0].te < nested->items[nested->count - 1].te))
        return sta_ends_pop(&worker->others);
    return nested->items[--nested->count];
}

/* ---- a unit */

static void begin_unit(const struct going *going)
{
    struct sta_sweep_worker *worker = going->worker;
    const struct sta_sweep_unit *state = going->state;
    uint64_t since = (uint64_t)sta_sweep_cut(going->sweep, state->since);
    *mask_time(going, state->mask) -= since;
    for (uint32_t s = 0; s < going->sweep->options.sets; s++)
        crowd_times(going, s, state->counts[s])[state->counts[s]] -= since;
    for (uint32_t i = state->arriving; i != STA_SWEEP_NOWHERE; i = worker->next[i])
        put_end(worker, worker->arriving.items[i]);
}

/* Whether somebody is told of each change that a span makes. */
static inline bool tells(const struct going *going, uint32_t mask)
{
    return going->sweep->options.take != NULL && (mask & ~going->state->mask) != 0;
}

/* Passes a row of spans of the same sets, each of which ends by @until, when something else changes, and
 * before the next one of the row begins.
 * Return: the next span. */
static inline const struct sta_packed_span *pass_row(const struct going *going,
                                                     const struct sta_packed_span *span,
                                                     const struct sta_packed_span *last, int64_t until)
{
    const struct sta_packed_span *first = span;
    const uint32_t mask = first->mask;
    const int64_t from = going->sweep->options.from;
    uint64_t time = 0;
    for (; span < last && span->mask == mask; span++) {
        int64_t te = span->ts + span->length;
        if (te > until || te > span[1].ts)
            break;
        time += (uint64_t)(te - STA_MAX(span->ts, from));
    }
    spans_passed(going, mask, span - first, time);
    return span;
}

static inline void end_next(const struct going *going)
{
    struct sta_packed_end end = take_end(going->worker);
    span_ends(going, end.mask, end.te);
}

static void sweep_part(const struct going *going, const struct sta_sweep_part *part)
{
    struct sta_sweep_worker *worker = going->worker;
    const struct sta_packed_span *span = part->spans;
    const struct sta_packed_span *last = span + part->count - 1;
    while (span <= last) {
        int64_t ts = STA_MAX(span->ts, going->sweep->options.from);
        int64_t te = span->ts + span->length;
        uint32_t mask = span->mask & ~STA_PACKED_APART;
        int64_t until = next_end(worker);
        for (; until <= ts; until = next_end(worker))
            end_next(going);
        if (span < last && mask == span->mask && te <= STA_MIN(span[1].ts, until) && !tells(going, mask)) {
            span = pass_row(going, span, last, until);
            continue;
        }
        span_starts(going, mask, ts);
        if (mask == span->mask)
            put_end(worker, (struct sta_packed_end){te, going->state->unit, mask});
        span++;
    }
}

static void sweep_unit(const struct going *going)
{
    const struct sta_sweep_worker *worker = going->worker;
    for (uint32_t p = going->state->first; p != STA_SWEEP_NOWHERE; p = worker->parts[p].next)
        sweep_part(going, &worker->parts[p]);
    while (worker->nested.count + worker->others.count > 0)
        end_next(going);
}

/* Accounts for what is active up to the slice's end. */
static void leave_unit(const struct going *going)
{
    const struct sta_sweep_unit *state = going->state;
    uint64_t end = (uint64_t)sta_sweep_cut(going->sweep, going->end);
    *mask_time(going, state->mask) += end;
    for (uint32_t s = 0; s < going->sweep->options.sets; s++)
        going->worker->crowds[s].times[state->counts[s]] += end;
    if (going->sweep->options.take != NULL)
        give_stretch(going, going->end);
    put_times(going);
    going->worker->place[state->unit] = STA_SWEEP_NOWHERE;
}

static int64_t *events_of(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit)
{
    size_t sets = sweep->options.sets, before = worker->event_capacity;
    STA_GROW(worker->events, worker->event_capacity, ((size_t)unit + 1) * sets);
    if (worker->event_capacity > before)
        memset(worker->events + before, 0, (worker->event_capacity - before) * sizeof *worker->events);
    return worker->events + unit * sets;
}

void sta_sweep_measure(struct sta_sweep *sweep, unsigned number, const struct sta_slice *slice)
{
    struct sta_sweep_worker *worker = &sweep->workers[number];
    for (uint32_t u = 0; u < worker->state_count; u++) {
        struct sta_sweep_unit *state = sta_sweep_unit_at(sweep, worker, u);
        struct going going = {.sweep = sweep,
                              .worker = worker,
                              .number = number,
                              .state = state,
                              .slice = slice->number,
                              .begin = state->since,
                              .end = slice->to,
                              .events = events_of(sweep, worker, state->unit)};
        begin_unit(&going);
        sweep_unit(&going);
        leave_unit(&going);
    }
    atomic_store_explicit(&worker->bytes, sta_sweep_worker_bytes(sweep, worker), memory_order_relaxed);
}
