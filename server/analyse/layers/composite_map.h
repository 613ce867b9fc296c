/* composite_map.h - a hash table from (function, category, kind of file) to a number, for one thread (private
 * to analyse).
 *
 * Looked up once per row and small: a few hundred combinations occur, so the table stays in the nearest
 * cache. */
#ifndef STA_ANALYSE_LAYERS_COMPOSITE_MAP_H
#define STA_ANALYSE_LAYERS_COMPOSITE_MAP_H

#include <stdint.h>

#include "common/account.h"
#include "common/dictionary.h"

struct sta_composite_key {
    uint64_t pair;  /* category, then function */
    uint32_t file;  /* a file class of a refiner */
    uint32_t value; /* STA_NO_CODE: the slot is free, and all else 0 */
};

struct sta_composite_map {
    struct sta_composite_key *slots;
    uint32_t mask, count;
    struct sta_account *account;
};

/** @account: the slots are charged to it; NULL: to none. */
void sta_composite_map_init(struct sta_composite_map *combinations, struct sta_account *account);
void sta_composite_map_fini(struct sta_composite_map *combinations);
/** The combination must not be there yet.  Return: 0; STA_ELIMIT, STA_EBUSY or STA_ENOMEM when there is no
 * memory for more: then it is not there. */
STA_MUSTCHECK int sta_composite_map_add(struct sta_composite_map *combinations, uint32_t name, uint32_t cat,
                                        uint32_t file, uint32_t value, struct sta_error *err);

static inline uint32_t sta_composite_map_slot(const struct sta_composite_map *combinations, uint64_t pair,
                                              uint32_t file)
{
    const uint64_t key = pair ^ (uint64_t)file << 16;
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & combinations->mask;
}

/** Return: the value, or STA_NO_CODE. */
static inline uint32_t sta_composite_map_find(const struct sta_composite_map *combinations, uint32_t name,
                                              uint32_t cat, uint32_t file)
{
    const uint64_t pair = (uint64_t)cat << 32 | name;
    uint32_t at = sta_composite_map_slot(combinations, pair, file);
    for (;; at = (at + 1) & combinations->mask) {
        const struct sta_composite_key *slot = &combinations->slots[at];
        if ((slot->pair == pair && slot->file == file) || slot->value == STA_NO_CODE)
            return slot->value;
    }
}

#endif
