/* tables.h - helper functions for results (private to findings). */
#ifndef STA_FINDINGS_TABLES_H
#define STA_FINDINGS_TABLES_H

#include <math.h>

#include "analyse/analyse.h"

/** A number, or null where it is NAN. */
static inline void sta_findings_fact(struct sta_facts *facts, const char *name, const char *unit,
                                     double value)
{
    sta_facts_number(facts, name, unit, value);
    facts->items[facts->count - 1].missing = isnan(value);
}

/** The member goal, in (0, 1]; *goal stays when it is not given. */
STA_MUSTCHECK int sta_goal_read(const struct sta_document *request, double *goal, struct sta_error *err);

#endif
