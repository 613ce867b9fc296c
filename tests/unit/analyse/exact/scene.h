/* scene.h - small random traces, a preset made for them, and what exact.md says of them, worked out
 * tick by tick. */
#ifndef STA_TESTS_ANALYSE_EXACT_SCENE_H
#define STA_TESTS_ANALYSE_EXACT_SCENE_H

#include "analyse/analyse.h"
#include "analyse/sources/rank_groups.h"
#include "../made_trace.h"

#define SCENE_HORIZON 240 /* microseconds */
#define SCENE_EVENTS 160
#define SCENE_LAYERS 5
#define SCENE_PROCESSES 6
#define NOTHING (-1) /* a missing host, file or step */

struct scene_event {
    int64_t ts, dur, size; /* size 0: none */
    int name, cat, host, file, step;
    int64_t pid, tid;
};

struct scene {
    struct scene_event events[SCENE_EVENTS];
    struct made_event made[SCENE_EVENTS];
    size_t count;
    int64_t parents[SCENE_PROCESSES]; /* pid of each pid's parent; NOTHING: none */
    uint64_t random;
    /* the query */
    int64_t from, to, g;
    bool has_window, has_filter, filters;
};

uint32_t scene_below(struct scene *scene, uint32_t limit);
void scene_make(struct scene *scene, uint64_t seed);
/** The same events in another order of files and lines. */
void scene_shuffle(struct scene *scene);
void scene_store(const struct scene *scene, struct made_trace *trace, uint32_t chunk_rows, unsigned workers);
/** Loads the built-in presets and "scene". */
struct sta_presets *scene_presets(void);
struct sta_view_query scene_query(const struct scene *scene, struct sta_snapshot *snapshot,
                                  const struct sta_presets *presets);

extern const char *const scene_layers[SCENE_LAYERS];

/* A row's part of a layer. */
struct slow_place {
    const struct scene *scene;
    const struct sta_rank_groups *groups;
    const struct sta_entities *entities;
    int layer;
    const char *by;  /* NULL: one row */
    const char *key; /* as slow_key has it */
};

/** The key of an event in a view that is not by time; "" when it is missing. */
void slow_key(const struct scene_event *event, const char *by, char key[64]);
/** A column's value; NAN: missing.  *any: whether the place has an event. */
double slow_value(const struct slow_place *place, const char *column, bool *any);

#endif
