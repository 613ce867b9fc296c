/* budget.h - what a computation may take (private to analyse). */
#ifndef STA_ANALYSE_BUDGET_H
#define STA_ANALYSE_BUDGET_H

#include "analyse/analyse.h"

/** Threads to work with; a caller that says 0 gets one. */
static inline unsigned sta_budget_workers(const struct sta_budget *budget)
{
    return budget->workers > 0 ? budget->workers : 1;
}

/** Return: 0; STA_ECANCELLED when nobody waits any more; STA_ELIMIT past the deadline.  Cheap: ask once per
 * block.  Context: any thread. */
STA_MUSTCHECK int sta_budget_check(const struct sta_budget *budget, struct sta_error *err);

/** STA_ELIMIT when @bytes are more than the computation may hold; @what completes "memory for ..". */
STA_MUSTCHECK int sta_budget_memory(const struct sta_budget *budget, double bytes, const char *what,
                                    struct sta_error *err);

/** A pass begins that has so many steps, such as blocks. */
static inline void sta_budget_expect(const struct sta_budget *budget, uint64_t steps)
{
    if (budget->progress != NULL)
        atomic_fetch_add_explicit(&budget->progress->steps, steps, memory_order_relaxed);
}

/** One of them is done.  Context: any thread, like sta_budget_expect. */
static inline void sta_budget_step(const struct sta_budget *budget)
{
    if (budget->progress != NULL)
        atomic_fetch_add_explicit(&budget->progress->done, 1, memory_order_relaxed);
}

#endif
