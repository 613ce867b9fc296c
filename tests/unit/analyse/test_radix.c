/* Radix sorts against the order of their keys. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "common/memory.h"
#include "analyse/operators/radix.h"

#define MOST 20000

static uint64_t state;

static uint64_t next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 13;
}

static int compare_twins(const void *a, const void *b)
{
    const struct sta_word_pair *x = a, *y = b;
    if (x->major != y->major)
        return x->major < y->major ? -1 : 1;
    return (x->minor > y->minor) - (x->minor < y->minor);
}

/* @spread: how far apart the words are. */
static void check(size_t count, unsigned spread)
{
    struct sta_word_pair *twins = sta_alloc_array(count + 1, sizeof *twins);
    struct sta_word_pair *wanted = sta_alloc_array(count + 1, sizeof *wanted);
    struct sta_word_pair *scratch = sta_alloc_array(count + 1, sizeof *scratch);
    uint64_t *words = sta_alloc_array(count + 1, sizeof *words);
    for (size_t i = 0; i < count; i++) {
        twins[i] = wanted[i] = (struct sta_word_pair){next() % 7 << spread | next() % 3, next() % 5000};
        words[i] = twins[i].major << 13 | twins[i].minor;
    }
    qsort(wanted, count, sizeof *wanted, compare_twins);
    cr_assert_eq(sta_radix_sort_pairs(twins, scratch, count, NULL), 0);
    cr_assert_eq(sta_radix_sort(words, &scratch->major, count, 1, false, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(compare_twins(&twins[i], &wanted[i]), 0, "%zu of %zu", i, count);
        cr_assert_eq(words[i], wanted[i].major << 13 | wanted[i].minor, "%zu of %zu", i, count);
    }
    free(words);
    free(scratch);
    free(wanted);
    free(twins);
}

Test(radix, sorts)
{
    static const size_t counts[] = {0, 1, 2, 48, 49, 5000, MOST};
    for (size_t c = 0; c < STA_COUNT_OF(counts); c++)
        for (unsigned spread = 2; spread < 48; spread += 15)
            check(counts[c], spread);
}

Test(radix, of_nothing_no_memory_is_needed)
{
    cr_assert_eq(sta_radix_sort_pairs(NULL, NULL, 0, NULL), 0);
}

Test(radix, ends_when_it_is_cancelled)
{
    _Atomic bool cancel = true;
    uint64_t *words = sta_alloc_array(MOST, sizeof *words);
    uint64_t *scratch = sta_alloc_array(MOST, sizeof *scratch);
    for (size_t i = 0; i < MOST; i++)
        words[i] = MOST - i;
    cr_expect_eq(sta_radix_sort(words, scratch, MOST, 1, false, &cancel), STA_ECANCELLED);
    free(words);
    free(scratch);
}
