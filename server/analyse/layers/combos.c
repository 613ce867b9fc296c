/* The table of combinations: open addressing, linear probing, at most half full. */
#include "analyse/layers/combos.h"
#include "common/memory.h"

#define FIRST_SLOTS 256

static void use_slots(struct sta_combos *combos, struct sta_combo *fresh, uint32_t slots)
{
    combos->slots = fresh;
    combos->mask = slots - 1;
    combos->count = 0;
    for (uint32_t i = 0; i < slots; i++)
        combos->slots[i].value = STA_NO_CODE;
}

void sta_combos_init(struct sta_combos *combos, struct sta_account *account)
{
    combos->account = account;
    use_slots(combos, sta_account_alloc_small(account, FIRST_SLOTS, sizeof *combos->slots), FIRST_SLOTS);
}

void sta_combos_fini(struct sta_combos *combos)
{
    sta_account_free(combos->account, combos->slots);
}

static void place(struct sta_combos *combos, const struct sta_combo *combo)
{
    uint32_t at = sta_combos_slot(combos, combo->name, combo->cat, combo->file);
    while (combos->slots[at].value != STA_NO_CODE)
        at = (at + 1) & combos->mask;
    combos->slots[at] = *combo;
    combos->count++;
}

static int grow(struct sta_combos *combos, struct sta_error *err)
{
    struct sta_combos old = *combos;
    const uint32_t slots = (old.mask + 1) * 2;
    struct sta_combo *fresh =
        sta_account_alloc(old.account, slots, sizeof *fresh, "functions and categories", err);
    if (fresh == NULL)
        return err->status;
    use_slots(combos, fresh, slots);
    for (uint32_t i = 0; i <= old.mask; i++) {
        if (old.slots[i].value != STA_NO_CODE)
            place(combos, &old.slots[i]);
    }
    sta_combos_fini(&old);
    return STA_OK;
}

int sta_combos_add(struct sta_combos *combos, uint32_t name, uint32_t cat, uint32_t file, uint32_t value,
                   struct sta_error *err)
{
    STA_ASSERT(value != STA_NO_CODE);
    int status = combos->count * 2 > combos->mask ? grow(combos, err) : STA_OK;
    if (status == STA_OK)
        place(combos, &(struct sta_combo){name, cat, file, value});
    return status;
}
