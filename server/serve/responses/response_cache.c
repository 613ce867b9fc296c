/* Computed responses that are kept, and flights: those being computed.
 *
 * DESIGN.  One hash table by key holds both what is kept and what is under way.  One mutex guards it, the
 * order of use, and the lists of waiters; it is held for some pointer work only, never while a response is
 * computed, packed or given to a waiter.  A response is dropped when it was used longest ago and the bytes
 * exceed the limit; who still sends it holds a reference.  A response of more than an eighth of the limit is
 * given to those who wait and not kept. */
#include "serve/responses/response_cache.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <xxhash.h>

#include "common/account.h"
#include "common/memory.h"

#define BUCKETS 4096
#define SHARE 8 /* one response may take this part of the limit */

/* An entry is kept (content set) or under way (content NULL). */
struct sta_flight {
    struct sta_flight *chain;         /* of its bucket */
    struct sta_flight *newer, *older; /* of those kept, by use */
    struct sta_response_cache *cache;
    uint64_t hash;
    char *key;
    size_t key_size, bytes;
    struct sta_representation *content;
    struct sta_waiter *waiters;
    bool wanted_anyway; /* someone wants it who does not wait */
    _Atomic bool cancel;
};

struct sta_response_cache {
    uv_mutex_t lock;
    uint64_t limit;
    struct sta_account *account;
    struct sta_flight *buckets[BUCKETS];
    struct sta_flight *newest, *oldest;
    struct sta_response_cache_figures figures;
};

struct sta_response_cache *sta_response_cache_create(uint64_t limit, struct sta_account *account)
{
    struct sta_response_cache *cache = sta_alloc(sizeof *cache);
    cache->limit = cache->figures.limit = limit;
    cache->account = account;
    uv_mutex_init(&cache->lock);
    return cache;
}

static void flight_free(struct sta_flight *flight)
{
    sta_representation_release(flight->content);
    free(flight->key);
    free(flight);
}

void sta_response_cache_destroy(struct sta_response_cache *cache)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (cache->buckets[i] != NULL) {
            struct sta_flight *flight = cache->buckets[i];
            STA_ASSERT(flight->content != NULL);
            cache->buckets[i] = flight->chain;
            flight_free(flight);
        }
    uv_mutex_destroy(&cache->lock);
    free(cache);
}

/* ---- the table and the order of use; under the lock */

static struct sta_flight *find(struct sta_response_cache *cache, const char *key, size_t size, uint64_t hash)
{
    struct sta_flight *flight = cache->buckets[hash % BUCKETS];
    while (flight != NULL &&
           !(flight->hash == hash && flight->key_size == size && memcmp(flight->key, key, size) == 0))
        flight = flight->chain;
    return flight;
}

static void unchain(struct sta_flight *flight)
{
    struct sta_flight **at = &flight->cache->buckets[flight->hash % BUCKETS];
    while (*at != flight)
        at = &(*at)->chain;
    *at = flight->chain;
}

static void unlink_use(struct sta_flight *flight)
{
    struct sta_response_cache *cache = flight->cache;
    *(flight->newer ? &flight->newer->older : &cache->newest) = flight->older;
    *(flight->older ? &flight->older->newer : &cache->oldest) = flight->newer;
}

static void link_newest(struct sta_flight *flight)
{
    struct sta_response_cache *cache = flight->cache;
    flight->newer = NULL;
    flight->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = flight;
    cache->newest = flight;
}

static struct sta_representation *use(struct sta_flight *flight)
{
    if (flight->cache->newest != flight) {
        unlink_use(flight);
        link_newest(flight);
    }
    flight->cache->figures.hits++;
    return sta_representation_retain(flight->content);
}

static void take_out(struct sta_flight *flight)
{
    unlink_use(flight);
    unchain(flight);
    flight->cache->figures.bytes -= flight->bytes;
    flight->cache->figures.entries--;
}

/* Takes the one used longest ago out when all exceed @limit; NULL when they fit. */
static struct sta_flight *take_excess(struct sta_response_cache *cache, uint64_t limit)
{
    struct sta_flight *flight = cache->oldest;
    if (cache->figures.bytes <= limit || flight == NULL)
        return NULL;
    take_out(flight);
    cache->figures.dropped++;
    return flight;
}

/* ---- asking */

struct sta_representation *sta_response_cache_find(struct sta_response_cache *cache, const char *key,
                                                   size_t size)
{
    uint64_t hash = XXH3_64bits(key, size);
    uv_mutex_lock(&cache->lock);
    struct sta_flight *flight = find(cache, key, size, hash);
    struct sta_representation *content = flight != NULL && flight->content != NULL ? use(flight) : NULL;
    uv_mutex_unlock(&cache->lock);
    return content;
}

static void add_waiter(struct sta_flight *flight, struct sta_waiter *waiter)
{
    if (waiter == NULL) {
        flight->wanted_anyway = true;
        return;
    }
    waiter->flight = flight;
    waiter->previous = NULL;
    waiter->next = flight->waiters;
    if (flight->waiters)
        flight->waiters->previous = waiter;
    flight->waiters = waiter;
}

static struct sta_flight *start_flight(struct sta_response_cache *cache, const char *key, size_t size,
                                       uint64_t hash)
{
    struct sta_flight *flight = sta_alloc(sizeof *flight);
    flight->cache = cache;
    flight->hash = hash;
    flight->key = sta_alloc(size + 1);
    memcpy(flight->key, key, size);
    flight->key_size = size;
    flight->chain = cache->buckets[hash % BUCKETS];
    cache->buckets[hash % BUCKETS] = flight;
    return flight;
}

struct sta_flight *sta_response_cache_join(struct sta_response_cache *cache, const char *key, size_t size,
                                           struct sta_waiter *waiter)
{
    uint64_t hash = XXH3_64bits(key, size);
    struct sta_representation *content = NULL;
    struct sta_flight *started = NULL;
    uv_mutex_lock(&cache->lock);
    struct sta_flight *flight = find(cache, key, size, hash);
    /* A flight that all have left is about to fail as cancelled: who comes now gets one of his own. */
    if (flight != NULL && flight->content == NULL && atomic_load(&flight->cancel))
        flight = NULL;
    if (flight != NULL && flight->content != NULL) {
        content = use(flight);
    } else {
        if (flight == NULL)
            flight = started = start_flight(cache, key, size, hash);
        else
            cache->figures.joins++;
        cache->figures.misses +=
            started != NULL && waiter != NULL; /* what is made for later was not missed */
        add_waiter(flight, waiter);
    }
    uv_mutex_unlock(&cache->lock);
    if (content != NULL) {
        if (waiter != NULL)
            waiter->done(waiter, content, NULL);
        sta_representation_release(content);
    }
    return started;
}

_Atomic bool *sta_flight_cancel(struct sta_flight *flight)
{
    return &flight->cancel;
}

/* ---- landing */

/* Freeing what was dropped takes a while, so it is done one by one and without the lock. */
static void drop_excess(struct sta_response_cache *cache, uint64_t limit)
{
    for (;;) {
        uv_mutex_lock(&cache->lock);
        struct sta_flight *flight = take_excess(cache, limit);
        uv_mutex_unlock(&cache->lock);
        if (flight == NULL)
            return;
        flight_free(flight);
    }
}

size_t sta_response_cache_shrink(struct sta_response_cache *cache, size_t bytes)
{
    uint64_t before = sta_response_cache_figures(cache).bytes;
    drop_excess(cache, before - STA_MIN(before, bytes));
    uint64_t after = sta_response_cache_figures(cache).bytes;
    return before > after ? before - after : 0;
}

void sta_response_cache_forget(struct sta_response_cache *cache, const char *text)
{
    struct sta_flight *forgotten = NULL;
    uv_mutex_lock(&cache->lock);
    for (struct sta_flight *flight = cache->newest, *older; flight != NULL; flight = older) {
        older = flight->older;
        if (memmem(flight->key, flight->key_size, text, strlen(text)) == NULL)
            continue;
        take_out(flight);
        flight->chain = forgotten;
        forgotten = flight;
    }
    uv_mutex_unlock(&cache->lock);
    while (forgotten != NULL) {
        struct sta_flight *flight = forgotten;
        forgotten = flight->chain;
        flight_free(flight);
    }
}

static void give(struct sta_waiter *waiters, struct sta_representation *content,
                 const struct sta_error *failure)
{
    while (waiters != NULL) {
        struct sta_waiter *waiter = waiters;
        waiters = waiter->next; /* before done: the waiter may be gone after */
        waiter->done(waiter, content, failure);
    }
}

void sta_flight_land(struct sta_flight *flight, struct sta_representation *content,
                     const struct sta_error *failure)
{
    struct sta_response_cache *cache = flight->cache;
    size_t bytes = content ? sta_representation_bytes(content) + flight->key_size + sizeof *flight : 0;
    uv_mutex_lock(&cache->lock);
    struct sta_waiter *waiters = flight->waiters;
    flight->waiters = NULL;
    for (struct sta_waiter *waiter = waiters; waiter; waiter = waiter->next)
        waiter->flight = NULL;
    bool keep = content != NULL && bytes <= cache->limit / SHARE && sta_account_left(cache->account) > 0;
    if (keep) {
        flight->content = sta_representation_retain(content);
        flight->bytes = bytes;
        link_newest(flight);
        cache->figures.bytes += bytes;
        cache->figures.entries++;
    } else {
        unchain(flight);
    }
    uv_mutex_unlock(&cache->lock);
    drop_excess(cache, cache->limit); /* first: who gets the response may request the cache's size at once */
    give(waiters, content, failure);
    sta_representation_release(content);
    if (!keep)
        flight_free(flight);
}

bool sta_waiter_leave(struct sta_response_cache *cache, struct sta_waiter *waiter)
{
    uv_mutex_lock(&cache->lock);
    struct sta_flight *flight = waiter->flight;
    if (flight != NULL) {
        *(waiter->previous ? &waiter->previous->next : &flight->waiters) = waiter->next;
        if (waiter->next)
            waiter->next->previous = waiter->previous;
        waiter->flight = NULL;
        if (flight->waiters == NULL && !flight->wanted_anyway)
            atomic_store(&flight->cancel, true);
    }
    uv_mutex_unlock(&cache->lock);
    return flight != NULL;
}

void sta_response_cache_cancel(struct sta_response_cache *cache)
{
    uv_mutex_lock(&cache->lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct sta_flight *flight = cache->buckets[i]; flight; flight = flight->chain)
            if (flight->content == NULL)
                atomic_store(&flight->cancel, true);
    uv_mutex_unlock(&cache->lock);
}

size_t sta_response_cache_cancel_prepared(struct sta_response_cache *cache)
{
    size_t count = 0;
    uv_mutex_lock(&cache->lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct sta_flight *flight = cache->buckets[i]; flight; flight = flight->chain)
            if (flight->content == NULL && flight->waiters == NULL && flight->wanted_anyway) {
                atomic_store(&flight->cancel, true);
                count++;
            }
    uv_mutex_unlock(&cache->lock);
    return count;
}

struct sta_response_cache_figures sta_response_cache_figures(struct sta_response_cache *cache)
{
    uv_mutex_lock(&cache->lock);
    struct sta_response_cache_figures figures = cache->figures;
    uv_mutex_unlock(&cache->lock);
    return figures;
}
