/* grow.h - arrays by number that grow as numbers are met: charged, new items zeroed (private to exact). */
#ifndef STA_ANALYSE_EXACT_GROW_H
#define STA_ANALYSE_EXACT_GROW_H

#include <string.h>

#include "common/account.h"

/* Makes room for @need items of an array (NULL at first), all zero where nothing was set.  @capacity: a
 * size_t variable.  0, or a status; then the array is as it was. */
#define STA_GROW_ZEROED(account, array, capacity, need, err)                                                 \
    ((size_t)(need) <= (capacity)                                                                            \
         ? STA_OK                                                                                            \
         : sta_grow_zeroed_((account), &(array), &(capacity), (need), sizeof *(array), (err)))

static inline int sta_grow_zeroed_(struct sta_account *account, void *array, size_t *capacity, size_t need,
                                   size_t size, struct sta_error *err)
{
    const size_t before = *capacity;
    int rc = sta_account_grow_(account, array, capacity, need, size,
                               "what the rows of this view measure by process", err);
    char *items;
    memcpy(&items, array, sizeof items);
    if (rc == 0)
        memset(items + before * size, 0, (*capacity - before) * size);
    return rc;
}

#endif
