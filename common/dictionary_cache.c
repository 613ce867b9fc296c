/* What a worker interned lately, so that a text that comes again needs neither the hash table nor the lock.
 */
#include <string.h>

#include "common/dictionary_private.h"
#include "common/memory.h"

static size_t cache_slot(uint64_t hash)
{
    return (size_t)(hash >> 32) & (STA_DICTIONARY_CACHE_SLOTS - 1);
}

void sta_dictionary_cache_init(struct sta_dictionary_cache *cache, struct sta_dictionary *dictionary)
{
    memset(cache, 0, sizeof *cache);
    cache->dictionary = dictionary;
}

uint32_t sta_dictionary_cache_find(const struct sta_dictionary_cache *cache, const char *bytes, size_t length,
                                   uint64_t *hash)
{
    *hash = sta_dictionary_hash(bytes, length);
    const struct sta_dictionary_cache_slot *slot = &cache->slots[cache_slot(*hash)];
    bool same = slot->hash == *hash && slot->text.length == length && slot->text.bytes != NULL &&
                memcmp(slot->text.bytes, bytes, length) == 0;
    return same ? slot->code : STA_NO_CODE;
}

static void remember(struct sta_dictionary_cache *cache, uint64_t hash, uint32_t code)
{
    cache->slots[cache_slot(hash)] =
        (struct sta_dictionary_cache_slot){hash, sta_dictionary_text(cache->dictionary, code), code};
}

uint32_t sta_dictionary_cache_intern(struct sta_dictionary_cache *cache, const char *bytes, size_t length)
{
    uint64_t hash;
    uint32_t code = sta_dictionary_cache_find(cache, bytes, length, &hash);
    if (code == STA_NO_CODE) {
        code = sta_dictionary_intern_hashed(cache->dictionary, hash, bytes, length);
        remember(cache, hash, code);
    }
    return code;
}

void sta_dictionary_cache_intern_many(struct sta_dictionary_cache *cache, const struct sta_text *texts,
                                      const uint64_t *hashes, size_t count, uint32_t *codes)
{
    for (size_t first = 0; first < count; first += STA_DICTIONARY_TOGETHER)
        sta_dictionary_intern_together(cache->dictionary, texts + first, hashes + first,
                                       STA_MIN(count - first, (size_t)STA_DICTIONARY_TOGETHER),
                                       codes + first);
    for (size_t i = 0; i < count; i++)
        remember(cache, hashes[i], codes[i]);
}
