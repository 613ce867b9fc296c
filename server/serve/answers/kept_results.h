/* kept_results.h - rows of answers, kept by key within a number of bytes, so that the next page is cut from
 * what the first one computed; and each computed once, however many pages are asked for at the same time. */
#ifndef STA_SERVE_KEPT_RESULTS_H
#define STA_SERVE_KEPT_RESULTS_H

#include "serve/answers/result.h"

struct sta_kept_results;
struct sta_result_claim; /* the duty to compute rows that others may wait for */

struct sta_kept_results *sta_kept_results_create(uint64_t limit);
/** No claim may be open. */
void sta_kept_results_destroy(struct sta_kept_results *kept);

/**
 * sta_kept_results_claim - find rows, wait for them, or be the one who computes them
 * Return: 0 and either *result, retained, or *claim, which the caller must settle; STA_ECANCELLED or
 * STA_ELIMIT by the budget while it waited.
 * Context: a thread that may wait.
 */
STA_MUSTCHECK int sta_kept_results_claim(struct sta_kept_results *kept, const void *key, size_t size,
                                         const struct sta_budget *budget, struct sta_result **result,
                                         struct sta_result_claim **claim, struct sta_error *err);
/** The rows of a key when they are kept already, retained; else NULL. */
struct sta_result *sta_kept_results_find(struct sta_kept_results *kept, const void *key, size_t size);
/** Ends a claim: @result (a reference of their own is taken) are kept when they are small enough, and given
 * to all who wait; NULL: it failed, and one of them tries anew. */
void sta_kept_results_settle(struct sta_result_claim *claim, struct sta_result *result);
/** Drops the rows whose key holds this text: those of a trace, by its id. */
void sta_kept_results_forget(struct sta_kept_results *kept, const char *text);

/** Drops what was used longest ago until about so many bytes are free.  Return: how many are. */
size_t sta_kept_results_shrink(struct sta_kept_results *kept, size_t bytes);

struct sta_kept_results_figures {
    uint64_t limit, bytes, entries;
};
struct sta_kept_results_figures sta_kept_results_figures(struct sta_kept_results *kept);

#endif
