/* Allocates from mapped blocks, which grow with the bytes in use. */
#include "common/spill_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/memory.h"
#include "common/spill_file.h"

#define LEAST_BLOCK ((size_t)1 << 20)
#define MOST_BLOCK ((size_t)256 << 20) /* unless a piece is larger */
#define ALIGNMENT ((size_t)16)

struct block {
    char *bytes;
    size_t size, used;
};

/* In front of what is handed out. */
struct piece {
    size_t size;
    struct piece *next; /* while it is free */
};
_Static_assert(sizeof(struct piece) == ALIGNMENT, "pieces are aligned");

struct sta_spill_memory {
    char *folder;
    size_t most;          /* bytes */
    pthread_mutex_t lock; /* guards the rest */
    bool is_open;
    struct sta_spill_file file;
    struct block *blocks;
    size_t count, capacity;
    struct piece *free;
    struct sta_spill_memory *next; /* of all there are */
};

/* Its lock is taken before one of theirs. */
static struct {
    pthread_mutex_t lock;
    struct sta_spill_memory *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct sta_spill_memory *sta_spill_memory_create(const char *folder, size_t most)
{
    struct sta_spill_memory *memory = sta_alloc(sizeof *memory);
    memory->folder = sta_strdup(folder);
    memory->most = most;
    pthread_mutex_init(&memory->lock, NULL);
    pthread_mutex_lock(&all.lock);
    memory->next = all.first;
    all.first = memory;
    pthread_mutex_unlock(&all.lock);
    return memory;
}

static void leave_list(struct sta_spill_memory *memory)
{
    pthread_mutex_lock(&all.lock);
    struct sta_spill_memory **at = &all.first;
    while (*at != memory)
        at = &(*at)->next;
    *at = memory->next;
    pthread_mutex_unlock(&all.lock);
}

void sta_spill_memory_let_go(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct sta_spill_memory *memory = all.first; memory != NULL; memory = memory->next) {
        pthread_mutex_lock(&memory->lock);
        for (size_t i = 0; i < memory->count; i++)
            (void)madvise(memory->blocks[i].bytes, memory->blocks[i].size, MADV_DONTNEED);
        pthread_mutex_unlock(&memory->lock);
    }
    pthread_mutex_unlock(&all.lock);
}

void sta_spill_memory_destroy(struct sta_spill_memory *memory)
{
    if (memory == NULL)
        return;
    leave_list(memory);
    for (size_t i = 0; i < memory->count; i++)
        munmap(memory->blocks[i].bytes, memory->blocks[i].size);
    if (memory->is_open)
        sta_spill_file_close(&memory->file);
    pthread_mutex_destroy(&memory->lock);
    free(memory->blocks);
    free(memory->folder);
    free(memory);
}

/* Under the lock.  A block is as large as all before it. */
static int add_block(struct sta_spill_memory *memory, size_t need, struct sta_error *err)
{
    int rc = memory->is_open ? STA_OK : sta_spill_file_open(&memory->file, memory->folder, err);
    if (rc != STA_OK)
        return rc;
    memory->is_open = true;
    const size_t start = atomic_load(&memory->file.size);
    const size_t wanted = STA_MAX(need, STA_MIN(STA_MAX(start, LEAST_BLOCK), MOST_BLOCK));
    const size_t size = (wanted + LEAST_BLOCK - 1) / LEAST_BLOCK * LEAST_BLOCK;
    if (start + size > memory->most)
        return sta_fail(err, STA_ELIMIT,
                        "distinct texts and what is kept of them take more than %zu MiB of disk (setting "
                        "query_memory); make fewer of them, or shorter ones",
                        memory->most >> 20);
    rc = sta_spill_file_check(&memory->file, size, err);
    if (rc != STA_OK)
        return rc;
    int failed = posix_fallocate(memory->file.fd, (off_t)start, (off_t)size);
    if (failed != 0)
        return sta_fail_errno(err, failed, "cannot take %zu MiB of %s", size >> 20, memory->folder);
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file.fd, (off_t)start);
    if (bytes == MAP_FAILED)
        return sta_fail_errno(err, errno, "cannot map %zu MiB of a file in %s", size >> 20, memory->folder);
    sta_spill_file_grown(&memory->file, size);
    STA_GROW(memory->blocks, memory->capacity, memory->count + 1);
    memory->blocks[memory->count++] = (struct block){.bytes = bytes, .size = size};
    return STA_OK;
}

/* Under the lock.  A free piece of which at least half is used, or NULL. */
static struct piece *take_free(struct sta_spill_memory *memory, size_t size)
{
    struct piece **at = &memory->free, *found;
    while (*at != NULL && ((*at)->size < size || (*at)->size / 2 > size))
        at = &(*at)->next;
    found = *at;
    if (found != NULL)
        *at = found->next;
    return found;
}

/* Under the lock. */
static struct piece *take_new(struct sta_spill_memory *memory, size_t size, struct sta_error *err)
{
    const size_t need = sizeof(struct piece) + size;
    struct block *last = memory->count > 0 ? &memory->blocks[memory->count - 1] : NULL;
    if (last == NULL || last->size - last->used < need) {
        if (add_block(memory, need, err) != STA_OK)
            return NULL;
        last = &memory->blocks[memory->count - 1];
    }
    struct piece *piece = (struct piece *)(void *)(last->bytes + last->used);
    last->used += need;
    piece->size = size;
    return piece;
}

void *sta_spill_memory_take(struct sta_spill_memory *memory, size_t size, struct sta_error *err)
{
    if (size > SIZE_MAX / 2) {
        sta_fail(err, STA_ENOMEM, "there is no memory of %zu bytes", size);
        return NULL;
    }
    size = STA_MAX((size + ALIGNMENT - 1) / ALIGNMENT, (size_t)1) * ALIGNMENT;
    pthread_mutex_lock(&memory->lock);
    struct piece *piece = take_free(memory, size);
    if (piece == NULL)
        piece = take_new(memory, size, err);
    pthread_mutex_unlock(&memory->lock);
    return piece != NULL ? piece + 1 : NULL;
}

/* Under the lock. */
static bool is_inside(const struct sta_spill_memory *memory, const void *piece)
{
    const char *at = piece;
    for (size_t i = 0; i < memory->count; i++)
        if (at >= memory->blocks[i].bytes && at < memory->blocks[i].bytes + memory->blocks[i].size)
            return true;
    return false;
}

bool sta_spill_memory_give(struct sta_spill_memory *memory, void *bytes)
{
    pthread_mutex_lock(&memory->lock);
    const bool inside = is_inside(memory, bytes);
    if (inside) {
        struct piece *piece = (struct piece *)bytes - 1;
        piece->next = memory->free;
        memory->free = piece;
    }
    pthread_mutex_unlock(&memory->lock);
    return inside;
}

size_t sta_spill_memory_size(struct sta_spill_memory *memory, const void *piece)
{
    pthread_mutex_lock(&memory->lock);
    const size_t size = is_inside(memory, piece) ? ((const struct piece *)piece - 1)->size : 0;
    pthread_mutex_unlock(&memory->lock);
    return size;
}
