/* top.h - which event is on top: at each moment the running one that is last in lane order (private to
 * timeline). */
#ifndef STA_TIMELINE_TOP_H
#define STA_TIMELINE_TOP_H

#include "timeline/selection.h"

/** Called for each interval [from, to) of a thread, in order of time, with the event on top. */
typedef int sta_top_take(void *context, int64_t from, int64_t to, const struct sta_lane_event *event,
                         struct sta_error *err);

struct sta_top_stack { /* of one worker, zeroed at first */
    uint32_t *places;
    size_t depth, capacity;
};

/** Matching events of a thread within [from, to).  Return: 0, or what @take returned, or STA_ELIMIT,
 * STA_EBUSY, STA_ECANCELLED. */
STA_MUSTCHECK int sta_top_run(const struct sta_selection *selection, uint32_t thread, int64_t from,
                              int64_t to, struct sta_top_stack *stack, const struct sta_budget *budget,
                              sta_top_take *take, void *context, struct sta_error *err);
void sta_top_stack_fini(struct sta_top_stack *stack, struct sta_account *account);

#endif
