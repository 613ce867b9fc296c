/* The tables of one trace: dictionaries, args keys with their values, threads, definitions.
 *
 * Threads are a dictionary too, whose texts are the bytes of struct sta_thread; so are the keys of
 * definitions, beside an array by code.  One lock guards what is not a dictionary: new keys and
 * definitions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/event.h"
#include "common/memory.h"

struct definitions {
    struct sta_dictionary *keys;
    struct sta_definition *items; /* by code of the key */
    size_t capacity;
};

struct sta_tables {
    struct sta_dictionary *names, *cats, *file_refs, *host_refs, *keys, *threads;
    _Atomic(struct sta_dictionary *) values[STA_ARGS_KEYS_LIMIT]; /* by key */
    _Atomic unsigned kinds[STA_ARGS_KEYS_LIMIT];
    pthread_mutex_t lock; /* new keys, definitions */
    struct definitions definitions[STA_DEFINITION_KINDS];
    struct sta_dictionary *paths; /* of defining sources */
    struct sta_dictionary *texts; /* of definitions */
};

struct sta_tables *sta_tables_create(void)
{
    struct sta_tables *tables = sta_alloc(sizeof *tables);
    struct sta_dictionary **all[] = {&tables->names, &tables->cats,    &tables->file_refs, &tables->host_refs,
                                     &tables->keys,  &tables->threads, &tables->paths,     &tables->texts};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        *all[i] = sta_dictionary_create();
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++)
        tables->definitions[kind].keys = sta_dictionary_create();
    pthread_mutex_init(&tables->lock, NULL);
    return tables;
}

void sta_tables_destroy(struct sta_tables *tables)
{
    if (tables == NULL)
        return;
    struct sta_dictionary *all[] = {tables->names, tables->cats,    tables->file_refs, tables->host_refs,
                                    tables->keys,  tables->threads, tables->paths,     tables->texts};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_dictionary_destroy(all[i]);
    for (size_t key = 0; key < STA_ARGS_KEYS_LIMIT; key++)
        sta_dictionary_destroy(atomic_load(&tables->values[key]));
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        sta_dictionary_destroy(tables->definitions[kind].keys);
        free(tables->definitions[kind].items);
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

/* By (path in byte order, line): the order in which the lines of a trace are read. */
static bool comes_before(const struct sta_definition *a, const struct sta_definition *b)
{
    int order = strcmp(a->path, b->path);
    return order != 0 ? order < 0 : a->line < b->line;
}

void sta_tables_define(struct sta_tables *tables, enum sta_definition_kind kind, const char *key,
                       size_t key_length, const struct sta_definition *definition)
{
    struct definitions *all = &tables->definitions[kind];
    pthread_mutex_lock(&tables->lock);
    bool known = sta_dictionary_find(all->keys, key, key_length) != STA_NO_CODE;
    uint32_t code = sta_dictionary_intern(all->keys, key, key_length);
    STA_GROW(all->items, all->capacity, (size_t)code + 1);
    if (!known || comes_before(definition, &all->items[code])) {
        uint32_t path = sta_dictionary_intern(tables->paths, definition->path, strlen(definition->path));
        struct sta_definition *item = &all->items[code];
        *item = (struct sta_definition){.line = definition->line,
                                        .path = sta_dictionary_text(tables->paths, path).bytes};
        if (definition->text != NULL) {
            uint32_t text = sta_dictionary_intern(tables->texts, definition->text, definition->length);
            item->text = sta_dictionary_text(tables->texts, text).bytes;
            item->length = definition->length;
        }
    }
    pthread_mutex_unlock(&tables->lock);
}

bool sta_tables_find_definition(const struct sta_tables *tables, enum sta_definition_kind kind,
                                const char *key, size_t key_length, struct sta_definition *definition)
{
    const struct definitions *all = &tables->definitions[kind];
    pthread_mutex_t *lock = (pthread_mutex_t *)&tables->lock;
    pthread_mutex_lock(lock);
    uint32_t code = sta_dictionary_find(all->keys, key, key_length);
    if (code != STA_NO_CODE)
        *definition = all->items[code];
    pthread_mutex_unlock(lock);
    return code != STA_NO_CODE;
}

void sta_tables_each_definition(const struct sta_tables *tables, enum sta_definition_kind kind,
                                void (*visit)(void *context, const char *key, size_t key_length,
                                              const struct sta_definition *definition),
                                void *context)
{
    const struct definitions *all = &tables->definitions[kind];
    pthread_mutex_t *lock = (pthread_mutex_t *)&tables->lock;
    pthread_mutex_lock(lock);
    uint32_t count = sta_dictionary_count(all->keys);
    for (uint32_t code = 0; code < count; code++) {
        struct sta_text key = sta_dictionary_text(all->keys, code);
        visit(context, key.bytes, key.length, &all->items[code]);
    }
    pthread_mutex_unlock(lock);
}

size_t sta_tables_bytes(const struct sta_tables *tables)
{
    struct sta_dictionary *all[] = {tables->names,     tables->cats,    tables->file_refs,
                                    tables->host_refs, tables->threads, tables->texts};
    size_t sum = sizeof *tables;
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sum += sta_dictionary_bytes(all[i]);
    uint32_t keys = sta_dictionary_count(tables->keys);
    for (uint32_t key = 0; key < keys; key++)
        sum += sta_dictionary_bytes(sta_tables_values(tables, key));
    return sum;
}
