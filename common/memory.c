/* Allocation that ends the process in one place when memory is gone, allocation that may fail, arenas, and
 * giving back. */
#include "common/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *checked(void *memory, size_t size)
{
    if (memory == NULL && size > 0) {
        fprintf(stderr, "Out of memory: size=%zu\n", size);
        abort();
    }
    return memory;
}

void *sta_alloc(size_t size)
{
    return checked(calloc(1, size ? size : 1), size);
}

void *sta_alloc_array(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size), count * size);
}

void *sta_realloc_array(void *old, size_t count, size_t size)
{
    return checked(reallocarray(old, count ? count : 1, size), count * size);
}

char *sta_strdup(const char *text)
{
    return sta_strndup(text, strlen(text));
}

char *sta_strndup(const char *text, size_t length)
{
    char *copy = sta_alloc(length + 1);
    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *sta_sprintf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return checked(length < 0 ? NULL : text, 1);
}

/* In huge pages where the kernel has them: a fault for every 4 KiB would cost more than most work on them. */
static void *try_alloc_large(size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, STA_HUGE_PAGE, size) != 0)
        return NULL;
    (void)madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void *sta_try_alloc(size_t size)
{
    return size >= STA_HUGE_PAGE ? try_alloc_large(size) : malloc(size ? size : 1);
}

void *sta_try_alloc_array(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : sta_try_alloc(bytes);
}

/* Bytes of memory that are the process's own, not of a file; 0 when that cannot be known. */
static uint64_t bytes_held(void)
{
    unsigned long long resident = 0, of_files = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    bool known = fscanf(file, "%*u %llu %llu", &resident, &of_files) == 2 && resident >= of_files;
    fclose(file);
    return known ? (resident - of_files) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void sta_memory_give_back(uint64_t keep)
{
    static _Atomic uint64_t in_use; /* about: what was left the last time, or less since */
    uint64_t held = bytes_held(), last = atomic_load(&in_use);
    if (held > keep && held > last + last / 8) {
        malloc_trim(0);
        held = last = bytes_held();
    }
    atomic_store(&in_use, held < last ? held : last);
}

struct sta_arena_block {
    struct sta_arena_block *next;
    _Alignas(max_align_t) char bytes[];
};

#define ARENA_BLOCK 65536

void *sta_arena_alloc(struct sta_arena *arena, size_t size, size_t align)
{
    size_t at = (arena->used + align - 1) & ~(align - 1);
    if (arena->head == NULL || at + size > arena->total) {
        size_t total = STA_MAX(size, (size_t)ARENA_BLOCK);
        struct sta_arena_block *block = checked(malloc(sizeof *block + total), total);
        block->next = arena->head;
        arena->head = block;
        arena->total = total;
        at = 0;
    }
    arena->used = at + size;
    return arena->head->bytes + at;
}

char *sta_arena_copy(struct sta_arena *arena, const void *bytes, size_t size)
{
    char *copy = sta_arena_alloc(arena, size + 1, 1);
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

void sta_arena_fini(struct sta_arena *arena)
{
    struct sta_arena_block *block = arena->head;
    while (block != NULL) {
        struct sta_arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct sta_arena){0};
}
