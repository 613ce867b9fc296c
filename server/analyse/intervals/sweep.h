/* sweep.h - which sets are active together, unit by unit, and how many events of each: fed by the slices of a
 * timeline.
 *
 * A unit is a number, a span says its unit (cell) and the sets that it belongs to (mask, not 0).  The sweep
 * goes through starts and ends in order of time and adds up for each unit how long exactly a combination of
 * sets was active, and for each set how long exactly k of its spans were.  Slices are swept in parallel, each
 * from the state that the earlier ones leave; the sums are exact and do not depend on the cuts. */
#ifndef STA_ANALYSE_INTERVALS_SWEEP_H
#define STA_ANALYSE_INTERVALS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/intervals/timeline.h"

#define STA_SWEEP_SETS 16

/* A stretch [from, to) of a unit in which exactly the sets of @mask are active. */
struct sta_sweep_stretch {
    uint32_t unit, mask;
    int64_t from, to;
    size_t slice; /* in which it was found */
    bool at_cut;  /* the first or the last of the unit in its slice: that of another slice may touch it */
};

/** Takes a stretch.  Those of a unit in a slice come one after another, in order of time.  All together they
 * cover what the unit's spans cover, each moment once.  Called on worker @worker. */
typedef void (*sta_sweep_take)(void *context, unsigned worker, const struct sta_sweep_stretch *stretch);

struct sta_sweep_options {
    uint32_t sets; /* 1 .. STA_SWEEP_SETS */
    unsigned workers;
    int64_t from, to;    /* ticks: spans are cut to [from, to); each has a part inside, and ends by `to` */
    sta_sweep_take take; /* NULL when the sums are enough */
    void *context;
    bool idle; /* stretches of mask 0 are given too, from tick 0 on as far as the unit has been swept */
};

/* How long a combination was active in a unit. */
struct sta_sweep_cell {
    uint32_t unit, mask;
    int64_t time; /* ticks, > 0 */
};

struct sta_sweep;

struct sta_sweep *sta_sweep_create(const struct sta_sweep_options *options);
void sta_sweep_destroy(struct sta_sweep *sweep); /* NULL allowed */

/* The three steps of struct sta_timeline_work, for a work whose parcels a packer writes and whose context
 * holds the sweep. */
void sta_sweep_prepare(struct sta_sweep *sweep, unsigned worker, const struct sta_slice *slice);
void sta_sweep_carry(struct sta_sweep *sweep, unsigned worker, const struct sta_slice *slice);
void sta_sweep_measure(struct sta_sweep *sweep, unsigned worker, const struct sta_slice *slice);

/** Bytes held beyond the buffers for a slice, for the budget.  Context: any thread, during the pass. */
size_t sta_sweep_bytes(const struct sta_sweep *sweep);

/** After the pass: all cells, by unit, then mask.  free() it. */
struct sta_sweep_cell *sta_sweep_cells(const struct sta_sweep *sweep, size_t *count);
/** After the pass: how many spans of a set a unit had. */
int64_t sta_sweep_events(const struct sta_sweep *sweep, uint32_t unit, uint32_t set);
/** After the pass: up to where a unit has been swept; behind that none of its sets is active.  0: it had no
 * span. */
int64_t sta_sweep_swept(const struct sta_sweep *sweep, uint32_t unit);
/** After the pass: by k >= 1, how long exactly k spans of the set were active, over all units; [0] is 0.
 * free() it. */
int64_t *sta_sweep_crowd(const struct sta_sweep *sweep, uint32_t set, size_t *count);

#endif
