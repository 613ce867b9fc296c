/* overlap.h - did I/O hide behind compute: busy, overlapping and exposed time of event sets (public part of
 * analyse.h).  overlap.md has the definitions. */
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

struct sta_overlap_query {
    struct sta_snapshot *snapshot;
    const struct sta_presets *presets;
    const char *label;        /* value of the column `trace`, or NULL */
    const char *trace_preset; /* chosen by content */
    /* An object: the members of overlap.md sections 3 and 4, without limit, cursor and format.  Beyond them:
     * layers, a list, instead of sets means these layers of its preset, or of trace_preset (empty: all but
     * the ancestors of what overlap_with names); granularity (seconds) asks for a series, explain (true) for
     * what the bucket method says; for intervals longest (no more than so many) and events (so many shown of
     * each). */
    const struct sta_document *request;
    /* Instead of the request's sets: conditions as presets have them, which may name args columns that the
     * trace lacks.  The request names the preset. */
    const struct sta_named_expression *sets;
    size_t set_count; /* at most 16 .. */
    /* .. or with this 60 that are swept together, of which the first so many, at most 16, are distinguished
     * in intervals (overlap/signatures.h). */
    bool by_signature;
    uint32_t watched;
    /* Columns and classes of many conditions, for queries whose sets are among these; NULL: each makes its
     * own.  Borrowed (overlap/request.h). */
    const struct sta_bound_conditions *bound;
};

/* Tables in whole.  Those that were not asked for have no columns. */
struct sta_overlap_result {
    const char *semantics;  /* static */
    char *scope;            /* JSON: a word or a list; NULL under compatible */
    const char *variant;    /* static; NULL but under compatible */
    struct sta_facts facts; /* scope_count, span, idle; or granularity and the totals of compatible */
    struct sta_table sets, pairs, groups, concurrency, exposure, statistics, explain, series, per_scope;
    struct sta_table phases; /* compatible: name, events, time, threads; and per_scope has the printed lines:
                                printed, value, time, shown */
    char **warnings;
    size_t warning_count;
};

/**
 * sta_overlap_run - the result of one request (overlap.md sections 2 to 4)
 * Mistakes: STA_EINPUT with parameter and position.  Return: 0, these, STA_ELIMIT, STA_ECANCELLED,
 * STA_ECORRUPT.  Fini after success.
 */
STA_MUSTCHECK int sta_overlap_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                                  struct sta_overlap_result *result, struct sta_error *err);
void sta_overlap_result_fini(struct sta_overlap_result *result);
/** sta_overlap_intervals - the table of maximal intervals in which request member `where` holds. */
STA_MUSTCHECK int sta_overlap_intervals(const struct sta_overlap_query *query,
                                        const struct sta_budget *budget, struct sta_table *table,
                                        struct sta_error *err);
/** sta_overlap_page - the page that DFTracer's analyser prints, from a result under compatible.  UTF-8;
 * free() it. */
char *sta_overlap_page(const struct sta_overlap_result *result);

#endif
