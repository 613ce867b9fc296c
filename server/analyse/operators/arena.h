/* arena.h - large arrays, and memory for many pieces (private to analyse). */
#ifndef STA_ANALYSE_OPERATORS_ARENA_H
#define STA_ANALYSE_OPERATORS_ARENA_H

#include <stddef.h>

/* Of a function that does nothing but ask memory ahead of time: gcc drops calls of it, since it has no
 * effect, unless they are inlined first. */
#define STA_PREFETCHES static inline __attribute__((always_inline)) void

/** An array, not zeroed, aligned to lines of the cache; sta_free() it.  Large ones lie in huge pages, which
 * spare most of the faults and of the misses of address translation.  NULL when memory is short. */
void *sta_array_create(size_t count, size_t size);

/* Pieces of memory that go all at once and can be used again: of one thread. */
struct sta_state_arena {
    struct sta_state_arena_block {
        unsigned char *bytes;
        size_t size;
    } * blocks;
    size_t count, capacity;
    size_t block, used; /* where the next piece is looked for */
};
/** Aligned for any word, not zeroed; NULL when memory is short. */
void *sta_state_arena_take(struct sta_state_arena *arena, size_t bytes);
/** All pieces are free again; the memory stays. */
void sta_state_arena_reset(struct sta_state_arena *arena);
void sta_state_arena_fini(struct sta_state_arena *arena);

#endif
