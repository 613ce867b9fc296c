/* kept.h - what is kept with a timeline beside its index: what presets and filters make of the events
 * (private to timeline).
 *
 * A request for a part of the timeline needs the layer and category of any of its events.  Finding them reads
 * the whole trace, so it is done once per preset; which events match a filter is found once per filter.  Only
 * the last few of each are kept. */
#ifndef STA_TIMELINE_KEPT_H
#define STA_TIMELINE_KEPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "timeline/timeline.h"
#include "analyse/views/bound_query.h"
#include "timeline/lane_index.h"

/* What a class of events means. */
struct sta_class_labels {
    uint32_t category; /* refined: code in the columns' texts of cat, or STA_NO_CODE */
    uint32_t layer;    /* index in the preset's layers, or STA_NO_LAYER */
};

struct sta_preset_view {
    atomic_uint references;
    struct sta_account *account;
    struct sta_presets *presets; /* held */
    char *name;
    struct sta_view_query query; /* of the preset, without filters */
    struct sta_bound_query bound;
    uint32_t *classes;                    /* by number of an event; of row groups that somebody asked for */
    _Atomic(_Atomic uint8_t *) has_group; /* by row group: 1 when its events have classes; or NULL */
    /* By class.  More classes take a new place; those before stay for who reads them. */
    _Atomic(struct sta_class_labels *) labels;
    struct sta_class_labels **former;
    size_t former_count, former_capacity;
    uint32_t label_count;
    pthread_mutex_t lock; /* over the making of classes */
};

struct sta_match_set {
    atomic_uint references;
    struct sta_account *account;
    char *key;      /* preset, filters, filter */
    uint64_t *bits; /* by number of an event */
    uint64_t count;
};

#define STA_PRESET_VIEWS 3
#define STA_MATCH_SETS 8

struct sta_timeline {
    atomic_uint references;
    struct sta_account *account;
    struct sta_lane_index *index;
    atomic_bool keeping;                             /* somebody has been asked to write the lane file */
    pthread_mutex_t lock;                            /* over the rest */
    struct sta_preset_view *views[STA_PRESET_VIEWS]; /* the last used first */
    struct sta_match_set *matches[STA_MATCH_SETS];
    _Atomic(int64_t *) sizes; /* by number: bytes, 0 where there are none; NULL until asked for */
    pthread_mutex_t sizes_lock;
};

/** The view of a preset, held: release it.  STA_EINPUT with parameter /preset. */
STA_MUSTCHECK int sta_timeline_view(struct sta_timeline *timeline, struct sta_presets *presets,
                                    const char *name, struct sta_preset_view **view, struct sta_error *err);
void sta_preset_view_release(struct sta_preset_view *view); /* NULL allowed */
/** Makes sure that the events of row groups have classes: of those with a 1 in @groups (by number of the row
 * group), or of all with NULL. */
STA_MUSTCHECK int sta_preset_view_classify(struct sta_preset_view *view, const struct sta_timeline *timeline,
                                           const uint8_t *groups, const struct sta_budget *budget,
                                           struct sta_error *err);

/** Whether those of a row group have. */
static inline bool sta_preset_view_has_group(struct sta_preset_view *view, size_t group)
{
    const _Atomic uint8_t *groups = atomic_load(&view->has_group);
    return groups != NULL && atomic_load(&groups[group]);
}

/** The events that a filter (NULL: any) and, with @filters, the preset keep; held.  Mistakes: STA_EINPUT with
 * parameter /filter. */
STA_MUSTCHECK int sta_timeline_matches(struct sta_timeline *timeline, const struct sta_preset_view *view,
                                       const char *filter, bool filters, const struct sta_budget *budget,
                                       struct sta_match_set **matches, struct sta_error *err);
void sta_match_set_release(struct sta_match_set *matches); /* NULL allowed */

/** Bytes that each event moves, by number; 0: none.  Kept with the timeline. */
STA_MUSTCHECK int sta_timeline_sizes(struct sta_timeline *timeline, const struct sta_preset_view *view,
                                     const struct sta_budget *budget, const int64_t **sizes,
                                     struct sta_error *err);

#endif
