/* What the builder does with rows before anything is encoded: their order, and those that have a value. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/encoding/validity.h"
#include "store/format/row_order.h"

static uint64_t state = 7;

static uint64_t random_bits(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ state >> 29;
}

/* X(test, key of row i) */
#define ORDERS(X)                                                                                            \
    X(rows_in_order_stay, (int64_t)i / 3)                                                                    \
    X(rows_of_one_time_stay, 5)                                                                              \
    X(rows_backwards_turn_round, -(int64_t)i)                                                                \
    X(rows_a_few_bits_apart, (int64_t)(random_bits() % 7))                                                   \
    X(rows_within_minutes, INT64_C(1700000000000000) + (int64_t)(random_bits() % 300000000))                 \
    X(rows_within_hours, (int64_t)(random_bits() >> 30))                                                     \
    X(rows_that_differ_above_32_bits_only, (int64_t)(random_bits() % 9) << 40)                               \
    X(rows_anywhere, (int64_t)random_bits())

/* Positions are a permutation; in their order keys ascend, and equal keys keep the order of their rows. */
static void check_order(struct sta_row_order *order, uint32_t rows)
{
    uint32_t *row_at = sta_alloc_array(rows, sizeof *row_at);
    int64_t *keys = sta_alloc_array(rows, sizeof *keys);
    memset(row_at, 0xff, rows * sizeof *row_at);
    memcpy(keys, order->keys, rows * sizeof *keys);
    sta_row_order_sort(order, rows);
    for (uint32_t row = 0; row < rows; row++) {
        cr_assert_lt(order->position[row], rows);
        cr_assert_eq(row_at[order->position[row]], UINT32_MAX);
        row_at[order->position[row]] = row;
    }
    for (uint32_t i = 1; i < rows; i++) {
        int64_t before = keys[row_at[i - 1]], key = keys[row_at[i]];
        cr_assert(before < key || (before == key && row_at[i - 1] < row_at[i]), "place %u of %u", i, rows);
    }
    free(row_at);
    free(keys);
}

#define X(test, key)                                                                                         \
    Test(rows, test)                                                                                         \
    {                                                                                                        \
        static const uint32_t counts[] = {1, 2, 3, 1000, 65536, 70001};                                      \
        struct sta_row_order order = {0};                                                                    \
        for (size_t c = 0; c < STA_COUNT_OF(counts); c++) {                                                  \
            cr_assert(sta_row_order_reserve(&order, counts[c]));                                             \
            for (uint32_t i = 0; i < counts[c]; i++)                                                         \
                order.keys[i] = key;                                                                         \
            check_order(&order, counts[c]);                                                                  \
        }                                                                                                    \
        sta_row_order_fini(&order);                                                                          \
    }
ORDERS(X)
#undef X

/* @kept: of @present.  Spread, they lie where @values of the rows that have one lie. */
static void check_spread(const struct sta_validity *present, const int64_t *values, const int64_t *kept)
{
    const uint32_t rows = present->rows;
    int64_t *spread = sta_alloc_array(rows, sizeof *spread);
    uint32_t *codes = sta_alloc_array(rows, sizeof *codes);
    uint8_t *missing = sta_alloc(rows);
    sta_validity_spread(present, kept, spread);
    sta_validity_spread_codes(present, kept, codes);
    sta_validity_missing(present, missing);
    for (uint32_t i = 0; i < rows; i++) {
        const bool has = sta_validity_has(present, i);
        cr_assert_eq(spread[i], has ? values[i] : 0, "row %u of %u", i, rows);
        cr_assert_eq(codes[i], has ? (uint32_t)values[i] : STA_NO_CODE, "row %u of %u", i, rows);
        cr_assert_eq(missing[i], !has, "row %u of %u", i, rows);
    }
    free(spread);
    free(codes);
    free(missing);
}

/* Buffers as long as their rows, so that a sanitizer sees a step past them. */
static void check_kept(uint32_t rows, unsigned percent, unsigned kind_count)
{
    struct sta_validity present;
    uint8_t *kinds = sta_alloc(rows);
    int64_t *values = sta_alloc_array(rows, sizeof *values),
            *kept = sta_alloc_array(rows + STA_VALIDITY_PADDING, sizeof *kept);
    uint16_t *keys = sta_alloc_array(rows, sizeof *keys),
             *kept_keys = sta_alloc_array(rows, sizeof *kept_keys);
    unsigned seen = 0;
    for (uint32_t i = 0; i < rows; i++) {
        kinds[i] = random_bits() % 100 < percent ? (uint8_t)(1 + random_bits() % kind_count) : 0;
        seen |= kinds[i] ? 1u << kinds[i] : 0;
        values[i] = (int64_t)random_bits();
        keys[i] = (uint16_t)random_bits();
    }
    sta_validity_find(&present, kinds, rows);
    sta_validity_compact(&present, values, kept);
    sta_validity_compact_keys(&present, keys, kept_keys);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows; i++) {
        cr_assert_eq(present.bits[i / 32] >> (i % 32) & 1, kinds[i] != 0);
        if (kinds[i] == 0)
            continue;
        cr_assert_eq(kept[count], values[i], "row %u of %u", i, rows);
        cr_assert_eq(kept_keys[count++], keys[i], "row %u of %u", i, rows);
    }
    cr_assert_eq(present.rows, rows);
    cr_assert_eq(present.count, count);
    check_spread(&present, values, kept);
    bool one_kind = seen != 0 && (seen & (seen - 1)) == 0;
    cr_assert_eq(present.kind, one_kind ? __builtin_ctz(seen) : 0);
    free(kinds);
    free(values);
    free(kept);
    free(keys);
    free(kept_keys);
}

Test(rows, values_move_close_together_and_back)
{
    static const uint32_t counts[] = {
        1, 3, 31, 32, 33, 100, 1000, STA_ROW_GROUP_ROWS - 1, STA_ROW_GROUP_ROWS};
    static const unsigned percents[] = {0, 1, 50, 99, 100};
    for (size_t c = 0; c < STA_COUNT_OF(counts); c++)
        for (size_t p = 0; p < STA_COUNT_OF(percents); p++)
            for (unsigned kinds = 1; kinds <= 4; kinds += 3)
                check_kept(counts[c], percents[p], kinds);
}

static void check_by_key(uint32_t rows, uint32_t count)
{
    struct sta_validity validity = {.rows = rows};
    uint8_t *has = sta_alloc_array((count + 7) / 8, sizeof *has); /* no byte more */
    uint16_t *keys = sta_alloc_array(rows, sizeof *keys);
    for (uint32_t i = 0; i < (count + 7) / 8; i++)
        has[i] = (uint8_t)random_bits();
    for (uint32_t i = 0; i < rows; i++)
        keys[i] = (uint16_t)(random_bits() % count);
    sta_validity_by_key(&validity, has, count, keys);
    for (uint32_t i = 0; i < rows; i++)
        cr_assert_eq(sta_validity_has(&validity, i), has[keys[i] / 8] >> (keys[i] % 8) & 1,
                     "row %u of %u, %u keys", i, rows, count);
    for (uint32_t i = rows; i < STA_ROW_GROUP_ROWS; i++)
        cr_assert_eq(sta_validity_has(&validity, i), 0);
    free(has);
    free(keys);
}

Test(rows, a_key_says_whether_there_is_a_value)
{
    static const uint32_t counts[] = {1, 31, 32, 33, 1000, STA_ROW_GROUP_ROWS};
    static const uint32_t keys[] = {1, 2, 8, 9, 17, 64, 127, 128, 129, 4097};
    for (size_t c = 0; c < STA_COUNT_OF(counts); c++)
        for (size_t k = 0; k < STA_COUNT_OF(keys); k++)
            check_by_key(counts[c], keys[k]);
}
