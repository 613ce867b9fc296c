/* Signatures are found class by class, so that the lock is taken some hundred times. */
#include "analyse/overlap/signatures.h"

#include <stdlib.h>

#include "common/memory.h"

struct sta_set_signatures *sta_set_signatures_create(uint32_t watched)
{
    struct sta_set_signatures *signatures = sta_alloc(sizeof *signatures);
    STA_ASSERT(watched <= STA_SWEEP_SETS);
    *signatures = (struct sta_set_signatures){.watched = watched};
    pthread_mutex_init(&signatures->lock, NULL);
    return signatures;
}

void sta_set_signatures_destroy(struct sta_set_signatures *signatures)
{
    if (signatures == NULL)
        return;
    pthread_mutex_destroy(&signatures->lock);
    free(signatures);
}

/* Under the lock.  Others read entries of signatures that they have got, and no entry of those is written
 * again: one that has the new bit has none above it. */
static void add(struct sta_set_signatures *signatures, uint64_t conditions)
{
    const uint32_t number = signatures->count++;
    uint16_t *entries = signatures->translation[number / 8];
    const uint32_t bit = 1u << number % 8;
    signatures->conditions[number] = conditions;
    for (uint32_t below = 0; below < bit; below++)
        entries[bit | below] =
            (uint16_t)(entries[below] | (conditions & ((UINT64_C(1) << signatures->watched) - 1)));
}

int sta_set_signatures_mask(struct sta_set_signatures *signatures, const struct sta_class *class,
                            uint32_t *mask, struct sta_error *err)
{
    uint64_t conditions = 0;
    uint32_t number = 0;
    for (uint32_t c = 0; c < signatures->condition_count; c++)
        conditions |= (uint64_t)sta_class_has(class, signatures->layer_bits[c]) << c;
    *mask = 0;
    if (conditions == 0)
        return STA_OK;
    pthread_mutex_lock(&signatures->lock);
    while (number < signatures->count && signatures->conditions[number] != conditions)
        number++;
    signatures->full = signatures->full || number == STA_SWEEP_MASK_BITS;
    if (number == signatures->count && number < STA_SWEEP_MASK_BITS)
        add(signatures, conditions);
    pthread_mutex_unlock(&signatures->lock);
    if (number == STA_SWEEP_MASK_BITS)
        return sta_fail(err, STA_ELIMIT, "more than %d combinations of conditions hold together",
                        STA_SWEEP_MASK_BITS);
    *mask = 1u << number;
    return STA_OK;
}

uint64_t sta_set_signatures_conditions(const struct sta_set_signatures *signatures, uint32_t mask)
{
    uint64_t conditions = 0;
    for (; mask != 0; mask &= mask - 1)
        conditions |= signatures->conditions[__builtin_ctz(mask)];
    return conditions;
}
