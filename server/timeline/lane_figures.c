/* Threads are measured by workers; the union of a lane above is that of the unions below it. */
#include "timeline/lane_figures.h"

#include "analyse/exec/tasks.h"
#include "timeline/unions.h"
#include "common/memory.h"

#define WHAT "the lanes of the timeline"

struct measuring {
    const struct sta_selection *selection;
    const struct sta_budget *budget;
    struct sta_lane_figures *figures; /* by lane */
    struct sta_union *spans;
};

static int measure_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct measuring *measuring = context;
    const struct sta_selection *selection = measuring->selection;
    const uint32_t thread = selection->threads[at];
    const struct sta_lane_thread *events = &selection->index->threads[thread];
    const uint32_t lane = selection->index->tree.lane_of_thread[thread];
    struct sta_lane_figures *figures = &measuring->figures[lane];
    struct sta_union *spans = &measuring->spans[lane];
    struct sta_thread_walk walk = sta_thread_walk(selection, thread, selection->from, selection->to);
    int rc = 0;
    (void)worker;
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;) {
        const struct sta_lane_event *event = &events->events[place];
        int64_t end = sta_lane_event_end(event);
        figures->first = figures->events == 0 ? event->start : STA_MIN(figures->first, event->start);
        figures->last = figures->events == 0 ? end : STA_MAX(figures->last, end);
        figures->longest = STA_MAX(figures->longest, event->dur);
        figures->events++;
        rc = sta_union_add(spans, STA_MAX(event->start, selection->from), STA_MIN(end, selection->to),
                           measuring->budget, err);
    }
    figures->threads = figures->events > 0;
    figures->rows = figures->events > 0 ? events->rows : 0;
    figures->busy = sta_union_measure(spans);
    return rc;
}

/* Lanes above come before those below, so going backwards all below a lane are complete. */
static int unite_lanes(struct measuring *measuring, struct sta_error *err)
{
    const struct sta_lane_tree *tree = &measuring->selection->index->tree;
    for (uint32_t lane = tree->lane_count - 1; lane > 0; lane--) {
        const uint32_t parent = tree->lanes[lane].parent;
        struct sta_lane_figures *from = &measuring->figures[lane], *to = &measuring->figures[parent];
        struct sta_union *spans = &measuring->spans[lane];
        if (tree->lanes[lane].level < STA_LANE_THREAD && from->events > 0) {
            int rc = sta_union_sort(spans, measuring->budget, err);
            if (rc != 0)
                return rc;
            from->busy = sta_union_measure(spans);
        }
        if (from->events == 0)
            continue;
        to->first = to->events == 0 ? from->first : STA_MIN(to->first, from->first);
        to->last = to->events == 0 ? from->last : STA_MAX(to->last, from->last);
        to->longest = STA_MAX(to->longest, from->longest);
        to->rows = STA_MAX(to->rows, from->rows);
        to->events += from->events;
        to->threads += from->threads;
        int rc = tree->lanes[lane].level == STA_LANE_HOST
                     ? 0
                     : sta_union_move(&measuring->spans[parent], spans, measuring->budget, err);
        sta_union_fini(spans, measuring->budget->account);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int sta_lane_figures_measure(const struct sta_selection *selection, const struct sta_budget *budget,
                             struct sta_lane_figures **figures, struct sta_error *err)
{
    const uint32_t lanes = selection->index->tree.lane_count;
    struct measuring measuring = {.selection = selection, .budget = budget};
    measuring.figures = sta_account_calloc(budget->account, lanes, sizeof *measuring.figures, WHAT, err);
    measuring.spans = sta_account_calloc(budget->account, lanes, sizeof *measuring.spans, WHAT, err);
    int rc = measuring.figures == NULL || measuring.spans == NULL
                 ? err->status
                 : sta_tasks_run(budget, selection->thread_count, measure_thread, &measuring, err);
    if (rc == 0)
        rc = unite_lanes(&measuring, err);
    for (uint32_t lane = 0; measuring.spans != NULL && lane < lanes; lane++)
        sta_union_fini(&measuring.spans[lane], budget->account);
    sta_account_free(budget->account, measuring.spans);
    if (rc != 0)
        sta_account_free(budget->account, measuring.figures);
    else
        *figures = measuring.figures;
    return rc;
}
