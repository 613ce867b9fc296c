/* query_context.h - what the steps of a query have in common: limits, and what is recorded of each
 * (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_ROWS_QUERY_CONTEXT_H
#define STA_ANALYSE_QUERY_ROWS_QUERY_CONTEXT_H

#include "analyse/facade/query.h"
#include "analyse/operators/materialized.h"

struct sta_budget;

struct sta_query_context {
    const struct sta_budget *budget;
    const struct sta_query *query; /* while it is run: for other ranks */
    struct sta_query_step *steps;
    size_t step_count, step_capacity;
    uint64_t started; /* the last step, uv_hrtime */
    uint64_t sums_too_large;
};

/** For the rows that a step makes. */
struct sta_materialized *sta_query_context_rows(const struct sta_query_context *context,
                                                const struct sta_column_info *columns, size_t column_count);
/** Bytes of memory before it goes to the disk: of the texts that a step's expressions make, and of what the
 * step works with. */
uint64_t sta_query_context_texts_memory(const struct sta_query_context *context);
uint64_t sta_query_context_step_memory(const struct sta_query_context *context);

/** Begins the record of a step.  @detail: taken over.  Valid until the next one begins. */
struct sta_query_step *sta_query_context_step(struct sta_query_context *context, const char *name,
                                              char *detail);
/** Records what a step made: rows out, memory, disk. */
void sta_query_context_made(struct sta_query_step *step, const struct sta_materialized *materialized);
/** The time that the last step took. */
void sta_query_context_end_step(struct sta_query_context *context);
void sta_query_context_fini(struct sta_query_context *context);

#endif
