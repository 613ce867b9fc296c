/* The sweep: starts and ends of a slice, unit by unit, on the state that earlier slices leave.
 *
 * DESIGN.  The state at a slice's start is small: of each unit and set how many spans are active, and the
 * ends of those that are.  Spans that end beyond their slice wait in one heap for the slice in which they
 * end.  `prepare` finds the parts of the slice's parcels that belong to each unit; they mostly come in order,
 * so that few have to be sorted.  `carry`, in the order of slices, takes from the heap what ends here, copies
 * the counts of the units that the slice touches, and leaves the counts at its end.  `measure` then goes
 * through each unit alone, with the ends that are ahead.  What must run in order thus costs some steps per
 * span that crosses a cut and per unit of the slice.
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
    STA_ASSERT(options->sets >= 1 && options->sets <= STA_SWEEP_SETS);
    struct sta_sweep *sweep = sta_alloc(sizeof *sweep);
    sweep->options = *options;
    size_t even = options->sets + options->sets % 2; /* states lie one behind the other, each aligned */
    sweep->state_size = sizeof(struct sta_sweep_unit) + even * sizeof(uint32_t);
    sweep->workers = sta_alloc_array(options->workers, sizeof *sweep->workers);
    for (unsigned w = 0; w < options->workers; w++)
        for (uint32_t s = 0; s < options->sets; s++) {
            struct sta_sweep_crowd *crowd = &sweep->workers[w].crowds[s];
            STA_GROW(crowd->times, crowd->capacity, 1);
            memset(crowd->times, 0, crowd->capacity * sizeof *crowd->times);
        }
    return sweep;
}

static void worker_fini(struct sta_sweep_worker *worker)
{
    void *const all[] = {worker->place,        worker->states,        worker->parts,          worker->sorted,
                         worker->scratch,      worker->leaving.items, worker->arriving.items, worker->next,
                         worker->nested.items, worker->others.items,  worker->events,         worker->cells};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        free(all[i]);
    sta_map_fini(&worker->cells_by_key);
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

/* What arrays hold beyond what the spans of a usual slice take: that much every worker has, as it has buffers
 * for a block. */
static size_t beyond_slice(size_t capacity, size_t size)
{
    size_t usual = 2 * STA_SLICE_ROWS;
    return capacity > usual ? (capacity - usual) * size : 0;
}

size_t sta_sweep_worker_bytes(const struct sta_sweep *sweep, const struct sta_sweep_worker *worker)
{
    size_t ends = worker->leaving.capacity + worker->arriving.capacity + worker->nested.capacity +
                  worker->others.capacity;
    size_t bytes = beyond_slice(worker->sorted_capacity, sizeof *worker->sorted) +
                   beyond_slice(worker->scratch_capacity, sizeof *worker->scratch) +
                   beyond_slice(worker->part_capacity, sizeof *worker->parts);
    bytes += ends * sizeof(struct sta_packed_end);
    bytes += (worker->place_capacity + worker->next_capacity) * sizeof(uint32_t);
    bytes += worker->event_capacity * sizeof *worker->events;
    bytes += worker->state_capacity * sweep->state_size + worker->cell_capacity * sizeof *worker->cells;
    bytes += worker->cells_by_key.capacity * (sizeof(uint64_t) + sizeof(uint32_t));
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

int64_t sta_sweep_events(const struct sta_sweep *sweep, uint32_t unit, uint32_t set)
{
    int64_t events = 0;
    size_t at = (size_t)unit * sweep->options.sets + set;
    for (unsigned w = 0; w < sweep->options.workers; w++)
        events += at < sweep->workers[w].event_capacity ? sweep->workers[w].events[at] : 0;
    return events;
}

int64_t sta_sweep_swept(const struct sta_sweep *sweep, uint32_t unit)
{
    return unit < sweep->unit_capacity ? sweep->since[unit] : 0;
}

int64_t *sta_sweep_crowd(const struct sta_sweep *sweep, uint32_t set, size_t *count)
{
    size_t most = 1;
    for (unsigned w = 0; w < sweep->options.workers; w++)
        most = STA_MAX(most, sweep->workers[w].crowds[set].capacity);
    int64_t *times = sta_alloc_array(most, sizeof *times);
    for (unsigned w = 0; w < sweep->options.workers; w++)
        for (size_t k = 1; k < sweep->workers[w].crowds[set].capacity; k++)
            times[k] += (int64_t)sweep->workers[w].crowds[set].times[k];
    while (most > 1 && times[most - 1] == 0)
        most--;
    *count = most;
    return times;
}
