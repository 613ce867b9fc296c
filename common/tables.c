/* The tables of one trace: dictionaries, args keys with their values, threads, definitions.
 *
 * Threads are a dictionary too, whose texts are the bytes of struct sta_thread.  Each source's definitions
 * are kept, so that those of a file that leaves the trace can leave with it.  One lock guards what is not a
 * dictionary: new keys and definitions. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/buffer.h"
#include "common/event.h"
#include "common/map.h"
#include "common/memory.h"
#include "common/value_lists.h"

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
    uint32_t *first;          /* by hash, of which there are no more than items: that of the least path */
};

struct sta_tables {
    struct sta_dictionary *names, *cats, *file_refs, *host_refs, *keys, *threads;
    _Atomic(struct sta_dictionary *) values[STA_ARGS_KEYS_LIMIT]; /* by key */
    _Atomic unsigned kinds[STA_ARGS_KEYS_LIMIT];
    _Atomic uint32_t
        list_members[STA_ARGS_KEYS_LIMIT]; /* by key: a key, plus 1; 0: its values are no lists */
    struct sta_value_lists *lists[STA_ARGS_KEYS_LIMIT]; /* by key; NULL: none were read */
    pthread_mutex_t lock;                               /* new keys, definitions */
    struct definitions definitions[STA_DEFINITION_KINDS];
    struct sta_dictionary *sources;
    struct sta_account account; /* of all that the tables hold */
};

struct sta_tables *sta_tables_create(struct sta_account *account)
{
    struct sta_tables *tables = sta_alloc(sizeof *tables);
    sta_account_init_part(&tables->account, account);
    sta_account_overdraw(&tables->account, malloc_usable_size(tables));
    struct sta_dictionary **all[] = {&tables->names, &tables->cats,    &tables->file_refs, &tables->host_refs,
                                     &tables->keys,  &tables->threads, &tables->sources};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        *all[i] = sta_dictionary_create_in(&tables->account);
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        tables->definitions[kind].hashes = sta_dictionary_create_in(&tables->account);
        tables->definitions[kind].texts = sta_dictionary_create_in(&tables->account);
        tables->definitions[kind].of_source.account = &tables->account;
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
    for (size_t key = 0; key < STA_ARGS_KEYS_LIMIT; key++) {
        sta_dictionary_destroy(atomic_load(&tables->values[key]));
        sta_value_lists_destroy(tables->lists[key]);
    }
    for (int kind = 0; kind < STA_DEFINITION_KINDS; kind++) {
        sta_dictionary_destroy(tables->definitions[kind].hashes);
        sta_dictionary_destroy(tables->definitions[kind].texts);
        sta_map_fini(&tables->definitions[kind].of_source);
        sta_account_free(&tables->account, tables->definitions[kind].items);
        sta_account_free(&tables->account, tables->definitions[kind].first);
    }
    pthread_mutex_destroy(&tables->lock);
    sta_account_close(&tables->account);
    free(tables);
}

int sta_tables_failure(const struct sta_tables *tables, struct sta_error *err)
{
    return sta_account_failure(&tables->account, err);
}

struct sta_account *sta_tables_account(struct sta_tables *tables)
{
    return &tables->account;
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
        struct sta_dictionary *values = sta_dictionary_create_in(&tables->account);
        atomic_store_explicit(&tables->values[next], values, memory_order_release);
        code = sta_dictionary_intern(tables->keys, key, length);
        if (code != next) { /* there was no memory for the key */
            atomic_store(&tables->values[next], NULL);
            sta_dictionary_destroy(values);
        }
    }
    pthread_mutex_unlock(&tables->lock);
    return code;
}

struct sta_dictionary *sta_tables_values(const struct sta_tables *tables, uint32_t key)
{
    STA_ASSERT(key < STA_ARGS_KEYS_LIMIT);
    return atomic_load_explicit(&tables->values[key], memory_order_acquire);
}

bool sta_tables_hold_lists(struct sta_tables *tables, uint32_t key, uint32_t members)
{
    if (key >= STA_ARGS_KEYS_LIMIT || members >= key)
        return false;
    pthread_mutex_lock(&tables->lock);
    if (sta_dictionary_count(sta_tables_values(tables, key)) == 0) {
        atomic_store_explicit(&tables->list_members[key], members + 1, memory_order_relaxed);
        sta_dictionary_index_singles(sta_tables_values(tables, key));
    }
    bool lists = sta_tables_list_members(tables, key) == members;
    pthread_mutex_unlock(&tables->lock);
    return lists;
}

uint32_t sta_tables_list_members(const struct sta_tables *tables, uint32_t key)
{
    STA_ASSERT(key < STA_ARGS_KEYS_LIMIT);
    return atomic_load_explicit(&tables->list_members[key], memory_order_relaxed) - 1; /* 0: STA_NO_CODE */
}

void sta_tables_set_lists(struct sta_tables *tables, uint32_t key, struct sta_value_lists *lists)
{
    STA_ASSERT(key < STA_ARGS_KEYS_LIMIT && tables->lists[key] == NULL);
    tables->lists[key] = lists;
    sta_dictionary_defer(sta_tables_values(tables, key), sta_value_lists_count(lists), sta_value_lists_put,
                         lists);
}

const uint32_t *sta_tables_list(const struct sta_tables *tables, uint32_t key, uint32_t members,
                                uint32_t code, size_t *count)
{
    STA_ASSERT(key < STA_ARGS_KEYS_LIMIT);
    const struct sta_value_lists *lists = tables->lists[key];
    return lists != NULL && sta_value_lists_key(lists) == members ? sta_value_lists_codes(lists, code, count)
                                                                  : NULL;
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
    struct sta_thread thread = {.pid = STA_NO_ID, .tid = STA_NO_ID, .host = STA_NO_CODE};
    struct sta_text whole = sta_dictionary_text(tables->threads, code);
    if (whole.length == sizeof thread) /* else there was no memory for it */
        memcpy(&thread, whole.bytes, sizeof thread);
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
    parts.kind = reference.bytes[0];
    parts.text = (struct sta_text){reference.bytes + 1, reference.length - 1};
    parts.hash = parts.kind == STA_REFERENCE_HASH || parts.kind == STA_REFERENCE_ANY_HASH;
    if (parts.kind == STA_REFERENCE_HASH && parts.text.length >= STA_REFERENCE_SOURCE) {
        parts.text.length -= STA_REFERENCE_SOURCE;
        memcpy(&parts.source, parts.text.bytes + parts.text.length, STA_REFERENCE_SOURCE);
    }
    if (parts.hash)
        parts.kind = STA_REFERENCE_HASH;
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
        all->items[all->count++] = (struct item){.hash = hash, .source = source, .line = UINT64_MAX};
    }
    return number;
}

/* Files are read in the byte order of their paths. */
static void note_first(const struct sta_tables *tables, struct definitions *all, uint32_t number, bool only)
{
    const struct item *item = &all->items[number];
    uint32_t *first = &all->first[item->hash];
    if (only || strcmp(sta_dictionary_text(tables->sources, item->source).bytes,
                       sta_dictionary_text(tables->sources, all->items[*first].source).bytes) < 0)
        *first = number;
}

/* Reserves space for one more definition, by doubling the array.  A failure is noted, since a line that is
 * half read can return no status. */
static bool reserve(struct sta_account *account, struct definitions *all)
{
    if (all->count < all->capacity)
        return true;
    const size_t capacity = all->capacity > 0 ? all->capacity * 2 : 16;
    struct item *items = sta_account_alloc_sticky(account, capacity, sizeof *items, "definitions of hashes");
    uint32_t *first = sta_account_alloc_sticky(account, capacity, sizeof *first, "definitions of hashes");
    if (items == NULL || first == NULL) {
        sta_account_free(account, items);
        sta_account_free(account, first);
        return false;
    }
    memset(first, 0, capacity * sizeof *first);
    if (all->count > 0) {
        memcpy(items, all->items, all->count * sizeof *items);
        memcpy(first, all->first, all->capacity * sizeof *first);
    }
    sta_account_free(account, all->items);
    sta_account_free(account, all->first);
    all->items = items;
    all->first = first;
    all->capacity = capacity;
    return true;
}

/* Under the lock, with space for one more. */
static void define(const struct sta_tables *tables, struct definitions *all, uint32_t source, const char *key,
                   size_t key_length, const struct sta_definition *definition)
{
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
    if (hash < all->count) /* else there was no memory for the item */
        note_first(tables, all, number, hash >= known);
}

void sta_tables_define(struct sta_tables *tables, enum sta_definition_kind kind, const char *key,
                       size_t key_length, const struct sta_definition *definition)
{
    struct definitions *all = &tables->definitions[kind];
    uint32_t source = sta_dictionary_intern(tables->sources, definition->path, strlen(definition->path));
    pthread_mutex_lock(&tables->lock);
    struct sta_error ignored;
    if (sta_tables_failure(tables, &ignored) == STA_OK && reserve(&tables->account, all))
        define(tables, all, source, key, key_length, definition);
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

uint8_t *sta_tables_conflicts(const struct sta_tables *tables, enum sta_definition_kind kind,
                              struct sta_account *account, uint32_t *count, struct sta_error *err)
{
    const struct definitions *all = &tables->definitions[kind];
    pthread_mutex_t *lock = (pthread_mutex_t *)&tables->lock;
    pthread_mutex_lock(lock);
    *count = sta_dictionary_count(all->hashes);
    uint8_t *differ = sta_account_calloc(account, *count, 1, "definitions of hashes", err);
    for (size_t i = 0; differ != NULL && i < all->count; i++) {
        const struct item *item = &all->items[i];
        differ[item->hash] |= item->text != all->items[all->first[item->hash]].text;
    }
    pthread_mutex_unlock(lock);
    return differ;
}

size_t sta_tables_bytes(const struct sta_tables *tables)
{
    return atomic_load_explicit(&tables->account.used, memory_order_relaxed);
}
