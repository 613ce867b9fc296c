/* Rows, kept by key.
 *
 * DESIGN.  Few entries, each of many bytes: a list in the order of use, looked through by hash.  An entry
 * without a result is claimed: a thread computes it, and others that want the same wait.  That thread never
 * waits for another entry that waits for its own, so all waits end.  Rows of more than
 * half the limit are given to those who wait and then dropped. */
#include "serve/responses/result_cache.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <xxhash.h>

#include "common/memory.h"

#define SHARE 2                          /* one entry may take this part of the limit */
#define LOOK_NS (20 * UINT64_C(1000000)) /* between two checks of a waiting thread for a cancel */

struct sta_result_claim {
    struct sta_result_claim *next; /* used longer ago */
    struct sta_result_cache *kept;
    uint64_t hash;
    char *key;
    size_t key_size, bytes;
    struct sta_result *result; /* NULL: claimed */
    unsigned waiting;
    bool settled, forgotten; /* forgotten: not to be kept */
};

struct sta_result_cache {
    uv_mutex_t lock;
    uv_cond_t changed;
    uint64_t limit;
    struct sta_result_claim *newest;
    struct sta_result_cache_figures figures;
};

struct sta_result_cache *sta_result_cache_create(uint64_t limit)
{
    struct sta_result_cache *kept = sta_alloc(sizeof *kept);
    kept->limit = kept->figures.limit = limit;
    uv_mutex_init(&kept->lock);
    uv_cond_init(&kept->changed);
    return kept;
}

static void entry_free(struct sta_result_claim *entry)
{
    sta_result_release(entry->result);
    free(entry->key);
    free(entry);
}

void sta_result_cache_destroy(struct sta_result_cache *kept)
{
    while (kept->newest != NULL) {
        struct sta_result_claim *entry = kept->newest;
        STA_ASSERT(entry->result != NULL);
        kept->newest = entry->next;
        entry_free(entry);
    }
    uv_cond_destroy(&kept->changed);
    uv_mutex_destroy(&kept->lock);
    free(kept);
}

/* ---- the list; under the lock */

static struct sta_result_claim **place_of(struct sta_result_cache *kept, const void *key, size_t size,
                                          uint64_t hash)
{
    struct sta_result_claim **at = &kept->newest;
    while (*at != NULL &&
           !((*at)->hash == hash && (*at)->key_size == size && memcmp((*at)->key, key, size) == 0))
        at = &(*at)->next;
    return at;
}

static struct sta_result_claim *take_out(struct sta_result_cache *kept, struct sta_result_claim **at)
{
    struct sta_result_claim *entry = *at;
    *at = entry->next;
    kept->figures.bytes -= entry->bytes;
    kept->figures.entries -= entry->result != NULL;
    return entry;
}

static void put_in(struct sta_result_cache *kept, struct sta_result_claim *entry)
{
    entry->next = kept->newest;
    kept->newest = entry;
    kept->figures.bytes += entry->bytes;
    kept->figures.entries += entry->result != NULL;
}

/* The one used longest ago, when all exceed @limit. */
static struct sta_result_claim *take_excess(struct sta_result_cache *kept, uint64_t limit)
{
    struct sta_result_claim **oldest = NULL;
    for (struct sta_result_claim **at = &kept->newest; *at != NULL; at = &(*at)->next)
        if ((*at)->result != NULL)
            oldest = at;
    return kept->figures.bytes > limit && oldest != NULL ? take_out(kept, oldest) : NULL;
}

/* ---- claims */

static struct sta_result_claim *new_claim(struct sta_result_cache *kept, const void *key, size_t size,
                                          uint64_t hash)
{
    struct sta_result_claim *claim = sta_alloc(sizeof *claim);
    claim->kept = kept;
    claim->hash = hash;
    claim->key = sta_alloc(size + 1);
    memcpy(claim->key, key, size);
    claim->key_size = size;
    put_in(kept, claim);
    return claim;
}

/* Under the lock.  Waits until the entry is settled; the last one out frees it when it is in the list no
 * more. */
static int wait_for(struct sta_result_claim *entry, const struct sta_budget *budget,
                    struct sta_result **result, struct sta_error *err)
{
    struct sta_result_cache *kept = entry->kept;
    int status = STA_OK;
    entry->waiting++;
    while (!entry->settled && status == STA_OK) {
        uv_cond_timedwait(&kept->changed, &kept->lock, LOOK_NS);
        if (budget->cancel != NULL && atomic_load(budget->cancel))
            status = sta_fail(err, STA_ECANCELLED, "Nobody waits for the response any more");
        else if (budget->deadline_ns != 0 && uv_hrtime() >= budget->deadline_ns)
            status = sta_fail(err, STA_ELIMIT, "the time for the query is over");
    }
    if (status == STA_OK && entry->result != NULL)
        *result = sta_result_retain(entry->result);
    if (--entry->waiting == 0 && entry->settled)
        entry_free(entry);
    return status;
}

int sta_result_cache_claim(struct sta_result_cache *kept, const void *key, size_t size,
                           const struct sta_budget *budget, struct sta_result **result,
                           struct sta_result_claim **claim, struct sta_error *err)
{
    uint64_t hash = XXH3_64bits(key, size);
    int status = STA_OK;
    *result = NULL;
    *claim = NULL;
    uv_mutex_lock(&kept->lock);
    while (status == STA_OK && *result == NULL && *claim == NULL) {
        struct sta_result_claim **at = place_of(kept, key, size, hash), *entry = *at;
        if (entry == NULL) {
            *claim = new_claim(kept, key, size, hash);
        } else if (entry->result != NULL) {
            put_in(kept, take_out(kept, at));
            *result = sta_result_retain(entry->result);
        } else {
            status = wait_for(entry, budget, result, err);
        }
    }
    uv_mutex_unlock(&kept->lock);
    return status;
}

struct sta_result *sta_result_cache_find(struct sta_result_cache *kept, const void *key, size_t size)
{
    struct sta_result *result = NULL;
    uv_mutex_lock(&kept->lock);
    struct sta_result_claim **at = place_of(kept, key, size, XXH3_64bits(key, size)), *entry = *at;
    if (entry != NULL && entry->result != NULL) {
        put_in(kept, take_out(kept, at));
        result = sta_result_retain(entry->result);
    }
    uv_mutex_unlock(&kept->lock);
    return result;
}

/* Under the lock.  Those who wait get the rows of an entry that has left the list, and the last one frees
 * it. */
static void hand_out(struct sta_result_claim *claim, struct sta_result *result)
{
    claim->settled = true;
    if (result != NULL && claim->result == NULL)
        claim->result = sta_result_retain(result);
    uv_cond_broadcast(&claim->kept->changed);
}

/* One by one and without the lock, since freeing takes a while. */
static void drop_excess(struct sta_result_cache *kept, uint64_t limit)
{
    for (;;) {
        uv_mutex_lock(&kept->lock);
        struct sta_result_claim *excess = take_excess(kept, limit);
        uv_mutex_unlock(&kept->lock);
        if (excess == NULL)
            return;
        entry_free(excess);
    }
}

void sta_result_cache_resolve(struct sta_result_claim *claim, struct sta_result *result)
{
    struct sta_result_cache *kept = claim->kept;
    uint64_t bytes = result != NULL ? sta_result_weight(result) + claim->key_size : 0;
    uv_mutex_lock(&kept->lock);
    take_out(kept, place_of(kept, claim->key, claim->key_size, claim->hash));
    if (result != NULL && !claim->forgotten && bytes <= kept->limit / SHARE) {
        struct sta_result_claim *entry = new_claim(kept, claim->key, claim->key_size, claim->hash);
        take_out(kept, &kept->newest);
        entry->result = sta_result_retain(result);
        entry->bytes = bytes;
        put_in(kept, entry);
    }
    bool awaited = claim->waiting > 0;
    if (awaited)
        hand_out(claim, result);
    uv_mutex_unlock(&kept->lock);
    if (!awaited)
        entry_free(claim);
    drop_excess(kept, kept->limit);
}

size_t sta_result_cache_shrink(struct sta_result_cache *kept, size_t bytes)
{
    uint64_t before = sta_result_cache_figures(kept).bytes;
    drop_excess(kept, before - STA_MIN(before, bytes));
    uint64_t after = sta_result_cache_figures(kept).bytes;
    return before > after ? before - after : 0;
}

void sta_result_cache_forget(struct sta_result_cache *kept, const char *text)
{
    struct sta_result_claim *dropped = NULL;
    uv_mutex_lock(&kept->lock);
    for (struct sta_result_claim **at = &kept->newest; *at != NULL;) {
        struct sta_result_claim *entry = *at;
        if (memmem(entry->key, entry->key_size, text, strlen(text)) == NULL) {
            at = &entry->next;
        } else if (entry->result == NULL) {
            entry->forgotten = true;
            at = &entry->next;
        } else {
            take_out(kept, at);
            entry->next = dropped;
            dropped = entry;
        }
    }
    uv_mutex_unlock(&kept->lock);
    while (dropped != NULL) {
        struct sta_result_claim *entry = dropped;
        dropped = entry->next;
        entry_free(entry);
    }
}

struct sta_result_cache_figures sta_result_cache_figures(struct sta_result_cache *kept)
{
    uv_mutex_lock(&kept->lock);
    struct sta_result_cache_figures figures = kept->figures;
    uv_mutex_unlock(&kept->lock);
    return figures;
}
