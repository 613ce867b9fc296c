/* Limits of the steps of a query, and what is reported of each. */
#include "analyse/query/rows/query_context.h"

#include <stdlib.h>
#include <uv.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

struct sta_materialized *sta_query_context_rows(const struct sta_query_context *context,
                                                const struct sta_column_info *columns, size_t column_count)
{
    return sta_materialized_create(columns, column_count, context->budget->memory / 4,
                                   context->budget->spill_folder, context->budget->account);
}

uint64_t sta_query_context_texts_memory(const struct sta_query_context *context)
{
    return context->budget->memory / 4;
}

uint64_t sta_query_context_step_memory(const struct sta_query_context *context)
{
    return context->budget->memory / 2;
}

struct sta_query_step *sta_query_context_step(struct sta_query_context *context, const char *name,
                                              char *detail)
{
    STA_GROW(context->steps, context->step_capacity, context->step_count + 1);
    struct sta_query_step *step = &context->steps[context->step_count++];
    *step = (struct sta_query_step){.name = name, .detail = detail};
    context->started = uv_hrtime();
    return step;
}

void sta_query_context_made(struct sta_query_step *step, const struct sta_materialized *materialized)
{
    step->rows_out = sta_materialized_rows(materialized);
    step->memory = sta_materialized_bytes(materialized);
    step->spilled = sta_materialized_spilled(materialized);
}

void sta_query_context_end_step(struct sta_query_context *context)
{
    context->steps[context->step_count - 1].nanoseconds = uv_hrtime() - context->started;
}

void sta_query_context_fini(struct sta_query_context *context)
{
    for (size_t i = 0; i < context->step_count; i++)
        free(context->steps[i].detail);
    free(context->steps);
}
