/* call_paths.h - events merged by the path of their labels (private to timeline).
 *
 * timeline.md section 5: the call tree, and with a name the trees below its outermost calls or the paths up
 * from them. */
#ifndef STA_TIMELINE_CALL_PATHS_H
#define STA_TIMELINE_CALL_PATHS_H

#include "timeline/forest.h"
#include "timeline/labels.h"
#include "timeline/timeline.h"

/* A path: that of its parent and a label more.  Parents come before their children. */
struct sta_call_path {
    uint32_t parent; /* STA_NO_NODE: a group's root */
    uint32_t label;  /* of a root: the lane of the group */
    int64_t count, min, max;
    __int128 total, self, size;
};

struct sta_call_paths {
    struct sta_call_path *items;
    size_t count, capacity;
    struct sta_map children; /* parent, label -> path */
    struct sta_map roots;    /* lane -> path */
};

/* Of all calls that have the name. */
struct sta_named_calls {
    int64_t count, outermost;
    __int128 total, self;
};

struct sta_call_tree {
    struct sta_selection selection;
    struct sta_labels labels;
    const struct sta_budget *budget;
    enum sta_lane_level scope;
    bool has_name, callers;
    uint32_t name; /* label; STA_NO_CODE: no event has it */
    struct sta_call_paths paths;
    struct sta_named_calls named;
};

/** Reads the request and merges the events.  @own: names of the members that the call has.  Fini also after a
 * failure. */
STA_MUSTCHECK int sta_call_tree_init(struct sta_call_tree *tree, const struct sta_timeline_query *query,
                                     const char *const *own, const struct sta_budget *budget,
                                     struct sta_error *err);
void sta_call_tree_fini(struct sta_call_tree *tree);

#endif
