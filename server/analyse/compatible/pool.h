/* pool.h - zeroed arrays that are charged to a request and go all at once (private to compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_POOL_H
#define STA_ANALYSE_COMPATIBLE_POOL_H

#include <stddef.h>

#include "analyse/exec/budget.h"
#include "common/account.h"

struct sta_pool {
    /* Charged, and asked while large arrays are zeroed; NULL: not counted, or what is left outlives its
     * request.  Set before use. */
    const struct sta_budget *budget;
    struct sta_pool_piece *last;
    size_t bytes; /* asked for */
};

/** @count items of @size bytes, all zero, for as long as the pool lives.  NULL as sta_account_alloc,
 * and as sta_budget_check.  Context: one thread at a time. */
void *sta_pool_take(struct sta_pool *pool, size_t count, size_t size, const char *what,
                    struct sta_error *err);
void sta_pool_fini(struct sta_pool *pool);

#endif
