/* timeline/search: the next or the previous event that matches. */
#include "analyse/exec/tasks.h"
#include "analyse/views/members.h"
#include "timeline/brief.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#include <stdlib.h>

/* What a worker has found.  Ends of the order of events: the first and last match of all, those nearest on
 * either side of where the search begins. */
struct found {
    uint64_t matches, behind, ahead_count; /* matches before and after where the search begins */
    bool any, has_ahead, has_behind;
    struct sta_event_place first, last, ahead, nearest_behind;
};

struct search {
    struct sta_selection selection;
    bool backwards, by_event;
    struct sta_event_place event;
    int64_t at;
    struct found *workers;
};

static int order(const struct search *search, struct sta_event_place a, struct sta_event_place b)
{
    return sta_lane_index_order(search->selection.index, sta_event_at(search->selection.index, a),
                                sta_event_at(search->selection.index, b));
}

static void take_least(const struct search *search, bool *has, struct sta_event_place *least,
                       struct sta_event_place at)
{
    if (!*has || order(search, at, *least) < 0)
        *least = at;
    *has = true;
}

static void take_greatest(const struct search *search, bool *has, struct sta_event_place *greatest,
                          struct sta_event_place at)
{
    if (!*has || order(search, at, *greatest) > 0)
        *greatest = at;
    *has = true;
}

static void take(const struct search *search, struct found *found, struct sta_event_place at)
{
    const struct sta_lane_event *event = sta_event_at(search->selection.index, at);
    bool had = found->any;
    int side = search->by_event ? order(search, at, search->event) : event->start >= search->at ? 1 : -1;
    found->matches++;
    take_least(search, &found->any, &found->first, at);
    take_greatest(search, &had, &found->last, at);
    if (side > 0) {
        found->ahead_count++;
        take_least(search, &found->has_ahead, &found->ahead, at);
    }
    if (side < 0) {
        found->behind++;
        take_greatest(search, &found->has_behind, &found->nearest_behind, at);
    }
}

static int search_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct search *search = context;
    const struct sta_selection *selection = &search->selection;
    struct sta_thread_walk walk =
        sta_thread_walk(selection, selection->threads[at], selection->from, selection->to);
    (void)err;
    for (uint32_t place; (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;)
        take(search, &search->workers[worker], (struct sta_event_place){selection->threads[at], place});
    return 0;
}

/* ---- the result */

static void unite(const struct search *search, struct found *to, const struct found *from)
{
    if (!from->any)
        return;
    bool had = to->any;
    to->matches += from->matches;
    to->behind += from->behind;
    to->ahead_count += from->ahead_count;
    take_least(search, &to->any, &to->first, from->first);
    take_greatest(search, &had, &to->last, from->last);
    if (from->has_ahead)
        take_least(search, &to->has_ahead, &to->ahead, from->ahead);
    if (from->has_behind)
        take_greatest(search, &to->has_behind, &to->nearest_behind, from->nearest_behind);
}

/* An event that the search begins at and that matches itself lies between those behind and those ahead. */
static struct sta_event_place choose(const struct search *search, const struct found *all,
                                     struct sta_timeline_found *found)
{
    const bool there = search->backwards ? all->has_behind : all->has_ahead;
    found->wrapped = !there;
    if (search->backwards) {
        found->index = (there ? all->behind : all->matches) - 1;
        return there ? all->nearest_behind : all->last;
    }
    found->index = there ? all->matches - all->ahead_count : 0;
    return there ? all->ahead : all->first;
}

static int read_members(struct search *search, const struct sta_budget *budget, struct sta_error *err)
{
    static const char *const directions[] = {"next", "previous"};
    const struct sta_document *request = search->selection.query->request;
    const struct sta_document *at = sta_member_given(request, "at"),
                              *event = sta_member_given(request, "event");
    size_t word = 0;
    int rc = sta_member_word(request, "direction", directions, 2, &word, err);
    search->backwards = word == 1;
    if (rc == 0 && sta_member_given(request, "filter") == NULL) {
        sta_fail(err, STA_EINPUT, "expected a filter that says what to look for");
        return sta_at_member(err, "filter", NULL, -1);
    }
    if (rc == 0 && (at != NULL) == (event != NULL)) {
        sta_fail(err, STA_EINPUT, "expected one of at and event");
        return sta_at_member(err, "at", NULL, -1);
    }
    double seconds = 0;
    bool given;
    const char *id = NULL;
    if (rc == 0)
        rc = sta_member_number(request, "at", &seconds, &given, err);
    if (rc == 0)
        rc = sta_member_text(request, "event", &id, err);
    search->by_event = id != NULL;
    search->at = sta_selection_ticks(&search->selection, seconds);
    if (rc == 0 && id != NULL)
        rc = sta_event_find(search->selection.index, id, budget, &search->event, err);
    if (rc == STA_ENOTFOUND) {
        sta_fail(err, STA_EINPUT, "there is no event of this id");
        return sta_at_member(err, "event", NULL, -1);
    }
    return rc;
}

static int fill_result(struct search *search, const struct sta_budget *budget,
                       struct sta_timeline_found *found, struct sta_error *err)
{
    const struct sta_selection *selection = &search->selection;
    unsigned workers = sta_budget_workers(budget);
    search->workers = sta_alloc_array(workers, sizeof *search->workers);
    int rc = sta_tasks_run(budget, selection->thread_count, search_thread, search, err);
    struct found all = {0};
    for (unsigned w = 0; w < workers; w++)
        unite(search, &all, &search->workers[w]);
    free(search->workers);
    found->matches = all.matches;
    if (rc != 0 || all.matches == 0)
        return rc;
    struct sta_event_place at = choose(search, &all, found);
    rc = sta_brief_of(selection, &found->memory, at, budget, &found->event, err);
    if (rc != 0)
        return rc;
    atomic_fetch_add(&selection->view->references, 1);
    found->keeper = selection->view;
    return 0;
}

void sta_timeline_found_fini(struct sta_timeline_found *found)
{
    sta_arena_fini(&found->memory);
    sta_preset_view_release(found->keeper);
    *found = (struct sta_timeline_found){0};
}

int sta_timeline_search(const struct sta_timeline_query *query, const struct sta_budget *budget,
                        struct sta_timeline_found *found, struct sta_error *err)
{
    static const char *const own[] = {"at", "event", "direction", NULL};
    struct search search = {0};
    *found = (struct sta_timeline_found){0};
    int rc = sta_selection_init(&search.selection, query, own, budget, err);
    if (rc == 0)
        rc = read_members(&search, budget, err);
    if (rc == 0)
        rc = fill_result(&search, budget, found, err);
    sta_selection_fini(&search.selection);
    return rc;
}
