/* A stack of running events in lane order; an event becomes the top one when those above it have ended. */
#include "timeline/top.h"

#include "common/memory.h"

#define WHAT "the density of the timeline"

struct running {
    const struct sta_lane_event *events;
    struct sta_top_stack *stack;
    int64_t now, from, to;
    sta_top_take *take;
    void *context;
};

/* Gives out what is on top from now until a moment. */
static int run_until(struct running *running, int64_t until, struct sta_error *err)
{
    struct sta_top_stack *stack = running->stack;
    while (stack->depth > 0 && running->now < until) {
        const struct sta_lane_event *top = &running->events[stack->places[stack->depth - 1]];
        int64_t end = sta_lane_event_end(top);
        if (end <= running->now) {
            stack->depth--;
            continue;
        }
        int64_t stop = STA_MIN(end, until);
        int64_t from = STA_MAX(running->now, running->from), to = STA_MIN(stop, running->to);
        running->now = stop;
        if (from >= to)
            continue;
        int rc = running->take(running->context, from, to, top, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int sta_top_run(const struct sta_selection *selection, uint32_t thread, int64_t from, int64_t to,
                struct sta_top_stack *stack, const struct sta_budget *budget, sta_top_take *take,
                void *context, struct sta_error *err)
{
    struct sta_thread_walk walk = sta_thread_walk(selection, thread, from, to);
    struct running running = {.events = walk.thread->events,
                              .stack = stack,
                              .from = from,
                              .to = to,
                              .take = take,
                              .context = context};
    stack->depth = 0;
    size_t step = 0;
    int rc = 0;
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;) {
        const struct sta_lane_event *event = &running.events[place];
        if (event->dur == 0)
            continue;
        rc = run_until(&running, event->start, err);
        running.now = event->start;
        if (rc == 0)
            rc = STA_ACCOUNT_GROW(budget->account, stack->places, stack->capacity, stack->depth + 1, WHAT,
                                  err);
        if (rc == 0) {
            stack->places[stack->depth++] = place;
            rc = sta_budget_check_step(budget, ++step, err);
        }
    }
    return rc == 0 ? run_until(&running, to, err) : rc;
}

void sta_top_stack_fini(struct sta_top_stack *stack, struct sta_account *account)
{
    sta_account_free(account, stack->places);
    *stack = (struct sta_top_stack){0};
}
