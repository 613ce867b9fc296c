/* result_cache.h - rows of responses, kept by key within a number of bytes, so that the next page is cut from
 * what the first one computed; and each computed once, however many pages are asked for at the same time. */
#ifndef STA_SERVE_RESULT_CACHE_H
#define STA_SERVE_RESULT_CACHE_H

#include "serve/responses/result.h"

struct sta_result_cache;
struct sta_result_claim; /* the duty to compute rows that others may wait for */

struct sta_result_cache *sta_result_cache_create(uint64_t limit);
/** No claim may be open. */
void sta_result_cache_destroy(struct sta_result_cache *kept);

/**
 * sta_result_cache_claim - find rows, wait for them, or be the one who computes them
 * Return: 0 and either *result, retained, or *claim, which the caller must settle; STA_ECANCELLED or
 * STA_ELIMIT by the budget while it waited.
 * Context: a thread that may wait.
 */
STA_MUSTCHECK int sta_result_cache_claim(struct sta_result_cache *kept, const void *key, size_t size,
                                         const struct sta_budget *budget, struct sta_result **result,
                                         struct sta_result_claim **claim, struct sta_error *err);
/** The rows of a key when they are kept already, retained; else NULL. */
struct sta_result *sta_result_cache_find(struct sta_result_cache *kept, const void *key, size_t size);
/** Ends a claim: @result (a reference of their own is taken) are kept when they are small enough, and given
 * to all who wait; NULL: it failed, and one of them tries anew. */
void sta_result_cache_resolve(struct sta_result_claim *claim, struct sta_result *result);
/** Drops the rows whose key holds this text: those of a trace, by its id. */
void sta_result_cache_forget(struct sta_result_cache *kept, const char *text);

/** Drops what was used longest ago until about so many bytes are free.  Return: how many are. */
size_t sta_result_cache_shrink(struct sta_result_cache *kept, size_t bytes);

struct sta_result_cache_figures {
    uint64_t limit, bytes, entries;
};
struct sta_result_cache_figures sta_result_cache_figures(struct sta_result_cache *kept);

#endif
