/* The table of combinations: open addressing, linear probing, at most half full. */
#include "analyse/layers/composite_map.h"
#include "common/memory.h"

#define FIRST_SLOTS 256

static void use_slots(struct sta_composite_map *combinations, struct sta_composite_key *fresh, uint32_t slots)
{
    combinations->slots = fresh;
    combinations->mask = slots - 1;
    combinations->count = 0;
    for (uint32_t i = 0; i < slots; i++)
        combinations->slots[i] = (struct sta_composite_key){.value = STA_NO_CODE};
}

void sta_composite_map_init(struct sta_composite_map *combinations, struct sta_account *account)
{
    combinations->account = account;
    use_slots(combinations, sta_account_alloc_small(account, FIRST_SLOTS, sizeof *combinations->slots),
              FIRST_SLOTS);
}

void sta_composite_map_fini(struct sta_composite_map *combinations)
{
    sta_account_free(combinations->account, combinations->slots);
}

static void insert(struct sta_composite_map *combinations, const struct sta_composite_key *key)
{
    uint32_t at = sta_composite_map_slot(combinations, key->pair, key->file);
    while (combinations->slots[at].value != STA_NO_CODE)
        at = (at + 1) & combinations->mask;
    combinations->slots[at] = *key;
    combinations->count++;
}

static int grow(struct sta_composite_map *combinations, struct sta_error *err)
{
    struct sta_composite_map old = *combinations;
    const uint32_t slots = (old.mask + 1) * 2;
    struct sta_composite_key *fresh =
        sta_account_alloc(old.account, slots, sizeof *fresh, "functions and categories", err);
    if (fresh == NULL)
        return err->status;
    use_slots(combinations, fresh, slots);
    for (uint32_t i = 0; i <= old.mask; i++) {
        if (old.slots[i].value != STA_NO_CODE)
            insert(combinations, &old.slots[i]);
    }
    sta_composite_map_fini(&old);
    return STA_OK;
}

int sta_composite_map_add(struct sta_composite_map *combinations, uint32_t name, uint32_t cat, uint32_t file,
                          uint32_t value, struct sta_error *err)
{
    STA_ASSERT(value != STA_NO_CODE);
    int status = combinations->count * 2 > combinations->mask ? grow(combinations, err) : STA_OK;
    if (status == STA_OK)
        insert(combinations, &(struct sta_composite_key){(uint64_t)cat << 32 | name, file, value});
    return status;
}
