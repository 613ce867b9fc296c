/* brief.h - an event in short, and events found by their ids (private to timeline). */
#ifndef STA_TIMELINE_BRIEF_H
#define STA_TIMELINE_BRIEF_H

#include "timeline/selection.h"
#include "timeline/timeline.h"

/* A thread in tree order and a place in it. */
struct sta_event_place {
    uint32_t thread, place;
};

/** The texts are copied to @memory, or borrowed from what the selection's timeline and view hold.  Classifies
 * the event's row group where it is not yet. */
STA_MUSTCHECK int sta_brief_of(const struct sta_selection *selection, struct sta_arena *memory,
                               struct sta_event_place at, const struct sta_budget *budget,
                               struct sta_timeline_brief *brief, struct sta_error *err);
/** Finds the event of an id, whose thread is loaded.  Return: 0; STA_ENOTFOUND when there is none; what
 * sta_lane_index_load returns. */
STA_MUSTCHECK int sta_event_find(struct sta_lane_index *index, const char *id,
                                 const struct sta_budget *budget, struct sta_event_place *at,
                                 struct sta_error *err);

static inline const struct sta_lane_event *sta_event_at(const struct sta_lane_index *index,
                                                        struct sta_event_place at)
{
    return &index->threads[at.thread].events[at.place];
}

#endif
