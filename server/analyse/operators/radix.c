/* The sort of records, most significant digit first.
 *
 * DESIGN.  A range of records is distributed by a digit of the word that is being looked at: the highest bits
 * in which records of this range differ, some more the more records there are.  So bits that agree cost
 * nothing, however wide the fields of a key are, and a range of a few records, which is what nearly all of
 * them are after two rounds, is sorted by insertion, together with those beside it.  Records move between the
 * two arrays from round to round. Records of one, two and three words, which is what keys pack to, have loops
 * of their own, since the speed lies in the compiler knowing the size; longer ones are sorted by their
 * numbers. */
#include "analyse/operators/radix.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "common/memory.h"

#define FEW 24u                         /* records that insertion sorts faster */
#define MOST_DIGIT 11u                  /* bits: 2,048 places still lie in the first cache */
#define WORTH_THREADS ((size_t)1 << 17) /* records */
#define ASK_RECORDS 4096u               /* smallest range before which cancellation is asked for */

struct sorting {
    unsigned words, threads;
    const uint64_t *base; /* of records that are sorted by number */
    const _Atomic bool *cancel;
};

/* Bits of the digit that so many records are distributed by: about two records a place. */
static unsigned digit_bits(size_t count)
{
    return STA_MIN(62 - (unsigned)__builtin_clzll(count), MOST_DIGIT);
}

static bool is_cancelled(const struct sorting *sorting, size_t count)
{
    return count >= ASK_RECORDS && sorting->cancel != NULL &&
           atomic_load_explicit(sorting->cancel, memory_order_relaxed);
}

static void to_places(uint32_t *counts, size_t values)
{
    uint32_t at = 0;
    for (size_t v = 0; v < values; v++) {
        uint32_t here = counts[v];
        counts[v] = at;
        at += here;
    }
}

/* Ranges of one digit, a task each. */
struct ranges {
    const struct sorting *sorting;
    void *from, *other;
    const uint32_t *ends; /* by value of the digit */
    unsigned word;
    bool to_other;
};

/* WORD(item, word): a word of a record.  @type: an item. */
#define DEFINE_SORT(name, type, WORD)                                                                        \
    static bool name##_less(const struct sorting *sorting, const type *a, const type *b, unsigned word)      \
    {                                                                                                        \
        for (unsigned w = word; w < sorting->words; w++)                                                     \
            if (WORD(*a, w) != WORD(*b, w))                                                                  \
                return WORD(*a, w) < WORD(*b, w);                                                            \
        return false;                                                                                        \
    }                                                                                                        \
    static void name##_insertion(const struct sorting *sorting, const type *from, type *to, size_t count,    \
                                 unsigned word)                                                              \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                                 \
            const type item = from[i];                                                                       \
            size_t at = i;                                                                                   \
            for (; at > 0 && name##_less(sorting, &item, &to[at - 1], word); at--)                           \
                to[at] = to[at - 1];                                                                         \
            to[at] = item;                                                                                   \
        }                                                                                                    \
    }                                                                                                        \
    static int name##_range(void *context, unsigned worker, size_t v, struct sta_error *err);                \
    /* Sorts @from, whose records agree before @word, to @other if @to_other, else in place. */              \
    static bool name(const struct sorting *sorting, type *from, type *other, size_t count, unsigned word,    \
                     bool to_other)                                                                          \
    {                                                                                                        \
        uint64_t differing = 0;                                                                              \
        if (count <= FEW) {                                                                                  \
            name##_insertion(sorting, from, to_other ? other : from, count, word);                           \
            return true;                                                                                     \
        }                                                                                                    \
        if (is_cancelled(sorting, count))                                                                    \
            return false;                                                                                    \
        for (; differing == 0 && word < sorting->words; word += differing == 0)                              \
            for (size_t i = 1; i < count; i++)                                                               \
                differing |= WORD(from[i], word) ^ WORD(from[0], word);                                      \
        if (differing == 0) {                                                                                \
            memcpy(to_other ? other : from, from, to_other ? count * sizeof *from : 0);                      \
            return true;                                                                                     \
        }                                                                                                    \
        const unsigned high = 64 - (unsigned)__builtin_clzll(differing);                                     \
        const unsigned bits = digit_bits(count) < high ? digit_bits(count) : high;                           \
        const unsigned shift = high - bits;                                                                  \
        const uint64_t ones = ((uint64_t)1 << bits) - 1;                                                     \
        uint32_t places[(1u << MOST_DIGIT) + 1];                                                             \
        memset(places, 0, sizeof *places << bits);                                                           \
        for (size_t i = 0; i < count; i++)                                                                   \
            places[WORD(from[i], word) >> shift & ones]++;                                                   \
        to_places(places, (size_t)1 << bits);                                                                \
        for (size_t i = 0; i < count; i++)                                                                   \
            other[places[WORD(from[i], word) >> shift & ones]++] = from[i];                                  \
        if (sorting->threads > 1 && count >= WORTH_THREADS) {                                                \
            const struct sorting alone = {sorting->words, 1, sorting->base, sorting->cancel};                \
            struct ranges ranges = {&alone, other, from, places, word, !to_other};                           \
            const struct sta_budget budget = {.workers = sorting->threads, .cancel = sorting->cancel};       \
            struct sta_error err = STA_ERROR_INIT;                                                           \
            return sta_tasks_run(&budget, ones + 1, name##_range, &ranges, &err) == STA_OK;                  \
        }                                                                                                    \
        bool done = true;                                                                                    \
        /* From begin to end: places of few records each, which one insertion sorts. */                      \
        size_t begin = 0, end = 0;                                                                           \
        for (size_t v = 0; done && v <= ones; end = places[v++]) {                                           \
            if (places[v] - end <= FEW)                                                                      \
                continue;                                                                                    \
            name##_insertion(sorting, other + begin, (to_other ? other : from) + begin, end - begin, word);  \
            done = name(sorting, other + end, from + end, places[v] - end, word, !to_other);                 \
            begin = places[v];                                                                               \
        }                                                                                                    \
        if (done)                                                                                            \
            name##_insertion(sorting, other + begin, (to_other ? other : from) + begin, count - begin,       \
                             word);                                                                          \
        return done;                                                                                         \
    }                                                                                                        \
    static int name##_range(void *context, unsigned worker, size_t v, struct sta_error *err)                 \
    {                                                                                                        \
        const struct ranges *ranges = context;                                                               \
        const size_t begin = v > 0 ? ranges->ends[v - 1] : 0, count = ranges->ends[v] - begin;               \
        type *from = ranges->from, *other = ranges->other;                                                   \
        (void)worker, (void)err;                                                                             \
        return name(ranges->sorting, from + begin, other + begin, count, ranges->word, ranges->to_other)     \
                   ? STA_OK                                                                                  \
                   : STA_ECANCELLED;                                                                         \
    }

struct one_word {
    uint64_t words[1];
};
struct two_words {
    uint64_t words[2];
};
struct three_words {
    uint64_t words[3];
};
#define OWN_WORD(item, word) ((item).words[word])
#define NUMBERED_WORD(item, word) (sorting->base[(item)*sorting->words + (word)])

DEFINE_SORT(sort_one, struct one_word, OWN_WORD)
DEFINE_SORT(sort_two, struct two_words, OWN_WORD)
DEFINE_SORT(sort_three, struct three_words, OWN_WORD)
DEFINE_SORT(sort_numbers, uint64_t, NUMBERED_WORD)

/* Long records: the numbers are sorted, then the records are fetched by them. */
static int sort_long(struct sorting *sorting, uint64_t *records, uint64_t *scratch, size_t count,
                     bool into_scratch)
{
    const size_t words = sorting->words;
    uint64_t *numbers = sta_try_alloc_array(count, 2 * sizeof *numbers);
    if (numbers == NULL)
        return STA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        numbers[i] = i;
    sorting->base = records;
    bool done = sort_numbers(sorting, numbers, numbers + count, count, 0, false);
    for (size_t i = 0; done && i < count; i++)
        memcpy(scratch + i * words, records + numbers[i] * words, words * sizeof *records);
    if (done && !into_scratch)
        memcpy(records, scratch, count * words * sizeof *records);
    sta_free(numbers);
    return done ? STA_OK : STA_ECANCELLED;
}

int sta_radix_sort(uint64_t *records, uint64_t *scratch, size_t count, unsigned words, bool into_scratch,
                   const _Atomic bool *cancel)
{
    return sta_radix_sort_on(1, records, scratch, count, words, into_scratch, cancel);
}

int sta_radix_sort_on(unsigned threads, uint64_t *records, uint64_t *scratch, size_t count, unsigned words,
                      bool into_scratch, const _Atomic bool *cancel)
{
    struct sorting sorting = {.words = words, .threads = threads, .cancel = cancel};
    STA_ASSERT(count < UINT32_MAX);
    bool done;
    switch (words) {
    case 1:
        done = sort_one(&sorting, (void *)records, (void *)scratch, count, 0, into_scratch);
        break;
    case 2:
        done = sort_two(&sorting, (void *)records, (void *)scratch, count, 0, into_scratch);
        break;
    case 3:
        done = sort_three(&sorting, (void *)records, (void *)scratch, count, 0, into_scratch);
        break;
    default:
        return sort_long(&sorting, records, scratch, count, into_scratch);
    }
    return done ? STA_OK : STA_ECANCELLED;
}

int sta_radix_failed(int status, const char *what, size_t count, struct sta_error *err)
{
    if (status == STA_ECANCELLED)
        return sta_fail(err, status, "nobody waits for the response any more");
    return status == 0 ? STA_OK : sta_fail(err, status, "no memory to sort %zu %s", count, what);
}

size_t sta_records_before(const uint64_t *records, size_t count, size_t stride, const uint64_t *record,
                          unsigned words)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if (sta_record_compare(records + middle * stride, record, words) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}
