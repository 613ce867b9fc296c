/* What a column holds, counted: by whichever worker, in whatever order, the same. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/schema/tally.h"

static const struct sta_budget budget = {.workers = 2, .memory = (size_t)1 << 28};

static void begin(struct sta_column_tally *tally, enum sta_type type, size_t most)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tally_init(tally, type, most, &budget, &err), 0, "%s", err.text);
}

static void add(struct sta_column_tally *tally, unsigned worker, const struct sta_vector *vector,
                uint32_t rows)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tally_add(tally, worker, vector, rows, &err), 0, "%s", err.text);
}

static uint64_t *finish(struct sta_column_tally *tally)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tally_finish(tally, &err), 0, "%s", err.text);
    uint64_t *values = sta_tally_by_frequency(tally, &budget, &err);
    cr_assert_not_null(values);
    return values;
}

Test(tally, integers_are_counted_most_frequent_first_then_by_value)
{
    static const int64_t integers[] = {7, 7, -1, 7, 3, 3, 0, INT64_MIN};
    static const uint8_t missing[] = {0, 0, 0, 0, 0, 0, 1, 0};
    struct sta_vector vector = {.type = STA_TYPE_INT, .integers = integers, .missing = missing};
    static const struct {
        int64_t value;
        int64_t count;
    } expected[] = {{7, 3}, {3, 2}, {INT64_MIN, 1}, {-1, 1}};
    struct sta_column_tally tally;
    begin(&tally, STA_TYPE_INT, 10);
    add(&tally, 0, &vector, 8);
    uint64_t *values = finish(&tally);
    cr_assert_eq(tally.count, 4);
    for (size_t i = 0; i < 4; i++)
        cr_expect(tally.values.keys[0].integers[values[i]] == expected[i].value &&
                      sta_tally_frequency(&tally, values[i]) == expected[i].count,
                  "%zu", i);
    cr_expect_eq(tally.missing, 1);
    cr_expect(tally.least == INT64_MIN && tally.largest == 7);
    free(values);
    sta_tally_fini(&tally);
}

/* @most: of 100 integers, of which one worker has 40 and the other the rest. */
static bool overflows(size_t most, bool with_missing)
{
    int64_t integers[101];
    uint8_t missing[101] = {[100] = with_missing};
    for (int i = 0; i <= 100; i++)
        integers[i] = i < 100 ? 100 - i : 1;
    struct sta_vector vector = {.type = STA_TYPE_INT, .integers = integers, .missing = missing};
    struct sta_column_tally tally;
    begin(&tally, STA_TYPE_INT, most);
    add(&tally, 0, &vector, 40);
    vector.integers += 40;
    vector.missing += 40;
    add(&tally, 1, &vector, 31);
    vector.integers += 31;
    vector.missing += 31;
    add(&tally, 0, &vector, 30);
    free(finish(&tally));
    cr_expect(tally.least == 1 && tally.largest == 100);
    cr_expect_eq(tally.missing, with_missing);
    bool overflowed = tally.overflowed;
    sta_tally_fini(&tally);
    return overflowed;
}

Test(tally, too_many_integers_are_given_up_but_keep_their_range)
{
    for (int with_missing = 0; with_missing < 2; with_missing++) {
        cr_expect(overflows(30, with_missing), "of one worker");
        cr_expect(overflows(60, with_missing), "together they are too many");
        cr_expect(overflows(99, with_missing));
        cr_expect_not(overflows(100, with_missing));
    }
}

Test(tally, texts_of_workers_add_up_and_tie_by_text)
{
    struct sta_dictionary *texts = sta_dictionary_create();
    uint32_t b = sta_dictionary_intern(texts, "b", 1), a = sta_dictionary_intern(texts, "a", 1);
    uint32_t first[] = {b, STA_NO_CODE, b}, second[] = {a, a, STA_NO_CODE};
    struct sta_vector vector = {.type = STA_TYPE_TEXT, .codes = first, .texts = texts};
    struct sta_column_tally tally;
    begin(&tally, STA_TYPE_TEXT, 0);
    add(&tally, 0, &vector, 3);
    vector.codes = second;
    add(&tally, 1, &vector, 3);
    uint64_t *values = finish(&tally);
    cr_assert_eq(tally.count, 2);
    cr_expect(strcmp(sta_tally_text(&tally, values[0]).bytes, "a") == 0);
    cr_expect(strcmp(sta_tally_text(&tally, values[1]).bytes, "b") == 0);
    cr_expect(sta_tally_frequency(&tally, 0) == 2 && sta_tally_frequency(&tally, 1) == 2);
    cr_expect_eq(tally.missing, 2);
    free(values);
    sta_tally_fini(&tally);
    sta_dictionary_destroy(texts);
}

Test(tally, one_value_for_all_rows_counts_for_all)
{
    static const int64_t one = 5;
    static const uint8_t gone = 1;
    struct sta_column_tally tally;
    begin(&tally, STA_TYPE_INT, 10);
    add(&tally, 0, &(struct sta_vector){.type = STA_TYPE_INT, .constant = true, .integers = &one}, 1000);
    add(&tally, 1,
        &(struct sta_vector){.type = STA_TYPE_INT, .constant = true, .integers = &one, .missing = &gone}, 7);
    free(finish(&tally));
    cr_expect(tally.count == 1 && tally.values.keys[0].integers[0] == 5 &&
              sta_tally_frequency(&tally, 0) == 1000 && tally.missing == 7);
    sta_tally_fini(&tally);
}
