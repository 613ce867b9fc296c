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
    struct sta_sweep *sweep;
    struct sta_sweep_worker *worker;
    unsigned number; /* of the worker */
    struct sta_sweep_unit *state;
    size_t slice;
    int64_t begin, end; /* what of the unit's time the slice accounts for */
    int64_t *events;    /* by set: events that began */
};

/* Whether memory was refused, a listener failed, or nobody waits any more: then the pass is over, and sums do
 * not matter. */
static inline bool has_failed(const struct going *going)
{
    return __builtin_expect(going->worker->failure.status != 0, 0);
}

#define STEPS_OF_END 15 /* as long as so many others takes an end that comes from a heap of millions */

/* A slice cannot be cut within a moment, so there may be millions of events in it. */
static inline void check_budget(const struct going *going)
{
    struct sta_sweep_worker *worker = going->worker;
    int rc =
        sta_budget_check_work(going->sweep->options.budget, &worker->work, STEPS_OF_END, &worker->failure);
    STA_ASSERT(rc == 0 || has_failed(going));
}

/* ---- times of combinations */

/* The time of a combination, held back: the same few come again and again. */
static inline uint64_t *mask_time(const struct going *going, uint32_t mask)
{
    struct sta_sweep_recent *recent = &going->worker->recent;
    uint32_t slot = mask * UINT32_C(0x9e3779b1) >> (STA_SWEEP_MASK_BITS - STA_SWEEP_RECENT_BITS);
    if (__builtin_expect(recent->masks[slot] != mask, 0)) {
        sta_sweep_empty_slot(going->sweep, going->worker, going->state->unit, slot);
        recent->masks[slot] = mask;
        recent->used |= UINT64_C(1) << slot;
    }
    return &recent->times[slot];
}

/* ---- changes */

/* A mask as those who take intervals know it. */
static inline uint32_t translate(const struct sta_sweep_options *options, uint32_t mask)
{
    const uint16_t(*of)[256] = options->translation;
    return of == NULL ? mask
                      : (uint32_t)(of[0][mask & 255] | of[1][mask >> 8 & 255] | of[2][mask >> 16 & 255] |
                                   of[3][mask >> 24]);
}

/* Gives what the present combination lasted up to @at. */
static void give_interval(const struct going *going, int64_t at)
{
    const struct sta_sweep_options *options = &going->sweep->options;
    struct sta_sweep_unit *state = going->state;
    int64_t since = state->since;
    struct sta_sweep_interval interval = {.unit = state->unit,
                                          .mask = translate(options, state->mask),
                                          .from = sta_sweep_cut(going->sweep, since),
                                          .to = sta_sweep_cut(going->sweep, at),
                                          .slice = going->slice,
                                          .at_cut = since == going->begin || at == going->end};
    state->since = at;
    if (interval.from < interval.to && (interval.mask != 0 || options->idle) && !has_failed(going)) {
        int rc = options->take(options->context, going->number, &interval, &going->worker->failure);
        STA_ASSERT(rc == 0 || has_failed(going));
    }
}

static inline bool gives_at(const struct sta_sweep_options *options, uint32_t before, uint32_t mask)
{
    if (options->take == NULL)
        return false;
    before = translate(options, before);
    mask = translate(options, mask);
    return options->classes == NULL ? before != mask : options->classes[before] != options->classes[mask];
}

static inline void change_mask(const struct going *going, uint32_t mask, int64_t at, bool weighed)
{
    struct sta_sweep_unit *state = going->state;
    if (mask == state->mask)
        return;
    *mask_time(going, state->mask) += (uint64_t)at;
    *mask_time(going, mask) -= (uint64_t)at;
    for (uint32_t rest = weighed ? mask ^ state->mask : 0; rest != 0; rest &= rest - 1)
        going->worker->covered[__builtin_ctz(rest)] += mask & rest & -rest ? -at : at;
    if (gives_at(&going->sweep->options, state->mask, mask))
        give_interval(going, at);
    state->mask = mask;
}

/* The times of a set by number of active events, with space for up to @count.  NULL: refused. */
static inline __int128 *concurrency_times(const struct going *going, uint32_t set, size_t count)
{
    struct sta_sweep_concurrency *concurrency = &going->worker->concurrency[set];
    int rc = STA_ACCOUNT_GROW_ZEROED(going->sweep->account, concurrency->times, concurrency->count, count + 1,
                                     STA_SWEEP_WHAT, &going->worker->failure);
    return rc == 0 ? concurrency->times : NULL;
}

static inline bool is_one_hot(const struct going *going)
{
    return going->sweep->options.one_hot;
}

static inline bool finds_concurrency(const struct going *going)
{
    return going->sweep->options.concurrency;
}

static inline void event_starts(const struct going *going, uint32_t mask, int64_t at, bool weighed)
{
    uint32_t *counts = going->state->counts;
    if (is_one_hot(going)) {
        const uint32_t s = (uint32_t)__builtin_ctz(mask);
        going->events[s]++;
        if (counts[s]++ == 0)
            change_mask(going, going->state->mask | mask, at, weighed);
        return;
    }
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        going->events[s]++;
        if (finds_concurrency(going)) {
            __int128 *times = concurrency_times(going, s, (size_t)counts[s] + 1);
            if (__builtin_expect(times == NULL, 0))
                return;
            times[counts[s]] += at;
            times[counts[s] + 1] -= at;
        }
        counts[s]++;
    }
    change_mask(going, going->state->mask | mask, at, weighed);
}

static inline void event_ends(const struct going *going, uint32_t mask, int64_t at, bool weighed)
{
    uint32_t *counts = going->state->counts;
    uint32_t gone = 0;
    if (is_one_hot(going)) {
        if (--counts[__builtin_ctz(mask)] == 0)
            change_mask(going, going->state->mask & ~mask, at, weighed);
        return;
    }
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        if (finds_concurrency(going)) {
            __int128 *times = going->worker->concurrency[s].times;
            times[counts[s]] += at;
            times[counts[s] - 1] -= at;
        }
        counts[s]--;
        gone |= (uint32_t)(counts[s] == 0) << s;
    }
    change_mask(going, going->state->mask & ~gone, at, weighed);
}

/* Events of the same sets have been active for @time in all, one after another; nothing else changed. */
static inline void events_passed(const struct going *going, uint32_t mask, int64_t count, uint64_t time)
{
    const struct sta_sweep_unit *state = going->state;
    if (is_one_hot(going))
        going->events[__builtin_ctz(mask)] += count;
    for (uint32_t rest = is_one_hot(going) ? 0 : mask; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        going->events[s] += count;
        if (!finds_concurrency(going))
            continue;
        __int128 *times = concurrency_times(going, s, (size_t)state->counts[s] + 1);
        if (__builtin_expect(times == NULL, 0))
            return;
        times[state->counts[s]] -= time;
        times[state->counts[s] + 1] += time;
    }
    *mask_time(going, state->mask) -= time;
    *mask_time(going, state->mask | mask) += time;
}

/* ---- ends that are ahead */

static inline void put_end(const struct going *going, struct sta_sweep_end end)
{
    struct sta_sweep_worker *worker = going->worker;
    struct sta_sweep_ends *nested = &worker->nested;
    const bool inside = nested->count == 0 || end.te <= nested->items[nested->count - 1].te;
    int rc = inside ? sta_ends_add(nested, end, going->sweep->account, &worker->failure)
                    : sta_ends_push(&worker->others, end, going->sweep->account, &worker->failure);
    STA_ASSERT(rc == 0 || has_failed(going));
}

/* ---- exposure */

/* By set: how long it has been active in the unit, from the slice's beginning to @at. */
static void covered_at(const struct going *going, int64_t at, int64_t *covered)
{
    for (uint32_t s = 0; s < going->sweep->options.sets; s++)
        covered[s] = going->worker->covered[s] + (going->state->mask >> s & 1 ? at : 0);
}

/* @cut: its beginning, cut to the window. */
static void note_start(const struct going *going, struct sta_sweep_starts *starts, size_t place, int64_t cut,
                       const struct sta_sweep_weighed *event)
{
    struct sta_sweep_start *start = sta_sweep_start_at(going->sweep, starts, place);
    start->ts = event->record.ts;
    start->weight = event->weight;
    covered_at(going, cut, start->before);
}

static void expose_end(const struct going *going, const struct sta_sweep_end *end)
{
    struct sta_sweep_worker *worker = going->worker;
    const uint32_t sets = going->sweep->options.sets;
    int64_t inside[STA_SWEEP_SETS];
    if (end->arriving) {
        covered_at(going, end->te, worker->arrived + end->place * sets);
        return;
    }
    const struct sta_sweep_start *start = sta_sweep_start_at(going->sweep, &worker->open, end->place);
    covered_at(going, end->te, inside);
    for (uint32_t s = 0; s < sets; s++)
        inside[s] -= start->before[s];
    int rc =
        sta_sweep_expose_end(going->sweep, worker, going->state->unit, end, start, inside, &worker->failure);
    if (rc == 0)
        rc = sta_sweep_free_start(going->sweep, &worker->open, end->place, &worker->failure);
    STA_ASSERT(rc == 0 || has_failed(going));
}

/* ---- a unit */

static void begin_concurrency(const struct going *going, int64_t since)
{
    const struct sta_sweep_unit *state = going->state;
    for (uint32_t s = 0; s < going->sweep->options.sets; s++) {
        __int128 *times = concurrency_times(going, s, state->counts[s]);
        if (times == NULL)
            return;
        times[state->counts[s]] -= since;
    }
}

static void begin_unit(const struct going *going)
{
    struct sta_sweep_worker *worker = going->worker;
    const struct sta_sweep_unit *state = going->state;
    const int64_t since = sta_sweep_cut(going->sweep, state->since);
    *mask_time(going, state->mask) -= (uint64_t)since;
    if (finds_concurrency(going))
        begin_concurrency(going, since);
    for (uint32_t s = 0; s < going->sweep->options.sets && going->sweep->options.exposure; s++)
        worker->covered[s] = state->mask >> s & 1 ? -since : 0;
    for (uint32_t i = state->arriving; i != STA_SWEEP_NOWHERE && !has_failed(going); i = worker->next[i]) {
        struct sta_sweep_end end = worker->arriving.items[i];
        end.place = i;
        put_end(going, end);
    }
}

/* Whether an interval ends where an event begins that is not of a set that is active. */
static inline bool ends_interval(const struct going *going, uint32_t mask)
{
    const uint32_t before = going->state->mask;
    return (mask & ~before) != 0 && gives_at(&going->sweep->options, before, before | mask);
}

static inline const struct sta_sweep_record *record_at(const char *at)
{
    return (const struct sta_sweep_record *)(const void *)at;
}

static inline const struct sta_sweep_weighed *weighed_at(const char *at)
{
    return (const struct sta_sweep_weighed *)(const void *)at;
}

/* Whether how it lies is known once it has ended here. */
static inline bool lies_in_range(const struct sta_sweep *sweep, const struct sta_sweep_weighed *event)
{
    return event->record.ts >= sweep->options.range_from &&
           event->record.ts + event->weight.dur <= sweep->options.range_to;
}

/* Passes a row of events of the same sets, each of which ends by @until, when something else changes, and
 * before the next one of the row begins.
 * Return: the next event. */
static inline const char *pass_row(const struct going *going, const char *at, const char *last, int64_t until,
                                   bool weighed)
{
    const size_t size = weighed ? sizeof(struct sta_sweep_weighed) : sizeof(struct sta_sweep_record);
    const uint32_t mask = sta_sweep_mask(going->sweep, record_at(at)), code = sta_sweep_code(record_at(at));
    const int64_t from = going->sweep->options.from;
    int64_t count = 0;
    uint64_t time = 0;
    __int128 bytes = 0;
    for (; at < last; at += size, count++) {
        const struct sta_sweep_record *record = record_at(at);
        int64_t te = sta_sweep_short_te(record);
        if (sta_sweep_kind(record) != code || te > until || te > record_at(at + size)->ts ||
            (weighed && !lies_in_range(going->sweep, weighed_at(at))))
            break;
        int64_t part = te - STA_MAX(record->ts, from);
        time += (uint64_t)part;
        if (weighed)
            bytes += sta_sweep_share(&weighed_at(at)->weight, part);
    }
    events_passed(going, mask, count, time);
    for (uint32_t fresh = weighed ? mask & ~going->state->mask : 0; fresh != 0; fresh &= fresh - 1)
        going->worker->covered[__builtin_ctz(fresh)] += (int64_t)time;
    if (weighed) {
        struct sta_sweep_exposed row = {.exposed = count, .time = (int64_t)time, .size = bytes};
        sta_sweep_expose_row(going->worker, going->sweep->options.sets, mask, going->state->mask | mask,
                             &row);
    }
    return at;
}

/* Passes an event in which nothing else changes, and whose interval is given. */
static inline void pass_given(const struct going *going, int64_t ts, int64_t te, uint32_t mask)
{
    struct sta_sweep_unit *state = going->state;
    const uint32_t before = state->mask;
    give_interval(going, ts);
    events_passed(going, mask, 1, (uint64_t)(te - ts));
    state->mask = before | mask;
    give_interval(going, te);
    state->mask = before;
}

static inline void end_next(const struct going *going, bool weighed)
{
    struct sta_sweep_end end = sta_sweep_take_end(going->worker);
    check_budget(going);
    if (weighed)
        expose_end(going, &end);
    event_ends(going, end.mask, end.te, weighed);
}

/* An event that something may happen beside. */
static inline void start_event(const struct going *going, const char *at, int64_t ts, int64_t te,
                               bool weighed)
{
    struct sta_sweep_worker *worker = going->worker;
    struct sta_sweep_end end = {.te = te, .mask = sta_sweep_mask(going->sweep, record_at(at))};
    const bool leaves = te > going->end;
    check_budget(going);
    if (weighed && leaves) {
        note_start(going, &worker->left, worker->leaving_next++, ts, weighed_at(at));
    } else if (weighed) {
        if (sta_sweep_new_start(going->sweep, &worker->open, &end.place, &worker->failure) != 0)
            return;
        note_start(going, &worker->open, end.place, ts, weighed_at(at));
    }
    event_starts(going, end.mask, ts, weighed);
    if (!leaves)
        put_end(going, end);
}

static inline void sweep_records(const struct going *going, bool weighed)
{
    const size_t size = weighed ? sizeof(struct sta_sweep_weighed) : sizeof(struct sta_sweep_record);
    const struct sta_sweep *sweep = going->sweep;
    struct sta_sweep_worker *worker = going->worker;
    const char *at = going->state->records;
    const char *last = at + (going->state->count - 1) * size;
    while (at <= last && !has_failed(going)) {
        const struct sta_sweep_record *record = record_at(at);
        int64_t ts = STA_MAX(record->ts, going->sweep->options.from);
        int64_t te = sta_sweep_te(going->sweep, record);
        int64_t until = sta_sweep_next_end(worker);
        for (; until <= ts && !has_failed(going); until = sta_sweep_next_end(worker))
            end_next(going, weighed);
        const bool alone = at < last && te <= STA_MIN(record_at(at + size)->ts, until) &&
                           sta_sweep_is_short(record) && (!weighed || lies_in_range(sweep, weighed_at(at)));
        if (alone && !ends_interval(going, sta_sweep_mask(sweep, record))) {
            at = pass_row(going, at, last, until, weighed);
            continue;
        }
        if (alone && !weighed && !has_failed(going)) {
            pass_given(going, ts, te, sta_sweep_mask(sweep, record));
            at += size;
            continue;
        }
        start_event(going, at, ts, te, weighed);
        at += size;
    }
}

static inline void sweep_unit(const struct going *going, bool weighed)
{
    struct sta_sweep_worker *worker = going->worker;
    worker->open.count = worker->open.free_count = 0;
    if (going->state->count > 0)
        sweep_records(going, weighed);
    while (worker->nested.count + worker->others.count > 0 && !has_failed(going))
        end_next(going, weighed);
}

/* Accounts for what is active up to the slice's end.  @busy: NULL without exposure. */
static void leave_unit(const struct going *going, int64_t *busy)
{
    const struct sta_sweep_unit *state = going->state;
    int64_t end = sta_sweep_cut(going->sweep, going->end);
    *mask_time(going, state->mask) += (uint64_t)end;
    for (uint32_t s = 0; s < going->sweep->options.sets && finds_concurrency(going); s++)
        going->worker->concurrency[s].times[state->counts[s]] += end;
    if (busy != NULL)
        covered_at(going, end, busy);
    if (going->sweep->options.take != NULL)
        give_interval(going, going->end);
    sta_sweep_put_times(going->sweep, going->worker, state->unit);
}

static int64_t *events_of(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit)
{
    const size_t sets = sweep->options.sets;
    int rc = STA_ACCOUNT_GROW_ZEROED(sweep->account, worker->events, worker->event_capacity,
                                     ((size_t)unit + 1) * sets, STA_SWEEP_WHAT, &worker->failure);
    return rc == 0 ? worker->events + unit * sets : NULL;
}

static void measure_unit(struct going *going, int64_t *busy)
{
    going->events = events_of(going->sweep, going->worker, going->state->unit);
    if (!has_failed(going))
        begin_unit(going);
    if (has_failed(going))
        return;
    if (going->sweep->options.exposure)
        sweep_unit(going, true);
    else
        sweep_unit(going, false);
    if (!has_failed(going))
        leave_unit(going, busy);
}

/* Space for what `settle` takes. */
static int grow_noted(const struct sta_sweep *sweep, struct sta_sweep_worker *worker)
{
    const uint32_t sets = sweep->options.sets;
    int rc = STA_ACCOUNT_GROW(sweep->account, worker->arrived, worker->arrived_capacity,
                              worker->arriving.count * sets, STA_SWEEP_WHAT, &worker->failure);
    return rc == 0 ? STA_ACCOUNT_GROW(sweep->account, worker->busy, worker->busy_capacity,
                                      worker->state_count * sets, STA_SWEEP_WHAT, &worker->failure)
                   : rc;
}

int sta_sweep_measure(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct sta_sweep *sweep = self;
    struct sta_sweep_worker *worker = &sweep->workers[number];
    const bool exposure = sweep->options.exposure;
    worker->failure = (struct sta_error)STA_ERROR_INIT;
    int rc = exposure ? grow_noted(sweep, worker) : 0;
    for (size_t u = 0; u < worker->state_count && rc == 0; u++) {
        struct going going = {.sweep = sweep,
                              .worker = worker,
                              .number = number,
                              .state = &worker->states[u],
                              .slice = slice->number,
                              .begin = worker->states[u].since,
                              .end = slice->to};
        measure_unit(&going, exposure ? worker->busy + u * sweep->options.sets : NULL);
        rc = worker->failure.status;
    }
    if (rc != 0)
        *err = worker->failure;
    return rc;
}
