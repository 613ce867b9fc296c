/* forest.h - the matching events of a thread that touch the window, each with its nearest ancestor among them
 * (private to timeline).
 *
 * Events are looked at in lane order.  Those that the next ones may lie in are on a stack: no more of a
 * thread is held than its deepest chain of calls. */
#ifndef STA_TIMELINE_FOREST_H
#define STA_TIMELINE_FOREST_H

#include "timeline/selection.h"

#define STA_NO_NODE UINT32_MAX

struct sta_forest_node {
    uint32_t place;    /* event of the thread */
    int64_t dur, size; /* within the window: ticks, bytes */
    int64_t inner;     /* ticks: sum over its direct children so far */
    int64_t covered;   /* ticks: union of these */
    int64_t until;     /* of the union: where it ends */
};

struct sta_forest { /* of one worker; zeroed but for the first three */
    const struct sta_selection *selection;
    const struct sta_budget *budget;
    const int64_t *sizes;          /* by number of an event */
    struct sta_forest_node *nodes; /* the stack: outermost first */
    size_t depth, capacity;
};

struct sta_forest_visitor {
    void *context;
    /* An event begins: nodes[depth - 1], in the node before it.  Its duration and size are known.  Or NULL.
     */
    int (*enter)(void *context, const struct sta_forest *forest, const struct sta_lane_event *event,
                 struct sta_error *err);
    /* All within it has been seen: nodes[depth], in nodes[depth - 1]. */
    int (*leave)(void *context, const struct sta_forest *forest, const struct sta_lane_event *event,
                 struct sta_error *err);
};

/** Visits the events of a thread, those within an event between its enter and its leave.  *count: how many.
 */
STA_MUSTCHECK int sta_forest_visit(struct sta_forest *forest, uint32_t thread,
                                   const struct sta_forest_visitor *visitor, size_t *count,
                                   struct sta_error *err);
void sta_forest_fini(struct sta_forest *forest);

static inline int64_t sta_forest_self(const struct sta_forest_node *node)
{
    return node->dur - node->covered;
}

#endif
