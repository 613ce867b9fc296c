/* contributions.h - what an event counts towards: contribution sets, places and accumulators (private to
 * exact).
 *
 * All events of one kind, thread and row key have the same *contribution*: they count towards the same
 * things.  A *place* is a row's part of a layer, found by (layer, key), or of one of its metrics.  An
 * *accumulator* is one thing that is measured in a place: its union, that of one process; or a *presence*, no
 * more than that a thread or a host has events there.  A contribution lists the accumulators of its events.
 * All are made when first an event needs them, so that only what occurs costs anything.
 *
 * Any thread may add; what was added never moves or changes. */
#ifndef STA_ANALYSE_EXACT_CONTRIBUTIONS_H
#define STA_ANALYSE_EXACT_CONTRIBUTIONS_H

#include <stdatomic.h>
#include <uv.h>

#include "analyse/exact/fields.h"
#include "analyse/exact/kinds.h"
#include "analyse/exact/segmented.h"
#include "analyse/sources/rank_groups.h"
#include "common/map.h"
#include "store/store.h"

enum sta_accumulator_type {
    STA_ACCUMULATOR_ROW,     /* the union of all events of the place */
    STA_ACCUMULATOR_METRIC,  /* that of a metric's events */
    STA_ACCUMULATOR_PROCESS, /* that of one process's */
    STA_ACCUMULATOR_GROUP,   /* that of one rank group's */
    STA_ACCUMULATOR_ALONE,   /* of a group of one process: both are the same */
    STA_ACCUMULATOR_THREAD,  /* the presence of a thread */
    STA_ACCUMULATOR_HOST     /* .. of a host */
};

#define STA_NOT_COMPARED UINT32_MAX

struct sta_exact_accumulator {
    uint32_t place; /* of a layer, or for METRIC of a metric */
    enum sta_accumulator_type kind;
    uint32_t compared; /* number among those that are compared with unions, or STA_NOT_COMPARED */
};

/* A row's part of a layer. */
struct sta_place {
    uint32_t layer, key;
    uint32_t first_accumulator; /* of the union, then those of the metrics */
    uint32_t first_metric;      /* place of the layer's first metric */
};

#define STA_NO_COVER UINT32_MAX

/* An accumulator that is compared, and the unions of the group that its time is compared with: union * groups
 * + group, or STA_NO_COVER. */
struct sta_compared {
    uint32_t compute, children;
    uint32_t number; /* of the accumulator among those that are compared */
    uint32_t accumulator;
};

struct sta_contribution {
    const struct sta_kind *kind; /* of the pass; gone after it */
    uint32_t thread, key;        /* whose it is, beside the kind */
    uint16_t plain;              /* accumulators with a union that is compared with no other */
    uint16_t compared;           /* those of the group that are */
    uint16_t unions;             /* that its time adds to */
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
    bool few_places;             /* one for each layer */
    struct sta_account *account; /* records are charged to it; maps and contributions are overdrawn from it */
};

/* The accumulators of a thread's units in a place; those of process and group are one in a group of one
 * process. */
struct sta_unit_set {
    uint32_t process, group, thread, host;
};

/* (place, unit) -> number.  With few places most of them have most units, so that each has a table by unit:
 * units that are met one after another lie beside each other. */
struct sta_unit_index {
    uint32_t **tables; /* by place */
    size_t table_capacity, units;
    struct sta_map map; /* with many places */
};

/* Read through the functions below; one lock guards the maps and all growth. */
struct sta_contributions {
    struct sta_contributions_options options;
    uv_mutex_t lock;
    _Atomic uint32_t **streams; /* by kind, then thread; see sta_contributions_streams */
    size_t stream_capacity;     /* kinds */
    uint32_t stream_count;
    struct sta_map by_key;        /* keyed: (stream, key) -> contribution */
    struct sta_map places_by_key; /* (layer, key) -> place */
    uint8_t *group_sizes;         /* how many processes a group has; 2: or more.  NULL: there are no units */
    struct sta_unit_index set_of_thread;  /* -> unit set */
    struct sta_unit_index number_of_unit; /* processes, groups, hosts, no host: -> accumulator */
    struct sta_segmented contributions, accumulators, places, unit_sets;
    struct sta_arena memory; /* of contributions */
    uint32_t metric_places, compared;
    uint32_t *scratch; /* accumulators of a contribution being made */
    uint32_t scratch_count;
    uint32_t *layer_places;          /* likewise its places, by the layers of its kind, .. */
    struct sta_unit_set *layer_sets; /* .. and their unit sets */
    struct sta_error failure;        /* the first refusal: nothing is added behind it */
};

/** All in @options are borrowed. */
struct sta_contributions *sta_contributions_create(const struct sta_contributions_options *options);
void sta_contributions_destroy(struct sta_contributions *contributions); /* NULL allowed */

/**
 * sta_contributions_streams - the streams of a kind, one for each thread that has such events
 * By thread, its number, or STA_NO_CODE as long as there is none: read with sta_stream_at, also while others
 * add.  Unless keys are several the stream's number is that of its contribution.
 * Return: lives as long as @contributions; NULL: its memory was refused.  Takes a lock: remember it.
 */
const _Atomic uint32_t *sta_contributions_streams(struct sta_contributions *contributions,
                                                  const struct sta_kind *kind, struct sta_error *err);
static inline uint32_t sta_stream_at(const _Atomic uint32_t *streams, uint32_t thread)
{
    return atomic_load_explicit(&streams[thread], memory_order_acquire);
}
/** How many threads are distinguished; at least 1. */
uint32_t sta_contributions_threads(const struct sta_contributions *contributions);

/** The contribution of (kind, thread, key); @thread: index in the entities, 0 unless they are distinguished.
 * Takes a lock: remember it.  Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM. */
STA_MUSTCHECK int sta_contributions_add(struct sta_contributions *contributions, const struct sta_kind *kind,
                                        uint32_t thread, uint32_t key, uint32_t *contribution,
                                        struct sta_error *err);
/** Makes the place of (layer, key) when it is not there.  Return: likewise. */
STA_MUSTCHECK int sta_contributions_add_place(struct sta_contributions *contributions, uint32_t layer,
                                              uint32_t key, struct sta_error *err);
/** The place of (layer, key), which is there.  Context: after the pass. */
uint32_t sta_contributions_find_place(const struct sta_contributions *contributions, uint32_t layer,
                                      uint32_t key);

struct sta_contribution_counts {
    uint32_t contributions, accumulators, compared, places, metric_places;
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

static inline const struct sta_place *sta_contributions_place(const struct sta_contributions *contributions,
                                                              uint32_t place)
{
    return sta_segmented_at(&contributions->places, place);
}

#endif
