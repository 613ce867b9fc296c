/* Distinct pairs of place and file. */
#include "analyse/exact/files.h"

#include <string.h>

#define EMPTY UINT64_MAX

void sta_files_init(struct sta_files *files)
{
    sta_map_init(&files->pairs);
    memset(files->recent, 0xff, sizeof files->recent);
}

void sta_files_fini(struct sta_files *files)
{
    sta_map_fini(&files->pairs);
}

void sta_files_count(struct sta_files *workers, unsigned count, int64_t *counts)
{
    struct sta_map *all = &workers[0].pairs;
    for (unsigned w = 1; w < count; w++) {
        struct sta_map *pairs = &workers[w].pairs;
        for (size_t i = 0; i < pairs->capacity; i++) {
            bool added;
            if (pairs->keys[i] != EMPTY)
                sta_map_intern(all, pairs->keys[i], 0, &added);
        }
        sta_map_fini(pairs);
    }
    for (size_t i = 0; i < all->capacity; i++)
        if (all->keys[i] != EMPTY)
            counts[all->keys[i] >> 32]++;
}

double sta_files_bytes(const struct sta_files *files)
{
    return (double)files->pairs.capacity * (sizeof *files->pairs.keys + sizeof *files->pairs.values);
}
