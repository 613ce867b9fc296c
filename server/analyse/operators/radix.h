/* radix.h - the sort of fixed-size records of 64-bit words (private to analyse). */
#ifndef STA_ANALYSE_OPERATORS_RADIX_H
#define STA_ANALYSE_OPERATORS_RADIX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

/* A record of two words, as others sort them too. */
struct sta_word_pair {
    uint64_t major, minor;
};

static inline int sta_record_compare(const uint64_t *a, const uint64_t *b, unsigned words)
{
    for (unsigned w = 0; w < words; w++)
        if (a[w] != b[w])
            return a[w] < b[w] ? -1 : 1;
    return 0;
}

/** How many of @count sorted records, each @stride words behind the one before, come before @record. */
size_t sta_records_before(const uint64_t *records, size_t count, size_t stride, const uint64_t *record,
                          unsigned words);

/**
 * sta_radix_sort - records ascending by their words, the first word the major one
 * @records, @scratch: @count records of @words words each; both are written to
 * @into_scratch: where the result is wanted; else in @records
 * @cancel: asked now and then; NULL: never
 * Records that agree in all words are the same, so no order among them can be seen.  Return: 0 or
 * STA_ECANCELLED, when the records are of no use.
 */
STA_MUSTCHECK int sta_radix_sort(uint64_t *records, uint64_t *scratch, size_t count, unsigned words,
                                 bool into_scratch, const _Atomic bool *cancel);

/** The same on so many threads, of many records. */
STA_MUSTCHECK int sta_radix_sort_on(unsigned threads, uint64_t *records, uint64_t *scratch, size_t count,
                                    unsigned words, bool into_scratch, const _Atomic bool *cancel);

/** The same of pairs, ascending in place. */
STA_MUSTCHECK static inline int sta_radix_sort_pairs(struct sta_word_pair *pairs,
                                                     struct sta_word_pair *scratch, size_t count,
                                                     const _Atomic bool *cancel)
{
    return sta_radix_sort((uint64_t *)pairs, (uint64_t *)scratch, count, 2, false, cancel);
}

/** What a sort returned as a failure with its sentence.  @what, @count: "no memory to sort 5 values". */
STA_MUSTCHECK int sta_radix_failed(int status, const char *what, size_t count, struct sta_error *err);

#endif
