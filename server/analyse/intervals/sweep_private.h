/* sweep_private.h - shared by the files of the sweep only. */
#ifndef STA_ANALYSE_INTERVALS_SWEEP_PRIVATE_H
#define STA_ANALYSE_INTERVALS_SWEEP_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>

#include "analyse/exec/budget.h"
#include "analyse/intervals/sweep.h"
#include "common/map.h"
#include "common/memory.h"

#define STA_SWEEP_NOWHERE UINT32_MAX
#define STA_SWEEP_RECENT_BITS 6
#define STA_SWEEP_RECENT (1 << STA_SWEEP_RECENT_BITS) /* combinations of a unit whose times are held back */

/* A record.  Millions go through memory between the worker that reads them and the one that sweeps them, so
 * that length and mask share a word. */
struct sta_sweep_record {
    int64_t ts;
    uint64_t packed; /* mask, or with one_hot the number of its set, 16 bits; then whether it is long, 1 bit;
                        then the length, or of a long one a place in `longs` */
};
#define STA_SWEEP_LONG (UINT64_C(1) << 16)
#define STA_SWEEP_LENGTH 17 /* where it begins */
#define STA_SWEEP_LONGEST (((int64_t)1 << (64 - STA_SWEEP_LENGTH)) - 1)

/* With exposure. */
struct sta_sweep_weighed {
    struct sta_sweep_record record;
    struct sta_sweep_weight weight;
};

/* The end of an active event. */
struct sta_sweep_end {
    int64_t te;
    uint32_t unit, mask;
    uint32_t place; /* of exposure: where its start is noted */
    bool arriving;  /* it began in an earlier slice */
};

struct sta_sweep_ends {
    struct sta_sweep_end *items;
    size_t count, capacity;
};

/* How an event began; `before` of its unit follows for each set: how long it had been active. */
struct sta_sweep_start {
    int64_t ts; /* not cut */
    struct sta_sweep_weight weight;
    int64_t before[];
};

/* Starts by place, some of them free. */
struct sta_sweep_starts {
    char *items;
    size_t count, capacity; /* bytes are capacity * the sweep's start_size */
    uint32_t *free;
    size_t free_count, free_capacity;
};

/* A unit that the present slice touches. */
struct sta_sweep_unit {
    const char *records; /* NULL: none */
    size_t count;
    int64_t since; /* up to where it has been swept */
    uint32_t unit, mask;
    uint32_t arriving;                    /* the first of its arriving ends; STA_SWEEP_NOWHERE: none */
    uint32_t counts[STA_SWEEP_MASK_BITS]; /* by set: active events */
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
    struct sta_sweep_unit *states;
    size_t state_count, state_capacity;
    struct sta_sweep_ends leaving;  /* of events that end beyond the slice */
    struct sta_sweep_ends arriving; /* of events that began before it and end in it */
    uint32_t *next;                 /* by arriving end: the next one of its unit, or STA_SWEEP_NOWHERE */
    size_t next_capacity;
    /* Of the unit being swept: ends that are ahead.  Calls nest, so nearly all are nested. */
    struct sta_sweep_ends nested; /* a stack: each ends no later than the one below */
    struct sta_sweep_ends others; /* a heap */
    struct sta_sweep_recent recent;

    int64_t *events; /* by unit, then set: events that began */
    size_t event_capacity;
    struct sta_map cells_by_key; /* unit and mask -> place in cells */
    size_t map_bytes;            /* of it, as far as they are counted */
    struct sta_sweep_cell *cells;
    size_t cell_count, cell_capacity;
    struct sta_sweep_concurrency concurrency[STA_SWEEP_SETS]; /* count: the capacity */

    /* Exposure. */
    int64_t covered[STA_SWEEP_SETS]; /* of the unit being swept: how long a set has been active in the slice;
                                        less the time at which it became so, while it is */
    struct sta_sweep_starts open;    /* of events that end in the slice */
    struct sta_sweep_starts left;    /* by leaving end */
    int64_t *arrived;                /* by arriving end, then set: `before` at the end */
    size_t arrived_capacity;
    int64_t *busy; /* by state, then set: what the slice adds to the unit's time */
    size_t busy_capacity;
    size_t leaving_next; /* of the leaving ends, which come in the order of states and records */
    struct sta_sweep_exposed exposed[STA_SWEEP_SETS * STA_SWEEP_SETS]; /* by set, then set, without gaps */
    struct sta_sweep_crossing *crossings;
    size_t crossing_count, crossing_capacity;

    struct sta_error failure; /* of the slice being measured; status 0: none */
    size_t work;              /* since the budget was asked last */
    char padding[64];         /* a cache line of its own */
};

struct sta_sweep {
    struct sta_sweep_options options;
    struct sta_account *account;
    unsigned worker_count;
    struct sta_sweep_worker *workers;
    /* Used in turn to carry only: as all slices that have carried leave it. */
    struct sta_sweep_ends pending; /* a heap: of events that are active, and end later */
    uint32_t *counts;              /* by unit, then set */
    int64_t *since;                /* by unit: up to where it has been swept */
    size_t unit_capacity, count_capacity;

    pthread_mutex_t lock; /* guards what follows */
    int64_t *longs;       /* ends of events too long for a record */
    size_t long_count, long_capacity;
    size_t start_size; /* of a struct sta_sweep_start */
    struct sta_sweep_starts
        started;     /* of events that began in a slice that has carried, and end in a later one */
    int64_t *totals; /* by unit, then set: active time up to the last slice that settled */
    size_t total_capacity;
};

/* The steps of a consumer.  @sweep: a struct sta_sweep *. */
STA_MUSTCHECK int sta_sweep_prepare(void *sweep, unsigned worker, const struct sta_slice *slice,
                                    struct sta_error *err);
STA_MUSTCHECK int sta_sweep_carry(void *sweep, unsigned worker, const struct sta_slice *slice,
                                  struct sta_error *err);
STA_MUSTCHECK int sta_sweep_measure(void *sweep, unsigned worker, const struct sta_slice *slice,
                                    struct sta_error *err);
STA_MUSTCHECK int sta_sweep_finalize(void *sweep, unsigned worker, const struct sta_slice *slice,
                                     struct sta_error *err);

/** Bytes of a record. */
static inline size_t sta_sweep_record(const struct sta_sweep *sweep)
{
    return sweep->options.exposure ? sizeof(struct sta_sweep_weighed) : sizeof(struct sta_sweep_record);
}

static const char STA_SWEEP_WHAT[] = "the units and intervals of an overlap";

/** The sets of an event as its record has them. */
static inline uint32_t sta_sweep_code(const struct sta_sweep_record *record)
{
    return (uint32_t)record->packed & (STA_SWEEP_LONG - 1);
}

static inline uint32_t sta_sweep_mask(const struct sta_sweep *sweep, const struct sta_sweep_record *record)
{
    const uint32_t code = sta_sweep_code(record);
    return sweep->options.one_hot ? 1u << code : code;
}

/** The code, and whether it is long: of a short one the code alone. */
static inline uint32_t sta_sweep_kind(const struct sta_sweep_record *record)
{
    return (uint32_t)record->packed & (2 * STA_SWEEP_LONG - 1);
}

static inline bool sta_sweep_is_short(const struct sta_sweep_record *record)
{
    return (record->packed & STA_SWEEP_LONG) == 0;
}

/** The end of a short one. */
static inline int64_t sta_sweep_short_te(const struct sta_sweep_record *record)
{
    return record->ts + (int64_t)(record->packed >> STA_SWEEP_LENGTH);
}

int64_t sta_sweep_long_end(struct sta_sweep *sweep, const struct sta_sweep_record *record);

static inline int64_t sta_sweep_te(struct sta_sweep *sweep, const struct sta_sweep_record *record)
{
    if (__builtin_expect(!sta_sweep_is_short(record), 0))
        return sta_sweep_long_end(sweep, record);
    return sta_sweep_short_te(record);
}

static inline int64_t sta_sweep_cut(const struct sta_sweep *sweep, int64_t at)
{
    at = STA_MAX(at, sweep->options.from);
    return STA_MIN(at, sweep->options.to);
}

/* ---- ends; heaps by te */

STA_MUSTCHECK static inline int sta_ends_add(struct sta_sweep_ends *ends, struct sta_sweep_end end,
                                             struct sta_account *account, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(account, ends->items, ends->capacity, ends->count + 1, STA_SWEEP_WHAT, err);
    if (rc == 0)
        ends->items[ends->count++] = end;
    return rc;
}

STA_MUSTCHECK static inline int sta_ends_push(struct sta_sweep_ends *heap, struct sta_sweep_end end,
                                              struct sta_account *account, struct sta_error *err)
{
    int rc = sta_ends_add(heap, end, account, err);
    if (rc != 0)
        return rc;
    struct sta_sweep_end *items = heap->items;
    size_t at = heap->count - 1;
    for (size_t above; at > 0 && items[above = (at - 1) / 2].te > end.te; at = above)
        items[at] = items[above];
    items[at] = end;
    return 0;
}

static inline struct sta_sweep_end sta_ends_pop(struct sta_sweep_ends *heap)
{
    struct sta_sweep_end *items = heap->items;
    struct sta_sweep_end least = items[0];
    struct sta_sweep_end last = items[--heap->count];
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

/* ---- ends that are ahead in the unit being swept */

static inline int64_t sta_sweep_next_end(const struct sta_sweep_worker *worker)
{
    const struct sta_sweep_ends *nested = &worker->nested;
    const struct sta_sweep_ends *others = &worker->others;
    int64_t next = nested->count > 0 ? nested->items[nested->count - 1].te : INT64_MAX;
    return others->count > 0 ? STA_MIN(next, others->items[0].te) : next;
}

/* There is one. */
static inline struct sta_sweep_end sta_sweep_take_end(struct sta_sweep_worker *worker)
{
    struct sta_sweep_ends *nested = &worker->nested;
    const struct sta_sweep_ends *others = &worker->others;
    if (nested->count == 0 ||
        (others->count > 0 && others->items[0].te < nested->items[nested->count - 1].te))
        return sta_ends_pop(&worker->others);
    return nested->items[--nested->count];
}

/* ---- cells (sweep.c) */

/** Adds what a slot holds back to the cells of the unit being swept.  Sets the worker's failure. */
void sta_sweep_empty_slot(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit,
                          uint32_t slot);
/** The same of all slots. */
void sta_sweep_put_times(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit);

/* ---- exposure (sweep_exposure.c) */

static inline struct sta_sweep_start *sta_sweep_start_at(const struct sta_sweep *sweep,
                                                         const struct sta_sweep_starts *starts, size_t place)
{
    return (struct sta_sweep_start *)(void *)(starts->items + place * sweep->start_size);
}

/** Space for starts below @count. */
STA_MUSTCHECK int sta_sweep_grow_starts(const struct sta_sweep *sweep, struct sta_sweep_starts *starts,
                                        size_t count, struct sta_error *err);
/** A place that is free. */
STA_MUSTCHECK int sta_sweep_new_start(const struct sta_sweep *sweep, struct sta_sweep_starts *starts,
                                      uint32_t *place, struct sta_error *err);
STA_MUSTCHECK int sta_sweep_free_start(const struct sta_sweep *sweep, struct sta_sweep_starts *starts,
                                       uint32_t place, struct sta_error *err);
void sta_sweep_fini_starts(const struct sta_sweep *sweep, struct sta_sweep_starts *starts);

/** An event's bytes, in parts, that fall to @part of its duration. */
static inline __int128 sta_sweep_share(const struct sta_sweep_weight *weight, int64_t part)
{
    if (weight->size == 0 || part == 0)
        return 0;
    return (__int128)((double)weight->size * ((double)part / (double)weight->dur) * STA_BYTE_PARTS);
}

/** Counts a row of events, each of which lies inside the time of all sets of @hidden, and outside that of the
 * others.  @row: exposed, how many; time and size of all. */
void sta_sweep_expose_row(struct sta_sweep_worker *worker, uint32_t sets, uint32_t mask, uint32_t hidden,
                          const struct sta_sweep_exposed *row);
/** Counts an event of a unit that ends, or lists it. */
STA_MUSTCHECK int sta_sweep_expose_end(const struct sta_sweep *sweep, struct sta_sweep_worker *worker,
                                       uint32_t unit, const struct sta_sweep_end *end,
                                       const struct sta_sweep_start *start, const int64_t *inside,
                                       struct sta_error *err);

#endif
