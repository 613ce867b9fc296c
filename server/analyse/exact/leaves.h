/* leaves.h - what an event counts towards: leaves, places and slots (private to exact).
 *
 * All events of one kind, thread and row key are a *leaf*: they count towards the same things.  A *place* is
 * a row's part of a layer, found by (layer, key), or of one of its metrics.  A *slot* is one thing that is
 * measured or counted in a place: its union, that of one process, the presence of one host.  A leaf lists the
 * slots of its events.  All are made when first an event needs them, so that only what occurs costs anything.
 *
 * Any thread may add; what was added never moves or changes. */
#ifndef STA_ANALYSE_EXACT_LEAVES_H
#define STA_ANALYSE_EXACT_LEAVES_H

#include <uv.h>

#include "analyse/exact/fields.h"
#include "analyse/exact/kinds.h"
#include "analyse/exact/pile.h"
#include "analyse/rank_groups.h"
#include "common/map.h"
#include "store/store.h"

enum sta_exact_slot_kind {
    STA_SLOT_ROW,     /* the union of all events of the place */
    STA_SLOT_METRIC,  /* that of a metric's events */
    STA_SLOT_PROCESS, /* that of one process's */
    STA_SLOT_GROUP,   /* that of one rank group's */
    STA_SLOT_THREAD,  /* the presence of a thread */
    STA_SLOT_HOST     /* .. of a host */
};

struct sta_exact_slot {
    uint32_t place; /* of a layer, or for METRIC of a metric */
    uint32_t layer;
    enum sta_exact_slot_kind kind;
};

/* A row's part of a layer. */
struct sta_place {
    uint32_t layer, key;
    uint32_t first_slot;   /* of the union, then those of the metrics */
    uint32_t first_metric; /* place of the layer's first metric */
};

struct sta_leaf {
    const struct sta_kind *kind; /* of the pass; gone after it */
    const uint32_t *slots; /* first those of its layers' places, in the order of kind->layers, then of their
                              metrics, .. */
    uint32_t plain;        /* .. then the rest that is measured and compared with no cover .. */
    uint32_t measured;     /* .. then those of the group .. */
    uint32_t count;        /* .. then presences */
    uint32_t group;
};

struct sta_leaves_options {
    const struct sta_exact_shape *shape;
    const struct sta_entities *entities;
    const struct sta_rank_groups *groups; /* NULL unless UNITS are wanted */
    unsigned wants;
};

/* Read through the functions below; one lock guards the maps and all growth. */
struct sta_leaves {
    struct sta_leaves_options options;
    uv_mutex_t lock;
    struct sta_map streams;                  /* (kind, thread) -> number, counting up */
    struct sta_map by_key;                   /* (stream, key) -> leaf */
    struct sta_map places_by_key;            /* (layer, key) -> place */
    struct sta_map units[STA_SLOT_HOST + 1]; /* by slot kind: (place, unit) -> slot */
    struct sta_pile leaves, slots, places;
    struct sta_arena lists;
    uint32_t metric_places;
    uint32_t *scratch; /* slots of a leaf being made */
    uint32_t scratch_count;
};

/** All in @options are borrowed. */
struct sta_leaves *sta_leaves_create(const struct sta_leaves_options *options);
void sta_leaves_destroy(struct sta_leaves *leaves); /* NULL allowed */

/** The leaf of (kind, thread, key); @thread: index in the entities, 0 unless UNITS are wanted.  Takes a lock:
 * remember it. */
uint32_t sta_leaves_add(struct sta_leaves *leaves, const struct sta_kind *kind, uint32_t thread,
                        uint32_t key);
/** The place of (layer, key), which is made when it is not there. */
uint32_t sta_leaves_add_place(struct sta_leaves *leaves, uint32_t layer, uint32_t key);

struct sta_leaf_counts {
    uint32_t leaves, slots, places, metric_places;
};
struct sta_leaf_counts sta_leaves_count(struct sta_leaves *leaves);

static inline const struct sta_leaf *sta_leaves_at(const struct sta_leaves *leaves, uint32_t leaf)
{
    return sta_pile_at(&leaves->leaves, leaf);
}

static inline const struct sta_exact_slot *sta_leaves_slot(const struct sta_leaves *leaves, uint32_t slot)
{
    return sta_pile_at(&leaves->slots, slot);
}

static inline const struct sta_place *sta_leaves_place(const struct sta_leaves *leaves, uint32_t place)
{
    return sta_pile_at(&leaves->places, place);
}

#endif
