/* radix.h - radix sorts of 64-bit words (private to analyse). */
#ifndef STA_ANALYSE_OPERATORS_RADIX_H
#define STA_ANALYSE_OPERATORS_RADIX_H

#include <stddef.h>
#include <stdint.h>

/**
 * sta_radix_sort_entries - entries of @words words to sort by, the first the major, and one that goes along
 * @scratch: room for as many.  Return: where the result is, @entries or @scratch; NULL when memory is short.
 * Stable.
 */
uint64_t *sta_radix_sort_entries(uint64_t *entries, uint64_t *scratch, size_t count, unsigned words);
/** Ascending, in place.  @scratch: room for as many words. */
void sta_radix_sort_words(uint64_t *words, uint64_t *scratch, size_t count);

/* Two words, the first one the major. */
struct sta_word_pair {
    uint64_t major, minor;
};
/** Ascending, in place.  @scratch: room for as many. */
void sta_radix_sort_pairs(struct sta_word_pair *twins, struct sta_word_pair *scratch, size_t count);

#endif
