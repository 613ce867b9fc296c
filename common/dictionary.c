/* Each distinct text once, as a dense code.
 *
 * DESIGN.  Texts are named by chunks of entries that double in size and never move, so a code finds its text
 * without a lock.  The hash table holds code + 1 in atomic slots, with half of the hash: it says where the
 * slot belongs, and a text which is new meets others' slots without a look at their texts.  The table is
 * replaced, not changed, when it grows, from the slots of the old one as they stand, and old tables are kept
 * until the end (together they are smaller than the last).  A writer fills the entry, then publishes the slot
 * with release order; a reader that sees the slot sees the entry.  The mutex serialises writers only.
 *
 * What a large dictionary needs next, a block of texts, entries or a larger table, is made ready by who has
 * just interned, without the lock (dictionary_ahead.c).
 *
 * Texts that were appended are not in the table: who looks one up first puts all of them there.  Most
 * dictionaries of a stored trace are only read by code, and never need it.  When there is no memory for that
 * table, looking up goes through all texts.
 *
 * Texts that are left for later have codes, but their chunks are missing: who meets a missing one has all of
 * them made (dictionary_deferred.c).
 *
 * The first chunk is part of the dictionary and the first texts cannot be refused unless they are long, so
 * that code 0 can always be given: when a text cannot be kept, that is its code, and the account has the
 * sticky failure. */
#include "common/dictionary_private.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/account.h"
#include "common/dictionary_slots.h"
#include "common/memory.h"
#include "common/parallel.h"

#define FIRST_SLOTS 64  /* of the hash table */
#define LEAST_TEXTS 256 /* bytes of the first block of texts, and of the largest */
#define MOST_TEXTS (STA_HUGE_PAGE - sizeof(struct texts))

#define LARGE_TABLE (STA_HUGE_PAGE / sizeof(uint64_t)) /* slots: the next table is made ready ahead */
#define ENTRIES_OF_PAGE ((uint32_t)(STA_HUGE_PAGE / sizeof(struct sta_text)))

void *sta_dictionary_take(struct sta_dictionary *dictionary, size_t size)
{
    void *memory =
        dictionary->refusal != NULL
            ? sta_account_alloc(dictionary->account, size, 1, STA_DICTIONARY_WHAT, dictionary->refusal)
            : sta_account_alloc_sticky(dictionary->account, size, 1, STA_DICTIONARY_WHAT);
    if (memory != NULL)
        atomic_fetch_add_explicit(&dictionary->bytes, sta_account_charged(dictionary->account, memory),
                                  memory_order_relaxed);
    return memory;
}

/* The same of the first pieces, which cannot be refused. */
static void *take_small(struct sta_dictionary *dictionary, size_t size)
{
    void *memory = sta_account_alloc_small(dictionary->account, 1, size);
    atomic_fetch_add_explicit(&dictionary->bytes, sta_account_charged(dictionary->account, memory),
                              memory_order_relaxed);
    return memory;
}

/* The same, for a table without texts. */
static struct table *take_table(struct sta_dictionary *dictionary, size_t capacity)
{
    struct table *table = sta_dictionary_take(dictionary, sta_dictionary_table_bytes(capacity));
    if (table == NULL)
        return NULL;
    memset(table, 0, sta_dictionary_table_bytes(capacity));
    table->capacity = capacity;
    return table;
}

static void give(struct sta_dictionary *dictionary, void *memory)
{
    sta_account_free(dictionary->account, memory);
}

/* It is held for some microseconds: going to sleep takes longer than a short wait. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

struct sta_dictionary *sta_dictionary_create_in(struct sta_account *account)
{
    struct sta_dictionary *dictionary = sta_account_alloc_small(account, 1, sizeof *dictionary);
    init_lock(&dictionary->lock);
    dictionary->account = account;
    atomic_init(&dictionary->bytes, sta_account_charged(account, dictionary));
    struct table *table = take_small(dictionary, sta_dictionary_table_bytes(FIRST_SLOTS));
    table->capacity = FIRST_SLOTS;
    atomic_init(&dictionary->table, table);
    atomic_init(&dictionary->chunks[0], dictionary->first);
    return dictionary;
}

struct sta_dictionary *sta_dictionary_create(void)
{
    return sta_dictionary_create_in(NULL);
}

void sta_dictionary_destroy(struct sta_dictionary *dictionary)
{
    if (dictionary == NULL)
        return;
    struct table *table = atomic_load(&dictionary->table);
    while (table != NULL) {
        struct table *older = table->older;
        give(dictionary, table);
        table = older;
    }
    for (unsigned i = 1; i < STA_DICTIONARY_CHUNKS; i++)
        give(dictionary, atomic_load(&dictionary->chunks[i]));
    for (unsigned i = 0; dictionary->singles != NULL && i < STA_DICTIONARY_CHUNKS; i++)
        give(dictionary, atomic_load(&dictionary->singles->chunks[i]));
    give(dictionary, dictionary->singles);
    sta_dictionary_give_ready(dictionary);
    while (dictionary->texts != NULL) {
        struct texts *older = dictionary->texts->older;
        give(dictionary, dictionary->texts);
        dictionary->texts = older;
    }
    pthread_mutex_destroy(&dictionary->lock);
    give(dictionary, dictionary);
}

static const struct sta_text *entry_of(const struct sta_dictionary *dictionary, uint32_t code)
{
    static const struct sta_text refused = {"", 0};
    uint32_t inside;
    const unsigned chunk = sta_dictionary_chunk(code, &inside);
    const struct sta_text *entries = atomic_load_explicit(&dictionary->chunks[chunk], memory_order_acquire);
    if (entries == NULL) {
        if (!sta_dictionary_have_made(dictionary))
            return &refused;
        entries = atomic_load_explicit(&dictionary->chunks[chunk], memory_order_acquire);
    }
    return entries + inside;
}

/* The slot of the text, or the empty slot where it would go. */
static size_t probe(const struct sta_dictionary *dictionary, const struct table *table, uint64_t hash,
                    const char *bytes, size_t length, uint32_t *code)
{
    size_t slot = place_of(table, hash);
    for (;; slot = (slot + 1) & (table->capacity - 1)) {
        uint64_t held = atomic_load_explicit(&table->slots[slot], memory_order_acquire);
        if (held == 0) {
            *code = STA_NO_CODE;
            return slot;
        }
        if (held >> 32 != (uint32_t)hash)
            continue;
        const struct sta_text *text = entry_of(dictionary, (uint32_t)held - 1);
        if (text->length == length && memcmp(text->bytes, bytes, length) == 0) {
            *code = (uint32_t)held - 1;
            return slot;
        }
    }
}

uint64_t sta_dictionary_hash(const char *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

/* Under the lock. */
static void replace_table(struct sta_dictionary *dictionary, struct table *table)
{
    table->older = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    atomic_store_explicit(&dictionary->table, table, memory_order_release);
}

/* All texts into a table that nobody else sees yet, by several threads. */
#define TEXTS_OF_PART ((uint32_t)1 << 15)
struct filling {
    const struct sta_dictionary *dictionary;
    struct table *table;
    uint32_t count;
    _Atomic uint64_t next; /* may be past the count */
};

/* The slots of some texts are fetched together. */
static void put_texts(const struct filling *filling, uint32_t first, uint32_t end)
{
    uint64_t hashes[STA_DICTIONARY_TOGETHER];
    for (uint32_t some; first < end; first += some) {
        some = STA_MIN(end - first, (uint32_t)STA_DICTIONARY_TOGETHER);
        for (uint32_t i = 0; i < some; i++) {
            const struct sta_text *text = entry_of(filling->dictionary, first + i);
            hashes[i] = sta_dictionary_hash(text->bytes, text->length);
            __builtin_prefetch((const void *)&filling->table->slots[place_of(filling->table, hashes[i])], 1);
        }
        for (uint32_t i = 0; i < some; i++)
            claim_slot(filling->table, hashes[i], first + i);
    }
}

static void put_some_texts(void *context, unsigned worker)
{
    struct filling *filling = context;
    (void)worker;
    for (uint64_t first; (first = atomic_fetch_add(&filling->next, TEXTS_OF_PART)) < filling->count;)
        put_texts(filling, (uint32_t)first,
                  (uint32_t)STA_MIN((uint64_t)filling->count, first + TEXTS_OF_PART));
}

/* Under the lock.  Return: whether the appended texts are in the table now.  No sticky failure: they can be
 * found without it. */
static bool put_appended(struct sta_dictionary *dictionary)
{
    struct sta_error ignored = STA_ERROR_INIT;
    uint32_t count = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
    size_t capacity = atomic_load_explicit(&dictionary->table, memory_order_relaxed)->capacity;
    while (capacity < 2 * (size_t)count)
        capacity *= 2;
    struct table *table = sta_account_calloc(dictionary->account, sta_dictionary_table_bytes(capacity), 1,
                                             STA_DICTIONARY_WHAT, &ignored);
    if (table == NULL)
        return false;
    atomic_fetch_add_explicit(&dictionary->bytes, sta_account_charged(dictionary->account, table),
                              memory_order_relaxed);
    table->capacity = capacity;
    struct filling filling = {.dictionary = dictionary, .table = table, .count = count};
    sta_parallel_run(count < 2 * TEXTS_OF_PART ? 1 : sta_usable_cores(), put_some_texts, &filling);
    replace_table(dictionary, table);
    atomic_store_explicit(&dictionary->appended, false, memory_order_release);
    return true;
}

/* The table with all texts that there are by now; NULL: there is no memory for it. */
static const struct table *table_of(const struct sta_dictionary *dictionary)
{
    bool complete = sta_dictionary_have_made(dictionary);
    if (complete && atomic_load_explicit(&dictionary->appended, memory_order_acquire)) {
        struct sta_dictionary *own =
            (struct sta_dictionary *)(uintptr_t)dictionary; /* it says the same after */
        pthread_mutex_lock(&own->lock);
        complete = !atomic_load_explicit(&own->appended, memory_order_relaxed) || put_appended(own);
        pthread_mutex_unlock(&own->lock);
    }
    return complete ? atomic_load_explicit(&dictionary->table, memory_order_acquire) : NULL;
}

static uint32_t find_without_table(const struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    const uint32_t count = sta_dictionary_count(dictionary);
    for (uint32_t code = 0; code < count; code++) {
        const struct sta_text text = *entry_of(dictionary, code);
        if (text.length == length && memcmp(text.bytes, bytes, length) == 0)
            return code;
    }
    return STA_NO_CODE;
}

static uint32_t find_hashed(const struct sta_dictionary *dictionary, uint64_t hash, const char *bytes,
                            size_t length)
{
    uint32_t code;
    const struct table *table = table_of(dictionary);
    if (table == NULL)
        return find_without_table(dictionary, bytes, length);
    probe(dictionary, table, hash, bytes, length, &code);
    return code;
}

/* Under the lock.  NULL: no memory, also for those before it. */
static struct sta_text *new_entry(struct sta_dictionary *dictionary, uint32_t code)
{
    uint32_t inside;
    if (atomic_load_explicit(&dictionary->deferred, memory_order_relaxed))
        return NULL;
    unsigned chunk = sta_dictionary_chunk(code, &inside);
    struct sta_text *entries = atomic_load_explicit(&dictionary->chunks[chunk], memory_order_relaxed);
    if (entries == NULL) {
        entries =
            sta_dictionary_take(dictionary, ((size_t)STA_DICTIONARY_FIRST_CHUNK << chunk) * sizeof *entries);
        atomic_store_explicit(&dictionary->chunks[chunk], entries, memory_order_release);
    }
    if (inside % ENTRIES_OF_PAGE == ENTRIES_OF_PAGE / 2) {
        atomic_store_explicit(&dictionary->ahead.code, code + ENTRIES_OF_PAGE / 2, memory_order_relaxed);
        sta_dictionary_want(dictionary, STA_AHEAD_ENTRIES);
    }
    return entries != NULL ? entries + inside : NULL;
}

/* Under the lock.  Texts lie in blocks that are as large as all before, within bounds: most dictionaries have
 * few.  NULL: no memory. */
static const char *copy_text(struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    struct texts *block = dictionary->texts;
    if (block == NULL || block->size - dictionary->used <= length) {
        const size_t size = block == NULL ? LEAST_TEXTS : STA_MIN(block->size * 2, (size_t)MOST_TEXTS);
        const bool small = block == NULL && length < LEAST_TEXTS;
        const bool usual = size == MOST_TEXTS && length < MOST_TEXTS;
        struct texts *fresh = usual ? sta_dictionary_ready_texts(dictionary) : NULL;
        if (fresh == NULL)
            fresh = small ? take_small(dictionary, sizeof *fresh + LEAST_TEXTS)
                          : sta_dictionary_take(dictionary, sizeof *fresh + STA_MAX(size, length + 1));
        if (fresh == NULL)
            return NULL;
        *fresh = (struct texts){.older = block, .size = STA_MAX(size, length + 1)};
        dictionary->texts = block = fresh;
        dictionary->used = 0;
    }
    char *copy = block->bytes + dictionary->used;
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    if (block->size == MOST_TEXTS && dictionary->used < MOST_TEXTS / 2 &&
        dictionary->used + length + 1 >= MOST_TEXTS / 2)
        sta_dictionary_want(dictionary, STA_AHEAD_TEXTS);
    dictionary->used += length + 1;
    return copy;
}

bool sta_dictionary_fill(struct sta_dictionary *dictionary, uint32_t code, const char *bytes, size_t length)
{
    struct sta_text *entry = new_entry(dictionary, code);
    const char *copy = entry != NULL ? copy_text(dictionary, bytes, length) : NULL;
    if (copy == NULL && code > 0)
        return false;
    *entry = copy != NULL ? (struct sta_text){copy, (uint32_t)length} : (struct sta_text){"", 0};
    atomic_store_explicit(&dictionary->count, code + 1, memory_order_release);
    return copy != NULL;
}

/* Under the lock.  Slots that are near each other go near each other: memory is written in order. */
static void grow_table(struct sta_dictionary *dictionary, struct table *table)
{
    const struct table *full = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    for (size_t i = 0; i < full->capacity; i++) {
        const uint64_t held = atomic_load_explicit(&full->slots[i], memory_order_relaxed);
        if (held != 0)
            put_slot(table, held);
    }
    replace_table(dictionary, table);
}

/* Under the lock.  The empty slot for a text that is not there, in a table with space for it; NULL: no
 * memory.
 * @slot: where it is in the present table */
static _Atomic uint64_t *slot_for(struct sta_dictionary *dictionary, uint32_t count, uint64_t hash,
                                  size_t slot)
{
    struct table *table = atomic_load_explicit(&dictionary->table, memory_order_relaxed);
    if (((size_t)count + 1) * 2 > table->capacity) {
        const size_t capacity = table->capacity * 2;
        table = sta_dictionary_ready_table(dictionary, capacity);
        if (table == NULL)
            table = take_table(dictionary, capacity);
        if (table == NULL)
            return NULL;
        grow_table(dictionary, table);
        slot = empty_slot(table, hash);
    } else if (table->capacity >= LARGE_TABLE && count == table->capacity / 16 * 7) {
        sta_dictionary_want(dictionary, STA_AHEAD_TABLE);
    }
    return &table->slots[slot];
}

/* Under the lock. */
static uint32_t add_locked(struct sta_dictionary *dictionary, uint64_t hash, const char *bytes, size_t length)
{
    uint32_t code;
    const size_t empty = probe(dictionary, atomic_load_explicit(&dictionary->table, memory_order_relaxed),
                               hash, bytes, length, &code);
    if (code != STA_NO_CODE)
        return code;
    const uint32_t count = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
    STA_ASSERT(count < STA_NO_CODE - 1);
    const uint32_t in_table = count - (dictionary->singles != NULL ? dictionary->singles->count : 0);
    _Atomic uint64_t *slot = slot_for(dictionary, in_table, hash, empty);
    /* Count before slot: who finds the code without the lock may ask for its text at once. */
    bool kept = slot != NULL && sta_dictionary_fill(dictionary, count, bytes, length);
    if (kept)
        atomic_store_explicit(slot, slot_of(hash, count), memory_order_release);
    return kept ? count : 0;
}

static uint32_t add(struct sta_dictionary *dictionary, uint64_t hash, const char *bytes, size_t length)
{
    pthread_mutex_lock(&dictionary->lock);
    uint32_t code = add_locked(dictionary, hash, bytes, length);
    pthread_mutex_unlock(&dictionary->lock);
    return code;
}

uint32_t sta_dictionary_append(struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    STA_ASSERT(length < UINT32_MAX);
    sta_dictionary_have_made(dictionary);
    pthread_mutex_lock(&dictionary->lock);
    uint32_t code = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
    STA_ASSERT(code < STA_NO_CODE - 1);
    bool kept = sta_dictionary_fill(dictionary, code, bytes, length);
    atomic_store_explicit(&dictionary->appended, true, memory_order_release);
    pthread_mutex_unlock(&dictionary->lock);
    return kept ? code : 0;
}

uint32_t sta_dictionary_intern_hashed(struct sta_dictionary *dictionary, uint64_t hash, const char *bytes,
                                      size_t length)
{
    uint32_t code = find_hashed(dictionary, hash, bytes, length);
    return code != STA_NO_CODE ? code : add(dictionary, hash, bytes, length);
}

uint32_t sta_dictionary_intern(struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    STA_ASSERT(length < UINT32_MAX);
    return sta_dictionary_intern_hashed(dictionary, sta_dictionary_hash(bytes, length), bytes, length);
}

uint32_t sta_dictionary_find(const struct sta_dictionary *dictionary, const char *bytes, size_t length)
{
    return find_hashed(dictionary, sta_dictionary_hash(bytes, length), bytes, length);
}

/* First the slots are fetched, then the entries that they name, then the texts of these. */
static void find_together(const struct sta_dictionary *dictionary, const struct sta_text *texts,
                          const uint64_t *hashes, size_t count, uint32_t *codes)
{
    const struct table *table = table_of(dictionary);
    const struct sta_text *entries[STA_DICTIONARY_TOGETHER];
    for (size_t i = 0; table == NULL && i < count; i++)
        codes[i] = find_without_table(dictionary, texts[i].bytes, texts[i].length);
    if (table == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch((const void *)&table->slots[place_of(table, hashes[i])]);
    for (size_t i = 0; i < count; i++) {
        uint64_t held = atomic_load_explicit(&table->slots[place_of(table, hashes[i])], memory_order_acquire);
        entries[i] = held != 0 ? entry_of(dictionary, (uint32_t)held - 1) : NULL;
        __builtin_prefetch(entries[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (entries[i] != NULL)
            __builtin_prefetch(entries[i]->bytes);
    for (size_t i = 0; i < count; i++)
        probe(dictionary, table, hashes[i], texts[i].bytes, texts[i].length, &codes[i]);
}

void sta_dictionary_find_many(const struct sta_dictionary *dictionary, const struct sta_text *texts,
                              size_t count, uint32_t *codes)
{
    uint64_t hashes[STA_DICTIONARY_TOGETHER];
    for (size_t first = 0; first < count; first += STA_DICTIONARY_TOGETHER) {
        const size_t some = STA_MIN(count - first, (size_t)STA_DICTIONARY_TOGETHER);
        for (size_t i = 0; i < some; i++)
            hashes[i] = sta_dictionary_hash(texts[first + i].bytes, texts[first + i].length);
        find_together(dictionary, texts + first, hashes, some, codes + first);
    }
}

void sta_dictionary_intern_together(struct sta_dictionary *dictionary, const struct sta_text *texts,
                                    const uint64_t *hashes, size_t count, uint32_t *codes)
{
    size_t first = 0;
    find_together(dictionary, texts, hashes, count, codes);
    while (first < count && codes[first] != STA_NO_CODE)
        first++;
    if (first == count)
        return;
    pthread_mutex_lock(&dictionary->lock);
    for (size_t i = first; i < count; i++)
        if (codes[i] == STA_NO_CODE)
            codes[i] = add_locked(dictionary, hashes[i], texts[i].bytes, texts[i].length);
    pthread_mutex_unlock(&dictionary->lock);
    sta_dictionary_look_ahead(dictionary);
}

struct sta_text sta_dictionary_text(const struct sta_dictionary *dictionary, uint32_t code)
{
    STA_ASSERT(code < sta_dictionary_count(dictionary));
    return *entry_of(dictionary, code);
}

uint32_t sta_dictionary_count(const struct sta_dictionary *dictionary)
{
    return atomic_load_explicit(&dictionary->count, memory_order_acquire);
}

size_t sta_dictionary_bytes(const struct sta_dictionary *dictionary)
{
    return atomic_load_explicit(&dictionary->bytes, memory_order_relaxed);
}
