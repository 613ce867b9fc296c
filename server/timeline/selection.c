/* Members that all calls of the timeline share, checked before anything is read. */
#include "timeline/selection.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/views/members.h"
#include "common/buffer.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the selection of the timeline"

static const char *const common_members[] = {"preset", "filters", "filter", "from", "to", "lanes", NULL};

/* ---- members */

static bool is_among(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static int check_members(const struct sta_timeline_query *query, const char *const *own,
                         struct sta_error *err)
{
    for (const struct sta_document *m = query->request->first; m != NULL; m = m->next)
        if (!is_among(m->name, common_members) && !is_among(m->name, own)) {
            sta_fail(err, STA_EINPUT, "there is no parameter \"%.60s\" here", m->name);
            return sta_at_member(err, m->name, NULL, -1);
        }
    return 0;
}

int64_t sta_selection_ticks(const struct sta_selection *selection, double seconds)
{
    double most = 4.6e18, ticks = nearbyint(seconds * (double)selection->index->ticks_per_second);
    return (int64_t)(ticks > most ? most : ticks < -most ? -most : ticks);
}

double sta_selection_seconds(const struct sta_selection *selection, int64_t ticks)
{
    return (double)ticks / (double)selection->index->ticks_per_second;
}

static int read_moment(const struct sta_selection *selection, const char *name, int64_t *ticks, bool *given,
                       struct sta_error *err)
{
    double seconds = 0;
    *given = false;
    int rc = sta_member_number(selection->query->request, name, &seconds, given, err);
    if (rc == 0 && *given && !isfinite(seconds)) {
        sta_fail(err, STA_EINPUT, "expected a number of seconds");
        return sta_at_member(err, name, NULL, -1);
    }
    if (rc == 0 && *given)
        *ticks = sta_selection_ticks(selection, seconds);
    return rc;
}

static int read_window(struct sta_selection *selection, struct sta_error *err)
{
    bool from, to;
    selection->from = 0;
    selection->to = selection->index->end;
    int rc = read_moment(selection, "from", &selection->from, &from, err);
    if (rc == 0)
        rc = read_moment(selection, "to", &selection->to, &to, err);
    if (rc != 0)
        return rc;
    if (to && selection->to < selection->from) {
        sta_fail(err, STA_EINPUT, "to lies before from");
        return sta_at_member(err, "to", NULL, -1);
    }
    selection->to = STA_MAX(selection->from, selection->to);
    return 0;
}

/* ---- lanes: a list, or texts with commas between */

static int add_lane(struct sta_selection *selection, const char *id, size_t length, size_t *capacity,
                    struct sta_error *err)
{
    uint32_t lane = sta_lane_tree_find(&selection->index->tree, id, length);
    if (lane == STA_NO_LANE) {
        sta_fail(err, STA_EINPUT, "there is no lane \"%.*s\"; timeline/lanes lists them",
                 (int)STA_MIN(length, 200), id);
        return sta_at_member(err, "lanes", NULL, -1);
    }
    int rc = STA_ACCOUNT_GROW(selection->account, selection->lanes, *capacity, selection->lane_count + 1,
                              WHAT, err);
    if (rc == 0)
        selection->lanes[selection->lane_count++] = lane;
    return rc;
}

static int add_lanes(struct sta_selection *selection, struct sta_text list, size_t *capacity,
                     struct sta_error *err)
{
    int rc = 0;
    const char *at = list.bytes, *end = list.bytes + list.length;
    while (rc == 0 && at <= end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        rc = add_lane(selection, at, (size_t)(stop - at), capacity, err);
        at = stop + 1;
    }
    return rc;
}

static int fail_lanes(struct sta_error *err)
{
    sta_fail(err, STA_EINPUT, "expected ids of lanes");
    return sta_at_member(err, "lanes", NULL, -1);
}

static int read_lanes(struct sta_selection *selection, struct sta_error *err)
{
    const struct sta_document *lanes = sta_member_given(selection->query->request, "lanes");
    size_t capacity = 0;
    if (lanes == NULL)
        return add_lane(selection, "job", 3, &capacity, err);
    if (lanes->type == STA_DOCUMENT_TEXT)
        return add_lanes(selection, lanes->text, &capacity, err);
    if (lanes->type != STA_DOCUMENT_LIST)
        return fail_lanes(err);
    int rc = 0;
    for (const struct sta_document *lane = lanes->first; rc == 0 && lane != NULL; lane = lane->next)
        rc = lane->type == STA_DOCUMENT_TEXT ? add_lanes(selection, lane->text, &capacity, err)
                                             : fail_lanes(err);
    return rc;
}

static int choose_threads(struct sta_selection *selection, struct sta_error *err)
{
    const struct sta_lane_tree *tree = &selection->index->tree;
    uint8_t *chosen =
        sta_account_calloc(selection->account, (size_t)tree->thread_count + 1, sizeof *chosen, WHAT, err);
    selection->threads = sta_account_alloc(selection->account, (size_t)tree->thread_count + 1,
                                           sizeof *selection->threads, WHAT, err);
    if (chosen == NULL || selection->threads == NULL) {
        sta_account_free(selection->account, chosen);
        return err->status;
    }
    for (size_t i = 0; i < selection->lane_count; i++) {
        const struct sta_timeline_lane *lane = &tree->lanes[selection->lanes[i]];
        memset(chosen + lane->first_thread, 1, lane->thread_count);
    }
    for (uint32_t t = 0; t < tree->thread_count; t++)
        if (chosen[t])
            selection->threads[selection->thread_count++] = t;
    sta_account_free(selection->account, chosen);
    return 0;
}

/* ---- preset and filter */

static int read_preset(struct sta_selection *selection, struct sta_error *err)
{
    const struct sta_timeline_query *query = selection->query;
    const char *name = query->trace_preset;
    int rc = sta_member_text(query->request, "preset", &name, err);
    return rc != 0 ? rc : sta_timeline_view(query->timeline, query->presets, name, &selection->view, err);
}

static int read_filter(struct sta_selection *selection, const struct sta_budget *budget,
                       struct sta_error *err)
{
    static const char *const words[] = {"off", "on"};
    const struct sta_timeline_query *query = selection->query;
    const char *filter = NULL;
    size_t filters = 0;
    int rc = sta_member_word(query->request, "filters", words, 2, &filters, err);
    if (rc == 0)
        rc = sta_member_text(query->request, "filter", &filter, err);
    if (rc != 0 || (filters == 0 && filter == NULL))
        return rc;
    return sta_timeline_matches(query->timeline, selection->view, filter, filters == 1, budget,
                                &selection->matches, err);
}

int sta_selection_load(const struct sta_selection *selection, const struct sta_budget *budget,
                       struct sta_error *err)
{
    return sta_lane_index_load(selection->index, selection->threads, selection->thread_count, budget, err);
}

int sta_selection_init(struct sta_selection *selection, const struct sta_timeline_query *query,
                       const char *const *own, const struct sta_budget *budget, struct sta_error *err)
{
    int rc = sta_selection_read(selection, query, own, budget, err);
    return rc == 0 ? sta_selection_load(selection, budget, err) : rc;
}

int sta_selection_read(struct sta_selection *selection, const struct sta_timeline_query *query,
                       const char *const *own, const struct sta_budget *budget, struct sta_error *err)
{
    *selection =
        (struct sta_selection){.query = query, .account = budget->account, .index = query->timeline->index};
    int rc = check_members(query, own, err);
    if (rc == 0)
        rc = read_window(selection, err);
    if (rc == 0)
        rc = read_preset(selection, err);
    if (rc == 0)
        rc = read_filter(selection, budget, err);
    if (rc == 0)
        rc = read_lanes(selection, err);
    return rc == 0 ? choose_threads(selection, err) : rc;
}

void sta_selection_fini(struct sta_selection *selection)
{
    sta_preset_view_release(selection->view);
    sta_match_set_release(selection->matches);
    sta_account_free(selection->account, selection->threads);
    sta_account_free(selection->account, selection->lanes);
    *selection = (struct sta_selection){0};
}

/* ---- events of a thread */

struct sta_thread_walk sta_thread_walk(const struct sta_selection *selection, uint32_t thread, int64_t from,
                                       int64_t to)
{
    struct sta_thread_walk walk = {
        .selection = selection, .thread = &selection->index->threads[thread], .from = from, .to = to};
    if (from < to) {
        walk.first = sta_lane_thread_find(walk.thread, from);
        walk.end = sta_lane_thread_find(walk.thread, to);
    }
    return walk;
}

/* Before the first that starts in the window: strides of which none reaches into it are passed over. */
static uint32_t next_before(struct sta_thread_walk *walk)
{
    const struct sta_lane_thread *thread = walk->thread;
    while (walk->place < walk->first) {
        uint32_t place = walk->place;
        if (place % STA_LANE_STRIDE == 0 && thread->latest[place / STA_LANE_STRIDE] <= walk->from) {
            walk->place = STA_MIN(place + STA_LANE_STRIDE, walk->first);
            continue;
        }
        walk->place++;
        if (sta_lane_event_end(&thread->events[place]) > walk->from &&
            sta_selection_matches(walk->selection, thread->events[place].number))
            return place;
    }
    return STA_NO_EVENT;
}

uint32_t sta_thread_walk_next(struct sta_thread_walk *walk)
{
    const struct sta_lane_thread *thread = walk->thread;
    if (walk->place < walk->first) {
        uint32_t place = next_before(walk);
        if (place != STA_NO_EVENT)
            return place;
    }
    while (walk->place < walk->end) {
        uint32_t place = walk->place++;
        if (sta_selection_matches(walk->selection, thread->events[place].number))
            return place;
    }
    return STA_NO_EVENT;
}

/* ---- texts */

struct sta_text sta_selection_name(const struct sta_selection *selection, uint32_t name)
{
    if (name == STA_NO_CODE)
        return (struct sta_text){0};
    return sta_dictionary_text(sta_tables_names(sta_snapshot_tables(selection->index->snapshot)), name);
}

struct sta_text sta_selection_category(const struct sta_selection *selection, uint32_t category)
{
    if (category == STA_NO_CODE)
        return (struct sta_text){0};
    return sta_dictionary_text(sta_columns_texts(selection->view->bound.columns, STA_LOGICAL_cat), category);
}

void sta_put_event_id(struct sta_buffer *out, const struct sta_lane_index *index, uint32_t thread,
                      uint32_t place)
{
    const struct sta_lane_thread *events = &index->threads[thread];
    struct sta_text lane = sta_lane_tree_id(&index->tree, index->tree.lane_of_thread[thread]);
    sta_put(out, lane.bytes, lane.length);
    sta_put_char(out, '@');
    sta_put_wide(out, index->origin_ns +
                          (__int128)events->events[place].start * (1000000000 / index->ticks_per_second));
    uint32_t nth = sta_lane_thread_nth(events, place);
    if (nth > 0)
        sta_put_format(out, ".%" PRIu32, nth);
}
