/* Events in short. */
#include "timeline/brief.h"
#include "timeline/timeline.h"

#include <string.h>

static int classify_event(const struct sta_selection *selection, const struct sta_lane_event *event,
                          const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_lane_index *index = selection->index;
    const size_t group = sta_lane_index_group(index, event->number);
    if (sta_preset_view_has_group(selection->view, group))
        return 0;
    uint8_t *groups = sta_account_calloc(budget->account, sta_snapshot_row_group_count(index->snapshot) + 1,
                                         1, "the layer of an event", err);
    if (groups == NULL)
        return err->status;
    groups[group] = 1;
    int rc = sta_preset_view_classify(selection->view, selection->query->timeline, groups, budget, err);
    sta_account_free(budget->account, groups);
    return rc;
}

int sta_brief_of(const struct sta_selection *selection, struct sta_arena *memory, struct sta_event_place at,
                 const struct sta_budget *budget, struct sta_timeline_brief *brief, struct sta_error *err)
{
    const struct sta_lane_index *index = selection->index;
    const struct sta_lane_event *event = sta_event_at(index, at);
    int rc = classify_event(selection, event, budget, err);
    if (rc != 0)
        return rc;
    const struct sta_class_labels *labels = sta_selection_labels(selection, event->number);
    *brief = (struct sta_timeline_brief){
        .name = sta_selection_name(selection, event->name),
        .category = sta_selection_category(selection, labels->category),
        .lane = sta_lane_tree_id(&index->tree, index->tree.lane_of_thread[at.thread]),
        .row = event->row,
        .start = sta_selection_seconds(selection, event->start),
        .end = sta_selection_seconds(selection, sta_lane_event_end(event)),
        .dur = sta_selection_seconds(selection, event->dur)};
    if (labels->layer != STA_NO_LAYER) {
        const char *layer = selection->view->bound.preset->layers[labels->layer].name;
        brief->layer = (struct sta_text){layer, (uint32_t)strlen(layer)};
    }
    struct sta_buffer id;
    sta_buffer_init(&id);
    sta_put_event_id(&id, index, at.thread, at.place);
    brief->id = (struct sta_text){sta_arena_copy(memory, id.data, id.size), (uint32_t)id.size};
    sta_buffer_fini(&id);
    return 0;
}

/* A whole number of at most @most digits.  Return: false when there is none. */
static bool read_digits(const char **at, int most, __int128 *value)
{
    const char *first = *at;
    *value = 0;
    while (**at >= '0' && **at <= '9' && *at - first < most)
        *value = *value * 10 + (*(*at)++ - '0');
    return *at > first;
}

static bool read_moment(const char *text, __int128 *ns, __int128 *nth)
{
    bool negative = *text == '-';
    text += negative;
    *nth = 0;
    if (!read_digits(&text, 30, ns))
        return false;
    *ns = negative ? -*ns : *ns;
    if (*text == '.') {
        text++;
        if (!read_digits(&text, 10, nth) || *nth == 0)
            return false;
    }
    return *text == '\0';
}

/* The thread and the ticks that an id names. */
static bool read_id(const struct sta_lane_index *index, const char *id, uint32_t *thread, int64_t *start,
                    uint32_t *nth)
{
    const char *sign = strrchr(id, '@');
    __int128 ns, count;
    if (sign == NULL || !read_moment(sign + 1, &ns, &count) || count > UINT32_MAX)
        return false;
    uint32_t lane = sta_lane_tree_find(&index->tree, id, (size_t)(sign - id));
    if (lane == STA_NO_LANE || index->tree.lanes[lane].level != STA_LANE_THREAD)
        return false;
    const __int128 per_tick = 1000000000 / index->ticks_per_second,
                   ticks = (ns - index->origin_ns) / per_tick;
    if ((ns - index->origin_ns) % per_tick != 0 || ticks < INT64_MIN || ticks > INT64_MAX)
        return false;
    *thread = index->tree.lanes[lane].first_thread;
    *start = (int64_t)ticks;
    *nth = (uint32_t)count;
    return true;
}

int sta_event_find(struct sta_lane_index *index, const char *id, const struct sta_budget *budget,
                   struct sta_event_place *at, struct sta_error *err)
{
    int64_t start;
    uint32_t nth;
    if (!read_id(index, id, &at->thread, &start, &nth))
        return sta_fail(err, STA_ENOTFOUND, "there is no event %.200s", id);
    int rc = sta_lane_index_load(index, &at->thread, 1, budget, err);
    if (rc != 0)
        return rc;
    const struct sta_lane_thread *thread = &index->threads[at->thread];
    const uint64_t place = (uint64_t)sta_lane_thread_find(thread, start) + nth;
    if (place >= thread->count || thread->events[place].start != start)
        return sta_fail(err, STA_ENOTFOUND, "there is no event %.200s", id);
    at->place = (uint32_t)place;
    return 0;
}
