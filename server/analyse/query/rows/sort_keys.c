/* Values as words; see sort_keys.h.
 *
 * A missing value is the largest word; no other value is, nor is it 0, which would be the largest one
 * descending.  Integers need all words for themselves and have one more in front, which says that they are
 * missing, unless they never are. */
#include "analyse/query/rows/sort_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/vectors.h"
#include "common/memory.h"

/* ---- ranks of texts */

struct ranked {
    const struct sta_dictionary *dictionary;
    uint32_t *ranks; /* by code */
    uint32_t count;
};

struct sta_text_ranks {
    struct ranked *ranked;
    size_t count;
};

/* One dictionary ranks itself; the texts of several are brought together first. */
static void rank_together(struct sta_text_ranks *ranks)
{
    struct sta_dictionary *all = sta_dictionary_create();
    uint32_t count;
    for (size_t i = 0; i < ranks->count; i++) {
        struct ranked *ranked = &ranks->ranked[i];
        ranked->count = sta_dictionary_count(ranked->dictionary);
        ranked->ranks = sta_alloc_array((size_t)ranked->count + 1, sizeof *ranked->ranks);
        for (uint32_t code = 0; code < ranked->count; code++) {
            struct sta_text text = sta_dictionary_text(ranked->dictionary, code);
            ranked->ranks[code] = sta_dictionary_intern(all, text.bytes, text.length);
        }
    }
    uint32_t *rank_of = sta_dictionary_ranks(all, &count);
    for (size_t i = 0; i < ranks->count; i++)
        for (uint32_t code = 0; code < ranks->ranked[i].count; code++)
            ranks->ranked[i].ranks[code] = rank_of[ranks->ranked[i].ranks[code]];
    free(rank_of);
    sta_dictionary_destroy(all);
}

struct sta_text_ranks *sta_text_ranks_create(const struct sta_dictionary *const *dictionaries, size_t count)
{
    struct sta_text_ranks *ranks = sta_alloc(sizeof *ranks);
    ranks->ranked = sta_alloc_array(count + 1, sizeof *ranks->ranked);
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t k = 0; k < ranks->count && !known; k++)
            known = ranks->ranked[k].dictionary == dictionaries[i];
        if (!known)
            ranks->ranked[ranks->count++].dictionary = dictionaries[i];
    }
    if (ranks->count == 1)
        ranks->ranked[0].ranks = sta_dictionary_ranks(ranks->ranked[0].dictionary, &ranks->ranked[0].count);
    else
        rank_together(ranks);
    return ranks;
}

void sta_text_ranks_destroy(struct sta_text_ranks *ranks)
{
    if (ranks == NULL)
        return;
    for (size_t i = 0; i < ranks->count; i++)
        free(ranks->ranked[i].ranks);
    free(ranks->ranked);
    free(ranks);
}

static const struct ranked *find_ranks(const struct sta_text_ranks *ranks,
                                       const struct sta_dictionary *dictionary)
{
    for (size_t i = 0; i < ranks->count; i++)
        if (ranks->ranked[i].dictionary == dictionary)
            return &ranks->ranked[i];
    return NULL;
}

/* ---- words */

static bool is_flagged(const struct sta_sort_key *key)
{
    return key->type == STA_TYPE_INT && !key->never_misses;
}

uint32_t sta_sort_key_words(const struct sta_sort_key *key)
{
    return is_flagged(key) ? 2 : 1;
}

static inline uint64_t word_of_number(double number)
{
    uint64_t bits;
    number += 0.0; /* -0 compares equal to 0 */
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* The type is a constant where this is inlined. */
static inline uint64_t word_of(const struct sta_vector *vector, enum sta_type type, uint32_t row,
                               const struct ranked *ranked)
{
    switch (type) {
    case STA_TYPE_INT:
        return sta_sort_word(vector->integers[row]);
    case STA_TYPE_FLOAT:
        return word_of_number(vector->numbers[row]);
    case STA_TYPE_TEXT:
        STA_ASSERT(ranked != NULL && vector->codes[row] < ranked->count);
        return (uint64_t)ranked->ranks[vector->codes[row]] + 1;
    case STA_TYPE_BOOL:
        return (uint64_t)vector->bools[row] + 1;
    default:
        return 1;
    }
}

void sta_sort_key_put(const struct sta_sort_key *key, const struct sta_vector *vector,
                      const uint32_t *selected, uint32_t count, uint64_t *words, size_t stride)
{
    bool flagged = is_flagged(key);
    const struct ranked *ranked = key->type == STA_TYPE_TEXT ? find_ranks(key->ranks, vector->texts) : NULL;
    uint64_t direction = key->descending ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < count; i++, words += stride) {
        uint32_t row = vector->constant ? 0 : selected != NULL ? selected[i] : i;
        bool missing = sta_vector_is_missing(vector, row);
        if (flagged)
            words[0] = missing;
        words[flagged] = missing ? UINT64_MAX : word_of(vector, vector->type, row, ranked) ^ direction;
    }
}

/* ---- leads */

uint64_t sta_sort_key_lead(const struct sta_sort_key *key, const uint64_t *words)
{
    bool flagged = is_flagged(key);
    return flagged && words[0] != 0 ? UINT64_MAX : words[flagged];
}

struct leads {
    struct sta_vector vector;
    const struct ranked *ranked;
    uint64_t direction, least, most;
};

/* The type is a constant where this is inlined.  @leads by value: what is stored cannot change it. */
static inline uint32_t keep(struct leads leads, enum sta_type type, const uint32_t *selected, uint32_t count,
                            uint32_t *restrict kept)
{
    uint32_t n = 0;
    leads.vector.type = type;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = selected != NULL ? selected[i] : i, at = leads.vector.constant ? 0 : row;
        uint64_t lead = sta_vector_is_missing(&leads.vector, at)
                            ? UINT64_MAX
                            : word_of(&leads.vector, type, at, leads.ranked) ^ leads.direction;
        kept[n] = row;
        n += (lead >= leads.least) & (lead <= leads.most);
    }
    return n;
}

uint32_t sta_sort_key_keep(const struct sta_sort_key *key, const struct sta_vector *vector,
                           const uint32_t *selected, uint32_t count, uint64_t least, uint64_t most,
                           uint32_t *kept)
{
    const struct leads leads = {.vector = *vector,
                                .ranked =
                                    key->type == STA_TYPE_TEXT ? find_ranks(key->ranks, vector->texts) : NULL,
                                .direction = key->descending ? UINT64_MAX : 0,
                                .least = least,
                                .most = most};
    if (vector->type == STA_TYPE_INT)
        return keep(leads, STA_TYPE_INT, selected, count, kept);
    if (vector->type == STA_TYPE_FLOAT)
        return keep(leads, STA_TYPE_FLOAT, selected, count, kept);
    return keep(leads, vector->type, selected, count, kept);
}

uint64_t sta_sort_key_least(const struct sta_sort_key *key, double low, double high)
{
    uint64_t direction = key->descending ? UINT64_MAX : 0;
    double first = key->descending ? high : low;
    if (low > high)
        return UINT64_MAX;
    if (key->type == STA_TYPE_FLOAT)
        return word_of_number(first) ^ direction;
    bool exact = key->type == STA_TYPE_INT && fabs(first) < 0x1p53;
    return exact ? sta_sort_word((int64_t)first) ^ direction : 0;
}
