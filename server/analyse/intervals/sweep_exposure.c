/* How events lie in the time of other sets.
 *
 * DESIGN.  Of an event it is noted, for each set, how long that had been active in the unit when the event
 * began; at its end the difference is what of the event lies inside.  While a slice is measured the unit's
 * earlier time is not known yet, so within a slice that time counts from the slice's start; the start of what
 * leaves the slice and the end of what arrives are noted so, and `settle`, in the order of slices, adds what
 * the unit had before. */
#include "analyse/intervals/sweep_private.h"

#include <string.h>

/* ---- places */

int sta_sweep_grow_starts(const struct sta_sweep *sweep, struct sta_sweep_starts *starts, size_t count,
                          struct sta_error *err)
{
    if (count <= starts->capacity)
        return 0;
    size_t capacity = STA_MAX(count, starts->capacity * 2);
    char *items =
        sta_account_realloc(sweep->account, starts->items, capacity, sweep->start_size, STA_SWEEP_WHAT, err);
    if (items == NULL)
        return err->status;
    starts->items = items;
    starts->capacity = capacity;
    return 0;
}

int sta_sweep_new_start(const struct sta_sweep *sweep, struct sta_sweep_starts *starts, uint32_t *place,
                        struct sta_error *err)
{
    if (starts->free_count > 0) {
        *place = starts->free[--starts->free_count];
        return 0;
    }
    *place = (uint32_t)starts->count;
    int rc = sta_sweep_grow_starts(sweep, starts, starts->count + 1, err);
    starts->count += rc == 0;
    return rc;
}

int sta_sweep_free_start(const struct sta_sweep *sweep, struct sta_sweep_starts *starts, uint32_t place,
                         struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(sweep->account, starts->free, starts->free_capacity, starts->free_count + 1,
                              STA_SWEEP_WHAT, err);
    if (rc == 0)
        starts->free[starts->free_count++] = place;
    return rc;
}

void sta_sweep_fini_starts(const struct sta_sweep *sweep, struct sta_sweep_starts *starts)
{
    sta_account_free(sweep->account, starts->items);
    sta_account_free(sweep->account, starts->free);
}

/* ---- sums */

void sta_sweep_expose_row(struct sta_sweep_worker *worker, uint32_t sets, uint32_t mask, uint32_t hidden,
                          const struct sta_sweep_exposed *row)
{
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        for (uint32_t b = 0; b < sets; b++) {
            struct sta_sweep_exposed *pair = &worker->exposed[(uint32_t)__builtin_ctz(rest) * sets + b];
            const bool inside = hidden >> b & 1;
            pair->hidden += inside ? row->exposed : 0;
            pair->exposed += inside ? 0 : row->exposed;
            pair->time += row->time;
            pair->time_exposed += inside ? 0 : row->time;
            pair->size += row->size;
            pair->size_exposed += inside ? 0 : row->size;
        }
}

void sta_sweep_expose(struct sta_sweep_exposed *exposed, uint32_t sets, uint32_t mask, int64_t time,
                      const struct sta_sweep_weight *weight, const int64_t *inside)
{
    const __int128 size = sta_sweep_share(weight, time);
    for (uint32_t b = 0; b < sets; b++) {
        const int64_t outside = time - inside[b];
        const __int128 left = outside == time ? size : sta_sweep_share(weight, outside);
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            struct sta_sweep_exposed *pair = &exposed[(uint32_t)__builtin_ctz(rest) * sets + b];
            pair->hidden += outside == 0;
            pair->partial += inside[b] > 0 && outside > 0;
            pair->exposed += inside[b] == 0;
            pair->time += time;
            pair->time_exposed += outside;
            pair->size += size;
            pair->size_exposed += left;
        }
    }
}

/* Others have the rest of what reaches out of the range: only all parts together say how it lies. */
static int list_crossing(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                         const struct sta_sweep_crossing *crossing, const int64_t *inside,
                         struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(sweep->account, worker->crossings, worker->crossing_capacity,
                              worker->crossing_count + 1, STA_SWEEP_WHAT, err);
    if (rc != 0)
        return rc;
    struct sta_sweep_crossing *listed = &worker->crossings[worker->crossing_count++];
    *listed = *crossing;
    memcpy(listed->inside, inside, sweep->options.sets * sizeof *inside);
    return 0;
}

int sta_sweep_expose_end(const struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit,
                         const struct sta_sweep_end *end, const struct sta_sweep_start *start,
                         const int64_t *inside, struct sta_error *err)
{
    const struct sta_sweep_options *options = &sweep->options;
    const int64_t time = end->te - sta_sweep_cut(sweep, start->ts);
    if (start->ts < options->range_from || start->ts + start->weight.dur > options->range_to) {
        const struct sta_sweep_crossing crossing = {.unit = unit,
                                                    .mask = end->mask,
                                                    .ts = start->ts,
                                                    .weight = start->weight,
                                                    .begins = start->ts >= options->range_from,
                                                    .time = time};
        return list_crossing(sweep, worker, &crossing, inside, err);
    }
    sta_sweep_expose(worker->exposed, options->sets, end->mask, time, &start->weight, inside);
    return 0;
}

/* ---- settle: in turn */

/* Accounts for an event that began in an earlier slice. */
static int finish_end(struct sta_sweep *sweep, struct sta_sweep_worker *worker, size_t number,
                      struct sta_error *err)
{
    const uint32_t sets = sweep->options.sets;
    const struct sta_sweep_end *end = &worker->arriving.items[number];
    const int64_t *totals = sweep->totals + (size_t)end->unit * sets;
    const int64_t *arrived = worker->arrived + number * sets;
    const struct sta_sweep_start *start = sta_sweep_start_at(sweep, &sweep->started, end->place);
    int64_t inside[STA_SWEEP_SETS];
    for (uint32_t s = 0; s < sets; s++)
        inside[s] = totals[s] + arrived[s] - start->before[s];
    int rc = sta_sweep_expose_end(sweep, worker, end->unit, end, start, inside, err);
    return rc == 0 ? sta_sweep_free_start(sweep, &sweep->started, end->place, err) : rc;
}

static void finish_start(struct sta_sweep *sweep, const struct sta_sweep_worker *worker, size_t number)
{
    const uint32_t sets = sweep->options.sets;
    const struct sta_sweep_end *end = &worker->leaving.items[number];
    const int64_t *totals = sweep->totals + (size_t)end->unit * sets;
    struct sta_sweep_start *start = sta_sweep_start_at(sweep, &sweep->started, end->place);
    memcpy(start, sta_sweep_start_at(sweep, &worker->left, number), sweep->start_size);
    for (uint32_t s = 0; s < sets; s++)
        start->before[s] += totals[s];
}

int sta_sweep_finalize(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct sta_sweep *sweep = self;
    struct sta_sweep_worker *worker = &sweep->workers[number];
    const uint32_t sets = sweep->options.sets;
    pthread_mutex_lock(&sweep->lock);
    int rc = STA_ACCOUNT_GROW_ZEROED(sweep->account, sweep->totals, sweep->total_capacity,
                                     worker->place_capacity * sets, STA_SWEEP_WHAT, err);
    for (size_t i = 0; i < worker->arriving.count && rc == 0; i++)
        rc = finish_end(sweep, worker, i, err);
    for (size_t i = 0; i < worker->leaving.count && rc == 0; i++)
        finish_start(sweep, worker, i);
    for (size_t u = 0; u < worker->state_count && rc == 0; u++)
        for (uint32_t s = 0; s < sets; s++)
            sweep->totals[(size_t)worker->states[u].unit * sets + s] += worker->busy[u * sets + s];
    pthread_mutex_unlock(&sweep->lock);
    return rc;
}
