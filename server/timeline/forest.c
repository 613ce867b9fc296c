/* Children of a node come in order of their starts, so their union grows at its end. */
#include "timeline/forest.h"

#include <string.h>

#include "common/memory.h"

#define WHAT "the call tree"

void sta_forest_fini(struct sta_forest *forest)
{
    sta_account_free(forest->budget->account, forest->nodes);
}

/* Bytes of an event that fall into its first @part ticks. */
static int64_t bytes_until(int64_t size, int64_t dur, int64_t part)
{
    return (int64_t)((__int128)size * part / dur);
}

static int64_t size_within(const struct sta_forest *forest, const struct sta_lane_event *event)
{
    const int64_t size = forest->sizes[event->number];
    if (size == 0 || event->dur == 0)
        return size;
    int64_t from = STA_MAX(0, forest->selection->from - event->start);
    int64_t to = STA_MIN(event->dur, forest->selection->to - event->start);
    if (from == 0 && to == event->dur)
        return size;
    return bytes_until(size, event->dur, to) - bytes_until(size, event->dur, from);
}

/* The nearest ancestor that matches; it touches the window when the event does. */
static uint32_t find_up(const struct sta_forest *forest, const struct sta_lane_thread *thread, uint32_t place)
{
    uint32_t parent = thread->events[place].parent;
    while (parent != STA_NO_EVENT && !sta_selection_matches(forest->selection, thread->events[parent].number))
        parent = thread->events[parent].parent;
    return parent;
}

static void add_child(struct sta_forest_node *parent, int64_t from, int64_t dur)
{
    const int64_t to = from + dur;
    parent->inner += dur;
    from = STA_MAX(from, parent->until);
    if (to > from) {
        parent->covered += to - from;
        parent->until = to;
    }
}

/* Takes from the stack what is not around the next event, whose nearest ancestor is @up. */
static int leave_until(struct sta_forest *forest, const struct sta_lane_thread *thread, uint32_t up,
                       const struct sta_forest_visitor *visitor, struct sta_error *err)
{
    int rc = 0;
    while (rc == 0 && forest->depth > 0 && forest->nodes[forest->depth - 1].place != up) {
        forest->depth--;
        rc = visitor->leave(visitor->context, forest, &thread->events[forest->nodes[forest->depth].place],
                            err);
    }
    STA_ASSERT(rc != 0 || forest->depth > 0 || up == STA_NO_EVENT);
    return rc;
}

static int enter(struct sta_forest *forest, const struct sta_lane_event *event, uint32_t place,
                 struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(forest->budget->account, forest->nodes, forest->capacity, forest->depth + 1,
                              WHAT, err);
    if (rc != 0)
        return rc;
    const int64_t from = STA_MAX(event->start, forest->selection->from);
    const int64_t dur = STA_MAX(STA_MIN(sta_lane_event_end(event), forest->selection->to) - from, 0);
    if (forest->depth > 0)
        add_child(&forest->nodes[forest->depth - 1], from, dur);
    forest->nodes[forest->depth++] = (struct sta_forest_node){
        .place = place, .dur = dur, .size = size_within(forest, event), .until = INT64_MIN};
    return 0;
}

int sta_forest_visit(struct sta_forest *forest, uint32_t number, const struct sta_forest_visitor *visitor,
                     size_t *count, struct sta_error *err)
{
    const struct sta_selection *selection = forest->selection;
    const struct sta_lane_thread *thread = &selection->index->threads[number];
    struct sta_thread_walk walk = sta_thread_walk(selection, number, selection->from, selection->to);
    forest->depth = 0;
    *count = 0;
    int rc = 0;
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;) {
        const struct sta_lane_event *event = &thread->events[place];
        rc = leave_until(forest, thread, find_up(forest, thread, place), visitor, err);
        if (rc == 0)
            rc = enter(forest, event, place, err);
        if (rc == 0 && visitor->enter != NULL)
            rc = visitor->enter(visitor->context, forest, event, err);
        if (rc == 0)
            rc = sta_budget_check_step(forest->budget, ++*count, err);
    }
    return rc == 0 ? leave_until(forest, thread, STA_NO_EVENT, visitor, err) : rc;
}
