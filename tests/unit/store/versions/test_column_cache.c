/* The cache of decoded columns: what is put there comes back, whatever its kind and width, and no more is
 * kept than there is space for. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/dictionary.h"
#include "common/memory.h"
#include "store/versions/column_cache.h"

#define ROWS 1000u

struct column {
    struct sta_column_values values;
    int64_t min, max;
};

static struct column create_column(enum sta_column_kind kind, bool any_missing)
{
    struct column column = {.values = {.kind = kind, .any_missing = any_missing}};
    column.values.integers = sta_alloc_array(ROWS, sizeof *column.values.integers);
    column.values.codes = sta_alloc_array(ROWS, sizeof *column.values.codes);
    column.values.missing = sta_alloc_array(ROWS, sizeof *column.values.missing);
    return column;
}

static void free_column(struct column *column)
{
    free(column->values.integers);
    free(column->values.codes);
    free(column->values.missing);
}

/* Values min .. min + range, both among them. */
static void fill(struct column *column, int64_t min, uint64_t range)
{
    column->min = min;
    column->max = (int64_t)((uint64_t)min + range);
    for (uint32_t i = 0; i < ROWS; i++) {
        bool missing = column->values.any_missing && i % 3 == 0;
        uint64_t value = (uint64_t)min + (i == 1 ? range : i * UINT64_C(2654435761) % (range + 1));
        column->values.missing[i] = missing;
        column->values.integers[i] = missing ? 0 : (int64_t)value;
        column->values.codes[i] = missing ? STA_NO_CODE : (uint32_t)value;
    }
}

static struct sta_column_cache_key key_of(uint32_t row_group)
{
    return (struct sta_column_cache_key){.segment = 7, .row_group = row_group, .column = 3};
}

static void check_same(const struct column *want, const struct column *got)
{
    cr_assert_eq(got->values.kind, want->values.kind);
    cr_assert_eq(got->values.any_missing, want->values.any_missing);
    if (want->values.kind == STA_KIND_CODE) {
        cr_assert_arr_eq(got->values.codes, want->values.codes, ROWS * sizeof(uint32_t));
        return;
    }
    cr_assert_arr_eq(got->values.integers, want->values.integers, ROWS * sizeof(int64_t));
    if (want->values.any_missing)
        cr_assert_arr_eq(got->values.missing, want->values.missing, ROWS);
}

static void put(struct sta_column_cache *cache, uint32_t row_group, const struct column *column)
{
    sta_column_cache_put(cache, key_of(row_group), ROWS, column->min, column->max, &column->values);
}

Test(cache, columns_come_back)
{
    static const struct {
        int64_t min;
        uint64_t range;
        bool codes; /* such values may be codes as well */
    } ranges[] = {{0, 0, true},
                  {5, 254, true},
                  {0, 255, true},
                  {9, 256, true},
                  {1, 65535, true},
                  {3, 65536, true},
                  {-4, 7, false},
                  {-70000, 140000, false},
                  {INT64_MIN, 10, false},
                  {INT64_MAX - 5, 5, false},
                  {-1, UINT32_MAX - 1, false}};
    struct sta_column_cache *cache = sta_column_cache_create(64 << 20, 0, NULL);
    uint32_t row_group = 0;
    for (size_t r = 0; r < STA_COUNT_OF(ranges); r++)
        for (int some = 0; some <= 1; some++)
            for (int codes = 0; codes <= ranges[r].codes; codes++, row_group++) {
                enum sta_column_kind kind = codes ? STA_KIND_CODE : STA_KIND_INT;
                struct column want = create_column(kind, some), got = create_column(kind, false);
                fill(&want, ranges[r].min, ranges[r].range);
                cr_assert_not(sta_column_cache_get(cache, key_of(row_group), ROWS, &got.values));
                put(cache, row_group, &want);
                cr_assert(sta_column_cache_get(cache, key_of(row_group), ROWS, &got.values), "range %zu", r);
                check_same(&want, &got);
                free_column(&want);
                free_column(&got);
            }
    sta_column_cache_destroy(cache);
}

/* Rows of which the test says so, by their values. */
static bool passes(const struct column *column, uint32_t row, const struct sta_row_test *test)
{
    if (test->of_code != NULL)
        return test->of_code[(uint32_t)(column->values.codes[row] + 1)];
    return !(column->values.any_missing && column->values.missing[row]) &&
           column->values.integers[row] >= test->low && column->values.integers[row] <= test->high;
}

static void check_test(struct sta_column_cache *cache, uint32_t row_group, const struct column *column,
                       const struct sta_row_test *test)
{
    uint8_t marks[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        marks[i] = i % 7 != 0;
    cr_assert(sta_column_cache_test(cache, key_of(row_group), ROWS, test, marks));
    for (uint32_t i = 0; i < ROWS; i++)
        cr_assert_eq(marks[i], i % 7 != 0 && passes(column, i, test), "block %u, row %u, %lld .. %lld",
                     row_group, i, (long long)test->low, (long long)test->high);
}

Test(cache, ranges_are_tested_as_the_values_say)
{
    static const struct {
        int64_t min;
        uint64_t range;
    } columns[] = {{0, 0},           {5, 254},        {0, 255},           {9, 256},
                   {-70000, 140000}, {INT64_MIN, 10}, {INT64_MAX - 5, 5}, {-1, UINT32_MAX - 1}};
    struct sta_column_cache *cache = sta_column_cache_create(64 << 20, 0, NULL);
    uint32_t row_group = 0;
    for (size_t c = 0; c < STA_COUNT_OF(columns); c++)
        for (int some = 0; some <= 1; some++, row_group++) {
            struct column column = create_column(STA_KIND_INT, some);
            fill(&column, columns[c].min, columns[c].range);
            put(cache, row_group, &column);
            const int64_t low = column.min, high = column.max, one = column.values.integers[10];
            const int64_t bounds[] = {
                INT64_MIN, low, one, high, INT64_MAX, 0, (low & high) + ((low ^ high) >> 1)};
            for (size_t l = 0; l < STA_COUNT_OF(bounds); l++)
                for (size_t h = 0; h < STA_COUNT_OF(bounds); h++)
                    check_test(cache, row_group, &column,
                               &(struct sta_row_test){.low = bounds[l], .high = bounds[h]});
            free_column(&column);
        }
    sta_column_cache_destroy(cache);
}

Test(cache, codes_are_tested_by_a_table)
{
    static const uint32_t ranges[] = {0, 5, 255, 256, 70000};
    uint8_t *table = sta_alloc_array(70010, 1);
    struct sta_column_cache *cache = sta_column_cache_create(64 << 20, 0, NULL);
    uint32_t row_group = 0;
    for (size_t r = 0; r < STA_COUNT_OF(ranges); r++)
        for (uint32_t first = 0; first <= 3; first += 3)
            for (int some = 0; some <= 1; some++, row_group++) {
                struct column column = create_column(STA_KIND_CODE, some);
                const struct sta_row_test test = {.of_code = table};
                fill(&column, first, ranges[r]);
                put(cache, row_group, &column);
                for (unsigned pattern = 0; pattern < 6;
                     pattern++) { /* none, all, a run, holes; with and without none */
                    for (uint32_t code = 0; code < 70010; code++)
                        table[code] = pattern == 0   ? 0
                                      : pattern == 1 ? 1
                                      : pattern < 4  ? code > 3 && code < 200
                                                     : code % 3 == 0;
                    table[0] = pattern % 2;
                    check_test(cache, row_group, &column, &test);
                }
                free_column(&column);
            }
    free(table);
    sta_column_cache_destroy(cache);
}

Test(cache, tests_of_another_kind_are_refused)
{
    static const uint8_t table[300] = {0};
    struct sta_column_cache *cache = sta_column_cache_create(64 << 20, 0, NULL);
    struct column codes = create_column(STA_KIND_CODE, false), integers = create_column(STA_KIND_INT, false);
    uint8_t marks[ROWS] = {1};
    fill(&codes, 0, 200);
    fill(&integers, 0, 200);
    put(cache, 0, &codes);
    put(cache, 1, &integers);
    cr_expect_not(sta_column_cache_test(cache, key_of(0), ROWS, &(struct sta_row_test){.high = -1}, marks));
    cr_expect_not(
        sta_column_cache_test(cache, key_of(1), ROWS, &(struct sta_row_test){.of_code = table}, marks));
    cr_expect_not(sta_column_cache_test(cache, key_of(2), ROWS, &(struct sta_row_test){.high = -1}, marks));
    cr_expect_eq(marks[0], 1);
    free_column(&codes);
    free_column(&integers);
    sta_column_cache_destroy(cache);
}

Test(cache, too_wide_or_of_another_kind_is_not_kept)
{
    struct sta_column_cache *cache = sta_column_cache_create(64 << 20, 0, NULL);
    struct column wide = create_column(STA_KIND_INT, false), mixed = create_column(STA_KIND_MIXED, false),
                  got = create_column(STA_KIND_INT, false);
    fill(&wide, 0, UINT64_C(1) << 32);
    fill(&mixed, 0, 10);
    put(cache, 0, &wide);
    put(cache, 1, &mixed);
    cr_assert_not(sta_column_cache_get(cache, key_of(0), ROWS, &got.values));
    cr_assert_not(sta_column_cache_get(cache, key_of(1), ROWS, &got.values));
    free_column(&wide);
    free_column(&mixed);
    free_column(&got);
    sta_column_cache_destroy(cache);
}

#define ROW_GROUPS 4000u
#define CAPACITY 1000u /* columns, a little less */

/* Puts columns one after another, and asks for the first one all the time.  Return: how many there are in the
 * end, and by row group whether. */
static uint32_t put_many(struct sta_column_cache *cache, bool *there)
{
    struct column column = create_column(STA_KIND_INT, false);
    uint32_t kept = 0;
    fill(&column, 0, 200);
    for (uint32_t row_group = 0; row_group < ROW_GROUPS; row_group++) {
        put(cache, row_group, &column);
        cr_assert(sta_column_cache_get(cache, key_of(0), ROWS, &column.values));
    }
    for (uint32_t row_group = 0; row_group < ROW_GROUPS; row_group++) {
        there[row_group] = sta_column_cache_get(cache, key_of(row_group), ROWS, &column.values);
        kept += there[row_group];
    }
    free_column(&column);
    return kept;
}

Test(cache, what_was_not_asked_for_longest_makes_space)
{
    struct sta_column_cache *cache = sta_column_cache_create(CAPACITY * (uint64_t)ROWS, 0, NULL);
    bool there[ROW_GROUPS];
    uint32_t kept = put_many(cache, there);
    cr_assert_leq(kept, CAPACITY);
    cr_assert_gt(kept, CAPACITY / 2);
    cr_assert(there[0] && there[ROW_GROUPS - 1]);
    cr_assert_not(there[1]);
    sta_column_cache_destroy(cache);
}

Test(cache, what_is_in_use_stays)
{
    struct sta_column_cache *cache = sta_column_cache_create(CAPACITY * (uint64_t)ROWS, 3600, NULL);
    bool there[ROW_GROUPS];
    uint32_t kept = put_many(cache, there);
    cr_assert_leq(kept, CAPACITY);
    cr_assert_gt(kept, CAPACITY / 2);
    cr_assert(there[0] && there[1]);
    cr_assert_not(there[ROW_GROUPS - 1]);
    sta_column_cache_destroy(cache);
}

static uint32_t put_some(struct sta_column_cache *cache, uint64_t segment, uint32_t row_groups, bool count)
{
    struct column column = create_column(STA_KIND_INT, false);
    uint32_t there = 0;
    fill(&column, 0, 200);
    for (uint32_t row_group = 0; row_group < row_groups; row_group++) {
        struct sta_column_cache_key key = {.segment = segment, .row_group = row_group, .column = 3};
        if (!count)
            sta_column_cache_put(cache, key, ROWS, column.min, column.max, &column.values);
        there += sta_column_cache_get(cache, key, ROWS, &column.values);
    }
    free_column(&column);
    return there;
}

Test(cache, columns_of_closed_segments_are_dropped)
{
    static const uint64_t closed[] = {3, 8, 9};
    struct sta_account account;
    sta_account_init(&account, 64 << 20, "memory", NULL);
    struct sta_column_cache *cache = sta_column_cache_create(64 << 20, 3600, &account);
    for (uint64_t segment = 1; segment <= 10; segment++)
        cr_assert_eq(put_some(cache, segment, 20, false), 20);
    size_t all = account.used;
    cr_assert_gt(all, 200 * (size_t)ROWS);
    sta_column_cache_forget(cache, closed, STA_COUNT_OF(closed));
    for (uint64_t segment = 1; segment <= 10; segment++)
        cr_assert_eq(put_some(cache, segment, 20, true),
                     segment == 3 || segment == 8 || segment == 9 ? 0 : 20, "segment %d", (int)segment);
    cr_assert_eq(account.used, all / 10 * 7);
    sta_column_cache_destroy(cache);
    sta_account_fini(&account);
}

Test(cache, columns_give_way_and_are_not_kept_past_the_account)
{
    struct sta_account account;
    sta_account_init(&account, 100 * (size_t)ROWS, "memory", NULL);
    struct sta_column_cache *cache = sta_column_cache_create(64 << 20, 3600, &account);
    put_some(cache, 1, 200, false);
    cr_assert_leq(account.used, account.limit);
    cr_assert_gt(account.used, account.limit / 2);
    size_t before = account.used, freed = sta_column_cache_shrink(cache, before / 2);
    cr_assert_eq(account.used, before - freed);
    cr_assert_geq(freed, before / 2);
    sta_column_cache_shrink(cache, SIZE_MAX / 2);
    cr_assert_eq(account.used, 0);
    sta_column_cache_destroy(cache);
    sta_account_fini(&account);
}
