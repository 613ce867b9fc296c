/* contributions.h - what an event counts towards: contribution sets, cells and accumulators (private to
 * exact).
 *
 * All events of one signature, thread and row key have the same *contribution*: they count towards the same
 * things.  A *cell* is a row's part of a layer, found by (layer, key), or of one of its metrics.  An
 * *accumulator* is one thing that is measured in a cell: its union, that of one process; or a *presence*, no
 * more than that a thread or a host has events there.  A contribution lists the accumulators of its events.
 * All are made when first an event needs them, so that only what occurs costs anything.
 *
 * Any thread may add; what was added never moves or changes. */
#ifndef STA_ANALYSE_EXACT_CONTRIBUTIONS_H
#define STA_ANALYSE_EXACT_CONTRIBUTIONS_H

#include <stdatomic.h>
#include <uv.h>

#include "analyse/exact/fields.h"
#include "analyse/exact/signatures.h"
#include "analyse/exact/segmented.h"
#include "analyse/sources/rank_groups.h"
#include "common/map.h"
#include "store/store.h"

enum sta_accumulator_type {
    STA_ACCUMULATOR_ROW,     /* the union of all events of the cell */
    STA_ACCUMULATOR_METRIC,  /* that of a metric's events */
    STA_ACCUMULATOR_PROCESS, /* that of one process's */
    STA_ACCUMULATOR_GROUP,   /* that of one rank group's */
    STA_ACCUMULATOR_ALONE,   /* of a group of one process: both are the same */
    STA_ACCUMULATOR_THREAD,  /* the presence of a thread */
    STA_ACCUMULATOR_HOST     /* .. of a host */
};

#define STA_NOT_COMPARED UINT32_MAX

struct sta_exact_accumulator {
    uint32_t cell; /* of a layer, or for METRIC of a metric */
    enum sta_accumulator_type type;
    uint32_t compared; /* number among those that are compared with unions, or STA_NOT_COMPARED */
};

/* A row's part of a layer. */
struct sta_cell {
    uint32_t layer, key;
    uint32_t first_accumulator; /* of the union, then those of the metrics */
    uint32_t first_metric;      /* cell of the layer's first metric */
};

#define STA_NO_UNION UINT32_MAX

/* An accumulator that is compared, and the unions of the group that its time is compared with: union * groups
 * + group, or STA_NO_UNION. */
struct sta_compared {
    uint32_t compute, children;
    uint32_t number; /* of the accumulator among those that are compared */
    uint32_t accumulator;
};

struct sta_contribution {
    const struct sta_event_signature *signature; /* of the pass; gone after it */
    uint32_t thread, key;                        /* whose it is, beside the signature */
    uint16_t plain;    /* accumulators with a union that is compared with no other */
    uint16_t compared; /* those of the group that are */
    uint16_t unions;   /* that its time adds to */
    uint16_t presences;
    uint32_t
        lists[]; /* of these, in this order, in which they are read; of the compared struct sta_compared */
};

static inline const struct sta_compared *
sta_contribution_compared(const struct sta_contribution *contribution)
{
    return (const struct sta_compared *)(contribution->lists + contribution->plain);
}

static inline const uint32_t *sta_contribution_unions(const struct sta_contribution *contribution)
{
    return (const uint32_t *)(sta_contribution_compared(contribution) + contribution->compared);
}

static inline const uint32_t *sta_contribution_presences(const struct sta_contribution *contribution)
{
    return sta_contribution_unions(contribution) + contribution->unions;
}

/** How many accumulators it has, and number @i of them; presences are the last. */
static inline uint32_t sta_contribution_accumulators(const struct sta_contribution *contribution)
{
    return (uint32_t)contribution->plain + contribution->compared + contribution->presences;
}
static inline uint32_t sta_contribution_accumulator(const struct sta_contribution *contribution, uint32_t i)
{
    if (i < contribution->plain)
        return contribution->lists[i];
    i -= contribution->plain;
    return i < contribution->compared ? sta_contribution_compared(contribution)[i].accumulator
                                      : sta_contribution_presences(contribution)[i - contribution->compared];
}

struct sta_contributions_options {
    const struct sta_exact_shape *shape;
    const struct sta_entities *entities;
    const struct sta_rank_groups *groups; /* NULL unless UNITS are wanted */
    unsigned wants;
    bool by_thread;              /* threads are distinguished; else all events are of thread 0 */
    bool keyed;                  /* the events of a thread have several keys */
    bool few_cells;              /* one for each layer */
    struct sta_account *account; /* records are charged to it; maps and contributions are overdrawn from it */
};

/* The accumulators of a thread's units in a cell; those of process and group are one in a group of one
 * process. */
struct sta_unit_set {
    uint32_t process, group, thread, host;
};

/* (cell, unit) -> number.  With few cells most of them have most units, so that each has a table by unit:
 * units that are met one after another lie beside each other. */
struct sta_unit_index {
    uint32_t **tables; /* by cell */
    size_t table_capacity, units;
    struct sta_map map; /* with many cells */
};

/* Read through the functions below; one lock guards the maps and all growth. */
struct sta_contributions {
    struct sta_contributions_options options;
    uv_mutex_t lock;
    _Atomic uint32_t **streams; /* by signature, then thread; see sta_contributions_streams */
    size_t stream_capacity;     /* signatures */
    uint32_t stream_count;
    struct sta_map by_key;       /* keyed: (stream, key) -> contribution */
    struct sta_map cells_by_key; /* (layer, key) -> cell */
    uint8_t *group_sizes;        /* how many processes a group has; 2: or more.  NULL: there are no units */
    struct sta_unit_index set_of_thread;  /* -> unit set */
    struct sta_unit_index number_of_unit; /* processes, groups, hosts, no host: -> accumulator */
    struct sta_segmented contributions, accumulators, cells, unit_sets;
    struct sta_arena memory; /* of contributions */
    uint32_t metric_cells, compared;
    uint32_t *scratch; /* accumulators of a contribution being made */
    uint32_t scratch_count;
    uint32_t *layer_cells;           /* likewise its cells, by the layers of its signature, .. */
    struct sta_unit_set *layer_sets; /* .. and their unit sets */
    struct sta_error failure;        /* the first refusal: nothing is added behind it */
};

/** All in @options are borrowed. */
struct sta_contributions *sta_contributions_create(const struct sta_contributions_options *options);
void sta_contributions_destroy(struct sta_contributions *contributions); /* NULL allowed */

/**
 * sta_contributions_streams - the streams of a signature, one for each thread that has such events
 * By thread, its number, or STA_NO_CODE as long as there is none: read with sta_stream_at, also while others
 * add.  Unless keys are several the stream's number is that of its contribution.
 * Return: lives as long as @contributions; NULL: its memory was refused.  Takes a lock: remember it.
 */
const _Atomic uint32_t *sta_contributions_streams(struct sta_contributions *contributions,
                                                  const struct sta_event_signature *signature,
                                                  struct sta_error *err);
static inline uint32_t sta_stream_at(const _Atomic uint32_t *streams, uint32_t thread)
{
    return atomic_load_explicit(&streams[thread], memory_order_acquire);
}
/** How many threads are distinguished; at least 1. */
uint32_t sta_contributions_threads(const struct sta_contributions *contributions);

/** The contribution of (signature, thread, key); @thread: index in the entities, 0 unless they are
 * distinguished. Takes a lock: remember it.  Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM. */
STA_MUSTCHECK int sta_contributions_add(struct sta_contributions *contributions,
                                        const struct sta_event_signature *signature, uint32_t thread,
                                        uint32_t key, uint32_t *contribution, struct sta_error *err);
/** Makes the cell of (layer, key) when it is not there.  Return: likewise. */
STA_MUSTCHECK int sta_contributions_add_cell(struct sta_contributions *contributions, uint32_t layer,
                                             uint32_t key, struct sta_error *err);
/** The cell of (layer, key), which is there.  Context: after the pass. */
uint32_t sta_contributions_find_cell(const struct sta_contributions *contributions, uint32_t layer,
                                     uint32_t key);

struct sta_contribution_counts {
    uint32_t contributions, accumulators, compared, cells, metric_cells;
};
struct sta_contribution_counts sta_contributions_count(struct sta_contributions *contributions);

static inline const struct sta_contribution *
sta_contributions_at(const struct sta_contributions *contributions, uint32_t contribution)
{
    return *(const struct sta_contribution *const *)sta_segmented_at(&contributions->contributions,
                                                                     contribution);
}

static inline const struct sta_exact_accumulator *
sta_contributions_accumulator(const struct sta_contributions *contributions, uint32_t accumulator)
{
    return sta_segmented_at(&contributions->accumulators, accumulator);
}

static inline const struct sta_cell *sta_contributions_cell(const struct sta_contributions *contributions,
                                                            uint32_t cell)
{
    return sta_segmented_at(&contributions->cells, cell);
}

#endif
