/* Memory that a large dictionary needs next.
 *
 * What is refused here is asked for again when it is needed: only then it is a failure. */
#include <string.h>
#include <sys/mman.h>

#include "common/account.h"
#include "common/dictionary_private.h"
#include "common/dictionary_slots.h"
#include "common/memory.h"

/* Touches pages without a change of what is in them.  Where the kernel cannot, who needs them does. */
static void touch(const void *memory, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t begin = (uintptr_t)memory & ~(uintptr_t)4095;
    (void)madvise((void *)begin, (uintptr_t)memory + size - begin, MADV_POPULATE_WRITE);
#else
    (void)memory, (void)size;
#endif
}

static void *take(struct sta_dictionary *dictionary, size_t size)
{
    struct sta_error ignored = STA_ERROR_INIT;
    void *memory = sta_account_alloc(dictionary->account, size, 1, STA_DICTIONARY_WHAT, &ignored);
    if (memory != NULL)
        atomic_fetch_add_explicit(&dictionary->bytes, sta_account_charged(dictionary->account, memory),
                                  memory_order_relaxed);
    return memory;
}

static void give(struct sta_dictionary *dictionary, void *memory)
{
    if (memory == NULL)
        return;
    atomic_fetch_sub_explicit(&dictionary->bytes, sta_account_charged(dictionary->account, memory),
                              memory_order_relaxed);
    sta_account_free(dictionary->account, memory);
}

static void make_texts(struct sta_dictionary *dictionary)
{
    struct texts *texts = take(dictionary, STA_HUGE_PAGE);
    if (texts != NULL)
        touch(texts, STA_HUGE_PAGE);
    give(dictionary, atomic_exchange(&dictionary->ahead.texts, texts));
}

static void make_table(struct sta_dictionary *dictionary)
{
    const size_t capacity = 2 * atomic_load_explicit(&dictionary->table, memory_order_acquire)->capacity;
    struct table *table = take(dictionary, sta_dictionary_table_bytes(capacity));
    if (table != NULL) {
        memset(table, 0, sta_dictionary_table_bytes(capacity));
        table->capacity = capacity;
    }
    give(dictionary, atomic_exchange(&dictionary->ahead.table, table));
}

/* The next page of entries, or the next chunk with its first page. */
static void make_entries(struct sta_dictionary *dictionary)
{
    uint32_t inside;
    const unsigned chunk = sta_dictionary_chunk(atomic_load(&dictionary->ahead.code), &inside);
    struct sta_text *known = atomic_load_explicit(&dictionary->chunks[chunk], memory_order_acquire);
    struct sta_text *entries =
        known != NULL ? known
                      : take(dictionary, ((size_t)STA_DICTIONARY_FIRST_CHUNK << chunk) * sizeof *entries);
    if (entries != NULL)
        touch(entries + inside, STA_HUGE_PAGE);
    if (entries == NULL || known != NULL)
        return;
    pthread_mutex_lock(&dictionary->lock);
    const bool late = atomic_load_explicit(&dictionary->chunks[chunk], memory_order_relaxed) != NULL;
    if (!late)
        atomic_store_explicit(&dictionary->chunks[chunk], entries, memory_order_release);
    pthread_mutex_unlock(&dictionary->lock);
    if (late)
        give(dictionary, entries);
}

void sta_dictionary_make_ready(struct sta_dictionary *dictionary)
{
    const unsigned wanted = atomic_exchange(&dictionary->ahead.wanted, 0);
    if (wanted & STA_AHEAD_TEXTS)
        make_texts(dictionary);
    if (wanted & STA_AHEAD_TABLE)
        make_table(dictionary);
    if (wanted & STA_AHEAD_ENTRIES)
        make_entries(dictionary);
}

struct texts *sta_dictionary_ready_texts(struct sta_dictionary *dictionary)
{
    return atomic_exchange(&dictionary->ahead.texts, NULL);
}

struct table *sta_dictionary_ready_table(struct sta_dictionary *dictionary, size_t capacity)
{
    struct table *table = atomic_exchange(&dictionary->ahead.table, NULL);
    if (table == NULL || table->capacity == capacity)
        return table;
    give(dictionary, table);
    return NULL;
}

void sta_dictionary_give_ready(struct sta_dictionary *dictionary)
{
    give(dictionary, atomic_exchange(&dictionary->ahead.texts, NULL));
    give(dictionary, atomic_exchange(&dictionary->ahead.table, NULL));
}
