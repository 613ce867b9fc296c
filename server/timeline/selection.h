/* selection.h - what a request of the timeline is about: window, lanes, matching events, and what the preset
 * says of them (private to timeline). */
#ifndef STA_TIMELINE_SELECTION_H
#define STA_TIMELINE_SELECTION_H

#include "analyse/analyse.h"
#include "timeline/kept.h"
#include "timeline/timeline.h"

struct sta_selection {
    const struct sta_timeline_query *query;
    struct sta_account *account;
    struct sta_lane_index *index;  /* of which only the loading changes anything */
    struct sta_preset_view *view;  /* held */
    struct sta_match_set *matches; /* held; NULL: every event matches */
    int64_t from, to;              /* ticks; from <= to */
    uint32_t *threads;             /* numbers of those chosen, ascending, .. */
    uint32_t thread_count;
    uint32_t *lanes; /* those asked, as asked */
    size_t lane_count;
};

/**
 * sta_selection_read - reads what all calls have in common
 * @own: names of the call's other members, NULL-terminated
 * Mistakes: STA_EINPUT with parameter.  Fini also after a failure.
 */
STA_MUSTCHECK int sta_selection_read(struct sta_selection *selection, const struct sta_timeline_query *query,
                                     const char *const *own, const struct sta_budget *budget,
                                     struct sta_error *err);
/** Makes sure that the events of the chosen threads are there: before this they are not to be looked at. */
STA_MUSTCHECK int sta_selection_load(const struct sta_selection *selection, const struct sta_budget *budget,
                                     struct sta_error *err);
/** Both. */
STA_MUSTCHECK int sta_selection_init(struct sta_selection *selection, const struct sta_timeline_query *query,
                                     const char *const *own, const struct sta_budget *budget,
                                     struct sta_error *err);
void sta_selection_fini(struct sta_selection *selection);

static inline bool sta_selection_matches(const struct sta_selection *selection, uint32_t number)
{
    return selection->matches == NULL || (selection->matches->bits[number / 64] >> (number % 64) & 1);
}

/** Whether an event touches [from, to). */
static inline bool sta_touches(const struct sta_lane_event *event, int64_t from, int64_t to)
{
    return from < to && event->start < to && (event->start + event->dur > from || event->start >= from);
}

/* The events of a thread that match and touch an interval of time, in lane order. */
struct sta_thread_walk {
    const struct sta_selection *selection;
    const struct sta_lane_thread *thread;
    int64_t from, to;
    uint32_t place, first, end; /* next one; the first that starts at `from` or later, at `to` or later */
};
struct sta_thread_walk sta_thread_walk(const struct sta_selection *selection, uint32_t thread, int64_t from,
                                       int64_t to);
/** Place of the next one, or STA_NO_EVENT. */
uint32_t sta_thread_walk_next(struct sta_thread_walk *walk);

/** The layer and the refined category of an event: index in the preset's layers or STA_NO_LAYER, code in the
 * columns' texts or STA_NO_CODE. */
static inline const struct sta_class_labels *sta_selection_labels(const struct sta_selection *selection,
                                                                  uint32_t number)
{
    return &atomic_load(&selection->view->labels)[selection->view->classes[number]];
}

/** Seconds as ticks, rounded half to even. */
int64_t sta_selection_ticks(const struct sta_selection *selection, double seconds);
double sta_selection_seconds(const struct sta_selection *selection, int64_t ticks);

struct sta_text sta_selection_name(const struct sta_selection *selection, uint32_t name);
struct sta_text sta_selection_category(const struct sta_selection *selection, uint32_t category);

/** Puts "LANE@NS" or "LANE@NS.K". */
void sta_put_event_id(struct sta_buffer *out, const struct sta_lane_index *index, uint32_t thread,
                      uint32_t place);

#endif
