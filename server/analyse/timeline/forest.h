/* forest.h - the matching events of a thread that touch the window, each with its nearest ancestor among them
 * (private to timeline). */
#ifndef STA_ANALYSE_TIMELINE_FOREST_H
#define STA_ANALYSE_TIMELINE_FOREST_H

#include "analyse/timeline/selection.h"

#define STA_NO_NODE UINT32_MAX

struct sta_forest_node {
    uint32_t place, up; /* event of the thread; number of the ancestor's node, or STA_NO_NODE */
    int64_t dur, size;  /* within the window: ticks, bytes */
    int64_t inner;      /* ticks: sum over its direct children */
    int64_t covered;    /* ticks: union of these */
    int64_t until;      /* of the union so far: where it ends */
};

struct sta_forest { /* of one worker; zeroed but for the first three */
    const struct sta_selection *selection;
    const struct sta_budget *budget;
    const int64_t *sizes; /* by number of an event */
    struct sta_forest_node *nodes;
    size_t count, capacity;
    uint32_t *node_of_place; /* of a former thread too: valid where the node says so */
    size_t place_capacity;
};

/** The nodes of a thread, in lane order; those of the thread before are gone. */
STA_MUSTCHECK int sta_forest_grow(struct sta_forest *forest, uint32_t thread, struct sta_error *err);
void sta_forest_fini(struct sta_forest *forest);

static inline int64_t sta_forest_self(const struct sta_forest_node *node)
{
    return node->dur - node->covered;
}

#endif
