/* budget.h - what a request may take: threads, time, memory; whether it is still wanted; how far it is.
 *
 * It is handed down to everything that works for a request.  Whatever works for long asks sta_budget_check at
 * least every 100 ms of one thread's work: between two morsels, and inside of loops over what input sizes. */
#ifndef STA_ANALYSE_EXEC_BUDGET_H
#define STA_ANALYSE_EXEC_BUDGET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/account.h"

struct sta_peers;

/* How far a computation is, for other threads. */
struct sta_progress {
    _Atomic uint64_t steps, done; /* of the passes that have begun; what follows them is not known yet */
};

struct sta_budget {
    unsigned workers;
    size_t memory; /* bytes that the computation may hold: what takes more is spilled or refused */
    /* What it holds is charged to this; NULL: nothing is counted.  The account ends with the request: of what
     * outlives the call, a table is handed over by sta_table_count_in, the rest is only overdrawn from it. */
    struct sta_account *account;
    const _Atomic bool *cancel;    /* becomes true when nobody waits for the result; NULL: never */
    uint64_t deadline_ns;          /* uv_hrtime() past which it ends with STA_ELIMIT; 0: none */
    struct sta_progress *progress; /* counts steps; NULL: not wanted */
    const char *spill_folder;      /* for what does not fit the memory; NULL: nothing goes to the disk */
    const struct sta_peers *peers; /* other processes to share the work with (peers.h); NULL: none */
};

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

/** The same of a loop whose rounds differ.  @work: steps since the last check, first 0; @steps: this round's
 */
STA_MUSTCHECK static inline int sta_budget_check_work(const struct sta_budget *budget, size_t *work,
                                                      size_t steps, struct sta_error *err)
{
    *work += steps + 1;
    if (*work < STA_STEPS_PER_CHECK)
        return STA_OK;
    *work = 0;
    return sta_budget_check(budget, err);
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
