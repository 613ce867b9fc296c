/* Lists of one text in a dictionary, by the code of that text. */
#include <string.h>

#include "common/account.h"
#include "common/dictionary_private.h"
#include "common/event.h"

void sta_dictionary_index_singles(struct sta_dictionary *dictionary)
{
    if (dictionary->singles != NULL)
        return;
    STA_ASSERT(sta_dictionary_count(dictionary) == 0);
    dictionary->singles = sta_account_alloc_small(dictionary->account, 1, sizeof *dictionary->singles);
    atomic_fetch_add_explicit(&dictionary->bytes,
                              sta_account_charged(dictionary->account, dictionary->singles),
                              memory_order_relaxed);
}

uint32_t sta_dictionary_find_single(const struct sta_dictionary *dictionary, uint32_t member)
{
    uint32_t inside;
    const unsigned chunk = sta_dictionary_chunk(member, &inside);
    const _Atomic uint32_t *codes =
        atomic_load_explicit(&dictionary->singles->chunks[chunk], memory_order_acquire);
    return codes == NULL ? STA_NO_CODE : atomic_load_explicit(&codes[inside], memory_order_acquire) - 1;
}

/* Under the lock.  NULL: no memory. */
static _Atomic uint32_t *place_of_single(struct sta_dictionary *dictionary, uint32_t member)
{
    uint32_t inside;
    const unsigned chunk = sta_dictionary_chunk(member, &inside);
    _Atomic(_Atomic uint32_t *) *chunks = dictionary->singles->chunks;
    _Atomic uint32_t *codes = atomic_load_explicit(&chunks[chunk], memory_order_relaxed);
    const size_t size = ((size_t)STA_DICTIONARY_FIRST_CHUNK << chunk) * sizeof *codes;
    if (codes == NULL && (codes = sta_dictionary_take(dictionary, size)) != NULL) {
        memset((void *)codes, 0, size);
        atomic_store_explicit(&chunks[chunk], codes, memory_order_release);
    }
    return codes != NULL ? codes + inside : NULL;
}

/* Under the lock. */
static uint32_t add_single(struct sta_dictionary *dictionary, uint32_t member)
{
    char list[1 + sizeof member] = {STA_LIST_MARK};
    const uint32_t known = sta_dictionary_find_single(dictionary, member),
                   code = atomic_load_explicit(&dictionary->count, memory_order_relaxed);
    if (known != STA_NO_CODE)
        return known;
    STA_ASSERT(code < STA_NO_CODE - 1);
    memcpy(list + 1, &member, sizeof member);
    if (!sta_dictionary_fill(dictionary, code, list, sizeof list))
        return 0;
    dictionary->singles->count++;
    _Atomic uint32_t *place = place_of_single(dictionary, member);
    if (place != NULL) /* else the failure is noted, and nobody needs to find it again */
        atomic_store_explicit(place, code + 1, memory_order_release);
    return code;
}

void sta_dictionary_intern_singles(struct sta_dictionary *dictionary, const uint32_t *members, size_t count,
                                   uint32_t *codes)
{
    pthread_mutex_lock(&dictionary->lock);
    for (size_t i = 0; i < count; i++)
        codes[i] = add_single(dictionary, members[i]);
    pthread_mutex_unlock(&dictionary->lock);
    sta_dictionary_look_ahead(dictionary);
}
