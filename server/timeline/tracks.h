/* tracks.h - tracks on which events nest, as viewers of Chrome's trace format want them (private to
 * timeline).
 *
 * An event goes to the first track on which every running event contains it, in time that grows with the
 * logarithm of the number of tracks. */
#ifndef STA_TIMELINE_TRACKS_H
#define STA_TIMELINE_TRACKS_H

#include <stddef.h>
#include <stdint.h>

#include "timeline/lane_index.h"
#include "timeline/running.h"

/* Ends of what runs on a track, the innermost last. */
struct sta_nesting {
    int64_t *ends;
    size_t count, capacity;
};

struct sta_tracks { /* zeroed at first */
    struct sta_nesting *open;
    /* A tree over the tracks: the end of the innermost event of each, INT64_MAX of those that are empty; the
     * largest of the two below at each inner place.  Leaves begin at `capacity`. */
    int64_t *innermost;
    size_t used, capacity; /* tracks; a power of two */
    struct sta_running_ends running;
};

/** Empties all tracks, for the next thread. */
void sta_tracks_clear(struct sta_tracks *tracks);
void sta_tracks_fini(struct sta_tracks *tracks, struct sta_account *account);
/** *track: the one that an event goes to, from 0.  Events come in lane order.  Return: 0, STA_ELIMIT,
 * STA_EBUSY, STA_ENOMEM. */
STA_MUSTCHECK int sta_tracks_take(struct sta_tracks *tracks, const struct sta_lane_event *event,
                                  struct sta_account *account, uint32_t *track, struct sta_error *err);

#endif
