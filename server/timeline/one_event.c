/* events/{event}: one event with its parents, children, neighbours, and what ran beside it. */
#include <string.h>

#include "analyse/operators/vectors.h"
#include "analyse/views/members.h"
#include "timeline/brief.h"
#include "timeline/unions.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the context of an event"

struct asked {
    struct sta_selection selection;
    const struct sta_budget *budget;
    struct sta_event_place at;
    const struct sta_lane_thread *thread;
    const struct sta_lane_event *event;
    struct sta_timeline_event *answer;
};

static int brief_of(struct asked *asked, struct sta_event_place at, struct sta_timeline_brief *brief,
                    struct sta_error *err)
{
    return sta_brief_of(&asked->selection, &asked->answer->memory, at, asked->budget, brief, err);
}

static int add_brief(struct asked *asked, struct sta_timeline_briefs *list, struct sta_event_place at,
                     size_t most, struct sta_error *err)
{
    list->count++;
    if (list->listed >= most)
        return 0;
    int rc =
        STA_ACCOUNT_GROW(asked->budget->account, list->items, list->capacity, list->listed + 1, WHAT, err);
    if (rc == 0)
        rc = brief_of(asked, at, &list->items[list->listed], err);
    list->listed += rc == 0;
    return rc;
}

static int list_parents(struct asked *asked, struct sta_error *err)
{
    int rc = 0;
    for (uint32_t up = asked->event->parent; rc == 0 && up != STA_NO_EVENT;
         up = asked->thread->events[up].parent)
        rc = add_brief(asked, &asked->answer->parents, (struct sta_event_place){asked->at.thread, up},
                       SIZE_MAX, err);
    return rc;
}

/* Children start after their parent in lane order and before its end. */
static int list_children(struct asked *asked, struct sta_error *err)
{
    const struct sta_lane_event *events = asked->thread->events;
    const int64_t end = sta_lane_event_end(asked->event);
    struct sta_union spans = {0};
    int rc = 0;
    for (uint32_t place = asked->at.place + 1;
         rc == 0 && place < asked->thread->count && events[place].start < end; place++) {
        if (events[place].parent == asked->at.place) {
            rc = add_brief(asked, &asked->answer->children, (struct sta_event_place){asked->at.thread, place},
                           STA_TIMELINE_RELATIVES, err);
            if (rc == 0)
                rc = sta_union_add(&spans, events[place].start, sta_lane_event_end(&events[place]),
                                   asked->budget, err);
        }
        if (rc == 0)
            rc = sta_budget_check_step(asked->budget, place + 1, err);
    }
    const int64_t covered = sta_union_measure(&spans);
    asked->answer->child_time = sta_selection_seconds(&asked->selection, covered);
    asked->answer->self = sta_selection_seconds(&asked->selection, asked->event->dur - covered);
    sta_union_fini(&spans, asked->budget->account);
    return rc;
}

static bool is_better_before(const struct sta_lane_event *a, const struct sta_lane_event *b)
{
    int64_t p = sta_lane_event_end(a), q = sta_lane_event_end(b);
    return p != q ? p > q : a->dur > b->dur;
}

/* The event of the lane that ended last before this one began: of equals the longest, then the first. */
static int find_previous(struct asked *asked, struct sta_error *err)
{
    const struct sta_lane_event *events = asked->thread->events;
    uint32_t best = STA_NO_EVENT;
    for (uint32_t place = asked->at.place; place-- > 0;) {
        /* No event before this one can end later than the best, once none of its stride does. */
        if (place % STA_LANE_STRIDE == STA_LANE_STRIDE - 1 && best != STA_NO_EVENT &&
            asked->thread->latest[place / STA_LANE_STRIDE] < sta_lane_event_end(&events[best])) {
            place -= STA_LANE_STRIDE - 1;
            continue;
        }
        if (sta_lane_event_end(&events[place]) > asked->event->start)
            continue;
        if (best == STA_NO_EVENT || !is_better_before(&events[best], &events[place]))
            best = place;
        int rc = sta_budget_check_step(asked->budget, place + 1, err);
        if (rc != 0)
            return rc;
    }
    if (best == STA_NO_EVENT)
        return 0;
    asked->answer->has_previous = true;
    asked->answer->previous_gap =
        sta_selection_seconds(&asked->selection, asked->event->start - sta_lane_event_end(&events[best]));
    return brief_of(asked, (struct sta_event_place){asked->at.thread, best}, &asked->answer->previous, err);
}

static int find_next(struct asked *asked, struct sta_error *err)
{
    const int64_t end = sta_lane_event_end(asked->event);
    uint32_t place = STA_MAX(sta_lane_thread_find(asked->thread, end), asked->at.place + 1);
    if (place >= asked->thread->count)
        return 0;
    asked->answer->has_next = true;
    asked->answer->next_gap =
        sta_selection_seconds(&asked->selection, asked->thread->events[place].start - end);
    return brief_of(asked, (struct sta_event_place){asked->at.thread, place}, &asked->answer->next, err);
}

static int load_group(struct asked *asked, struct sta_error *err)
{
    const struct sta_selection *selection = &asked->selection;
    const struct sta_lane_tree *tree = &selection->index->tree;
    const struct sta_timeline_lane *group =
        &tree->lanes[sta_lane_tree_above(tree, asked->at.thread, STA_LANE_RANK_GROUP)];
    /* All threads are chosen, so a thread's number is its place among them. */
    STA_ASSERT(selection->thread_count == tree->thread_count);
    return sta_lane_index_load(selection->index, selection->threads + group->first_thread,
                               group->thread_count, asked->budget, err);
}

/* Events of the rank group's other threads that run at the event's start. */
static int list_beside(struct asked *asked, struct sta_error *err)
{
    const struct sta_lane_index *index = asked->selection.index;
    const uint32_t lane = sta_lane_tree_above(&index->tree, asked->at.thread, STA_LANE_RANK_GROUP);
    const struct sta_timeline_lane *group = &index->tree.lanes[lane];
    const int64_t at = asked->event->start;
    int rc = 0;
    asked->answer->beside_lane = sta_lane_tree_id(&index->tree, lane);
    for (uint32_t t = group->first_thread; t < group->first_thread + group->thread_count && rc == 0; t++) {
        struct sta_thread_walk walk = sta_thread_walk(&asked->selection, t, at, at + 1);
        for (uint32_t place;
             rc == 0 && t != asked->at.thread && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;)
            if (index->threads[t].events[place].dur > 0)
                rc = add_brief(asked, &asked->answer->beside, (struct sta_event_place){t, place},
                               STA_TIMELINE_RELATIVES, err);
        if (rc == 0)
            rc = sta_budget_check(asked->budget, err);
    }
    return rc;
}

/* Adds a column of times, if it is one: in whole microseconds, rounded down.  The event's start, end and dur
 * are exact. */
static bool add_time(struct asked *asked, uint32_t column, const char *name)
{
    const int64_t start = asked->event->start, end = sta_lane_event_end(asked->event);
    const bool starts = column == STA_LOGICAL_ts || column == STA_LOGICAL_time_start;
    const bool ends = column == STA_LOGICAL_te || column == STA_LOGICAL_time_end;
    const bool in_seconds =
        column == STA_LOGICAL_time || column == STA_LOGICAL_time_start || column == STA_LOGICAL_time_end;
    if (!starts && !ends && column != STA_LOGICAL_dur && column != STA_LOGICAL_time)
        return false;
    struct sta_table_column *added =
        sta_table_add(&asked->answer->columns, name, in_seconds ? STA_TYPE_FLOAT : STA_TYPE_INT, NULL);
    const int64_t micros = (starts ? start
                            : ends ? end
                                   : asked->event->dur) /
                           (asked->selection.index->ticks_per_second / 1000000);
    added->missing[0] = 0;
    if (in_seconds)
        added->numbers[0] = (double)micros / 1e6;
    else
        added->integers[0] = micros;
    return true;
}

/* The columns of queries that the event has a value in. */
static int read_columns(struct asked *asked, struct sta_error *err)
{
    const struct sta_columns *columns = asked->selection.view->bound.columns;
    const struct sta_schema *schema = sta_columns_schema(columns);
    struct sta_column_reader *reader = sta_column_reader_create(columns);
    uint32_t row;
    int rc = 0;
    sta_table_init(&asked->answer->columns, 1);
    sta_table_count_in(&asked->answer->columns, asked->budget->account);
    sta_column_reader_seek(reader, sta_lane_index_block(asked->selection.index, asked->event->number, &row));
    for (uint32_t c = 0; c < schema->count && rc == 0; c++) {
        struct sta_vector vector;
        if (schema->columns[c].name[0] == ' ' || add_time(asked, c, schema->columns[c].name))
            continue; /* a blank: times in ticks, which queries do not see */
        rc = sta_column_reader_get(reader, c, &vector, err);
        const uint32_t at = vector.constant ? 0 : row;
        if (rc != 0 || sta_vector_is_missing(&vector, at))
            continue;
        struct sta_table_column *column =
            sta_table_add(&asked->answer->columns, schema->columns[c].name, schema->columns[c].type, NULL);
        sta_table_put(column, 0, &vector, at);
        if (column->texts != NULL) /* the dictionary ends with the columns */
            sta_table_set_text(&asked->answer->columns, column, 0, column->texts[0].bytes,
                               column->texts[0].length);
    }
    sta_column_reader_destroy(reader);
    return rc;
}

static int answer(struct asked *asked, struct sta_error *err)
{
    const struct sta_selection *selection = &asked->selection;
    asked->thread = &selection->index->threads[asked->at.thread];
    asked->event = &asked->thread->events[asked->at.place];
    atomic_fetch_add(&selection->view->references, 1);
    asked->answer->keeper = selection->view;
    int rc = brief_of(asked, asked->at, &asked->answer->brief, err);
    if (rc == 0)
        rc = read_columns(asked, err);
    if (rc == 0)
        rc = list_parents(asked, err);
    if (rc == 0)
        rc = list_children(asked, err);
    if (rc == 0)
        rc = find_previous(asked, err);
    if (rc == 0)
        rc = find_next(asked, err);
    return rc == 0 ? list_beside(asked, err) : rc;
}

void sta_timeline_event_fini(struct sta_timeline_event *event)
{
    sta_account_free(event->account, event->parents.items);
    sta_account_free(event->account, event->children.items);
    sta_account_free(event->account, event->beside.items);
    sta_table_fini(&event->columns);
    sta_arena_fini(&event->memory);
    sta_preset_view_release(event->keeper);
    *event = (struct sta_timeline_event){0};
}

static int check_members(const struct sta_document *request, struct sta_error *err)
{
    for (const struct sta_document *m = request->first; m != NULL; m = m->next)
        if (strcmp(m->name, "preset") != 0) {
            sta_fail(err, STA_EINPUT, "there is no parameter \"%.60s\" here", m->name);
            return sta_at_member(err, m->name, NULL, -1);
        }
    return 0;
}

int sta_timeline_event(const struct sta_timeline_query *query, const char *id,
                       const struct sta_budget *budget, struct sta_timeline_event *event,
                       struct sta_error *err)
{
    static const char *const own[] = {NULL};
    struct asked asked = {.budget = budget, .answer = event};
    *event = (struct sta_timeline_event){.account = budget->account};
    event->memory.account = budget->account;
    int rc = check_members(query->request, err);
    if (rc == 0)
        rc = sta_selection_read(&asked.selection, query, own, budget, err);
    if (rc == 0)
        rc = sta_event_find(asked.selection.index, id, budget, &asked.at, err);
    if (rc == 0)
        rc = load_group(&asked, err);
    if (rc == 0)
        rc = answer(&asked, err);
    sta_selection_fini(&asked.selection);
    if (rc != 0)
        sta_timeline_event_fini(event);
    return rc;
}
