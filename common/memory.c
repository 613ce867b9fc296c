/* Allocation that ends the process in one place when memory is gone, allocation that may fail, the free list
 * of large blocks, arenas, and trimming. */
#include "common/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/account.h"

/* DESIGN.  What lies in huge pages must not come out of an arena: the arena would hand out the rest of such a
 * page in small pieces, one of which is enough to keep all of it, and the kernel would make pages that were
 * given back huge and resident again.  So it is a mapping, which goes when it is freed.  (The allocator's own
 * rule raises its bound for mappings with every one that is freed.)  Such a mapping costs the zeroing of its
 * pages, which for some operators is more than the work on them; so a free list keeps those that were freed,
 * up to a bound, for the next who asks.  Arenas keep what was freed in them for the threads that use them: a
 * few are enough, and each keeps a few MiB at its end. */
#define LEAST_ARENAS 4
#define KEPT_AT_END (8 << 20)
#define MOST_FREE_BLOCKS 1024

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#endif

/* Oldest first. */
static struct {
    pthread_mutex_t lock;
    void *blocks[MOST_FREE_BLOCKS];
    size_t sizes[MOST_FREE_BLOCKS]; /* bytes that can be used */
    size_t count, bytes, most_bytes;
} free_list = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sta_memory_configure(unsigned threads, size_t most_free)
{
    mallopt(M_MMAP_THRESHOLD, (int)STA_HUGE_PAGE);
    mallopt(M_TRIM_THRESHOLD, KEPT_AT_END);
    mallopt(M_ARENA_MAX, (int)STA_MAX(threads, LEAST_ARENAS));
#ifndef UNDER_SANITIZER /* which finds uses of memory that is really freed */
    free_list.most_bytes = most_free;
#else
    (void)most_free;
#endif
}

/* ---- the reserve */

#define LEAST_PART 2
#define WAIT_MS 10
#define MOST_WAIT_MS 5000
#define LARGE_WHEN_SHORT ((size_t)256 << 10) /* what the reserve is not for */

/* A mapping of its own, which is never touched, so that it costs no page. */
static struct {
    pthread_mutex_t lock;
    void *block; /* NULL: opened, or there is none */
    size_t size;
    _Atomic bool opened;
} reserve = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sta_memory_reserve(size_t bytes)
{
    reserve.size = bytes;
    reserve.block = malloc(bytes);
}

static void drop_free_blocks(void);

bool sta_memory_is_short(void)
{
    if (!atomic_load_explicit(&reserve.opened, memory_order_relaxed))
        return false;
    drop_free_blocks();
    malloc_trim(0);
    pthread_mutex_lock(&reserve.lock);
    /* A part of it is enough to go on: what was allocated out of it may still be in use. */
    for (size_t size = reserve.size; reserve.block == NULL && size >= reserve.size / LEAST_PART; size /= 2)
        reserve.block = malloc(size);
    if (reserve.block != NULL)
        atomic_store(&reserve.opened, false);
    pthread_mutex_unlock(&reserve.lock);
    return atomic_load(&reserve.opened);
}

/* Zeroed memory if @old is NULL, else realloc.  Where the system refuses it, what was freed goes back first.
 */
static void *alloc_trimming(void *old, size_t count, size_t size)
{
    void *memory = old == NULL ? calloc(count, size) : reallocarray(old, count, size);
    if (memory != NULL)
        return memory;
    drop_free_blocks();
    malloc_trim(0);
    return old == NULL ? calloc(count, size) : reallocarray(old, count, size);
}

/* The same out of the reserve.  Under its lock, so that nobody fills it again meanwhile. */
static void *alloc_reserved(void *old, size_t count, size_t size)
{
    pthread_mutex_lock(&reserve.lock);
    if (reserve.block != NULL)
        atomic_store(&reserve.opened, true);
    free(reserve.block);
    reserve.block = NULL;
    void *memory = old == NULL ? calloc(count, size) : reallocarray(old, count, size);
    pthread_mutex_unlock(&reserve.lock);
    return memory;
}

static _Noreturn void run_out(size_t size)
{
    fprintf(stderr, "Out of memory: size=%zu\n", size);
    abort();
}

/* Threads that end free what they took of the reserve, stacks above all: it is worth a wait. */
static void *alloc_waiting(void *old, size_t count, size_t size)
{
    void *memory = NULL;
    for (unsigned ms = 0; memory == NULL && ms < MOST_WAIT_MS; ms += WAIT_MS) {
        usleep(WAIT_MS * 1000);
        memory = alloc_trimming(old, count, size);
        if (memory == NULL)
            memory = alloc_reserved(old, count, size);
    }
    return memory;
}

static void *alloc_for_sure(void *old, size_t count, size_t size)
{
    count = STA_MAX(count, 1);
    void *memory = alloc_trimming(old, count, size);
    if (memory == NULL)
        memory = alloc_reserved(old, count, size);
    if (memory == NULL)
        memory = alloc_waiting(old, count, size);
    if (memory == NULL)
        run_out(count * size);
    return memory;
}

void sta_memory_open_reserve(size_t size)
{
    pthread_mutex_lock(&reserve.lock);
    const bool there_was_one = reserve.block != NULL;
    if (there_was_one)
        atomic_store(&reserve.opened, true);
    free(reserve.block);
    reserve.block = NULL;
    pthread_mutex_unlock(&reserve.lock);
    if (!there_was_one)
        free(alloc_for_sure(NULL, 1, size));
}

void *sta_realloc_array(void *old, size_t count, size_t size)
{
    return alloc_for_sure(old, count, size);
}

void *sta_alloc_array(size_t count, size_t size)
{
    return alloc_for_sure(NULL, count, size);
}

void *sta_alloc(size_t size)
{
    return sta_alloc_array(1, size ? size : 1);
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
    for (;;) {
        char *text = NULL;
        va_list args;
        va_start(args, format);
        const int length = vasprintf(&text, format, args);
        va_end(args);
        if (length >= 0)
            return text;
        sta_memory_open_reserve(strlen(format));
    }
}

/* ---- the free list of large blocks */

/* A buffer of as many records as a huge page holds is large, too. */
#define LARGE_BLOCK (STA_HUGE_PAGE - STA_HUGE_PAGE / 64)

/* Under the lock. */
static void *take_free_block(size_t at)
{
    void *block = free_list.blocks[at];
    free_list.bytes -= free_list.sizes[at];
    free_list.count--;
    memmove(&free_list.blocks[at], &free_list.blocks[at + 1],
            (free_list.count - at) * sizeof *free_list.blocks);
    memmove(&free_list.sizes[at], &free_list.sizes[at + 1], (free_list.count - at) * sizeof *free_list.sizes);
    return block;
}

/* The smallest block that holds @size bytes, if not much of it would lie idle; NULL: there is none. */
static void *get_free_block(size_t size)
{
    size_t best = SIZE_MAX, best_size = size + size / 4 + STA_HUGE_PAGE;
    pthread_mutex_lock(&free_list.lock);
    for (size_t i = free_list.count; i-- > 0;)
        if (free_list.sizes[i] >= size && free_list.sizes[i] < best_size) {
            best = i;
            best_size = free_list.sizes[i];
        }
    void *block = best != SIZE_MAX ? take_free_block(best) : NULL;
    pthread_mutex_unlock(&free_list.lock);
    return block;
}

/* Return: whether the list has taken it.  Older ones make way. */
static bool put_free_block(void *block, size_t size)
{
    void *evicted[MOST_FREE_BLOCKS];
    size_t evicted_count = 0;
    pthread_mutex_lock(&free_list.lock);
    bool taken = size <= free_list.most_bytes;
    while (taken && (free_list.count == MOST_FREE_BLOCKS || free_list.bytes + size > free_list.most_bytes))
        evicted[evicted_count++] = take_free_block(0);
    if (taken) {
        free_list.blocks[free_list.count] = block;
        free_list.sizes[free_list.count++] = size;
        free_list.bytes += size;
    }
    pthread_mutex_unlock(&free_list.lock);
    while (evicted_count > 0)
        free(evicted[--evicted_count]);
    return taken;
}

static void drop_free_blocks(void)
{
    void *blocks[MOST_FREE_BLOCKS];
    pthread_mutex_lock(&free_list.lock);
    size_t count = free_list.count;
    memcpy(blocks, free_list.blocks, count * sizeof *blocks);
    free_list.count = free_list.bytes = 0;
    pthread_mutex_unlock(&free_list.lock);
    while (count > 0)
        free(blocks[--count]);
}

void sta_free(void *memory)
{
    const size_t size = memory != NULL ? malloc_usable_size(memory) : 0;
    const bool is_large = size >= LARGE_BLOCK && (uintptr_t)memory % STA_HUGE_PAGE == 0;
    if (!is_large || !put_free_block(memory, size))
        free(memory);
}

/* In huge pages where the kernel has them: a fault for every 4 KiB would cost more than most work on them. */
static void *try_alloc_large(size_t size)
{
    void *memory = get_free_block(size);
    if (memory != NULL)
        return memory;
    if (posix_memalign(&memory, STA_HUGE_PAGE, size) != 0)
        return NULL;
    if (size >= STA_HUGE_PAGE)
        (void)madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

void *sta_try_alloc(size_t size)
{
    if (size >= LARGE_WHEN_SHORT && sta_memory_is_short())
        return NULL;
    void *memory = size >= LARGE_BLOCK ? try_alloc_large(size) : malloc(size ? size : 1);
    if (memory != NULL)
        return memory;
    drop_free_blocks();
    malloc_trim(0);
    return size >= STA_HUGE_PAGE ? try_alloc_large(size) : malloc(size ? size : 1);
}

void *sta_try_realloc(void *old, size_t size)
{
    void *memory = realloc(old, size);
    return memory == NULL && size < LARGE_WHEN_SHORT ? alloc_reserved(old, 1, size) : memory;
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

/* In pages. */
struct held {
    unsigned long long all, of_files;
};

static struct held read_held(void)
{
    char text[128];
    struct held held = {0};
    ssize_t size = statm >= 0 ? pread(statm, text, sizeof text - 1, 0) : 0;
    if (size <= 0)
        return held;
    text[size] = '\0';
    const bool known = sscanf(text, "%*u %llu %llu", &held.all, &held.of_files) == 2;
    return known && held.all >= held.of_files ? held : (struct held){0};
}

uint64_t sta_memory_resident(void)
{
    const struct held held = read_held();
    return (held.all - held.of_files) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t sta_memory_of_files(void)
{
    return read_held().of_files * (uint64_t)sysconf(_SC_PAGESIZE);
}

void sta_memory_trim_grown(uint64_t keep)
{
    static _Atomic uint64_t in_use; /* about: what was left the last time, or less since */
    uint64_t held = sta_memory_resident(), last = atomic_load(&in_use);
    if (held > keep && held > last + last / 8) {
        drop_free_blocks();
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
    drop_free_blocks();
    malloc_trim(0);
    return sta_memory_resident() + WORTH_TRIMMING <= held;
}

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

/* Blocks grow with what the arena holds: thousands of arenas have some hundred bytes, an expression each. */
#define LEAST_BLOCK ((size_t)512)
#define MOST_BLOCK ((size_t)65536)

/* Not zeroed, unless that is what it takes to have it. */
static struct sta_arena_block *allocate_block(size_t size)
{
    struct sta_arena_block *block = malloc(size);
    return block != NULL ? block : sta_alloc(size);
}

void *sta_arena_alloc(struct sta_arena *arena, size_t size, size_t align)
{
    size_t at = (arena->used + align - 1) & ~(align - 1);
    if (arena->head == NULL || at + size > arena->total) {
        size_t total = STA_MAX(size, STA_MIN(STA_MAX(arena->bytes, LEAST_BLOCK), MOST_BLOCK));
        struct sta_arena_block *block = allocate_block(sizeof *block + total);
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

void *sta_arena_array(struct sta_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    STA_ASSERT(!__builtin_mul_overflow(count, size, &bytes));
    return memset(sta_arena_alloc(arena, bytes, _Alignof(max_align_t)), 0, bytes);
}

char *sta_arena_copy(struct sta_arena *arena, const void *bytes, size_t size)
{
    char *copy = sta_arena_alloc(arena, size + 1, 1);
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

void sta_arena_adopt(struct sta_arena *arena, struct sta_arena *other)
{
    struct sta_arena_block *last = other->head;
    if (last == NULL)
        return;
    while (last->next != NULL)
        last = last->next;
    last->next = arena->head;
    arena->head = other->head;
    arena->used = other->used;
    arena->total = other->total;
    arena->bytes += other->bytes;
    *other = (struct sta_arena){.account = other->account};
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
