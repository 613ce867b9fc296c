/* The sweep: starts and ends of a slice, unit by unit, on the state that earlier slices leave.
 *
 * DESIGN.  The state at a slice's start is small: of each unit and set how many events are active, and the
 * ends of those that are.  Events that end beyond their slice wait in one heap for the slice in which they
 * end.  `prepare` finds those that leave the slice.  `carry`, in the order of slices, takes from the heap
 * what ends here, copies the counts of the units that the slice touches, and leaves the counts at its end.
 * `measure` then goes through each unit alone, with the ends that are ahead.  What must run in order thus
 * costs some steps per event that crosses a cut and per unit of the slice.
 *
 * A unit that a slice does not touch stays as it is, and is accounted for by the next slice that touches it:
 * `since` says from when.  Times are cut to the window when they are measured; the order of events stays that
 * of their real times. */
#include "analyse/intervals/sweep_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- start and end */

struct sta_sweep *sta_sweep_create(const struct sta_sweep_options *options)
{
    STA_ASSERT(options->sets >= 1 &&
               options->sets <= (options->one_hot ? STA_SWEEP_MASK_BITS : STA_SWEEP_SETS));
    STA_ASSERT(!options->one_hot || !(options->exposure || options->concurrency));
    struct sta_sweep *sweep = sta_alloc(sizeof *sweep);
    sweep->options = *options;
    sweep->account = options->budget->account;
    sweep->start_size = sizeof(struct sta_sweep_start) + options->sets * sizeof(int64_t);
    sweep->worker_count = sta_budget_workers(options->budget);
    sweep->workers = sta_alloc_array(sweep->worker_count, sizeof *sweep->workers);
    pthread_mutex_init(&sweep->lock, NULL);
    return sweep;
}

static void worker_fini(const struct sta_sweep *sweep, struct sta_sweep_worker *worker)
{
    void *const all[] = {worker->place,        worker->states,         worker->leaving.items,
                         worker->next,         worker->arriving.items, worker->nested.items,
                         worker->others.items, worker->events,         worker->cells,
                         worker->arrived,      worker->busy,           worker->crossings};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(sweep->account, all[i]);
    for (uint32_t s = 0; s < STA_SWEEP_SETS; s++)
        sta_account_free(sweep->account, worker->concurrency[s].times);
    sta_sweep_fini_starts(sweep, &worker->open);
    sta_sweep_fini_starts(sweep, &worker->left);
    sta_map_fini(&worker->cells_by_key);
    sta_account_release(sweep->account, worker->map_bytes);
}

void sta_sweep_destroy(struct sta_sweep *sweep)
{
    if (sweep == NULL)
        return;
    for (unsigned w = 0; w < sweep->worker_count; w++)
        worker_fini(sweep, &sweep->workers[w]);
    free(sweep->workers);
    void *const all[] = {sweep->pending.items, sweep->counts, sweep->since, sweep->longs, sweep->totals};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(sweep->account, all[i]);
    sta_sweep_fini_starts(sweep, &sweep->started);
    pthread_mutex_destroy(&sweep->lock);
    free(sweep);
}

/* ---- records */

int64_t sta_sweep_long_end(struct sta_sweep *sweep, const struct sta_sweep_record *record)
{
    pthread_mutex_lock(&sweep->lock);
    int64_t te = sweep->longs[record->packed >> STA_SWEEP_LENGTH];
    pthread_mutex_unlock(&sweep->lock);
    return te;
}

static int put_long(struct sta_sweep *sweep, int64_t te, uint64_t *place, struct sta_error *err)
{
    pthread_mutex_lock(&sweep->lock);
    int rc = STA_ACCOUNT_GROW(sweep->account, sweep->longs, sweep->long_capacity, sweep->long_count + 1,
                              STA_SWEEP_WHAT, err);
    *place = sweep->long_count;
    if (rc == 0)
        sweep->longs[sweep->long_count++] = te;
    pthread_mutex_unlock(&sweep->lock);
    return rc;
}

/* Inlined for each size of records. */
static inline int put_records(struct sta_sweep *sweep, const struct sta_sweep_events *events,
                              const struct sta_ordered_part *part, bool weighed, struct sta_error *err)
{
    const struct sta_sweep_events from = *events;
    const struct sta_ordered_part to_fill = *part;
    const size_t size = weighed ? sizeof(struct sta_sweep_weighed) : sizeof(struct sta_sweep_record);
    const int64_t to = sweep->options.to;
    const bool one_hot = sweep->options.one_hot;
    for (uint32_t i = to_fill.first; i < to_fill.end; i++) {
        const uint32_t row = from.rows.rows[i];
        const int64_t ts = from.rows.ts[row];
        const int64_t length = STA_MIN(ts + from.dur[row], to) - ts;
        uint64_t packed = (uint64_t)length;
        if (__builtin_expect(length > STA_SWEEP_LONGEST, 0)) {
            int rc = put_long(sweep, ts + length, &packed, err);
            if (rc != 0)
                return rc;
        }
        packed = packed << STA_SWEEP_LENGTH |
                 (one_hot ? (uint32_t)__builtin_ctz(from.masks[row]) : from.masks[row]);
        packed |= length > STA_SWEEP_LONGEST ? STA_SWEEP_LONG : 0;
        struct sta_sweep_weighed *record =
            (struct sta_sweep_weighed *)(void *)((char *)to_fill.records +
                                                 to_fill.next[from.rows.units[row]]++ * size);
        record->record = (struct sta_sweep_record){ts, packed};
        if (weighed)
            record->weight = (struct sta_sweep_weight){from.sizes[row], from.dur[row]};
    }
    return 0;
}

static int take(void *self, unsigned worker, const void *rows, struct sta_ordered_out *out,
                struct sta_error *err)
{
    struct sta_sweep *sweep = self;
    struct sta_sweep_events events;
    struct sta_ordered_part part = {0};
    int rc = sweep->options.read(sweep->options.reader, worker, rows, &events, err);
    if (rc == 0)
        rc = sta_ordered_place(out, &events.rows, &part, err);
    while (rc == 0 && part.first < part.end) {
        rc = sweep->options.exposure ? put_records(sweep, &events, &part, true, err)
                                     : put_records(sweep, &events, &part, false, err);
        if (rc == 0)
            rc = sta_ordered_place(out, &events.rows, &part, err);
    }
    return rc;
}

struct sta_ordered_consumer sta_sweep_consumer(struct sta_sweep *sweep)
{
    return (struct sta_ordered_consumer){.self = sweep,
                                         .record = sta_sweep_record(sweep),
                                         .take = take,
                                         .prepare = sta_sweep_prepare,
                                         .carry = sta_sweep_carry,
                                         .measure = sta_sweep_measure,
                                         .finalize = sweep->options.exposure ? sta_sweep_finalize : NULL};
}

/* ---- results */

struct sta_sweep_found sta_sweep_found(const struct sta_sweep *sweep, unsigned number)
{
    struct sta_sweep_worker *worker = &sweep->workers[number];
    struct sta_sweep_found found = {.cells = worker->cells,
                                    .cell_count = worker->cell_count,
                                    .events = worker->events,
                                    .units = (uint32_t)(worker->event_capacity / sweep->options.sets),
                                    .exposed = sweep->options.exposure ? worker->exposed : NULL,
                                    .crossings = worker->crossings,
                                    .crossing_count = worker->crossing_count};
    memcpy(found.concurrency, worker->concurrency, sizeof found.concurrency);
    return found;
}

int64_t sta_sweep_swept(const struct sta_sweep *sweep, uint32_t unit)
{
    return unit < sweep->unit_capacity ? sweep->since[unit] : 0;
}

/* ---- how long each combination of sets was active in each unit */

static void count_map(struct sta_sweep *sweep, struct sta_sweep_worker *worker)
{
    size_t bytes = worker->cells_by_key.capacity * (sizeof(uint64_t) + sizeof(uint32_t));
    sta_account_overdraw(sweep->account, bytes - worker->map_bytes);
    worker->map_bytes = bytes;
}

static void add_cell(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit, uint32_t mask,
                     uint64_t time)
{
    bool added;
    uint64_t key = (uint64_t)unit << STA_SWEEP_MASK_BITS | mask;
    uint32_t cell = sta_map_intern(&worker->cells_by_key, key, (uint32_t)worker->cell_count, &added);
    if (added) {
        count_map(sweep, worker);
        if (STA_ACCOUNT_GROW(sweep->account, worker->cells, worker->cell_capacity, worker->cell_count + 1,
                             STA_SWEEP_WHAT, &worker->failure) != 0)
            return;
        worker->cells[worker->cell_count++] = (struct sta_sweep_cell){unit, mask, 0};
    }
    if (worker->failure.status == 0)
        worker->cells[cell].time = (int64_t)((uint64_t)worker->cells[cell].time + time);
}

void sta_sweep_empty_slot(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit,
                          uint32_t slot)
{
    struct sta_sweep_recent *recent = &worker->recent;
    if (recent->masks[slot] != 0)
        add_cell(sweep, worker, unit, recent->masks[slot], recent->times[slot]);
    recent->masks[slot] = 0;
    recent->times[slot] = 0;
}

void sta_sweep_put_times(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit)
{
    struct sta_sweep_recent *recent = &worker->recent;
    for (; recent->used != 0; recent->used &= recent->used - 1)
        sta_sweep_empty_slot(sweep, worker, unit, (uint32_t)__builtin_ctzll(recent->used));
}
