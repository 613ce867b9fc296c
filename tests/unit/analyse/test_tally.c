/* What a column holds, counted: by whichever worker, in whatever order, the same. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/schema/tally.h"

Test(tally, integers_are_counted_most_frequent_first_then_by_value)
{
    static const int64_t integers[] = {7, 7, -1, 7, 3, 3, 0, INT64_MIN};
    static const uint8_t missing[] = {0, 0, 0, 0, 0, 0, 1, 0};
    struct sta_vector vector = {.type = STA_TYPE_INT, .integers = integers, .missing = missing};
    static const struct {
        int64_t value;
        uint64_t count;
    } expected[] = {{7, 3}, {3, 2}, {INT64_MIN, 1}, {-1, 1}};
    struct sta_tally tally;
    size_t count;
    sta_tally_init(&tally, STA_TYPE_INT, 10);
    sta_tally_add(&tally, &vector, 8);
    struct sta_tally_value *values = sta_tally_values(&tally, &count);
    cr_assert_eq(count, 4);
    for (size_t i = 0; i < count; i++)
        cr_expect(values[i].integer == expected[i].value && values[i].count == expected[i].count, "%zu", i);
    cr_expect(tally.missing == 1 && tally.least == INT64_MIN && tally.largest == 7);
    free(values);
    sta_tally_fini(&tally);
}

Test(tally, too_many_integers_are_given_up_but_keep_their_range)
{
    int64_t integers[100];
    for (int i = 0; i < 100; i++)
        integers[i] = 100 - i;
    struct sta_vector vector = {.type = STA_TYPE_INT, .integers = integers};
    struct sta_tally one, other;
    size_t count;
    sta_tally_init(&one, STA_TYPE_INT, 60);
    sta_tally_init(&other, STA_TYPE_INT, 60);
    sta_tally_add(&one, &vector, 40);
    vector.integers = integers + 40;
    sta_tally_add(&other, &vector, 60);
    cr_expect(!one.overflowed && !other.overflowed);
    sta_tally_merge(&one, &other);
    cr_expect(one.overflowed && one.least == 1 && one.largest == 100, "together they are too many");
    cr_expect_null(sta_tally_values(&one, &count));
    cr_expect_eq(count, 0);
    sta_tally_fini(&one);
    sta_tally_fini(&other);
}

Test(tally, texts_of_workers_add_up_and_tie_by_text)
{
    struct sta_dictionary *texts = sta_dictionary_create();
    uint32_t b = sta_dictionary_intern(texts, "b", 1), a = sta_dictionary_intern(texts, "a", 1);
    uint32_t first[] = {b, STA_NO_CODE, b}, second[] = {a, a, STA_NO_CODE};
    struct sta_vector vector = {.type = STA_TYPE_TEXT, .codes = first, .texts = texts};
    struct sta_tally one, other;
    size_t count;
    sta_tally_init(&one, STA_TYPE_TEXT, 0);
    sta_tally_init(&other, STA_TYPE_TEXT, 0);
    sta_tally_add(&one, &vector, 3);
    vector.codes = second;
    sta_tally_add(&other, &vector, 3);
    sta_tally_merge(&one, &other);
    struct sta_tally_value *values = sta_tally_values(&one, &count);
    cr_assert_eq(count, 2);
    cr_expect(strcmp(values[0].text.bytes, "a") == 0 && values[0].count == 2);
    cr_expect(strcmp(values[1].text.bytes, "b") == 0 && values[1].count == 2);
    cr_expect_eq(one.missing, 2);
    free(values);
    sta_tally_fini(&one);
    sta_tally_fini(&other);
    sta_dictionary_destroy(texts);
}

Test(tally, one_value_for_all_rows_counts_for_all)
{
    static const int64_t one = 5;
    static const uint8_t gone = 1;
    struct sta_tally tally;
    size_t count;
    sta_tally_init(&tally, STA_TYPE_INT, 10);
    sta_tally_add(&tally, &(struct sta_vector){.type = STA_TYPE_INT, .constant = true, .integers = &one},
                  1000);
    sta_tally_add(
        &tally,
        &(struct sta_vector){.type = STA_TYPE_INT, .constant = true, .integers = &one, .missing = &gone}, 7);
    struct sta_tally_value *values = sta_tally_values(&tally, &count);
    cr_expect(count == 1 && values[0].integer == 5 && values[0].count == 1000 && tally.missing == 7);
    free(values);
    sta_tally_fini(&tally);
}
