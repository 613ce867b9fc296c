/* The tables of one trace: dictionaries, args keys with their values, threads, definitions.
 *
 * Threads are a dictionary too, whose texts are the bytes of struct sta_thread.  Each source's definitions
 * are kept, so that those of a file that leaves the trace can leave with it.  One lock guards what is not a
 * dictionary: new keys and definitions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/event.h"
#include "common/map.h"
#include "common/memory.h"

/* What one source defines a hash as. */
struct item {
    uint32_t hash, source, text; /* codes; text STA_NO_CODE: without a name */
    uint64_t line;
};

struct definitions {
    struct sta_dictionary *hashes, *texts;
    struct item *items;
    size_t count, capacity;
    struct sta_map of_source; /* the item of (source, hash) */
    uint32_t *first;          /* by hash: the item whose source has the least path */
    size_t first_capacity;
};

struct sta_tables {
    struct sta_dictionary *names, *cats, *file_refs, *host_refs, *keys, *threads;
    _Atomic(struct sta_dictionary *) values[STA_ARGS_KEYS_LIMIT]; /* by key */
    _Atomic unsigned kinds[STA_ARGS_KEYS_LIMIT];
    pthread_mutex_t lock; /* new keys, definitions */
    struct definitions definitions[STA_DEFINITION_KINDS];
    struct sta_dictionary *sources;
};

struct sta_tables *sta_tables_create(void)
{
    struct sta_tables *tables = sta_alloc(sizeof *tables);
    struct sta_dictionary **all[] = {&tables->names, &tables->cats,    &tables->file_refs, &tables->host_refs,
                                     &tables->keys,  &tables->threads, &tables->sources};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        *all[i] = sta_dictionary_create();
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        tables->definitions[kind].hashes = sta_dictionary_create();
        tables->definitions[kind].texts = sta_dictionary_create();
    }
    pthread_mutex_init(&tables->lock, NULL);
    return tables;
}

void sta_tables_destroy(struct sta_tables *tables)
{
    if (tables == NULL)
        return;
    struct sta_dictionary *all[] = {tables->names, tables->cats,    tables->file_refs, tables->host_refs,
                                    tables->keys,  tables->threads, tables->sources};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_dictionary_destroy(all[i]);
    for (size_t key = 0; key < STA_ARGS_KEYS_LIMIT; key++)
        sta_dictionary_destroy(atomic_load(&tables->values[key]));
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        sta_dictionary_destroy(tables->definitions[kind].hashes);
        sta_dictionary_destroy(tables->definitions[kind].texts);
        sta_map_fini(&tables->definitions[kind].of_source);
        free(tables->definitions[kind].items);
        free(tables->definitions[kind].first);
    }
    pthread_mutex_destroy(&tables->lock);
    free(tables);
}

struct sta_dictionary *sta_tables_names(const struct sta_tables *tables)
{
    return tables->names;
}

struct sta_dictionary *sta_tables_cats(const struct sta_tables *tables)
{
    return tables->cats;
}

struct sta_dictionary *sta_tables_file_refs(const struct sta_tables *tables)
{
    return tables->file_refs;
}

struct sta_dictionary *sta_tables_host_refs(const struct sta_tables *tables)
{
    return tables->host_refs;
}

struct sta_dictionary *sta_tables_keys(const struct sta_tables *tables)
{
    return tables->keys;
}

struct sta_dictionary *sta_tables_sources(const struct sta_tables *tables)
{
    return tables->sources;
}

struct sta_dictionary *sta_tables_hashes(const struct sta_tables *tables, enum sta_definition_kind kind)
{
    return tables->definitions[kind].hashes;
}

uint32_t sta_tables_intern_key(struct sta_tables *tables, const char *key, size_t length)
{
    uint32_t code = sta_dictionary_find(tables->keys, key, length);
    if (code != STA_NO_CODE)
        return code;
    pthread_mutex_lock(&tables->lock);
    uint32_t next = sta_dictionary_count(tables->keys);
    code = sta_dictionary_find(tables->keys, key, length);
    if (code == STA_NO_CODE && next < STA_ARGS_KEYS_LIMIT) {
        /* The values must be there before another thread can see the key. */
        atomic_store_explicit(&tables->values[next], sta_dictionary_create(), memory_order_release);
        code = sta_dictionary_intern(tables->keys, key, length);
    }
    pthread_mutex_unlock(&tables->lock);
    return code;
}

struct sta_dictionary *sta_tables_values(const struct sta_tables *tables, uint32_t key)
{
    STA_ASSERT(key < STA_ARGS_KEYS_LIMIT);
    return atomic_load_explicit(&tables->values[key], memory_order_acquire);
}

unsigned sta_tables_kinds(const struct sta_tables *tables, uint32_t key)
{
    STA_ASSERT(key < STA_ARGS_KEYS_LIMIT);
    return atomic_load_explicit(&tables->kinds[key], memory_order_relaxed);
}

void sta_tables_note_kinds(struct sta_tables *tables, uint32_t key, unsigned kinds)
{
    STA_ASSERT(key < STA_ARGS_KEYS_LIMIT);
    if ((sta_tables_kinds(tables, key) & kinds) != kinds)
        atomic_fetch_or_explicit(&tables->kinds[key], kinds, memory_order_relaxed);
}

uint32_t sta_tables_intern_thread(struct sta_tables *tables, struct sta_thread thread)
{
    struct sta_thread whole;
    memset(&whole, 0, sizeof whole); /* padding takes part in the comparison */
    whole.pid = thread.pid;
    whole.tid = thread.tid;
    whole.host = thread.host;
    return sta_dictionary_intern(tables->threads, (const char *)&whole, sizeof whole);
}

struct sta_thread sta_tables_thread(const struct sta_tables *tables, uint32_t code)
{
    struct sta_thread thread;
    memcpy(&thread, sta_dictionary_text(tables->threads, code).bytes, sizeof thread);
    return thread;
}

uint32_t sta_tables_thread_count(const struct sta_tables *tables)
{
    return sta_dictionary_count(tables->threads);
}

/* ---- references */

struct sta_reference_parts sta_reference_split(struct sta_text reference)
{
    struct sta_reference_parts parts = {.source = STA_NO_CODE};
    if (reference.length == 0)
        return parts;
    parts.manner = reference.bytes[0];
    parts.text = (struct sta_text){reference.bytes + 1, reference.length - 1};
    parts.hash = parts.manner == STA_REFERENCE_HASH || parts.manner == STA_REFERENCE_ANY_HASH;
    if (parts.manner == STA_REFERENCE_HASH && parts.text.length >= STA_REFERENCE_SOURCE) {
        parts.text.length -= STA_REFERENCE_SOURCE;
        memcpy(&parts.source, parts.text.bytes + parts.text.length, STA_REFERENCE_SOURCE);
    }
    if (parts.hash)
        parts.manner = STA_REFERENCE_HASH;
    return parts;
}

/* ---- definitions */

static uint64_t item_key(uint32_t source, uint32_t hash)
{
    return (uint64_t)source << 32 | hash;
}

/* The item of (source, hash): a new one has the line UINT64_MAX. */
static uint32_t find_item(struct definitions *all, uint32_t source, uint32_t hash)
{
    bool added;
    uint32_t number = sta_map_intern(&all->of_source, item_key(source, hash), (uint32_t)all->count, &added);
    if (added) {
        STA_GROW(all->items, all->capacity, all->count + 1);
        all->items[all->count++] = (struct item){.hash = hash, .source = source, .line = UINT64_MAX};
    }
    return number;
}

/* Files are read in the byte order of their paths. */
static void note_first(const struct sta_tables *tables, struct definitions *all, uint32_t number, bool only)
{
    const struct item *item = &all->items[number];
    STA_GROW(all->first, all->first_capacity, (size_t)item->hash + 1);
    uint32_t *first = &all->first[item->hash];
    if (only || strcmp(sta_dictionary_text(tables->sources, item->source).bytes,
                       sta_dictionary_text(tables->sources, all->items[*first].source).bytes) < 0)
        *first = number;
}

void sta_tables_define(struct sta_tables *tables, enum sta_definition_kind kind, const char *key,
                       size_t key_length, const struct sta_definition *definition)
{
    struct definitions *all = &tables->definitions[kind];
    uint32_t source = sta_dictionary_intern(tables->sources, definition->path, strlen(definition->path));
    pthread_mutex_lock(&tables->lock);
    uint32_t known = sta_dictionary_count(all->hashes);
    uint32_t hash = sta_dictionary_intern(all->hashes, key, key_length);
    uint32_t number = find_item(all, source, hash);
    struct item *item = &all->items[number];
    if (definition->line < item->line) { /* the chunks of a source are read in any order */
        item->line = definition->line;
        item->text = definition->text == NULL
                         ? STA_NO_CODE
                         : sta_dictionary_intern(all->texts, definition->text, definition->length);
    }
    note_first(tables, all, number, hash >= known);
    pthread_mutex_unlock(&tables->lock);
}

static struct sta_definition definition_of(const struct sta_tables *tables, const struct definitions *all,
                                           const struct item *item)
{
    struct sta_text text = {0};
    if (item->text != STA_NO_CODE)
        text = sta_dictionary_text(all->texts, item->text);
    return (struct sta_definition){.text = text.bytes,
                                   .length = text.length,
                                   .path = sta_dictionary_text(tables->sources, item->source).bytes,
                                   .line = item->line};
}

bool sta_tables_find_definition(const struct sta_tables *tables, enum sta_definition_kind kind,
                                const char *key, size_t key_length, uint32_t source,
                                struct sta_definition *definition, bool *own)
{
    const struct definitions *all = &tables->definitions[kind];
    pthread_mutex_t *lock = (pthread_mutex_t *)&tables->lock;
    pthread_mutex_lock(lock);
    uint32_t hash = sta_dictionary_find(all->hashes, key, key_length), number;
    if (hash != STA_NO_CODE) {
        bool of_source =
            source != STA_NO_CODE && sta_map_find(&all->of_source, item_key(source, hash), &number);
        *definition = definition_of(tables, all, &all->items[of_source ? number : all->first[hash]]);
        if (own != NULL)
            *own = of_source;
    }
    pthread_mutex_unlock(lock);
    return hash != STA_NO_CODE;
}

void sta_tables_each_definition(const struct sta_tables *tables, enum sta_definition_kind kind,
                                void (*visit)(void *context, const char *key, size_t key_length,
                                              const struct sta_definition *definition),
                                void *context)
{
    const struct definitions *all = &tables->definitions[kind];
    pthread_mutex_t *lock = (pthread_mutex_t *)&tables->lock;
    pthread_mutex_lock(lock);
    for (size_t i = 0; i < all->count; i++) {
        struct sta_text hash = sta_dictionary_text(all->hashes, all->items[i].hash);
        struct sta_definition definition = definition_of(tables, all, &all->items[i]);
        visit(context, hash.bytes, hash.length, &definition);
    }
    pthread_mutex_unlock(lock);
}

uint8_t *sta_tables_conflicts(const struct sta_tables *tables, enum sta_definition_kind kind, uint32_t *count)
{
    const struct definitions *all = &tables->definitions[kind];
    pthread_mutex_t *lock = (pthread_mutex_t *)&tables->lock;
    pthread_mutex_lock(lock);
    *count = sta_dictionary_count(all->hashes);
    uint8_t *differ = sta_alloc_array(*count, 1);
    for (size_t i = 0; i < all->count; i++) {
        const struct item *item = &all->items[i];
        differ[item->hash] |= item->text != all->items[all->first[item->hash]].text;
    }
    pthread_mutex_unlock(lock);
    return differ;
}

static size_t definitions_bytes(const struct definitions *all)
{
    return sta_dictionary_bytes(all->hashes) + sta_dictionary_bytes(all->texts) +
           all->capacity * sizeof *all->items + all->first_capacity * sizeof *all->first +
           all->of_source.capacity * (sizeof *all->of_source.keys + sizeof *all->of_source.values);
}

size_t sta_tables_bytes(const struct sta_tables *tables)
{
    struct sta_dictionary *all[] = {tables->names, tables->cats,    tables->file_refs, tables->host_refs,
                                    tables->keys,  tables->threads, tables->sources};
    size_t sum = sizeof *tables;
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sum += sta_dictionary_bytes(all[i]);
    pthread_mutex_t *lock = (pthread_mutex_t *)&tables->lock;
    pthread_mutex_lock(lock);
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++)
        sum += definitions_bytes(&tables->definitions[kind]);
    pthread_mutex_unlock(lock);
    uint32_t keys = sta_dictionary_count(tables->keys);
    for (uint32_t key = 0; key < keys; key++)
        sum += sta_dictionary_bytes(sta_tables_values(tables, key));
    return sum;
}
