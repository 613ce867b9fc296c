/* sort.h - radix sorts of 64-bit words (private to grouping). */
#ifndef STA_ANALYSE_QUERY_GROUPING_SORT_H
#define STA_ANALYSE_QUERY_GROUPING_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A word to sort by, and what it belongs to. */
struct sta_sort_pair {
    uint64_t word;
    uint64_t item;
};

/** Ascending and stable.  @scratch: room for as many.  Return: where the result is, @pairs or @scratch. */
struct sta_sort_pair *sta_sort_pairs(struct sta_sort_pair *pairs, struct sta_sort_pair *scratch,
                                     size_t count);
/** Ascending, in place.  @scratch: room for as many words. */
void sta_sort_words(uint64_t *words, uint64_t *scratch, size_t count);

/* Two words, the first one the major. */
struct sta_sort_twins {
    uint64_t major, minor;
};
/** Ascending, in place.  @scratch: room for as many. */
void sta_sort_twins(struct sta_sort_twins *twins, struct sta_sort_twins *scratch, size_t count);

#endif
