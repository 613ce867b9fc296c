/* sweep.h - which sets are active together, unit by unit, how many events of each, and how each event lies in
 * the time of the other sets: a consumer of rows in order of time (operators/ordered.h).
 *
 * A unit is a number; an event has a unit and the sets that it belongs to (mask, not 0).  The sweep goes
 * through starts and ends in order of time and adds up for each unit how long exactly a combination of sets
 * was active, and for each set how long exactly k of its events were.  With exposure it also finds how much
 * of each event lies in the union of each other set.  Slices are swept in parallel, each from the state that
 * the earlier ones leave; the sums are exact and do not depend on the cuts. */
#ifndef STA_ANALYSE_INTERVALS_SWEEP_H
#define STA_ANALYSE_INTERVALS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/operators/ordered.h"

#define STA_SWEEP_SETS 16      /* that an event may be of several of */
#define STA_SWEEP_MASK_BITS 32 /* sets of which an event is of one alone */

/* An interval [from, to) of a unit in which exactly the sets of @mask are active. */
struct sta_sweep_interval {
    uint32_t unit, mask;
    int64_t from, to;
    size_t slice; /* in which it was found */
    bool at_cut;  /* the first or the last of the unit in its slice: that of another slice may touch it */
};

/** Takes an interval.  Those of a unit in a slice come one after another, in order of time.  All together
 * they cover what the unit's events cover, each moment once.  Called on worker @worker.  A failure ends the
 * pass.
 */
typedef int (*sta_sweep_take)(void *context, unsigned worker, const struct sta_sweep_interval *interval,
                              struct sta_error *err);

/* Events of a row group. */
struct sta_sweep_events {
    struct sta_ordered_rows rows;
    const int64_t *dur;    /* by row number: ticks, > 0 */
    const uint32_t *masks; /* by row number */
    const int64_t *sizes;  /* by row number: bytes, or 0; of exposure only */
};

struct sta_sweep_options {
    /** Gives the events of @rows, which the pass's reader has left. */
    int (*read)(void *context, unsigned worker, const void *rows, struct sta_sweep_events *events,
                struct sta_error *err);
    void *reader;  /* the context of `read` */
    uint32_t sets; /* 1 .. STA_SWEEP_SETS; with one_hot up to STA_SWEEP_MASK_BITS */
    bool one_hot;  /* each event is of one set alone; with neither exposure nor concurrency */
    const struct sta_budget *budget; /* borrowed; memory is charged to its account */
    int64_t from, to;                /* ticks: events are cut to [from, to); each has a part inside */
    sta_sweep_take take;             /* NULL when the sums are enough */
    void *context;
    const uint8_t *classes; /* by mask: `take` gets the intervals of a class, not of a mask, and one of their
                             * masks; NULL: each mask is its own.  Borrowed */
    /* By byte of a mask and its value: the mask for `classes` and `take` is the union of these, 16 bits at
     * most; NULL: it is the mask itself.  Entries of a set are read once an event of it has been given. */
    const uint16_t (*translation)[256];
    bool idle; /* intervals of mask 0 are given too, from tick 0 on as far as the unit has been swept */
    bool concurrency; /* else nothing is found of it */
    bool exposure;
    int64_t range_from, range_to; /* of exposure: the range of time that is swept, of one that is swept in
                                     several; what reaches out of it is not counted, but listed.  Else
                                     INT64_MIN, INT64_MAX */
};

struct sta_sweep;

struct sta_sweep *sta_sweep_create(const struct sta_sweep_options *options);
void sta_sweep_destroy(struct sta_sweep *sweep); /* NULL allowed */

/** What a pass in order of time feeds it through. */
struct sta_ordered_consumer sta_sweep_consumer(struct sta_sweep *sweep);

/* ---- results, after the pass */

/* How long a combination was active in a unit. */
struct sta_sweep_cell {
    uint32_t unit, mask;
    int64_t time; /* ticks */
};

/** Up to where a unit has been swept; behind that none of its sets is active.  0: it had no event. */
int64_t sta_sweep_swept(const struct sta_sweep *sweep, uint32_t unit);
#define STA_BYTE_PARTS                                                                                       \
    4294967296.0 /* bytes are summed in these: sums of integers do not depend on their order */

/* How the events of a set lie in the time in which another is active in their unit. */
struct sta_sweep_exposed {
    int64_t hidden, partial, exposed; /* events: all inside, some, none */
    __int128 time, time_exposed;      /* ticks: in all, outside */
    __int128 size, size_exposed;      /* parts of bytes, likewise */
};

/* What an event's bytes are shared out by. */
struct sta_sweep_weight {
    int64_t size, dur; /* of all of it, in or out of the window */
};

/* An event that reaches out of the range: what of it lies in the range. */
struct sta_sweep_crossing {
    uint32_t unit, mask;
    int64_t ts; /* of all of it, as its weight is */
    struct sta_sweep_weight weight;
    int64_t begins;                 /* 1: in the range; 0: before it */
    int64_t time;                   /* ticks in the range */
    int64_t inside[STA_SWEEP_SETS]; /* of these, by set: in which it was active */
};

/* By k >= 1, how long exactly k events of a set were active, over all units; [0] means nothing. */
struct sta_sweep_concurrency {
    __int128 *times;
    size_t count;
};

/* What one worker has found; all of them together have found everything.  Memory of the sweep. */
struct sta_sweep_found {
    struct sta_sweep_cell *cells; /* each unit and mask once, in no order */
    size_t cell_count;
    int64_t *events; /* by unit, then set: those that began; of units below `units` */
    uint32_t units;
    struct sta_sweep_concurrency concurrency[STA_SWEEP_SETS]; /* by set */
    struct sta_sweep_exposed *exposed;    /* by set, then set, without gaps; NULL without exposure */
    struct sta_sweep_crossing *crossings; /* in no order */
    size_t crossing_count;
};
struct sta_sweep_found sta_sweep_found(const struct sta_sweep *sweep, unsigned worker);

/** Counts an event.  @exposed: by set, then set.  @time: of it; @inside: by set, how much of that lies in the
 * time of the set. */
void sta_sweep_expose(struct sta_sweep_exposed *exposed, uint32_t sets, uint32_t mask, int64_t time,
                      const struct sta_sweep_weight *weight, const int64_t *inside);

#endif
