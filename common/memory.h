/* memory.h - allocation, in two ways.
 *
 * Small, bounded needs use sta_alloc and friends, which never return NULL: when the system refuses memory
 * they use a reserve, and running out of that ends the process in one place.  What input sizes uses
 * sta_try_alloc and is checked. */
#ifndef STA_COMMON_MEMORY_H
#define STA_COMMON_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

struct sta_account;

/* Memory of so many bytes and more is aligned to them, lies in huge pages, and is a mapping of its own once
 * sta_memory_configure was called. */
#define STA_HUGE_PAGE ((size_t)2 << 20)

/** Tells the allocator how this program uses it.  @most_free: bytes of large blocks that sta_free may keep
 * for sta_try_alloc; without this call it keeps none.  Context: the start of the program, before other
 * threads. */
void sta_memory_configure(unsigned threads, size_t most_free);

/** Sets so many bytes aside for sta_alloc and its like.  Context: as sta_memory_configure; without this call
 * there is no reserve. */
void sta_memory_reserve(size_t bytes);
/** Whether the reserve was opened because the system refused memory, and cannot be filled again yet: then
 * sta_try_alloc refuses what is not small, and so do accounts also below their limits.  Context: any
 * thread. */
bool sta_memory_is_short(void);

/** Opens the reserve for a library that was refused @size bytes, about: to be called before it tries again.
 * Ends the process, as sta_alloc does, when there is nothing left to open. */
void sta_memory_open_reserve(size_t size);

void *sta_alloc(size_t size);                     /* zeroed; free() it */
void *sta_alloc_array(size_t count, size_t size); /* zeroed; aborts on overflow */
void *sta_realloc_array(void *old, size_t count, size_t size);
char *sta_strdup(const char *text);
char *sta_strndup(const char *text, size_t length);
char *sta_sprintf(const char *format, ...) STA_PRINTF(1, 2);

void *sta_try_alloc(size_t size);                     /* not zeroed; NULL when memory is short */
void *sta_try_alloc_array(size_t count, size_t size); /* not zeroed; NULL on overflow or shortage */
void *sta_try_realloc(void *old,
                      size_t size); /* of malloc; small ones live on the reserve; NULL on shortage */
/** Frees memory of sta_try_alloc or malloc.  Large blocks may be kept for the next sta_try_alloc, until
 * memory is trimmed: for what operators allocate and free for each query. */
void sta_free(void *memory);

/**
 * sta_memory_trim_grown - give memory that was freed back to the system, when the process holds more than
 * @keep bytes
 * The allocator keeps what was freed for the next who asks, for each thread apart, so that it may come to
 * many times of what is in use.  Does nothing while no more is held than after the last time; else takes some
 * milliseconds per 100 MiB.
 * Context: any thread, when nobody waits for it.
 */
void sta_memory_trim_grown(uint64_t keep);

/** Gives memory that was freed back to the system when the process holds more than @keep bytes.  Return:
 * whether that made a difference.  Takes some milliseconds per 100 MiB. */
bool sta_memory_trim(uint64_t keep);

/** Whether what the process holds says how much memory is in use: not under a sanitizer, which holds much
 * more. */
bool sta_memory_can_be_measured(void);

/** Bytes of memory that the process holds, without pages of files; 0 when that cannot be known.  Takes about
 * a microsecond. */
uint64_t sta_memory_resident(void);
/** Bytes of pages of files that lie in the process. */
uint64_t sta_memory_of_files(void);

/* Grows an array so that it can hold `need` items: doubles, aborts when memory is short. */
#define STA_GROW(array, capacity, need)                                                                      \
    do {                                                                                                     \
        if ((need) > (capacity)) {                                                                           \
            size_t grown_ = (capacity) ? (size_t)(capacity)*2 : 16;                                          \
            while (grown_ < (size_t)(need))                                                                  \
                grown_ *= 2;                                                                                 \
            (array) = sta_realloc_array((array), grown_, sizeof *(array));                                   \
            (capacity) = grown_;                                                                             \
        }                                                                                                    \
    } while (0)

#define STA_COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define STA_MIN(a, b) ((a) < (b) ? (a) : (b))
#define STA_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Memory that is freed all at once; pieces never move.  Not thread-safe. */
struct sta_arena {
    struct sta_arena_block *head;
    size_t used, total;          /* of the head */
    size_t bytes;                /* of all blocks */
    struct sta_account *account; /* its blocks are overdrawn from this; NULL: not counted.  Set before use */
};
void *sta_arena_alloc(struct sta_arena *arena, size_t size, size_t align);
/** Zeroed items, aligned for anything. */
void *sta_arena_array(struct sta_arena *arena, size_t count, size_t size);
char *sta_arena_copy(struct sta_arena *arena, const void *bytes, size_t size); /* adds a terminating zero */
/** Takes over what is in another, which is empty then.  Both are counted in the same account. */
void sta_arena_adopt(struct sta_arena *arena, struct sta_arena *other);
void sta_arena_fini(struct sta_arena *arena);

#endif
