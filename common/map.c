/* Open addressing with linear probing; the table is at most half full. */
#include "common/map.h"

#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"

#define EMPTY UINT64_MAX
#define FIRST 64 /* slots; they cannot be refused, so that value 0 is there */

void sta_map_init(struct sta_map *map)
{
    *map = (struct sta_map){0};
}

void sta_map_fini(struct sta_map *map)
{
    sta_account_free(map->account, map->keys);
    sta_account_free(map->account, map->values);
    *map = (struct sta_map){.account = map->account};
}

static size_t slot_of(const struct sta_map *map, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(hash ^ (hash >> 32)) & (map->capacity - 1);
    while (map->keys[slot] != EMPTY && map->keys[slot] != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static void *take(const struct sta_map *map, size_t size)
{
    return map->capacity == FIRST
               ? sta_account_alloc_small(map->account, FIRST, size)
               : sta_account_alloc_sticky(map->account, map->capacity, size, "a table of numbers");
}

/* Return: false when there is no memory for it; the map is as it was then. */
static bool enlarge(struct sta_map *map)
{
    const struct sta_map old = *map;
    struct sta_map new = {.account = old.account, .capacity = old.capacity ? old.capacity * 2 : FIRST};
    new.keys = take(&new, sizeof *new.keys);
    new.values = take(&new, sizeof *new.values);
    if (new.keys == NULL || new.values == NULL) {
        sta_map_fini(&new);
        return false;
    }
    memset(new.keys, 0xff, new.capacity * sizeof *new.keys);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.keys[i] == EMPTY)
            continue;
        size_t slot = slot_of(&new, old.keys[i]);
        new.keys[slot] = old.keys[i];
        new.values[slot] = old.values[i];
    }
    new.count = old.count;
    sta_map_fini(map);
    *map = new;
    return true;
}

uint32_t sta_map_intern(struct sta_map *map, uint64_t key, uint32_t fresh, bool *added)
{
    STA_ASSERT(key != EMPTY);
    uint32_t known;
    *added = false;
    if (map->count * 2 >= map->capacity && !enlarge(map))
        return sta_map_find(map, key, &known) ? known : 0;
    size_t slot = slot_of(map, key);
    *added = map->keys[slot] == EMPTY;
    if (*added) {
        map->keys[slot] = key;
        map->values[slot] = fresh;
        map->count++;
    }
    return map->values[slot];
}

bool sta_map_find(const struct sta_map *map, uint64_t key, uint32_t *value)
{
    if (map->capacity == 0)
        return false;
    size_t slot = slot_of(map, key);
    if (map->keys[slot] == EMPTY)
        return false;
    *value = map->values[slot];
    return true;
}

void sta_map_put(struct sta_map *map, uint64_t key, uint32_t value)
{
    bool added;
    sta_map_intern(map, key, value, &added);
    if (map->capacity == 0)
        return;
    size_t slot = slot_of(map, key);
    if (map->keys[slot] == key)
        map->values[slot] = value;
}
