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
    void *room = NULL;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    if (bytes >= STA_HUGE_PAGE)
        return sta_try_alloc(bytes);
    return posix_memalign(&room, CACHE_LINE, STA_MAX(bytes, (size_t)1)) == 0 ? room : NULL;
}

/* ---- pieces */

#define FIRST_BLOCK ((size_t)256 << 10) /* the others are large, so that huge pages serve them */
#define BLOCK ((size_t)8 << 20)

static bool add_block(struct sta_state_arena *room, size_t bytes)
{
    size_t size = STA_MAX(bytes, room->count == 0 ? FIRST_BLOCK : BLOCK);
    unsigned char *block = sta_array_create(size, 1);
    if (block == NULL)
        return false;
    STA_GROW(room->blocks, room->capacity, room->count + 1);
    STA_GROW(room->sizes, room->size_capacity, room->count + 1);
    room->blocks[room->count] = block;
    room->sizes[room->count++] = size;
    return true;
}

void *sta_state_arena_take(struct sta_state_arena *room, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    for (;; room->block++, room->used = 0) {
        if (room->block == room->count && !add_block(room, bytes))
            return NULL;
        if (room->sizes[room->block] - room->used >= bytes)
            break;
    }
    void *piece = room->blocks[room->block] + room->used;
    room->used += bytes;
    return piece;
}

void sta_state_arena_reset(struct sta_state_arena *room)
{
    room->block = 0;
    room->used = 0;
}

void sta_state_arena_fini(struct sta_state_arena *room)
{
    for (size_t b = 0; b < room->count; b++)
        sta_free(room->blocks[b]);
    free(room->blocks);
    free(room->sizes);
    *room = (struct sta_state_arena){0};
}
