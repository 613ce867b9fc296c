/* events/{event}: one event with its parents, children, neighbours, and what ran beside it. */
#include <string.h>

#include "analyse/operators/vectors.h"
#include "analyse/views/members.h"
#include "timeline/brief.h"
#include "timeline/unions.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the context of an event"

struct request {
    struct sta_selection selection;
    const struct sta_budget *budget;
    struct sta_event_place at;
    const struct sta_lane_thread *thread;
    const struct sta_lane_event *event;
    struct sta_timeline_event *result;
};

static int brief_of(struct request *request, struct sta_event_place at, struct sta_timeline_brief *brief,
                    struct sta_error *err)
{
    return sta_brief_of(&request->selection, &request->result->memory, at, request->budget, brief, err);
}

static int add_brief(struct request *request, struct sta_timeline_briefs *list, struct sta_event_place at,
                     size_t most, struct sta_error *err)
{
    list->count++;
    if (list->listed >= most)
        return 0;
    int rc =
        STA_ACCOUNT_GROW(request->budget->account, list->items, list->capacity, list->listed + 1, WHAT, err);
    if (rc == 0)
        rc = brief_of(request, at, &list->items[list->listed], err);
    list->listed += rc == 0;
    return rc;
}

static int list_parents(struct request *request, struct sta_error *err)
{
    int rc = 0;
    for (uint32_t up = request->event->parent; rc == 0 && up != STA_NO_EVENT;
         up = request->thread->events[up].parent)
        rc = add_brief(request, &request->result->parents, (struct sta_event_place){request->at.thread, up},
                       SIZE_MAX, err);
    return rc;
}

/* Children start after their parent in lane order and before its end. */
static int list_children(struct request *request, struct sta_error *err)
{
    const struct sta_lane_event *events = request->thread->events;
    const int64_t end = sta_lane_event_end(request->event);
    struct sta_union spans = {0};
    int rc = 0;
    for (uint32_t place = request->at.place + 1;
         rc == 0 && place < request->thread->count && events[place].start < end; place++) {
        if (events[place].parent == request->at.place) {
            rc = add_brief(request, &request->result->children,
                           (struct sta_event_place){request->at.thread, place}, STA_TIMELINE_RELATIVES, err);
            if (rc == 0)
                rc = sta_union_add(&spans, events[place].start, sta_lane_event_end(&events[place]),
                                   request->budget, err);
        }
        if (rc == 0)
            rc = sta_budget_check_step(request->budget, place + 1, err);
    }
    const int64_t covered = sta_union_measure(&spans);
    request->result->child_time = sta_selection_seconds(&request->selection, covered);
    request->result->self = sta_selection_seconds(&request->selection, request->event->dur - covered);
    sta_union_fini(&spans, request->budget->account);
    return rc;
}

static bool is_better_before(const struct sta_lane_event *a, const struct sta_lane_event *b)
{
    int64_t p = sta_lane_event_end(a), q = sta_lane_event_end(b);
    return p != q ? p > q : a->dur > b->dur;
}

/* The event of the lane that ended last before this one began: of equals the longest, then the first. */
static int find_previous(struct request *request, struct sta_error *err)
{
    const struct sta_lane_event *events = request->thread->events;
    uint32_t best = STA_NO_EVENT;
    for (uint32_t place = request->at.place; place-- > 0;) {
        /* No event before this one can end later than the best, once none of its stride does. */
        if (place % STA_LANE_STRIDE == STA_LANE_STRIDE - 1 && best != STA_NO_EVENT &&
            request->thread->latest[place / STA_LANE_STRIDE] < sta_lane_event_end(&events[best])) {
            place -= STA_LANE_STRIDE - 1;
            continue;
        }
        if (sta_lane_event_end(&events[place]) > request->event->start)
            continue;
        if (best == STA_NO_EVENT || !is_better_before(&events[best], &events[place]))
            best = place;
        int rc = sta_budget_check_step(request->budget, place + 1, err);
        if (rc != 0)
            return rc;
    }
    if (best == STA_NO_EVENT)
        return 0;
    request->result->has_previous = true;
    request->result->previous_gap =
        sta_selection_seconds(&request->selection, request->event->start - sta_lane_event_end(&events[best]));
    return brief_of(request, (struct sta_event_place){request->at.thread, best}, &request->result->previous,
                    err);
}

static int find_next(struct request *request, struct sta_error *err)
{
    const int64_t end = sta_lane_event_end(request->event);
    uint32_t place = STA_MAX(sta_lane_thread_find(request->thread, end), request->at.place + 1);
    if (place >= request->thread->count)
        return 0;
    request->result->has_next = true;
    request->result->next_gap =
        sta_selection_seconds(&request->selection, request->thread->events[place].start - end);
    return brief_of(request, (struct sta_event_place){request->at.thread, place}, &request->result->next,
                    err);
}

static int load_group(struct request *request, struct sta_error *err)
{
    const struct sta_selection *selection = &request->selection;
    const struct sta_lane_tree *tree = &selection->index->tree;
    const struct sta_timeline_lane *group =
        &tree->lanes[sta_lane_tree_above(tree, request->at.thread, STA_LANE_RANK_GROUP)];
    /* All threads are chosen, so a thread's number is its place among them. */
    STA_ASSERT(selection->thread_count == tree->thread_count);
    return sta_lane_index_load(selection->index, selection->threads + group->first_thread,
                               group->thread_count, request->budget, err);
}

/* Events of the rank group's other threads that run at the event's start. */
static int list_beside(struct request *request, struct sta_error *err)
{
    const struct sta_lane_index *index = request->selection.index;
    const uint32_t lane = sta_lane_tree_above(&index->tree, request->at.thread, STA_LANE_RANK_GROUP);
    const struct sta_timeline_lane *group = &index->tree.lanes[lane];
    const int64_t at = request->event->start;
    int rc = 0;
    request->result->beside_lane = sta_lane_tree_id(&index->tree, lane);
    for (uint32_t t = group->first_thread; t < group->first_thread + group->thread_count && rc == 0; t++) {
        struct sta_thread_walk walk = sta_thread_walk(&request->selection, t, at, at + 1);
        for (uint32_t place;
             rc == 0 && t != request->at.thread && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;)
            if (index->threads[t].events[place].dur > 0)
                rc = add_brief(request, &request->result->beside, (struct sta_event_place){t, place},
                               STA_TIMELINE_RELATIVES, err);
        if (rc == 0)
            rc = sta_budget_check(request->budget, err);
    }
    return rc;
}

/* Adds a column of times, if it is one: in whole microseconds, rounded down.  The event's start, end and dur
 * are exact. */
static bool add_time(struct request *request, uint32_t column, const char *name)
{
    const int64_t start = request->event->start, end = sta_lane_event_end(request->event);
    const bool starts = column == STA_LOGICAL_ts || column == STA_LOGICAL_time_start;
    const bool ends = column == STA_LOGICAL_te || column == STA_LOGICAL_time_end;
    const bool in_seconds =
        column == STA_LOGICAL_time || column == STA_LOGICAL_time_start || column == STA_LOGICAL_time_end;
    if (!starts && !ends && column != STA_LOGICAL_dur && column != STA_LOGICAL_time)
        return false;
    struct sta_table_column *added =
        sta_table_add(&request->result->columns, name, in_seconds ? STA_TYPE_FLOAT : STA_TYPE_INT, NULL);
    const int64_t micros = (starts ? start
                            : ends ? end
                                   : request->event->dur) /
                           (request->selection.index->ticks_per_second / 1000000);
    added->missing[0] = 0;
    if (in_seconds)
        added->numbers[0] = (double)micros / 1e6;
    else
        added->integers[0] = micros;
    return true;
}

static void put_value(struct sta_table *table, const struct sta_schema_column *of,
                      const struct sta_vector *vector, uint32_t at)
{
    struct sta_table_column *column = sta_table_add(table, of->name, of->type, NULL);
    sta_table_put(column, 0, vector, at);
    if (column->texts != NULL) /* the dictionary ends with the columns */
        sta_table_set_text(table, column, 0, column->texts[0].bytes, column->texts[0].length);
}

/* The columns of queries that the event has a value in. */
static int read_columns(struct request *request, struct sta_error *err)
{
    const struct sta_columns *columns = request->selection.view->bound.columns;
    const struct sta_schema *schema = sta_columns_schema(columns);
    struct sta_column_reader *reader = sta_column_reader_create(columns);
    uint32_t row;
    int rc = 0;
    sta_table_init(&request->result->columns, 1);
    sta_table_count_in(&request->result->columns, request->budget->account);
    sta_column_reader_seek(reader,
                           sta_lane_index_block(request->selection.index, request->event->number, &row));
    for (uint32_t c = 0; c < schema->count && rc == 0; c++) {
        struct sta_vector vector;
        if (schema->columns[c].name[0] == ' ' || add_time(request, c, schema->columns[c].name))
            continue; /* a blank: times in ticks, which queries do not see */
        rc = sta_column_reader_get(reader, c, &vector, err);
        const uint32_t at = vector.constant ? 0 : row;
        if (rc == 0 && !sta_vector_is_missing(&vector, at))
            put_value(&request->result->columns, &schema->columns[c], &vector, at);
        sta_column_reader_drop(reader, c);
    }
    sta_column_reader_destroy(reader);
    return rc;
}

static int fill_result(struct request *request, struct sta_error *err)
{
    const struct sta_selection *selection = &request->selection;
    request->thread = &selection->index->threads[request->at.thread];
    request->event = &request->thread->events[request->at.place];
    atomic_fetch_add(&selection->view->references, 1);
    request->result->keeper = selection->view;
    int rc = brief_of(request, request->at, &request->result->brief, err);
    if (rc == 0)
        rc = read_columns(request, err);
    if (rc == 0)
        rc = list_parents(request, err);
    if (rc == 0)
        rc = list_children(request, err);
    if (rc == 0)
        rc = find_previous(request, err);
    if (rc == 0)
        rc = find_next(request, err);
    return rc == 0 ? list_beside(request, err) : rc;
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

int sta_timeline_event(const struct sta_timeline_query *query, const char *id,
                       const struct sta_budget *budget, struct sta_timeline_event *event,
                       struct sta_error *err)
{
    static const char *const own[] = {NULL}, *const known[] = {"preset"};
    struct request request = {.budget = budget, .result = event};
    *event = (struct sta_timeline_event){.account = budget->account};
    event->memory.account = budget->account;
    int rc = sta_document_check(query->request, "here", known, STA_COUNT_OF(known), err);
    if (rc == 0)
        rc = sta_selection_read(&request.selection, query, own, budget, err);
    if (rc == 0)
        rc = sta_event_find(request.selection.index, id, budget, &request.at, err);
    if (rc == 0)
        rc = load_group(&request, err);
    if (rc == 0)
        rc = fill_result(&request, err);
    sta_selection_fini(&request.selection);
    if (rc != 0)
        sta_timeline_event_fini(event);
    return rc;
}
