/* sort.h - radix sorts of 64-bit words (private to grouping). */
#ifndef STA_ANALYSE_QUERY_GROUPING_SORT_H
#define STA_ANALYSE_QUERY_GROUPING_SORT_H

#include <stddef.h>
#include <stdint.h>

/**
 * sta_sort_entries - entries of @words words to sort by, the first the major, and one that goes along
 * @scratch: room for as many.  Return: where the result is, @entries or @scratch; NULL when memory is short.
 * Stable.
 */
uint64_t *sta_sort_entries(uint64_t *entries, uint64_t *scratch, size_t count, unsigned words);
/** Ascending, in place.  @scratch: room for as many words. */
void sta_sort_words(uint64_t *words, uint64_t *scratch, size_t count);

/* Two words, the first one the major. */
struct sta_sort_twins {
    uint64_t major, minor;
};
/** Ascending, in place.  @scratch: room for as many. */
void sta_sort_twins(struct sta_sort_twins *twins, struct sta_sort_twins *scratch, size_t count);

#endif
