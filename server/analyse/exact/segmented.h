/* segmented.h - records that are only added, never move, and are found by number (private to exact).
 *
 * Whoever adds holds a lock of its own; whoever got a record's number from the one who added it, through any
 * lock, reads without. */
#ifndef STA_ANALYSE_EXACT_SEGMENTED_H
#define STA_ANALYSE_EXACT_SEGMENTED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/account.h"
#include "common/memory.h"

/* Grows an array by number (NULL at first) as numbers are met; items are all zero where nothing was set. */
#define STA_GROW_ZEROED(account, array, capacity, need, err)                                                 \
    STA_ACCOUNT_GROW_ZEROED(account, array, capacity, need, "what the rows of this view measure by process", \
                            err)

#define STA_SEGMENTED_FIRST                                                                                  \
    10 /* bits: the first chunk holds 1024 records, each further one twice as many                           \
        */

struct sta_segmented {
    size_t size;                 /* of a record */
    struct sta_account *account; /* chunks are charged to it */
    uint32_t count;
    char *chunks[32 - STA_SEGMENTED_FIRST];
};

static inline void *sta_segmented_at(const struct sta_segmented *vector, uint32_t number)
{
    uint32_t from_one = (number >> STA_SEGMENTED_FIRST) + 1;
    unsigned chunk = 31 - (unsigned)__builtin_clz(from_one);
    uint32_t before = ((UINT32_C(1) << chunk) - 1) << STA_SEGMENTED_FIRST;
    return vector->chunks[chunk] + (size_t)(number - before) * vector->size;
}

/** A new record, zeroed.  NULL: its memory was refused. */
static inline void *sta_segmented_add(struct sta_segmented *vector, struct sta_error *err)
{
    const uint32_t number = vector->count;
    STA_ASSERT(number < UINT32_MAX - (1u << STA_SEGMENTED_FIRST));
    unsigned chunk = 31 - (unsigned)__builtin_clz((number >> STA_SEGMENTED_FIRST) + 1);
    if (vector->chunks[chunk] == NULL)
        vector->chunks[chunk] =
            sta_account_calloc(vector->account, (size_t)1 << (STA_SEGMENTED_FIRST + chunk), vector->size,
                               "what the rows of this view measure", err);
    if (vector->chunks[chunk] == NULL)
        return NULL;
    vector->count++;
    return sta_segmented_at(vector, number);
}

static inline void sta_segmented_fini(struct sta_segmented *vector)
{
    for (size_t i = 0; i < STA_COUNT_OF(vector->chunks); i++)
        sta_account_free(vector->account, vector->chunks[i]);
}

#endif
