/* column_cache.c - see column_cache.h.
 *
 * DESIGN: values are kept narrow (common/narrow.h).  Items are distributed over shards by a hash of their
 * key; each shard has a lock, a hash table with chaining and a list in the order of use.  Items of whole row
 * groups lie in slots of huge pages.  A reader holds a reference while it widens an item, outside the lock,
 * so that an item may be evicted meanwhile. */
#include "store/versions/column_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/account.h"
#include "common/memory.h"
#include "common/narrow.h"
#include "store/encoding/kernels.h"
#include "store/versions/slots.h"

#define SHARDS 64
#define BUCKETS 1024
#define WIDTHS 3
#define NEVER (INT64_MIN / 2) /* moment at which a column was asked for that nobody has */

struct item {
    struct item *next;          /* in its bucket */
    struct item *newer, *older; /* in the order of use */
    struct sta_column_cache_key key;
    _Atomic unsigned references; /* the cache's, and one of each reader at work */
    int64_t asked;               /* when it was asked for last, in ms of CLOCK_MONOTONIC */
    struct sta_narrow narrow;
    uint32_t size; /* bytes of all */
    uint8_t kind;
    bool in_slot;      /* else it is a piece of memory of its own, and charged */
    uint32_t max_code; /* the largest, of codes */
    _Alignas(8) unsigned char values[];
};

struct shard {
    pthread_mutex_t lock;
    struct item *buckets[BUCKETS];
    struct item *newest, *oldest;
    uint64_t size;
};

struct sta_column_cache {
    uint64_t capacity; /* of a shard, in bytes */
    int64_t residency_ms;
    struct sta_account *account;
    struct sta_slots slots[WIDTHS]; /* of whole row groups, by width */
    _Atomic size_t loose;           /* bytes of items that are not in slots */
    _Atomic uint64_t decoded, warmed, warmed_bytes;
    struct shard shards[SHARDS];
};

static size_t size_of_item(uint32_t rows, unsigned width)
{
    return sizeof(struct item) + ((size_t)rows << width);
}

struct sta_column_cache *sta_column_cache_create(uint64_t capacity, int64_t seconds,
                                                 struct sta_account *account)
{
    struct sta_column_cache *cache = sta_alloc(sizeof *cache);
    cache->capacity = capacity / SHARDS;
    cache->residency_ms = seconds * 1000;
    cache->account = account;
    for (size_t i = 0; i < SHARDS; i++)
        STA_ASSERT(pthread_mutex_init(&cache->shards[i].lock, NULL) == 0);
    for (unsigned width = 0; width < WIDTHS; width++)
        sta_slots_init(&cache->slots[width], size_of_item(STA_ROW_GROUP_ROWS, width), account);
    return cache;
}

/* Memory for an item, charged; NULL: there is none. */
static struct item *allocate(struct sta_column_cache *cache, uint32_t rows, unsigned width)
{
    const size_t size = size_of_item(rows, width);
    struct item *item = rows == STA_ROW_GROUP_ROWS ? sta_slots_take(&cache->slots[width]) : NULL;
    const bool in_slot = item != NULL;
    if (!in_slot && sta_account_try_charge(cache->account, size)) {
        item = sta_try_alloc(size);
        if (item == NULL)
            sta_account_release(cache->account, size);
    }
    if (item == NULL)
        return NULL;
    *item = (struct item){.references = 1, .size = (uint32_t)size, .in_slot = in_slot};
    if (!in_slot)
        atomic_fetch_add_explicit(&cache->loose, size, memory_order_relaxed);
    return item;
}

static void release(struct sta_column_cache *cache, struct item *item)
{
    if (atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel) != 1)
        return;
    if (item->in_slot) {
        sta_slots_free(&cache->slots[item->narrow.width], item);
        return;
    }
    atomic_fetch_sub_explicit(&cache->loose, item->size, memory_order_relaxed);
    sta_account_release(cache->account, item->size);
    free(item);
}

void sta_column_cache_destroy(struct sta_column_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        for (struct item *item = cache->shards[i].newest, *older; item != NULL; item = older) {
            older = item->older;
            release(cache, item);
        }
        pthread_mutex_destroy(&cache->shards[i].lock);
    }
    for (unsigned width = 0; width < WIDTHS; width++)
        sta_slots_fini(&cache->slots[width]);
    free(cache);
}

/* ---- places */

static uint64_t hash_of(struct sta_column_cache_key key)
{
    uint64_t hash =
        (key.segment << 32 ^ (uint64_t)key.column << 16 ^ key.row_group) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool is_same(struct sta_column_cache_key a, struct sta_column_cache_key b)
{
    return a.segment == b.segment && a.row_group == b.row_group && a.column == b.column;
}

/* Where the pointer to the item of a key is, or would be. */
static struct item **find(struct shard *shard, struct sta_column_cache_key key)
{
    struct item **at = &shard->buckets[hash_of(key) / SHARDS % BUCKETS];
    while (*at != NULL && !is_same((*at)->key, key))
        at = &(*at)->next;
    return at;
}

static void put_between(struct shard *shard, struct item *newer, struct item *item, struct item *older)
{
    item->newer = newer;
    item->older = older;
    *(newer != NULL ? &newer->older : &shard->newest) = item;
    *(older != NULL ? &older->newer : &shard->oldest) = item;
}

static void take_out(struct shard *shard, struct item *item)
{
    *(item->newer != NULL ? &item->newer->older : &shard->newest) = item->older;
    *(item->older != NULL ? &item->older->newer : &shard->oldest) = item->newer;
}

static void drop(struct sta_column_cache *cache, struct shard *shard, struct item *item)
{
    *find(shard, item->key) = item->next;
    take_out(shard, item);
    shard->size -= item->size;
    release(cache, item);
}

/* Return: false when what is there stays. */
static bool make_place(struct sta_column_cache *cache, struct shard *shard, const struct item *item)
{
    while (shard->size + item->size > cache->capacity) {
        const struct item *oldest = shard->oldest;
        if (oldest == NULL || item->asked - oldest->asked < cache->residency_ms)
            return false;
        drop(cache, shard, shard->oldest);
    }
    return true;
}

static int64_t current_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct shard *shard_of(struct sta_column_cache *cache, struct sta_column_cache_key key)
{
    return &cache->shards[hash_of(key) % SHARDS];
}

/* ---- values */

/* @kept: of the item, or some of them. */
static void widen(const struct item *item, const void *kept, uint32_t rows, struct sta_column_values *values)
{
    values->kind = (enum sta_column_kind)item->kind;
    values->any_missing = item->narrow.any_missing;
    if (item->kind == STA_KIND_CODE)
        sta_narrow_get_codes(&item->narrow, kept, rows, values->codes);
    else
        sta_narrow_get(&item->narrow, kept, rows, values->integers, values->missing);
}

static struct item *make_item(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                              int64_t min, int64_t max, const struct sta_column_values *values)
{
    struct sta_narrow narrow;
    struct item *item =
        sta_column_cache_takes(values->kind) && sta_narrow_choose(min, max, values->any_missing, &narrow)
            ? allocate(cache, rows, narrow.width)
            : NULL;
    if (item == NULL)
        return NULL;
    item->key = key;
    item->asked = current_ms();
    item->narrow = narrow;
    item->kind = (uint8_t)values->kind;
    item->max_code = (uint32_t)max;
    if (values->kind == STA_KIND_CODE)
        sta_narrow_put_codes(&narrow, values->codes, rows, item->values);
    else
        sta_narrow_put(&narrow, values->integers, values->missing, rows, item->values);
    return item;
}

/* With a reference that the caller releases; NULL: not there. */
static struct item *borrow(struct sta_column_cache *cache, struct sta_column_cache_key key)
{
    struct shard *shard = shard_of(cache, key);
    pthread_mutex_lock(&shard->lock);
    struct item *item = *find(shard, key);
    if (item != NULL) {
        atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed);
        item->asked = current_ms();
        take_out(shard, item);
        put_between(shard, NULL, item, shard->newest);
    }
    pthread_mutex_unlock(&shard->lock);
    return item;
}

bool sta_column_cache_get(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                          struct sta_column_values *values)
{
    struct item *item = borrow(cache, key);
    if (item == NULL)
        return false;
    widen(item, item->values, rows, values);
    release(cache, item);
    return true;
}

#define GATHER(type)                                                                                         \
    for (uint32_t i = 0; i < count; i++)                                                                     \
    ((type *)(void *)gathered)[i] = ((const type *)(const void *)item->values)[rows[i]]

static void gather(const struct item *item, const uint32_t *rows, uint32_t count, void *gathered)
{
    if (item->narrow.width == 0)
        GATHER(uint8_t);
    else if (item->narrow.width == 1)
        GATHER(uint16_t);
    else
        GATHER(uint32_t);
}

bool sta_column_cache_get_rows(struct sta_column_cache *cache, struct sta_column_cache_key key,
                               const uint32_t *rows, uint32_t count, struct sta_column_values *values)
{
    struct item *item = borrow(cache, key);
    if (item == NULL)
        return false;
    uint32_t gathered[STA_ROW_GROUP_ROWS];
    gather(item, rows, count, gathered);
    widen(item, gathered, count, values);
    release(cache, item);
    return true;
}

/* ---- tests */

/* Values that pass lie in test->low .. test->high: kept ones in *low .. *low + *span.  Return: false when
 * none can. */
static bool kept_range(const struct item *item, const struct sta_row_test *test, uint32_t *low,
                       uint32_t *span)
{
    const uint64_t largest = UINT64_C(0xffffffff) >> (32 - (8u << item->narrow.width));
    /* What stands for no value, 0, lies below the least one: the base is that less one. */
    const __int128 first = (int64_t)(item->narrow.base + item->narrow.any_missing),
                   base = first - item->narrow.any_missing;
    const __int128 least = STA_MAX((__int128)test->low, first) - base;
    const __int128 most = STA_MIN((__int128)test->high - base, (__int128)largest);
    if (least > most)
        return false;
    *low = (uint32_t)least;
    *span = (uint32_t)(most - least);
    return true;
}

#define MOST_RANGES 12 /* more take longer than a table */

/* The ranges of the kept bytes that pass, as long as they are few: they are faster than a table. */
static bool find_ranges(const struct item *item, const uint8_t *of_code, struct sta_byte_range *ranges,
                        unsigned *count)
{
    const uint32_t last = item->max_code - item->narrow.base;
    bool passed = false;
    *count = 0;
    for (uint32_t value = 0; value <= last; value++) {
        const bool passes =
            of_code[value == 0 && item->narrow.any_missing ? 0 : 1 + (int64_t)item->narrow.base + value];
        if (passes && passed)
            ranges[*count - 1].more++;
        else if (passes && *count == MOST_RANGES)
            return false;
        else if (passes)
            ranges[(*count)++] = (struct sta_byte_range){.low = (uint8_t)value};
        passed = passes;
    }
    return true;
}

static void test_range(const struct item *item, uint32_t rows, const struct sta_row_test *test,
                       uint8_t *marks)
{
    uint32_t low, span;
    if (kept_range(item, test, &low, &span))
        sta_narrow_keep_range(&item->narrow, item->values, rows, low, span, marks);
    else
        memset(marks, 0, rows);
}

static void test_codes(const struct item *item, uint32_t rows, const uint8_t *of_code, uint8_t *marks)
{
    const uint8_t *table = of_code + (1 + (int64_t)item->narrow.base); /* by kept value */
    struct sta_byte_range ranges[MOST_RANGES];
    unsigned count;
    if (item->narrow.width == 0 && find_ranges(item, of_code, ranges, &count))
        sta_kernels()->keep_byte_ranges(item->values, rows, ranges, count, marks);
    else
        sta_narrow_keep_codes(&item->narrow, item->values, rows, table,
                              item->narrow.any_missing ? of_code[0] : table[0], marks);
}

bool sta_column_cache_test(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                           const struct sta_row_test *test, uint8_t *marks)
{
    struct item *item = borrow(cache, key);
    if (item == NULL)
        return false;
    const bool fits = (item->kind == STA_KIND_CODE) == (test->of_code != NULL);
    if (fits && test->of_code == NULL)
        test_range(item, rows, test, marks);
    else if (fits)
        test_codes(item, rows, test->of_code, marks);
    release(cache, item);
    return fits;
}

/* ---- new items */

/* @warm: nobody has asked for it, so that it takes no other's place and is evicted first. */
static bool keep(struct sta_column_cache *cache, struct item *item, bool warm)
{
    struct shard *shard = shard_of(cache, item->key);
    pthread_mutex_lock(&shard->lock);
    const bool fits = *find(shard, item->key) == NULL &&
                      (warm ? shard->size + item->size <= cache->capacity : make_place(cache, shard, item));
    if (fits) {
        item->asked = warm ? NEVER : item->asked;
        *find(shard, item->key) = item;
        put_between(shard, warm ? shard->oldest : NULL, item, warm ? NULL : shard->newest);
        shard->size += item->size;
    }
    pthread_mutex_unlock(&shard->lock);
    if (!fits) /* or another reader was first */
        release(cache, item);
    return fits;
}

void sta_column_cache_put(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                          int64_t min, int64_t max, const struct sta_column_values *values)
{
    struct item *item = make_item(cache, key, rows, min, max, values);
    atomic_fetch_add_explicit(&cache->decoded, 1, memory_order_relaxed);
    if (item != NULL)
        (void)keep(cache, item, false);
}

void sta_column_cache_warm(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows,
                           int64_t min, int64_t max, const struct sta_column_values *values)
{
    struct item *item = make_item(cache, key, rows, min, max, values);
    const uint32_t size = item != NULL ? item->size : 0;
    if (item == NULL || !keep(cache, item, true))
        return;
    atomic_fetch_add_explicit(&cache->warmed, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&cache->warmed_bytes, size, memory_order_relaxed);
}

bool sta_column_cache_fits(struct sta_column_cache *cache, struct sta_column_cache_key key, uint32_t rows)
{
    struct shard *shard = shard_of(cache, key);
    pthread_mutex_lock(&shard->lock);
    const bool fits = *find(shard, key) == NULL && shard->size + size_of_item(rows, 0) <= cache->capacity;
    pthread_mutex_unlock(&shard->lock);
    return fits;
}

/* ---- as a whole */

/* What the cache is charged for. */
static size_t held(struct sta_column_cache *cache)
{
    size_t bytes = atomic_load_explicit(&cache->loose, memory_order_relaxed);
    for (unsigned width = 0; width < WIDTHS; width++)
        bytes += sta_slots_bytes(&cache->slots[width]);
    return bytes;
}

/* Evicts about so many bytes.  Return: whether there was something to evict. */
static bool evict(struct sta_column_cache *cache, size_t bytes)
{
    const size_t share = bytes / SHARDS + 1;
    bool any = false;
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &cache->shards[i];
        pthread_mutex_lock(&shard->lock);
        any |= shard->oldest != NULL;
        for (size_t here = 0; here < share && shard->oldest != NULL;) {
            here += shard->oldest->size;
            drop(cache, shard, shard->oldest);
        }
        pthread_mutex_unlock(&shard->lock);
    }
    return any;
}

size_t sta_column_cache_shrink(struct sta_column_cache *cache, size_t bytes)
{
    const size_t before = held(cache);
    size_t freed = 0;
    while (freed < bytes && evict(cache, bytes - freed)) { /* a page goes with the last item in it */
        const size_t now = held(cache);
        freed = now < before ? before - now : 0;
    }
    return freed;
}

static bool is_among(const uint64_t *serials, size_t count, uint64_t serial)
{
    size_t low = 0;
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (serials[middle] < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && serials[low] == serial;
}

void sta_column_cache_forget(struct sta_column_cache *cache, const uint64_t *serials, size_t count)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &cache->shards[i];
        pthread_mutex_lock(&shard->lock);
        for (struct item *item = shard->newest, *older; item != NULL; item = older) {
            older = item->older;
            if (is_among(serials, count, item->key.segment))
                drop(cache, shard, item);
        }
        pthread_mutex_unlock(&shard->lock);
    }
}

void sta_column_cache_each(struct sta_column_cache *cache,
                           void (*visit)(void *context, struct sta_column_cache_key key, int64_t asked),
                           void *context)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &cache->shards[i];
        pthread_mutex_lock(&shard->lock);
        for (const struct item *item = shard->newest; item != NULL && item->asked != NEVER;
             item = item->older)
            visit(context, item->key, item->asked);
        pthread_mutex_unlock(&shard->lock);
    }
}

struct sta_column_figures sta_column_cache_figures(struct sta_column_cache *cache)
{
    return (struct sta_column_figures){
        .bytes = held(cache),
        .decoded = atomic_load_explicit(&cache->decoded, memory_order_relaxed),
        .warmed = atomic_load_explicit(&cache->warmed, memory_order_relaxed),
        .warmed_bytes = atomic_load_explicit(&cache->warmed_bytes, memory_order_relaxed),
    };
}
