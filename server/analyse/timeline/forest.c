/* Children of a node come in order of their starts, so their union grows at its end. */
#include "analyse/timeline/forest.h"

#include <string.h>

#include "common/memory.h"

#define WHAT "the call tree"

void sta_forest_fini(struct sta_forest *forest)
{
    sta_account_free(forest->budget->account, forest->nodes);
    sta_account_free(forest->budget->account, forest->node_of_place);
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
    if (parent == STA_NO_EVENT)
        return STA_NO_NODE;
    uint32_t node = forest->node_of_place[parent];
    STA_ASSERT(node < forest->count && forest->nodes[node].place == parent);
    return node;
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

static int reserve_space(struct sta_forest *forest, const struct sta_lane_thread *thread,
                         struct sta_error *err)
{
    if (thread->count <= forest->place_capacity)
        return 0;
    sta_account_free(forest->budget->account, forest->node_of_place);
    forest->place_capacity = 0;
    forest->node_of_place =
        sta_account_calloc(forest->budget->account, thread->count, sizeof *forest->node_of_place, WHAT, err);
    if (forest->node_of_place == NULL)
        return err->status;
    forest->place_capacity = thread->count;
    return 0;
}

int sta_forest_grow(struct sta_forest *forest, uint32_t number, struct sta_error *err)
{
    const struct sta_selection *selection = forest->selection;
    const struct sta_lane_thread *thread = &selection->index->threads[number];
    struct sta_thread_walk walk = sta_thread_walk(selection, number, selection->from, selection->to);
    forest->count = 0;
    int rc = reserve_space(forest, thread, err);
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;) {
        const struct sta_lane_event *event = &thread->events[place];
        rc = STA_ACCOUNT_GROW(forest->budget->account, forest->nodes, forest->capacity, forest->count + 1,
                              WHAT, err);
        if (rc != 0)
            break;
        int64_t from = STA_MAX(event->start, selection->from);
        int64_t dur = STA_MAX(STA_MIN(sta_lane_event_end(event), selection->to) - from, 0);
        uint32_t up = find_up(forest, thread, place);
        forest->node_of_place[place] = (uint32_t)forest->count;
        forest->nodes[forest->count++] = (struct sta_forest_node){
            .place = place, .up = up, .dur = dur, .size = size_within(forest, event), .until = INT64_MIN};
        if (up != STA_NO_NODE)
            add_child(&forest->nodes[up], from, dur);
        rc = sta_budget_check_step(forest->budget, forest->count, err);
    }
    return rc;
}
