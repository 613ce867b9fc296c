/* The table of combinations: open addressing, linear probing, at most half full. */
#include <stdlib.h>

#include "analyse/layers/combos.h"
#include "common/memory.h"

#define FIRST_SLOTS 256

static void make_slots(struct sta_combos *combos, uint32_t slots)
{
    combos->slots = sta_alloc_array(slots, sizeof *combos->slots);
    combos->mask = slots - 1;
    combos->count = 0;
    for (uint32_t i = 0; i < slots; i++)
        combos->slots[i].value = STA_NO_CODE;
}

void sta_combos_init(struct sta_combos *combos)
{
    make_slots(combos, FIRST_SLOTS);
}

void sta_combos_fini(struct sta_combos *combos)
{
    free(combos->slots);
}

static void place(struct sta_combos *combos, const struct sta_combo *combo)
{
    uint32_t at = sta_combos_slot(combos, combo->name, combo->cat, combo->file);
    while (combos->slots[at].value != STA_NO_CODE)
        at = (at + 1) & combos->mask;
    combos->slots[at] = *combo;
    combos->count++;
}

static void grow(struct sta_combos *combos)
{
    struct sta_combos old = *combos;
    make_slots(combos, (old.mask + 1) * 2);
    for (uint32_t i = 0; i <= old.mask; i++) {
        if (old.slots[i].value != STA_NO_CODE)
            place(combos, &old.slots[i]);
    }
    free(old.slots);
}

void sta_combos_add(struct sta_combos *combos, uint32_t name, uint32_t cat, uint32_t file, uint32_t value)
{
    STA_ASSERT(value != STA_NO_CODE);
    if (combos->count * 2 > combos->mask)
        grow(combos);
    place(combos, &(struct sta_combo){name, cat, file, value});
}
