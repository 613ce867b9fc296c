/* overlap.h - did I/O hide behind compute: busy, overlapping and exposed time of event sets (public part of analyse.h).  overlap.md has the definitions. */
#ifndef STA_ANALYSE_FACADE_OVERLAP_H
#define STA_ANALYSE_FACADE_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/document.h"
#include "common/error.h"
#include "common/table.h"
#include "store/store.h"

struct sta_presets;
struct sta_budget;

struct sta_overlap_question {
    struct sta_snapshot *snapshot;
    const struct sta_presets *presets;
    const char *trace_preset; /* chosen by content: gives the default sets */
    const struct sta_document *
        request; /* an object: the members of overlap.md sections 3 and 4, without limit, cursor and format */
};

/* Tables in whole: sets, pairs, groups, concurrency, exposure (empty unless asked), per_scope, and what else the call gives (series, slowest ..). */
struct sta_overlap_answer {
    const char *semantics, *scope, *variant; /* static; variant NULL but for compatible */
    struct sta_facts *facts;                 /* scope_count, span, idle .. or the totals of compatible */
    struct sta_table sets, pairs, groups, concurrency, exposure, per_scope;
    char **warnings;
    size_t warning_count;
};

/**
 * sta_overlap_run - the answer of one request (overlap.md sections 2 to 4)
 * Mistakes: STA_EINPUT with parameter and position.  Return: 0, these, STA_ELIMIT, STA_ECANCELLED, STA_ECORRUPT.  Fini after success.
 */
STA_MUSTCHECK int sta_overlap_run(const struct sta_overlap_question *question,
                                  const struct sta_budget *budget, struct sta_overlap_answer *answer,
                                  struct sta_error *err);
void sta_overlap_answer_fini(struct sta_overlap_answer *answer);
/** sta_overlap_intervals - the table of maximal intervals in which request member `where` holds. */
STA_MUSTCHECK int sta_overlap_intervals(const struct sta_overlap_question *question,
                                        const struct sta_budget *budget, struct sta_table *table,
                                        struct sta_error *err);

#endif
