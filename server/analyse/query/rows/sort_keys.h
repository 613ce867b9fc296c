/* sort_keys.h - values as words that compare like them (private to query/rows).
 *
 * Texts are compared by their rank among all texts that the column takes, which must therefore be known
 * before the first record is made.  Missing values come last in both directions. */
#ifndef STA_ANALYSE_QUERY_SORT_KEYS_H
#define STA_ANALYSE_QUERY_SORT_KEYS_H

#include "analyse/expression/expression.h"

/* The ranks of the texts of some dictionaries among each other; equal texts have equal ranks. */
struct sta_text_ranks; /* immutable once made; any thread */
struct sta_text_ranks *sta_text_ranks_create(const struct sta_dictionary *const *dictionaries, size_t count);
void sta_text_ranks_destroy(struct sta_text_ranks *ranks); /* NULL allowed */

struct sta_sort_key {
    enum sta_type type;
    bool descending;
    bool never_misses;                  /* every row has a value */
    const struct sta_text_ranks *ranks; /* TEXT */
};

/** Words that a key takes. */
uint32_t sta_sort_key_words(const struct sta_sort_key *key);
/** Writes the words of the values of some rows: those of selected[i] to words[i * stride ..].  @selected
 * NULL: 0 .. @count - 1. */
void sta_sort_key_put(const struct sta_sort_key *key, const struct sta_vector *vector,
                      const uint32_t *selected, uint32_t count, uint64_t *words, size_t stride);

/* The lead of a record is the word by which nearly all records differ: a record with a smaller lead comes
 * before one with a larger. */
/** Of the words that begin with the key's. */
uint64_t sta_sort_key_lead(const struct sta_sort_key *key, const uint64_t *words);
/** Which of some rows have a lead in @least .. @most: their numbers to @kept.  @selected: as in
 * sta_sort_key_put.  Return: how many. */
uint32_t sta_sort_key_keep(const struct sta_sort_key *key, const struct sta_vector *vector,
                           const uint32_t *selected, uint32_t count, uint64_t least, uint64_t most,
                           uint32_t *kept);
/** The least lead that values in @low .. @high can have (none at all when @low > @high). */
uint64_t sta_sort_key_least(const struct sta_sort_key *key, double low, double high);

/** A signed number as a word that compares like it. */
static inline uint64_t sta_sort_word(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

#endif
