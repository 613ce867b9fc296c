/* Allocation that ends the process in one place when memory is gone, allocation that may fail, arenas, and
 * giving back. */
#include "common/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/account.h"

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

#define WORTH_TRIMMING ((uint64_t)1 << 20)

static int statm = -1;

/* Open from the start to the end of the program: it is read some hundred times a second. */
__attribute__((constructor)) static void open_statm(void)
{
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

uint64_t sta_memory_resident(void)
{
    char text[128];
    unsigned long long resident = 0, of_files = 0;
    ssize_t size = statm >= 0 ? pread(statm, text, sizeof text - 1, 0) : 0;
    if (size <= 0)
        return 0;
    text[size] = '\0';
    bool known = sscanf(text, "%*u %llu %llu", &resident, &of_files) == 2 && resident >= of_files;
    return known ? (resident - of_files) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void sta_memory_give_back(uint64_t keep)
{
    static _Atomic uint64_t in_use; /* about: what was left the last time, or less since */
    uint64_t held = sta_memory_resident(), last = atomic_load(&in_use);
    if (held > keep && held > last + last / 8) {
        malloc_trim(0);
        held = last = sta_memory_resident();
    }
    atomic_store(&in_use, held < last ? held : last);
}

bool sta_memory_trim(uint64_t keep)
{
    uint64_t held = sta_memory_resident();
    if (held <= keep)
        return false;
    malloc_trim(0);
    return sta_memory_resident() + WORTH_TRIMMING <= held;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#endif

bool sta_memory_can_be_measured(void)
{
#ifdef UNDER_SANITIZER
    return false;
#else
    return sta_memory_resident() > 0;
#endif
}

struct sta_arena_block {
    struct sta_arena_block *next;
    size_t size;
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
        block->size = sizeof *block + total;
        arena->bytes += block->size;
        sta_account_overdraw(arena->account, block->size);
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
        sta_account_release(arena->account, block->size);
        free(block);
        block = next;
    }
    *arena = (struct sta_arena){.account = arena->account};
}
