/* pile.h - records that are only added, never move, and are found by number (private to exact).
 *
 * Whoever adds holds a lock of its own; whoever got a record's number from the one who added it, through any
 * lock, reads without. */
#ifndef STA_ANALYSE_EXACT_PILE_H
#define STA_ANALYSE_EXACT_PILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/memory.h"

#define STA_PILE_FIRST 10 /* bits: the first chunk holds 1024 records, each further one twice as many */

struct sta_pile {
    size_t size; /* of a record */
    uint32_t count;
    char *chunks[32 - STA_PILE_FIRST];
};

static inline void *sta_pile_at(const struct sta_pile *pile, uint32_t number)
{
    uint32_t from_one = (number >> STA_PILE_FIRST) + 1;
    unsigned chunk = 31 - (unsigned)__builtin_clz(from_one);
    uint32_t before = ((UINT32_C(1) << chunk) - 1) << STA_PILE_FIRST;
    return pile->chunks[chunk] + (size_t)(number - before) * pile->size;
}

/** A new record, zeroed. */
static inline void *sta_pile_add(struct sta_pile *pile)
{
    uint32_t number = pile->count++;
    STA_ASSERT(number < UINT32_MAX - (1u << STA_PILE_FIRST));
    unsigned chunk = 31 - (unsigned)__builtin_clz((number >> STA_PILE_FIRST) + 1);
    if (pile->chunks[chunk] == NULL)
        pile->chunks[chunk] = sta_alloc_array((size_t)1 << (STA_PILE_FIRST + chunk), pile->size);
    return sta_pile_at(pile, number);
}

static inline void sta_pile_fini(struct sta_pile *pile)
{
    for (size_t i = 0; i < STA_COUNT_OF(pile->chunks); i++)
        free(pile->chunks[i]);
}

#endif
