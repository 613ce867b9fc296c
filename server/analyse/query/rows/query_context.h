/* query_context.h - what the steps of a query have in common: limits, the spill folder, and what is recorded
 * of each (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_ROWS_QUERY_CONTEXT_H
#define STA_ANALYSE_QUERY_ROWS_QUERY_CONTEXT_H

#include "analyse/facade/query.h"
#include "analyse/operators/materialized.h"

struct sta_budget;

struct sta_query_context {
    const struct sta_budget *budget;
    const struct sta_query *query; /* while it is run: for other ranks */
    const char *spill_folder;
    struct sta_query_step *steps;
    size_t step_count, step_capacity;
    uint64_t started; /* the last step, uv_hrtime */
    uint64_t sums_too_large;
};

/** Bytes that rows may take before they go to the disk: of those that a step makes, of the texts that its
 * expressions make, and of what it works with. */
uint64_t sta_query_context_rows_memory(const struct sta_query_context *context);
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
