/* Tracks of a thread.  What has ended is found by a heap, the first free track by a tree. */
#include "timeline/tracks.h"

#include <string.h>

#include "common/memory.h"

#define WHAT "the tracks of an export"
#define LEAST_TRACKS 16

/* ---- the tree */

static void set_innermost(struct sta_tracks *tracks, size_t track)
{
    const struct sta_nesting *open = &tracks->open[track];
    size_t at = tracks->capacity + track;
    tracks->innermost[at] = open->count > 0 ? open->ends[open->count - 1] : INT64_MAX;
    for (at /= 2; at > 0; at /= 2)
        tracks->innermost[at] = STA_MAX(tracks->innermost[2 * at], tracks->innermost[2 * at + 1]);
}

/* The first track whose innermost event does not end before @end; there is one. */
static size_t find_track(const struct sta_tracks *tracks, int64_t end)
{
    size_t at = 1;
    while (at < tracks->capacity)
        at = 2 * at + (tracks->innermost[2 * at] < end);
    return at - tracks->capacity;
}

static int add_tracks(struct sta_tracks *tracks, struct sta_account *account, struct sta_error *err)
{
    const size_t capacity = STA_MAX(tracks->capacity * 2, LEAST_TRACKS);
    struct sta_nesting *open = sta_account_calloc(account, capacity, sizeof *open, WHAT, err);
    int64_t *innermost = sta_account_alloc(account, 2 * capacity, sizeof *innermost, WHAT, err);
    if (open == NULL || innermost == NULL) {
        sta_account_free(account, open);
        sta_account_free(account, innermost);
        return err->status;
    }
    if (tracks->capacity > 0)
        memcpy(open, tracks->open, tracks->capacity * sizeof *open);
    sta_account_free(account, tracks->open);
    sta_account_free(account, tracks->innermost);
    tracks->open = open;
    tracks->innermost = innermost;
    tracks->capacity = capacity;
    for (size_t at = 0; at < 2 * capacity; at++)
        innermost[at] = INT64_MAX;
    for (size_t track = 0; track < tracks->used; track++)
        set_innermost(tracks, track);
    return 0;
}

static void end_until(struct sta_tracks *tracks, int64_t now)
{
    while (tracks->running.count > 0 && tracks->running.items[0].end <= now) {
        const uint32_t track = sta_running_pop(&tracks->running).place;
        struct sta_nesting *open = &tracks->open[track];
        if (open->count == 0 || open->ends[open->count - 1] > now)
            continue; /* it was taken off with one that ended together with it */
        while (open->count > 0 && open->ends[open->count - 1] <= now)
            open->count--;
        set_innermost(tracks, track);
    }
}

/* ---- tracks */

void sta_tracks_clear(struct sta_tracks *tracks)
{
    for (size_t track = 0; track < tracks->used; track++) {
        tracks->open[track].count = 0;
        set_innermost(tracks, track);
    }
    tracks->used = 0;
    tracks->running.count = 0;
}

void sta_tracks_fini(struct sta_tracks *tracks, struct sta_account *account)
{
    for (size_t track = 0; track < tracks->capacity; track++)
        sta_account_free(account, tracks->open[track].ends);
    sta_account_free(account, tracks->open);
    sta_account_free(account, tracks->innermost);
    sta_account_free(account, tracks->running.items);
    *tracks = (struct sta_tracks){0};
}

int sta_tracks_take(struct sta_tracks *tracks, const struct sta_lane_event *event,
                    struct sta_account *account, uint32_t *track, struct sta_error *err)
{
    const int64_t end = sta_lane_event_end(event);
    int rc = 0;
    end_until(tracks, event->start);
    if (tracks->capacity == 0 || tracks->innermost[1] < end)
        rc = add_tracks(tracks, account, err);
    if (rc != 0)
        return rc;
    const size_t found = find_track(tracks, end);
    tracks->used = STA_MAX(tracks->used, found + 1);
    *track = (uint32_t)found;
    if (event->dur == 0)
        return 0;
    struct sta_nesting *open = &tracks->open[found];
    rc = STA_ACCOUNT_GROW(account, open->ends, open->capacity, open->count + 1, WHAT, err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(account, tracks->running.items, tracks->running.capacity,
                              tracks->running.count + 1, WHAT, err);
    if (rc != 0)
        return rc;
    open->ends[open->count++] = end;
    sta_running_push(&tracks->running, (struct sta_running_place){end, (uint32_t)found});
    set_innermost(tracks, found);
    return 0;
}
