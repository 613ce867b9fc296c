/* Rows and parents of a thread's events, against the definition, event by event. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "timeline/lane_index.h"

#define MOST 60

static const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 20};

static int in_lane_order(const void *a, const void *b)
{
    const struct sta_lane_event *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur)
        return x->dur > y->dur ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* The lowest row on which no earlier event has not ended. */
static uint32_t expected_row(const struct sta_lane_event *events, uint32_t place)
{
    for (uint32_t row = 0;; row++) {
        bool taken = false;
        for (uint32_t i = 0; i < place; i++)
            taken |= events[i].row == row && sta_lane_event_end(&events[i]) > events[place].start;
        if (!taken)
            return row;
    }
}

/* The last earlier event that contains this one. */
static uint32_t expected_parent(const struct sta_lane_event *events, uint32_t place)
{
    const struct sta_lane_event *event = &events[place];
    for (uint32_t i = place; i-- > 0;)
        if (events[i].dur > 0 && sta_lane_event_end(&events[i]) > event->start &&
            sta_lane_event_end(&events[i]) >= sta_lane_event_end(event))
            return i;
    return STA_NO_EVENT;
}

static void lay_out(struct sta_lane_event *events, uint32_t count, struct sta_lane_thread *thread)
{
    static int64_t latest[1];
    struct sta_error err = STA_ERROR_INIT;
    qsort(events, count, sizeof *events, in_lane_order);
    *thread = (struct sta_lane_thread){.events = events, .latest = latest, .count = count};
    cr_assert_eq(sta_lane_thread_lay_out(thread, &budget, &err), 0, "%s", err.text);
}

Test(lane_layout, random_threads_are_laid_out_as_defined)
{
    srand(7);
    for (int round = 0; round < 2000; round++) {
        struct sta_lane_event events[MOST];
        struct sta_lane_thread thread;
        uint32_t count = 1 + (uint32_t)rand() % MOST, rows = 0;
        int span = 1 + rand() % 40;
        for (uint32_t i = 0; i < count; i++)
            events[i] = (struct sta_lane_event){
                .start = rand() % span, .dur = rand() % 3 == 0 ? 0 : rand() % span, .number = i};
        lay_out(events, count, &thread);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert_eq(events[i].row, expected_row(events, i), "round %d, row of event %u", round, i);
            cr_assert_eq(events[i].parent, expected_parent(events, i), "round %d, parent of event %u", round,
                         i);
            rows = events[i].row >= rows ? events[i].row + 1 : rows;
        }
        cr_assert_eq(thread.rows, rows);
    }
}

Test(lane_layout, equal_intervals_nest_and_instants_free_their_row_at_once)
{
    struct sta_lane_event events[] = {{.start = 5, .dur = 10, .number = 0},
                                      {.start = 5, .dur = 10, .number = 1},
                                      {.start = 7, .dur = 0, .number = 2},
                                      {.start = 7, .dur = 0, .number = 3}};
    struct sta_lane_thread thread;
    lay_out(events, 4, &thread);
    cr_expect_eq(events[0].parent, STA_NO_EVENT);
    cr_expect_eq(events[1].parent, 0);
    cr_expect_eq(events[2].parent, 1);
    cr_expect_eq(events[3].parent, 1, "nothing lies in an instant");
    cr_expect_eq(events[2].row, events[3].row);
    cr_expect_eq(thread.rows, 3);
}

Test(lane_layout, events_of_one_start_are_numbered)
{
    struct sta_lane_event events[] = {
        {.start = 1, .dur = 9}, {.start = 4, .dur = 2, .number = 1}, {.start = 4, .dur = 1, .number = 2}};
    struct sta_lane_thread thread;
    lay_out(events, 3, &thread);
    cr_expect_eq(sta_lane_thread_nth(&thread, 0), 0);
    cr_expect_eq(sta_lane_thread_nth(&thread, 2), 1);
    cr_expect_eq(sta_lane_thread_find(&thread, 2), 1);
    cr_expect_eq(sta_lane_thread_find(&thread, 5), 3);
}
