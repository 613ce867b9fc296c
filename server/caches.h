/* caches.h - the account of all memory sized by input, and the caches that are evicted for it. */
#ifndef STA_SERVER_CACHES_H
#define STA_SERVER_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include "common/account.h"

struct sta_server;
struct sta_store;

/* Code, stacks, buffers of connections, what the allocator keeps: beside what is counted. */
#define STA_MEMORY_MARGIN ((size_t)64 << 20)

struct sta_caches {
    struct sta_account memory;
    uv_mutex_t lock; /* held while caches are evicted or the server is called, so that it is not stopped */
    struct sta_server *server; /* NULL: closed */
    struct sta_store *store;
    struct {
        uint64_t worked; /* processor time when memory was last trimmed, in ns */
        uint64_t left;   /* memory that was held after that, or less since, in bytes */
        uint64_t looked; /* processor time at the last look, in ns */
        unsigned looks;  /* in a row, the last one among them, at which it rested */
    } rest;
};

/** @limit: bytes (setting memory).  No caches yet: what does not fit is refused.  Context: the main thread.
 */
void sta_caches_init(struct sta_caches *caches, size_t limit);

/** From now on these are evicted for the account; both stay the caller's, until sta_caches_close.  Context:
 * the main thread. */
void sta_caches_open(struct sta_caches *caches, struct sta_server *server, struct sta_store *store);

/** The two are not used any more when it returns.  Closing twice is fine.  Context: any thread. */
void sta_caches_close(struct sta_caches *caches);

/** @context: struct sta_caches.  Whether a client waits for a response.  Context: any thread. */
bool sta_caches_are_wanted(void *context);

/** Trims what queries freed and the allocator keeps, once the daemon has been idle for some ten seconds.  To
 * be called about once a second, by one thread. */
void sta_caches_rest(struct sta_caches *caches);

#endif
