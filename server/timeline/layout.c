/* Rows and parents of a thread's events, in one pass in lane order.
 *
 * Rows: a heap of running events by end, and one of free rows by number.  Parents: a stack of what contains
 * the present moment; an event that ends before the new one ends contains neither it nor anything later. */
#include "timeline/lane_index.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/running.h"
#include "common/memory.h"

#define WHAT "the rows of the timeline"

struct layout {
    struct sta_account *account;
    struct sta_running_ends running; /* rows */
    uint32_t *free_rows;             /* a heap, the lowest first */
    uint32_t *stack;                 /* places */
    size_t free_count, free_capacity, depth, stack_capacity;
    uint32_t rows;
};

/* ---- free rows */

static void push_free(struct layout *layout, uint32_t row)
{
    size_t at = layout->free_count++;
    for (; at > 0 && layout->free_rows[(at - 1) / 2] > row; at = (at - 1) / 2)
        layout->free_rows[at] = layout->free_rows[(at - 1) / 2];
    layout->free_rows[at] = row;
}

static uint32_t pop_free(struct layout *layout)
{
    uint32_t top = layout->free_rows[0], last = layout->free_rows[--layout->free_count];
    size_t at = 0, count = layout->free_count;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && layout->free_rows[child + 1] < layout->free_rows[child];
        if (layout->free_rows[child] >= last)
            break;
        layout->free_rows[at] = layout->free_rows[child];
    }
    layout->free_rows[at] = last;
    return top;
}

/* ---- an event */

static int take_row(struct layout *layout, struct sta_lane_event *event, struct sta_error *err)
{
    while (layout->running.count > 0 && layout->running.items[0].end <= event->start)
        push_free(layout, sta_running_pop(&layout->running).place);
    if (layout->free_count > 0) {
        event->row = pop_free(layout);
    } else {
        event->row = layout->rows++;
        int rc = STA_ACCOUNT_GROW(layout->account, layout->running.items, layout->running.capacity,
                                  layout->rows, WHAT, err);
        if (rc == 0)
            rc = STA_ACCOUNT_GROW(layout->account, layout->free_rows, layout->free_capacity, layout->rows,
                                  WHAT, err);
        if (rc != 0)
            return rc;
    }
    sta_running_push(&layout->running, (struct sta_running_place){sta_lane_event_end(event), event->row});
    return 0;
}

static int take_parent(struct layout *layout, struct sta_lane_thread *thread, uint32_t place,
                       struct sta_error *err)
{
    struct sta_lane_event *event = &thread->events[place];
    int64_t end = sta_lane_event_end(event);
    while (layout->depth > 0) {
        int64_t top = sta_lane_event_end(&thread->events[layout->stack[layout->depth - 1]]);
        if (top > event->start && top >= end)
            break;
        layout->depth--;
    }
    event->parent = layout->depth > 0 ? layout->stack[layout->depth - 1] : STA_NO_EVENT;
    if (event->dur == 0)
        return 0;
    int rc = STA_ACCOUNT_GROW(layout->account, layout->stack, layout->stack_capacity, layout->depth + 1, WHAT,
                              err);
    if (rc == 0)
        layout->stack[layout->depth++] = place;
    return rc;
}

static int lay_out(struct layout *layout, struct sta_lane_thread *thread, const struct sta_budget *budget,
                   struct sta_error *err)
{
    int rc = 0;
    for (uint32_t place = 0; place < thread->count && rc == 0; place++) {
        struct sta_lane_event *event = &thread->events[place];
        int64_t end = sta_lane_event_end(event), *latest = &thread->latest[place / STA_LANE_STRIDE];
        *latest = place % STA_LANE_STRIDE == 0 ? end : STA_MAX(*latest, end);
        thread->last = place == 0 ? end : STA_MAX(thread->last, end);
        rc = take_row(layout, event, err);
        if (rc == 0)
            rc = take_parent(layout, thread, place, err);
        if (rc == 0)
            rc = sta_budget_check_step(budget, place, err);
    }
    thread->rows = layout->rows;
    return rc;
}

int sta_lane_thread_lay_out(struct sta_lane_thread *thread, const struct sta_budget *budget,
                            struct sta_error *err)
{
    struct layout layout = {.account = budget->account};
    int rc = lay_out(&layout, thread, budget, err);
    sta_account_free(layout.account, layout.running.items);
    sta_account_free(layout.account, layout.free_rows);
    sta_account_free(layout.account, layout.stack);
    return rc;
}
