/* The steps of the sweep before it measures: which events leave the slice, and the state carried from slice
 * to slice. */
#include "analyse/intervals/sweep_private.h"

#include <string.h>

/* ---- prepare */

static int grow_places(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit,
                       struct sta_error *err)
{
    size_t before = worker->place_capacity;
    int rc = STA_ACCOUNT_GROW(sweep->account, worker->place, worker->place_capacity, (size_t)unit + 1,
                              STA_SWEEP_WHAT, err);
    if (rc == 0)
        memset(worker->place + before, 0xff, (worker->place_capacity - before) * sizeof *worker->place);
    return rc;
}

/* The state of a unit, which the slice thereby touches. */
static int touch(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit,
                 struct sta_sweep_unit **state, struct sta_error *err)
{
    int rc = unit >= worker->place_capacity ? grow_places(sweep, worker, unit, err) : 0;
    if (rc != 0)
        return rc;
    if (worker->place[unit] == STA_SWEEP_NOWHERE) {
        rc = STA_ACCOUNT_GROW(sweep->account, worker->states, worker->state_capacity, worker->state_count + 1,
                              STA_SWEEP_WHAT, err);
        if (rc != 0)
            return rc;
        worker->states[worker->state_count] =
            (struct sta_sweep_unit){.unit = unit, .arriving = STA_SWEEP_NOWHERE};
        worker->place[unit] = (uint32_t)worker->state_count++;
    }
    *state = &worker->states[worker->place[unit]];
    return 0;
}

/* Lists the ends beyond the slice, in the order of records. */
static int find_leaving(struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                        const struct sta_ordered_unit *unit, int64_t slice_end, struct sta_error *err)
{
    const size_t size = sta_sweep_record(sweep);
    const char *at = unit->records;
    int rc = 0;
    for (size_t i = 0; i < unit->count && rc == 0; i++, at += size) {
        const struct sta_sweep_record *record = (const struct sta_sweep_record *)(const void *)at;
        if (__builtin_expect(sta_sweep_is_short(record) && sta_sweep_short_te(record) <= slice_end, 1))
            continue;
        struct sta_sweep_end end = {
            .te = sta_sweep_te(sweep, record), .unit = unit->unit, .mask = sta_sweep_mask(sweep, record)};
        if (end.te > slice_end)
            rc = sta_ends_add(&worker->leaving, end, sweep->account, err);
    }
    return rc;
}

int sta_sweep_prepare(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct sta_sweep *sweep = self;
    struct sta_sweep_worker *worker = &sweep->workers[number];
    int rc = 0;
    for (size_t u = 0; u < worker->state_count; u++)
        worker->place[worker->states[u].unit] = STA_SWEEP_NOWHERE;
    worker->state_count = worker->leaving.count = worker->arriving.count = worker->leaving_next = 0;
    for (size_t u = 0; u < slice->unit_count && rc == 0; u++) {
        const struct sta_ordered_unit *unit = &slice->units[u];
        struct sta_sweep_unit *state;
        rc = touch(sweep, worker, unit->unit, &state, err);
        if (rc != 0)
            return rc;
        state->records = unit->records;
        state->count = unit->count;
        rc = find_leaving(sweep, worker, unit, slice->to, err);
    }
    return rc;
}

/* ---- carry: in turn */

static int add_arriving(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                        struct sta_sweep_end end, struct sta_error *err)
{
    struct sta_sweep_unit *state;
    int rc = touch(sweep, worker, end.unit, &state, err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(sweep->account, worker->next, worker->next_capacity, worker->arriving.count + 1,
                              STA_SWEEP_WHAT, err);
    if (rc != 0)
        return rc;
    worker->next[worker->arriving.count] = state->arriving;
    state->arriving = (uint32_t)worker->arriving.count;
    end.arriving = true;
    return sta_ends_add(&worker->arriving, end, sweep->account, err);
}

static int grow_units(struct sta_sweep *sweep, size_t need, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW_ZEROED(sweep->account, sweep->counts, sweep->count_capacity,
                                     need * sweep->options.sets, STA_SWEEP_WHAT, err);
    return rc == 0 ? STA_ACCOUNT_GROW_ZEROED(sweep->account, sweep->since, sweep->unit_capacity, need,
                                             STA_SWEEP_WHAT, err)
                   : rc;
}

/* Takes over the state of a unit as the earlier slices left it. */
static void take_unit(struct sta_sweep *sweep, struct sta_sweep_unit *state, int64_t slice_end)
{
    const uint32_t *counts = sweep->counts + (size_t)state->unit * sweep->options.sets;
    state->since = sweep->since[state->unit];
    for (uint32_t s = 0; s < sweep->options.sets; s++) {
        state->counts[s] = counts[s];
        state->mask |= (uint32_t)(counts[s] > 0) << s;
    }
    sweep->since[state->unit] = slice_end;
}

/* Adds +1 or -1 to the counts of an event's sets; unsigned arithmetic wraps as wanted. */
static void count_event(struct sta_sweep *sweep, const struct sta_sweep_end *end, uint32_t change)
{
    uint32_t *counts = sweep->counts + (size_t)end->unit * sweep->options.sets;
    for (uint32_t mask = end->mask; mask != 0; mask &= mask - 1)
        counts[__builtin_ctz(mask)] += change;
}

/* What ends beyond the slice gets a place for its start. */
static int name_leaving(struct sta_sweep *sweep, struct sta_sweep_worker *worker, struct sta_error *err)
{
    int rc = sta_sweep_grow_starts(sweep, &worker->left, worker->leaving.count, err);
    pthread_mutex_lock(&sweep->lock);
    for (size_t i = 0; i < worker->leaving.count && rc == 0; i++)
        rc = sta_sweep_new_start(sweep, &sweep->started, &worker->leaving.items[i].place, err);
    pthread_mutex_unlock(&sweep->lock);
    return rc;
}

static int exchange_ends(struct sta_sweep *sweep, struct sta_sweep_worker *worker, int64_t slice_end,
                         struct sta_error *err)
{
    const struct sta_budget *budget = sweep->options.budget;
    int rc = sweep->options.exposure ? name_leaving(sweep, worker, err) : 0;
    for (size_t i = 0; i < worker->leaving.count && rc == 0; i++) {
        rc = sta_ends_push(&sweep->pending, worker->leaving.items[i], sweep->account, err);
        if (rc == 0)
            rc = sta_budget_check_step(budget, i + 1, err);
    }
    while (rc == 0 && sweep->pending.count > 0 && sweep->pending.items[0].te <= slice_end) {
        rc = add_arriving(sweep, worker, sta_ends_pop(&sweep->pending), err);
        if (rc == 0)
            rc = sta_budget_check_step(budget, worker->arriving.count, err);
    }
    return rc;
}

int sta_sweep_carry(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct sta_sweep *sweep = self;
    struct sta_sweep_worker *worker = &sweep->workers[number];
    int rc = exchange_ends(sweep, worker, slice->to, err);
    if (rc == 0)
        rc = grow_units(sweep, worker->place_capacity, err);
    if (rc != 0)
        return rc;
    for (size_t u = 0; u < worker->state_count; u++)
        take_unit(sweep, &worker->states[u], slice->to);
    for (size_t i = 0; i < worker->arriving.count; i++)
        count_event(sweep, &worker->arriving.items[i], UINT32_MAX);
    for (size_t i = 0; i < worker->leaving.count; i++)
        count_event(sweep, &worker->leaving.items[i], 1);
    return 0;
}
