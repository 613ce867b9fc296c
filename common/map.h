/* map.h - an open-addressing hash table from a 64-bit key to a 32-bit value.
 *
 * Not thread-safe.  The key UINT64_MAX is not allowed.  For texts use a dictionary. */
#ifndef STA_COMMON_MAP_H
#define STA_COMMON_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sta_account;

struct sta_map {
    uint64_t *keys;
    uint32_t *values;
    size_t count, capacity;      /* capacity: 0 or a power of two */
    struct sta_account *account; /* charged, with sticky failures; NULL: not counted.  Set after init */
};

void sta_map_init(struct sta_map *map);
void sta_map_fini(struct sta_map *map);
/** The value under @key, which is added as @fresh if it was not there; *@added says which.  When there is no
 * memory for more keys, the account has a sticky failure and the value is 0, as if the key were the first. */
uint32_t sta_map_intern(struct sta_map *map, uint64_t key, uint32_t fresh, bool *added);
bool sta_map_find(const struct sta_map *map, uint64_t key, uint32_t *value);
void sta_map_put(struct sta_map *map, uint64_t key, uint32_t value);

#endif
