/* Large arrays. */
#include "analyse/query/grouping/room.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/memory.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE (2 * HUGE_PAGE)

void *sta_room_create(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes < LARGE)
        return sta_try_alloc_array(count, size);
    bytes = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    void *room = aligned_alloc(HUGE_PAGE, bytes);
    if (room != NULL)
        (void)madvise(room, bytes, MADV_HUGEPAGE);
    return room;
}

/* Fresh pages are zeros already, and calloc knows it; so only the advice is added. */
void *sta_room_create_zeroed(size_t count, size_t size)
{
    void *room = calloc(count > 0 ? count : 1, size);
    uintptr_t first = ((uintptr_t)room + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)room + count * size) & ~(HUGE_PAGE - 1);
    if (room != NULL && first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    return room;
}
