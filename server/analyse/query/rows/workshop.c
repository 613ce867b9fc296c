/* Limits of the steps of a query, and what is told of each. */
#include "analyse/query/rows/workshop.h"

#include <stdlib.h>
#include <uv.h>

#include "analyse/budget.h"
#include "common/memory.h"

uint64_t sta_workshop_rows_memory(const struct sta_workshop *workshop)
{
    return workshop->budget->memory / 4;
}

uint64_t sta_workshop_step_memory(const struct sta_workshop *workshop)
{
    return workshop->budget->memory / 2;
}

struct sta_query_step *sta_workshop_step(struct sta_workshop *workshop, const char *name, char *detail)
{
    STA_GROW(workshop->steps, workshop->step_capacity, workshop->step_count + 1);
    struct sta_query_step *step = &workshop->steps[workshop->step_count++];
    *step = (struct sta_query_step){.name = name, .detail = detail};
    workshop->started = uv_hrtime();
    return step;
}

void sta_workshop_end_step(struct sta_workshop *workshop)
{
    workshop->steps[workshop->step_count - 1].nanoseconds = uv_hrtime() - workshop->started;
}

void sta_workshop_fini(struct sta_workshop *workshop)
{
    for (size_t i = 0; i < workshop->step_count; i++)
        free(workshop->steps[i].detail);
    free(workshop->steps);
}
