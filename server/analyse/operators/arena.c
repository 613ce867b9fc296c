/* Large arrays, and pieces of them. */
#include "analyse/operators/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/memory.h"

#define CACHE_LINE ((size_t)64)

void *sta_array_create(size_t count, size_t size)
{
    size_t bytes;
    void *block = NULL;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    if (bytes >= STA_HUGE_PAGE)
        return sta_try_alloc(bytes);
    return posix_memalign(&block, CACHE_LINE, STA_MAX(bytes, (size_t)1)) == 0 ? block : NULL;
}

/* ---- pieces */

#define FIRST_BLOCK ((size_t)256 << 10) /* the others are large, so that huge pages serve them */
#define BLOCK ((size_t)8 << 20)

static bool add_block(struct sta_state_arena *arena, size_t bytes)
{
    size_t size = STA_MAX(bytes, arena->count == 0 ? FIRST_BLOCK : BLOCK);
    unsigned char *block = sta_array_create(size, 1);
    if (block == NULL)
        return false;
    STA_GROW(arena->blocks, arena->capacity, arena->count + 1);
    arena->blocks[arena->count++] = (struct sta_state_arena_block){block, size};
    return true;
}

void *sta_state_arena_take(struct sta_state_arena *arena, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    for (;; arena->block++, arena->used = 0) {
        if (arena->block == arena->count && !add_block(arena, bytes))
            return NULL;
        if (arena->blocks[arena->block].size - arena->used >= bytes)
            break;
    }
    void *piece = arena->blocks[arena->block].bytes + arena->used;
    arena->used += bytes;
    return piece;
}

void sta_state_arena_reset(struct sta_state_arena *arena)
{
    arena->block = 0;
    arena->used = 0;
}

void sta_state_arena_fini(struct sta_state_arena *arena)
{
    for (size_t b = 0; b < arena->count; b++)
        sta_free(arena->blocks[b].bytes);
    free(arena->blocks);
    *arena = (struct sta_state_arena){0};
}
