/* Open addressing with linear probing; the table is at most half full. */
#include "common/map.h"

#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"

#define EMPTY UINT64_MAX
#define SLOT_BYTES (sizeof(uint64_t) + sizeof(uint32_t))

void sta_map_init(struct sta_map *map)
{
    *map = (struct sta_map){0};
}

void sta_map_fini(struct sta_map *map)
{
    sta_account_release(map->account, map->capacity * SLOT_BYTES);
    free(map->keys);
    free(map->values);
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

static void enlarge(struct sta_map *map)
{
    struct sta_map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->keys = sta_alloc_array(map->capacity, sizeof *map->keys);
    map->values = sta_alloc_array(map->capacity, sizeof *map->values);
    memset(map->keys, 0xff, map->capacity * sizeof *map->keys);
    sta_account_overdraw(map->account, map->capacity * SLOT_BYTES);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.keys[i] == EMPTY)
            continue;
        size_t slot = slot_of(map, old.keys[i]);
        map->keys[slot] = old.keys[i];
        map->values[slot] = old.values[i];
    }
    sta_map_fini(&old);
}

uint32_t sta_map_intern(struct sta_map *map, uint64_t key, uint32_t fresh, bool *added)
{
    STA_ASSERT(key != EMPTY);
    if (map->count * 2 >= map->capacity)
        enlarge(map);
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
    map->values[slot_of(map, key)] = value;
}
