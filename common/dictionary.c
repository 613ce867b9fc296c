/* Each distinct text once, as a dense code.
 *
 * DESIGN.  Entries live in chunks that double in size and never move, so a code finds its text without a
 * lock.  The hash table holds code + 1 in atomic slots, with half of the hash, so that a text which is new
 * meets others' slots without a look at their entries.  It is replaced, not changed, when it grows, and old
 * tables are kept until the end (together they are smaller than the last).  A writer fills the entry, then
 * publishes the slot with release order; a reader that sees the slot sees the entry.  The mutex serialises
 * writers only.
 *
 * Texts that were appended are not in the table: who looks one up first puts all of them there.  Most
 * dictionaries of a stored trace are only read by code, and never need it. */
#include "common/dictionary.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/memory.h"

#define FIRST_CHUNK 16u /* small: each key of args has a dictionary, and most have few texts */
#define CHUNKS 29       /* 16 * (2^29 - 1) entries: past 32-bit codes */

struct entry {
    uint64_t hash; /* 0: appended, not worked out yet */
    struct sta_text text;
};

struct table {
    struct table *older;
    size_t capacity;          /* a power of two */
    _Atomic uint64_t slots[]; /* upper half of the hash, code + 1; 0: empty */
};

struct sta_dictionary {
    _Atomic(struct table *) table;
    _Atomic(struct entry *) chunks[CHUNKS];
    _Atomic uint32_t count;
    _Atomic size_t bytes;
    _Atomic bool appended; /* some texts are not in the table */
    pthread_mutex_t lock;  /* held to add */
    struct sta_arena arena;
};

static struct table *table_create(size_t capacity, struct table *older)
{
    struct table *table = sta_alloc(sizeof *table + capacity * sizeof *table->slots);
    table->capacity = capacity;
    table->older = older;
    return table;
}

struct sta_dictionary *sta_dictionary_create(void)
{
    struct sta_dictionary *dictionary = sta_alloc(sizeof *dictionary);
    pthread_mutex_init(&dictionary->lock, NULL);
    atomic_init(&dictionary->table, table_create(64, NULL));
    return dictionary;
}

void sta_dictionary_destroy(struct sta_dictionary *dictionary)
{
    if (dictionary == NULL)
        return;
    struct table *table = atomic_load(&dictionary->table);
    while (table != NULL) {
        struct table *older = table->older;
        free(table);
        table = older;
    }
    for (unsigned i = 0; i < CHUNKS; i++)
        free(atomic_load(&dictionary->chunks[i]));
    pthread_mutex_destroy(&dictionary->lock);
    sta_arena_fini(&dictionary->arena);
    free(dictionary);
}

/* Chunk k begins at code FIRST_CHUNK * (2^k - 1). */
static unsigned chunk_of(uint32_t code, uint32_t *inside)
{
    uint32_t scaled = code / FIRST_CHUNK + 1;
    unsigned chunk = 31u - (unsigned)__builtin_clz(scaled);
    *inside = code - FIRST_CHUNK * ((1u << chunk) - 1);
    return chunk;
}

static struct entry *entry_of(const struct sta_dictionary *dictionary, uint32_t code)
{
    uint32_t inside;
    unsigned chunk = chunk_of(code, &inside);
    return atomic_load_explicit(&dictionary->chunks[chunk], memory_order_acquire) + inside;
}

static inline uint64_t slot_of(uint64_t hash, uint32_t code)
{
    return (hash & ~UINT64_C(0xffffffff)) | (code + 1);
}

/* The slot of the text, or the empty slot where it would go. */
static size_t probe(const struct sta_dictionary *dictionary, const struct table *table, uint64_t hash,
                    const char *bytes, size_t length, uint32_t *code)
{
    size_t slot = (size_t)hash & (table->capacity - 1);
    for (;; slot = (slot + 1) & (table->capacity - 1)) {
        uint64_t held = atomic_load_explicit(&table->slots[slot], memory_order_acquire);
        if (held == 0) {
            *code = STA_NO_CODE;
            return slot;
        }
        if ((held ^ hash) >> 32 != 0)
            continue;
        const struct entry *entry = entry_of(dictionary, (uint32_t)held - 1);
        if (entry->text.length == length && memcmp(entry->text.bytes, bytes, length) == 0) {
            *code = (uint32_t)held - 1;
            return slot;
        }
    }
}

static uint64_t hash_of(const char *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

/* Under the lock. */
static struct table *enlarge(struct sta_dictionary *dictionary, struct table *old, size_t capacity,
                             uint32_t count)
{
    struct table *table = table_create(capacity, old);
    for (uint32_t code = 0; code < count; code++) {
        struct entry *entry = entry_of(dictionary, code);
        if (entry->hash == 0)
            entry->hash = hash_of(entry->text.bytes, entry->text.length);
        size_t slot = (size_t)entry->hash & (table->capacity - 1);
        while (atomic_load_explicit(&table->slots[slot], memory_order_relaxed) != 0)
            slot = (slot + 1) & (table->capacity - 1);
        atomic_store_explicit(&table->slots[slot], slot_of(entry->hash, code), memory_order_relaxed);
    }
    atomic_store_explicit(&dictionary->table, table, memory_order_release);
    return table;
}

static void put_appended(struct sta_dictionary *dictionary)
{
    pthread_mutex_lock(&dictionary->lock);
    if (atomic_load_explicit(&dictionary->appended, memory_order_relaxed)) {
        struct table *table = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
        uint32_t count = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
        size_t capacity = table->capacity;
        while (capacity < 2 * (size_t)count)
            capacity *= 2;
        enlarge(dictionary, table, capacity, count);
        atomic_store_explicit(&dictionary->appended, false, memory_order_release);
    }
    pthread_mutex_unlock(&dictionary->lock);
}

/* The table with all texts that there are by now. */
static const struct table *table_of(const struct sta_dictionary *dictionary)
{
    if (atomic_load_explicit(&dictionary->appended, memory_order_acquire))
        put_appended((struct sta_dictionary *)(uintptr_t)dictionary); /* what it says stays the same */
    return atomic_load_explicit(&dictionary->table, memory_order_acquire);
}

static uint32_t find_hashed(const struct sta_dictionary *dictionary, uint64_t hash, const char *bytes,
                            size_t length)
{
    uint32_t code;
    probe(dictionary, table_of(dictionary), hash, bytes, length, &code);
    return code;
}

/* Under the lock. */
static struct entry *new_entry(struct sta_dictionary *dictionary, uint32_t code)
{
    uint32_t inside;
    unsigned chunk = chunk_of(code, &inside);
    struct entry *entries = atomic_load_explicit(&dictionary->chunks[chunk], memory_order_relaxed);
    if (entries == NULL) {
        entries = sta_alloc_array((size_t)FIRST_CHUNK << chunk, sizeof *entries);
        atomic_store_explicit(&dictionary->chunks[chunk], entries, memory_order_release);
    }
    return entries + inside;
}

/* Under the lock. */
static void fill_entry(struct sta_dictionary *dictionary, uint32_t code, uint64_t hash, const char *bytes,
                       size_t length)
{
    struct entry *entry = new_entry(dictionary, code);
    entry->hash = hash;
    entry->text.bytes = sta_arena_copy(&dictionary->arena, bytes, length);
    entry->text.length = (uint32_t)length;
    atomic_store_explicit(&dictionary->count, code + 1, memory_order_release);
    atomic_fetch_add_explicit(&dictionary->bytes, length + 1, memory_order_relaxed);
}

static uint32_t add(struct sta_dictionary *dictionary, uint64_t hash, const char *bytes, size_t length)
{
    uint32_t code;
    pthread_mutex_lock(&dictionary->lock);
    struct table *table = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    size_t slot = probe(dictionary, table, hash, bytes, length, &code);
    if (code == STA_NO_CODE) {
        code = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
        STA_ASSERT(code < STA_NO_CODE - 1);
        if (((size_t)code + 1) * 2 > table->capacity) {
            uint32_t none;
            table = enlarge(dictionary, table, table->capacity * 2, code);
            slot = probe(dictionary, table, hash, bytes, length, &none);
        }
        /* Count before slot: who finds the code without the lock may ask for its text at once. */
        fill_entry(dictionary, code, hash, bytes, length);
        atomic_store_explicit(&table->slots[slot], slot_of(hash, code), memory_order_release);
    }
    pthread_mutex_unlock(&dictionary->lock);
    return code;
}

uint32_t sta_dictionary_append(struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    STA_ASSERT(length < UINT32_MAX);
    pthread_mutex_lock(&dictionary->lock);
    uint32_t code = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
    STA_ASSERT(code < STA_NO_CODE - 1);
    fill_entry(dictionary, code, 0, bytes, length);
    atomic_store_explicit(&dictionary->appended, true, memory_order_release);
    pthread_mutex_unlock(&dictionary->lock);
    return code;
}

static uint32_t intern_hashed(struct sta_dictionary *dictionary, uint64_t hash, const char *bytes,
                              size_t length)
{
    uint32_t code = find_hashed(dictionary, hash, bytes, length);
    return code != STA_NO_CODE ? code : add(dictionary, hash, bytes, length);
}

uint32_t sta_dictionary_intern(struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    STA_ASSERT(length < UINT32_MAX);
    return intern_hashed(dictionary, hash_of(bytes, length), bytes, length);
}

uint32_t sta_dictionary_find(const struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    return find_hashed(dictionary, hash_of(bytes, length), bytes, length);
}

#define TOGETHER 32 /* texts whose memory is fetched at the same time */

/* First the slots are fetched, then the entries that they name, then the texts of these. */
static void find_together(const struct sta_dictionary *dictionary, const struct table *table,
                          const struct sta_text *texts, size_t count, uint32_t *codes)
{
    uint64_t hashes[TOGETHER];
    const struct entry *entries[TOGETHER];
    for (size_t i = 0; i < count; i++) {
        hashes[i] = hash_of(texts[i].bytes, texts[i].length);
        __builtin_prefetch((const void *)&table->slots[(size_t)hashes[i] & (table->capacity - 1)]);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t held = atomic_load_explicit(&table->slots[(size_t)hashes[i] & (table->capacity - 1)],
                                             memory_order_acquire);
        entries[i] = held != 0 ? entry_of(dictionary, (uint32_t)held - 1) : NULL;
        __builtin_prefetch(entries[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (entries[i] != NULL)
            __builtin_prefetch(entries[i]->text.bytes);
    for (size_t i = 0; i < count; i++)
        probe(dictionary, table, hashes[i], texts[i].bytes, texts[i].length, &codes[i]);
}

void sta_dictionary_find_many(const struct sta_dictionary *dictionary, const struct sta_text *texts,
                              size_t count, uint32_t *codes)
{
    const struct table *table = table_of(dictionary);
    for (size_t first = 0; first < count; first += TOGETHER)
        find_together(dictionary, table, texts + first, STA_MIN(count - first, (size_t)TOGETHER),
                      codes + first);
}

struct sta_text sta_dictionary_text(const struct sta_dictionary *dictionary, uint32_t code)
{
    STA_ASSERT(code < sta_dictionary_count(dictionary));
    return entry_of(dictionary, code)->text;
}

uint32_t sta_dictionary_count(const struct sta_dictionary *dictionary)
{
    return atomic_load_explicit(&dictionary->count, memory_order_acquire);
}

size_t sta_dictionary_bytes(const struct sta_dictionary *dictionary)
{
    size_t capacity = atomic_load_explicit(&dictionary->table, memory_order_acquire)->capacity;
    uint32_t inside, count = sta_dictionary_count(dictionary);
    size_t entries = count > 0 ? (size_t)FIRST_CHUNK * ((2u << chunk_of(count - 1, &inside)) - 1) : 0;
    return sizeof *dictionary + atomic_load_explicit(&dictionary->bytes, memory_order_relaxed) +
           capacity * 2 * sizeof(uint64_t) + entries * sizeof(struct entry);
}

int sta_text_order(struct sta_text a, struct sta_text b)
{
    int order = memcmp(a.bytes, b.bytes, STA_MIN(a.length, b.length));
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_by_text(const void *left, const void *right, void *context)
{
    struct sta_text a = sta_dictionary_text(context, *(const uint32_t *)left);
    struct sta_text b = sta_dictionary_text(context, *(const uint32_t *)right);
    return sta_text_order(a, b);
}

uint32_t *sta_dictionary_ranks(const struct sta_dictionary *dictionary, uint32_t *count)
{
    *count = sta_dictionary_count(dictionary);
    uint32_t *codes = sta_alloc_array(*count, sizeof *codes);
    uint32_t *ranks = sta_alloc_array(*count, sizeof *ranks);
    for (uint32_t code = 0; code < *count; code++)
        codes[code] = code;
    qsort_r(codes, *count, sizeof *codes, compare_by_text, (void *)dictionary);
    for (uint32_t rank = 0; rank < *count; rank++)
        ranks[codes[rank]] = rank;
    free(codes);
    return ranks;
}

void sta_dictionary_cache_init(struct sta_dictionary_cache *cache, struct sta_dictionary *dictionary)
{
    memset(cache, 0, sizeof *cache);
    cache->dictionary = dictionary;
}

uint32_t sta_dictionary_cache_intern(struct sta_dictionary_cache *cache, const char *bytes, size_t length)
{
    uint64_t hash = hash_of(bytes, length);
    size_t slot = (size_t)(hash >> 32) & (STA_DICTIONARY_CACHE_SLOTS - 1);
    if (cache->slots[slot].hash == hash && cache->slots[slot].text.length == length &&
        cache->slots[slot].text.bytes != NULL && memcmp(cache->slots[slot].text.bytes, bytes, length) == 0)
        return cache->slots[slot].code;
    uint32_t code = intern_hashed(cache->dictionary, hash, bytes, length);
    cache->slots[slot].hash = hash;
    cache->slots[slot].text = sta_dictionary_text(cache->dictionary, code);
    cache->slots[slot].code = code;
    return code;
}
