/* sweep_private.h - shared by the files of the sweep only. */
#ifndef STA_ANALYSE_INTERVALS_SWEEP_PRIVATE_H
#define STA_ANALYSE_INTERVALS_SWEEP_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "analyse/intervals/parcel.h"
#include "analyse/intervals/sweep.h"
#include "common/map.h"
#include "common/memory.h"

#define STA_SWEEP_NOWHERE UINT32_MAX
#define STA_SWEEP_RECENT 64 /* combinations of a unit whose times are held back; a power of two */

/* Spans of a unit in order. */
struct sta_sweep_part {
    const struct sta_packed_span *spans;
    uint32_t count;
    uint32_t next; /* place of the unit's next one; STA_SWEEP_NOWHERE: none */
};

/* A unit that the present slice touches. */
struct sta_sweep_unit {
    uint32_t unit, mask;
    int64_t since;        /* up to where it has been swept */
    uint32_t first, last; /* its parts; STA_SWEEP_NOWHERE: none */
    size_t count;         /* of their spans */
    bool unsorted;        /* a part begins before the last span of the one before it */
    uint32_t arriving;    /* the first of its arriving ends; STA_SWEEP_NOWHERE: none */
    uint32_t counts[];    /* by set: active spans */
};

/* Ends of active spans. */
struct sta_sweep_ends {
    struct sta_packed_end *items;
    size_t count, capacity;
};

struct sta_sweep_crowd {
    uint64_t *times; /* by number of active spans; of 0 it means nothing */
    size_t capacity;
};

/* Times of a unit's combinations that are not in its cells yet.  Of mask 0, which a free slot has too, it
 * means nothing. */
struct sta_sweep_recent {
    uint64_t used; /* bit per slot */
    uint32_t masks[STA_SWEEP_RECENT];
    uint64_t times[STA_SWEEP_RECENT];
};

struct sta_sweep_worker {
    uint32_t *place; /* by unit: where its state is, or STA_SWEEP_NOWHERE */
    size_t place_capacity;
    char *states;
    size_t state_count, state_capacity;
    struct sta_sweep_part *parts;
    size_t part_count, part_capacity;
    struct sta_packed_span *sorted, *scratch; /* of units whose parts were not in order */
    size_t sorted_capacity, scratch_capacity;
    struct sta_sweep_ends leaving;  /* of spans that end beyond the slice, or are too long to be packed */
    struct sta_sweep_ends arriving; /* of spans that began before it and end in it */
    uint32_t *next;                 /* by arriving end: the next one of its unit, or STA_SWEEP_NOWHERE */
    size_t next_capacity;
    /* Of the unit being swept: ends that are ahead.  Calls nest, so nearly all are nested. */
    struct sta_sweep_ends nested; /* a stack: each ends no later than the one below */
    struct sta_sweep_ends others; /* a heap */
    struct sta_sweep_recent recent;

    int64_t *events; /* by unit, then set: spans that began */
    size_t event_capacity;
    struct sta_map cells_by_key; /* unit and mask -> place in cells */
    struct sta_sweep_cell *cells;
    size_t cell_count, cell_capacity;
    struct sta_sweep_crowd crowds[STA_SWEEP_SETS];
    _Atomic size_t bytes;
    char padding[64]; /* a cache line of its own */
};

struct sta_sweep {
    struct sta_sweep_options options;
    size_t state_size;
    struct sta_sweep_worker *workers;
    /* Used in turn only: as all slices that have carried leave it. */
    struct sta_sweep_ends pending; /* a heap: of spans that are active, and end later */
    uint32_t *counts;              /* by unit, then set */
    int64_t *since;                /* by unit: up to where it has been swept */
    size_t unit_capacity;
    _Atomic size_t bytes;
};

static inline struct sta_sweep_unit *sta_sweep_unit_at(const struct sta_sweep *sweep,
                                                       const struct sta_sweep_worker *worker, uint32_t place)
{
    return (struct sta_sweep_unit *)(void *)(worker->states + place * sweep->state_size);
}

/* Heaps by te. */
static inline void sta_ends_add(struct sta_sweep_ends *ends, struct sta_packed_end end)
{
    STA_GROW(ends->items, ends->capacity, ends->count + 1);
    ends->items[ends->count++] = end;
}

static inline void sta_ends_push(struct sta_sweep_ends *heap, struct sta_packed_end end)
{
    sta_ends_add(heap, end);
    struct sta_packed_end *items = heap->items;
    size_t at = heap->count - 1;
    for (size_t above; at > 0 && items[above = (at - 1) / 2].te > end.te; at = above)
        items[at] = items[above];
    items[at] = end;
}

static inline struct sta_packed_end sta_ends_pop(struct sta_sweep_ends *heap)
{
    struct sta_packed_end *items = heap->items;
    struct sta_packed_end least = items[0];
    struct sta_packed_end last = items[--heap->count];
    size_t count = heap->count;
    size_t at = 0;
    for (size_t below; (below = at * 2 + 1) < count; at = below) {
        below += below + 1 < count && items[below + 1].te < items[below].te;
        if (items[below].te >= last.te)
            break;
        items[at] = items[below];
    }
    items[at] = last;
    return least;
}

static inline int64_t sta_sweep_cut(const struct sta_sweep *sweep, int64_t at)
{
    at = STA_MAX(at, sweep->options.from);
    return STA_MIN(at, sweep->options.to);
}

/** Bytes that a worker holds. */
size_t sta_sweep_worker_bytes(const struct sta_sweep *sweep, const struct sta_sweep_worker *worker);

#endif
