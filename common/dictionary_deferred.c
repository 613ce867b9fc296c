/* Texts of a dictionary that are made when they are first asked for.
 *
 * They are made into a dictionary of their own, and handed over once all are there: who reads without the
 * lock sees all of them or none. */
#include <string.h>

#include "common/account.h"
#include "common/buffer.h"
#include "common/dictionary_private.h"
#include "common/memory.h"

void sta_dictionary_defer(struct sta_dictionary *dictionary, uint32_t count, sta_text_maker *make,
                          const void *context)
{
    STA_ASSERT(sta_dictionary_count(dictionary) == 0);
    if (count == 0)
        return;
    dictionary->make = make;
    dictionary->make_context = context;
    atomic_store_explicit(&dictionary->chunks[0], NULL, memory_order_relaxed);
    atomic_store_explicit(&dictionary->appended, true, memory_order_relaxed);
    atomic_store_explicit(&dictionary->deferred, true, memory_order_relaxed);
    atomic_store_explicit(&dictionary->count, count, memory_order_release);
}

/* Return: 0, or why a text is not there. */
static int make_text(const struct sta_dictionary *dictionary, uint32_t code, struct sta_buffer *text,
                     struct sta_dictionary *made)
{
    sta_buffer_clear(text);
    dictionary->make(dictionary->make_context, code, text);
    if (text->failed)
        return sta_fail(made->refusal, STA_ENOMEM, "no memory for a text");
    if (text->size >= UINT32_MAX)
        return sta_fail(made->refusal, STA_ECORRUPT, "a text of %zu bytes", text->size);
    sta_dictionary_append(made, text->size > 0 ? text->data : "", text->size);
    return made->refusal->status;
}

/* Under the lock.  Nobody may see a chunk before all of its texts are there.  @empty: bytes that are not
 * handed over. */
static void hand_over(struct sta_dictionary *made, size_t empty, struct sta_dictionary *dictionary)
{
    memcpy(dictionary->first, made->first, sizeof made->first);
    atomic_store_explicit(&dictionary->chunks[0], dictionary->first, memory_order_release);
    for (unsigned i = 1; i < STA_DICTIONARY_CHUNKS; i++)
        atomic_store_explicit(&dictionary->chunks[i], atomic_exchange(&made->chunks[i], NULL),
                              memory_order_release);
    dictionary->texts = made->texts;
    dictionary->used = made->used;
    made->texts = NULL;
    atomic_fetch_add_explicit(&dictionary->bytes, atomic_load(&made->bytes) - empty, memory_order_relaxed);
    atomic_store_explicit(&dictionary->deferred, false, memory_order_release);
}

/* Under the lock. */
static int make_all(struct sta_dictionary *dictionary, struct sta_error *err)
{
    struct sta_error refusal = STA_ERROR_INIT;
    struct sta_buffer text = {.account = dictionary->account};
    struct sta_dictionary *made = sta_dictionary_create_in(dictionary->account);
    const size_t empty = sta_dictionary_bytes(made);
    const uint32_t count = sta_dictionary_count(dictionary);
    int status = STA_OK;
    made->refusal = &refusal;
    for (uint32_t code = 0; code < count && status == STA_OK; code++)
        status = make_text(dictionary, code, &text, made);
    if (status == STA_OK)
        hand_over(made, empty, dictionary);
    else
        *err = refusal;
    sta_dictionary_destroy(made);
    sta_buffer_fini(&text);
    return status;
}

int sta_dictionary_make(const struct sta_dictionary *dictionary, struct sta_error *err)
{
    struct sta_dictionary *own = (struct sta_dictionary *)(uintptr_t)dictionary; /* it says the same after */
    if (!atomic_load_explicit(&own->deferred, memory_order_acquire))
        return STA_OK;
    pthread_mutex_lock(&own->lock);
    const int status =
        atomic_load_explicit(&own->deferred, memory_order_relaxed) ? make_all(own, err) : STA_OK;
    pthread_mutex_unlock(&own->lock);
    return status;
}

bool sta_dictionary_make_or_fail(struct sta_dictionary *dictionary)
{
    struct sta_error err = STA_ERROR_INIT;
    const int status = sta_dictionary_make(dictionary, &err);
    if (status != STA_OK) {
        STA_ASSERT(dictionary->account != NULL);
        sta_account_fail(dictionary->account, &err);
    }
    return status == STA_OK;
}
