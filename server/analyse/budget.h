/* budget.h - what a request may take: threads, time, memory; whether it is still wanted; how far it is.
 *
 * struct sta_budget (analyse.h) is handed down to everything that works for a request.  Whatever works for
 * long asks sta_budget_check at least every 100 ms of one thread's work: between two morsels, and inside of
 * loops over what input sizes. */
#ifndef STA_ANALYSE_BUDGET_H
#define STA_ANALYSE_BUDGET_H

#include "analyse/analyse.h"
#include "common/account.h"

/** Threads to work with; a caller that says 0 gets one. */
static inline unsigned sta_budget_workers(const struct sta_budget *budget)
{
    return budget->workers > 0 ? budget->workers : 1;
}

/** Return: 0; STA_ECANCELLED when nobody waits any more; STA_ELIMIT past the deadline; STA_ELIMIT or
 * STA_EBUSY when its account is overdrawn.  Takes some 30 ns.  Context: any thread. */
STA_MUSTCHECK int sta_budget_check(const struct sta_budget *budget, struct sta_error *err);

/* How many steps of some nanoseconds a loop takes between two checks. */
#define STA_STEPS_PER_CHECK 65536

/** The check of a loop: asks every so many steps.  @step: counts up by one. */
STA_MUSTCHECK static inline int sta_budget_check_step(const struct sta_budget *budget, size_t step,
                                                      struct sta_error *err)
{
    return step % STA_STEPS_PER_CHECK == 0 ? sta_budget_check(budget, err) : STA_OK;
}

/** STA_ELIMIT when @bytes are more than the computation may hold, beside what its account holds; @what
 * completes "memory for ..".  Counts nothing: for sizes that are estimated before work begins; what is
 * allocated then is charged to the account by itself. */
STA_MUSTCHECK int sta_budget_memory(const struct sta_budget *budget, double bytes, const char *what,
                                    struct sta_error *err);

/** A pass begins that has so many steps, such as row groups. */
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
