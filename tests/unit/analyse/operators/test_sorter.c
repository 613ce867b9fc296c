/* Records in order: any number of words, workers, records at a time; in memory and by way of the disk; all
 * and the first ones; cancelled. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "analyse/operators/radix.h"
#include "analyse/operators/sorter.h"
#include "common/memory.h"

#define MOST_WORDS 6u

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Few values in the first words, as durations are, so that later ones decide; the last tells all apart. */
static uint64_t *make_records(size_t count, unsigned words)
{
    uint64_t *records = sta_alloc_array(count + 1, words * sizeof *records), state = 88172645463325252;
    for (size_t i = 0; i < count; i++)
        for (unsigned w = 0; w < words; w++)
            records[i * words + w] = w + 1 == words ? next_random(&state) % 2 << 60 | (i * 7919) % count
                                                    : next_random(&state) % 5 << (w * 9);
    return records;
}

static int by_words(const void *a, const void *b, void *words)
{
    return sta_record_compare(a, b, *(const unsigned *)words);
}

static uint64_t *in_order(const uint64_t *records, size_t count, unsigned words)
{
    uint64_t *sorted = sta_alloc_array(count + 1, words * sizeof *sorted);
    memcpy(sorted, records, count * words * sizeof *sorted);
    qsort_r(sorted, count, words * sizeof *sorted, by_words, &words);
    return sorted;
}

Test(sorter, radix_sorts_records_of_any_length)
{
    static const size_t counts[] = {0, 1, 2, 24, 25, 1000, 30000};
    for (unsigned words = 1; words <= MOST_WORDS; words++)
        for (size_t c = 0; c < STA_COUNT_OF(counts); c++)
            for (int into_scratch = 0; into_scratch < 2; into_scratch++) {
                const size_t count = counts[c], bytes = count * words * sizeof(uint64_t);
                uint64_t *records = make_records(count, words), *wanted = in_order(records, count, words);
                uint64_t *scratch = sta_alloc_array(count + 1, words * sizeof *scratch);
                cr_assert_eq(sta_radix_sort(records, scratch, count, words, into_scratch, NULL), 0);
                cr_assert_eq(memcmp(into_scratch ? scratch : records, wanted, bytes), 0, "%zu of %u words",
                             count, words);
                free(records);
                free(scratch);
                free(wanted);
            }
}

struct plan {
    unsigned words, workers;
    size_t count, at_once;
    uint64_t limit, memory;
};

/* What the sorter gives, beside what qsort gives. */
static void expect_sorted(const struct plan *plan)
{
    struct sta_budget budget = {.workers = plan->workers, .memory = 1 << 20};
    struct sta_sorter_spec spec = {.words = plan->words,
                                   .limit = plan->limit,
                                   .memory = plan->memory,
                                   .spill_folder = "/tmp",
                                   .budget = &budget};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_sorter *sorter = sta_sorter_create(&spec);
    uint64_t *records = make_records(plan->count, plan->words);
    uint64_t *wanted = in_order(records, plan->count, plan->words);
    const size_t expected = STA_MIN(plan->count, plan->limit), record = plan->words * sizeof *records;
    for (size_t i = 0; i < plan->count; i += plan->at_once)
        cr_assert_eq(sta_sorter_consume(sorter, (unsigned)(i / plan->at_once % plan->workers),
                                        records + i * plan->words, STA_MIN(plan->at_once, plan->count - i),
                                        &err),
                     0);
    cr_assert_eq(sta_sorter_finish(sorter, &err), 0);
    cr_assert(plan->memory > 0 || plan->count == 0 || plan->limit == 0 || sta_sorter_spilled(sorter) > 0);
    size_t given = 0, count = 1;
    while (count > 0) {
        const uint64_t *next = NULL;
        cr_assert_eq(sta_sorter_next(sorter, 777, &next, &count, &err), 0);
        cr_assert(given + count <= expected);
        cr_assert_eq(memcmp(next != NULL ? next : wanted, wanted + given * plan->words, count * record), 0,
                     "%u words, %u workers, limit %ju: records %zu to %zu", plan->words, plan->workers,
                     (uintmax_t)plan->limit, given, given + count);
        given += count;
    }
    cr_assert_eq(given, expected);
    sta_sorter_destroy(sorter);
    free(records);
    free(wanted);
}

Test(sorter, all_records_and_the_first_ones)
{
    static const uint64_t limits[] = {0, 1, 100, 5000, UINT64_MAX};
    for (unsigned words = 1; words <= MOST_WORDS; words += 1 + words / 3)
        for (unsigned workers = 1; workers <= 3; workers += 2)
            for (size_t l = 0; l < STA_COUNT_OF(limits); l++)
                for (int spills = 0; spills < 2; spills++) {
                    const uint64_t memory = spills ? 0 : 1 << 30;
                    expect_sorted(&(struct plan){words, workers, 0, 1, limits[l], memory});
                    expect_sorted(&(struct plan){words, workers, 3000, 1, limits[l], memory});
                }
}

/* Several runs a worker, so that ranges are gathered from many. */
Test(sorter, many_runs)
{
    expect_sorted(&(struct plan){2, 2, 700000, 4096, UINT64_MAX, 1 << 30});
    expect_sorted(&(struct plan){2, 2, 700000, 4096, UINT64_MAX, 0});
    expect_sorted(&(struct plan){5, 2, 300000, 16384, UINT64_MAX, 3 << 20});
}

Test(sorter, ends_when_cancelled)
{
    _Atomic bool cancel = true;
    struct sta_budget budget = {.workers = 1, .cancel = &cancel};
    struct sta_sorter_spec spec = {
        .words = 1, .limit = UINT64_MAX, .memory = 1 << 20, .spill_folder = "/tmp", .budget = &budget};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_sorter *sorter = sta_sorter_create(&spec);
    const uint64_t record = 1;
    cr_assert_eq(sta_sorter_consume(sorter, 0, &record, 1, &err), 0);
    cr_assert_eq(sta_sorter_finish(sorter, &err), STA_ECANCELLED);
    sta_sorter_destroy(sorter);
}
