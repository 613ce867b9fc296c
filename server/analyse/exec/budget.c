/* The limits of a computation, as sentences. */
#include "analyse/exec/budget.h"

#include <uv.h>

#include "common/memory.h"

int sta_budget_check(const struct sta_budget *budget, struct sta_error *err)
{
    if (budget->cancel != NULL && atomic_load_explicit(budget->cancel, memory_order_relaxed))
        return sta_fail(err, STA_ECANCELLED, "it was cancelled");
    if (budget->deadline_ns != 0 && uv_hrtime() > budget->deadline_ns)
        return sta_fail(err, STA_ELIMIT, "its time is over; narrow it by from and to, or by a filter");
    return sta_account_check(budget->account, 0, "the request", err);
}

int sta_budget_memory(const struct sta_budget *budget, double bytes, const char *what, struct sta_error *err)
{
    if (bytes <= (double)budget->memory)
        return sta_account_check(budget->account, (size_t)bytes, what, err);
    return sta_fail(err, STA_ELIMIT,
                    "memory for %s would take %.0f MiB; one query may hold %.0f MiB (setting "
                    "query_memory); narrow it by from and to, or "
                    "by a filter",
                    what, bytes / 1048576, (double)budget->memory / 1048576);
}
