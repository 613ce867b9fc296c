/* workshop.h - what the steps of a query have in common: limits, the spill folder, and what is told of each
 * (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_WORKSHOP_H
#define STA_ANALYSE_QUERY_WORKSHOP_H

#include "analyse/facade/query.h"

struct sta_budget;

struct sta_workshop {
    const struct sta_budget *budget;
    const char *spill_folder;
    struct sta_query_step *steps;
    size_t step_count, step_capacity;
    uint64_t started; /* the last step, uv_hrtime */
};

/** Bytes that rows may take before they go to the disk: of those that a step makes, and of what it works
 * with. */
uint64_t sta_workshop_rows_memory(const struct sta_workshop *workshop);
uint64_t sta_workshop_step_memory(const struct sta_workshop *workshop);

/** Begins to tell of a step.  @detail: taken over.  Valid until the next one begins. */
struct sta_query_step *sta_workshop_step(struct sta_workshop *workshop, const char *name, char *detail);
/** The time that the last step took. */
void sta_workshop_end_step(struct sta_workshop *workshop);
void sta_workshop_fini(struct sta_workshop *workshop);

#endif
