/* running.h - places that running events hold, such as rows, by when they become free (private to timeline).
 */
#ifndef STA_TIMELINE_RUNNING_H
#define STA_TIMELINE_RUNNING_H

#include <stddef.h>
#include <stdint.h>

struct sta_running_place {
    int64_t end;
    uint32_t place;
};

/* A heap, the earliest end first. */
struct sta_running_ends {
    struct sta_running_place *items;
    size_t count, capacity;
};

/** There must be space. */
static inline void sta_running_push(struct sta_running_ends *running, struct sta_running_place item)
{
    size_t at = running->count++;
    for (; at > 0 && running->items[(at - 1) / 2].end > item.end; at = (at - 1) / 2)
        running->items[at] = running->items[(at - 1) / 2];
    running->items[at] = item;
}

/** There must be one. */
static inline struct sta_running_place sta_running_pop(struct sta_running_ends *running)
{
    const struct sta_running_place top = running->items[0], last = running->items[--running->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < running->count; at = child) {
        child += child + 1 < running->count && running->items[child + 1].end < running->items[child].end;
        if (running->items[child].end >= last.end)
            break;
        running->items[at] = running->items[child];
    }
    running->items[at] = last;
    return top;
}

#endif
