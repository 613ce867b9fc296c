/* Parts of the timeline against slow ways to the same: unions of intervals, and tracks on which events
 * nest. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "timeline/tracks.h"
#include "timeline/unions.h"

static uint64_t state;

static int64_t below(int64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 20) % (uint64_t)limit);
}

/* ---- unions */

#define TICKS 200000

/* Marks of the ticks that are covered give the measure. */
static int64_t count_marks(const uint8_t *marks)
{
    int64_t count = 0;
    for (size_t i = 0; i < TICKS; i++)
        count += marks[i];
    return count;
}

static void check_order(const struct sta_union *spans)
{
    for (size_t i = 1; i < spans->count; i++)
        cr_assert_lt(spans->items[i - 1].to, spans->items[i].from);
}

/* @length: of the intervals, so that few or nearly all are united; more are added than are sorted at once. */
static void check_union(size_t count, int64_t length)
{
    const struct sta_budget budget = {0};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_union halves[2] = {{0}, {0}}, moved = {0};
    uint8_t *marks = sta_alloc(TICKS);
    for (size_t i = 0; i < count; i++) {
        int64_t from = below(TICKS - length), to = from + below(length + 1);
        memset(marks + from, 1, (size_t)(to - from));
        cr_assert_eq(sta_union_add(&halves[i % 2], from, to, &budget, &err), 0);
    }
    for (size_t h = 0; h < 2; h++) {
        cr_assert_eq(sta_union_move(&moved, &halves[h], &budget, &err), 0);
        cr_assert_eq(sta_union_sort(&halves[h], &budget, &err), 0);
        check_order(&halves[h]);
    }
    cr_assert_eq(sta_union_merge(&halves[0], &halves[1], &budget, &err), 0);
    cr_assert_eq(sta_union_sort(&moved, &budget, &err), 0);
    check_order(&halves[0]);
    check_order(&moved);
    cr_assert_eq(sta_union_measure(&halves[0]), count_marks(marks));
    cr_assert_eq(sta_union_measure(&moved), count_marks(marks));
    free(marks);
    sta_union_fini(&halves[0], NULL);
    sta_union_fini(&halves[1], NULL);
    sta_union_fini(&moved, NULL);
}

Test(timeline_parts, unions_cover_what_their_intervals_cover)
{
    state = 1;
    check_union(0, 5);
    check_union(1, 5);
    check_union(1000, 50);
    check_union(100000, 1);
    check_union(100000, 3);
    check_union(60000, 2000);
}

/* ---- tracks */

#define EVENTS 3000

static int in_lane_order(const void *a, const void *b)
{
    const struct sta_lane_event *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->dur < y->dur) - (x->dur > y->dur);
}

/* The first track on which all that runs at the event's start ends no earlier than it does. */
static uint32_t slow_track(const struct sta_lane_event *events, const uint32_t *tracks, size_t at)
{
    const struct sta_lane_event *event = &events[at];
    for (uint32_t track = 0;; track++) {
        bool fits = true;
        for (size_t i = 0; i < at && fits; i++)
            fits = tracks[i] != track || sta_lane_event_end(&events[i]) <= event->start ||
                   sta_lane_event_end(&events[i]) >= sta_lane_event_end(event);
        if (fits)
            return track;
    }
}

static void check_tracks(struct sta_tracks *tracks, int64_t span, int64_t length)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_lane_event *events = sta_alloc_array(EVENTS, sizeof *events);
    uint32_t *wanted = sta_alloc_array(EVENTS, sizeof *wanted), track;
    for (size_t i = 0; i < EVENTS; i++)
        events[i] = (struct sta_lane_event){.start = below(span), .dur = below(length)};
    qsort(events, EVENTS, sizeof *events, in_lane_order);
    sta_tracks_clear(tracks);
    for (size_t i = 0; i < EVENTS; i++) {
        wanted[i] = slow_track(events, wanted, i);
        cr_assert_eq(sta_tracks_take(tracks, &events[i], NULL, &track, &err), 0);
        cr_assert_eq(track, wanted[i]);
    }
    free(events);
    free(wanted);
}

Test(timeline_parts, events_go_to_the_first_track_on_which_they_nest)
{
    struct sta_tracks tracks = {0};
    state = 2;
    check_tracks(&tracks, 100000, 20);
    check_tracks(&tracks, 3000, 400);
    check_tracks(&tracks, 50, 3);
    check_tracks(&tracks, 100000, 100);
    sta_tracks_fini(&tracks, NULL);
}
