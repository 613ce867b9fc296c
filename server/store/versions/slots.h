/* slots.h - a slab allocator: pieces of memory of one size in huge pages (private to store).
 *
 * Thousands of pieces of some ten KiB would each be faulted in page by page, which costs more than what is
 * written to them.  A huge page is freed with its last piece. */
#ifndef STA_STORE_SLOTS_H
#define STA_STORE_SLOTS_H

#include <pthread.h>

#include "common/account.h"

struct sta_slot_page;

/* Any thread. */
struct sta_slots {
    pthread_mutex_t lock;
    struct sta_account *account; /* whole pages are charged to it */
    size_t size;                 /* of a piece */
    size_t pages;
    struct sta_slot_page *open; /* pages that have a free piece */
};

/** @size: at most a quarter of a huge page.  @account: borrowed. */
void sta_slots_init(struct sta_slots *slots, size_t size, struct sta_account *account);
/** All pieces must have been freed. */
void sta_slots_fini(struct sta_slots *slots);
/** Aligned to a line of the cache, not zeroed; NULL when memory is short or refused. */
void *sta_slots_take(struct sta_slots *slots);
void sta_slots_free(struct sta_slots *slots, void *piece);
/** Bytes of all pages. */
size_t sta_slots_bytes(struct sta_slots *slots);

#endif
