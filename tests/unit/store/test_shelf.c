/* The shelf of decoded columns: what is put there comes back, whatever its kind and width, and no more is
 * kept than there is room for. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/dictionary.h"
#include "common/memory.h"
#include "store/shelf.h"

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

static struct sta_column_shelf_key key_of(uint32_t block)
{
    return (struct sta_column_shelf_key){.segment = 7, .block = block, .column = 3};
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

static void put(struct sta_column_shelf *shelf, uint32_t block, const struct column *column)
{
    sta_column_shelf_put(shelf, key_of(block), ROWS, column->min, column->max, &column->values);
}

Test(shelf, columns_come_back)
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
    struct sta_column_shelf *shelf = sta_column_shelf_create(64 << 20, 0, NULL);
    uint32_t block = 0;
    for (size_t r = 0; r < STA_COUNT_OF(ranges); r++)
        for (int some = 0; some <= 1; some++)
            for (int codes = 0; codes <= ranges[r].codes; codes++, block++) {
                enum sta_column_kind kind = codes ? STA_KIND_CODE : STA_KIND_INT;
                struct column want = create_column(kind, some), got = create_column(kind, false);
                fill(&want, ranges[r].min, ranges[r].range);
                cr_assert_not(sta_column_shelf_get(shelf, key_of(block), ROWS, &got.values));
                put(shelf, block, &want);
                cr_assert(sta_column_shelf_get(shelf, key_of(block), ROWS, &got.values), "range %zu", r);
                check_same(&want, &got);
                free_column(&want);
                free_column(&got);
            }
    sta_column_shelf_destroy(shelf);
}

Test(shelf, too_wide_or_of_another_kind_is_not_kept)
{
    struct sta_column_shelf *shelf = sta_column_shelf_create(64 << 20, 0, NULL);
    struct column wide = create_column(STA_KIND_INT, false), mixed = create_column(STA_KIND_MIXED, false),
                  got = create_column(STA_KIND_INT, false);
    fill(&wide, 0, UINT64_C(1) << 32);
    fill(&mixed, 0, 10);
    put(shelf, 0, &wide);
    put(shelf, 1, &mixed);
    cr_assert_not(sta_column_shelf_get(shelf, key_of(0), ROWS, &got.values));
    cr_assert_not(sta_column_shelf_get(shelf, key_of(1), ROWS, &got.values));
    free_column(&wide);
    free_column(&mixed);
    free_column(&got);
    sta_column_shelf_destroy(shelf);
}

#define BLOCKS 4000u
#define ROOM 1000u /* columns, a little less */

/* Puts columns one after another, and asks for the first one all the time.  Return: how many there are in the
 * end, and by block whether. */
static uint32_t put_many(struct sta_column_shelf *shelf, bool *there)
{
    struct column column = create_column(STA_KIND_INT, false);
    uint32_t kept = 0;
    fill(&column, 0, 200);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        put(shelf, block, &column);
        cr_assert(sta_column_shelf_get(shelf, key_of(0), ROWS, &column.values));
    }
    for (uint32_t block = 0; block < BLOCKS; block++) {
        there[block] = sta_column_shelf_get(shelf, key_of(block), ROWS, &column.values);
        kept += there[block];
    }
    free_column(&column);
    return kept;
}

Test(shelf, what_was_not_asked_for_longest_makes_room)
{
    struct sta_column_shelf *shelf = sta_column_shelf_create(ROOM * (uint64_t)ROWS, 0, NULL);
    bool there[BLOCKS];
    uint32_t kept = put_many(shelf, there);
    cr_assert_leq(kept, ROOM);
    cr_assert_gt(kept, ROOM / 2);
    cr_assert(there[0] && there[BLOCKS - 1]);
    cr_assert_not(there[1]);
    sta_column_shelf_destroy(shelf);
}

Test(shelf, what_is_in_use_stays)
{
    struct sta_column_shelf *shelf = sta_column_shelf_create(ROOM * (uint64_t)ROWS, 3600, NULL);
    bool there[BLOCKS];
    uint32_t kept = put_many(shelf, there);
    cr_assert_leq(kept, ROOM);
    cr_assert_gt(kept, ROOM / 2);
    cr_assert(there[0] && there[1]);
    cr_assert_not(there[BLOCKS - 1]);
    sta_column_shelf_destroy(shelf);
}

static uint32_t put_some(struct sta_column_shelf *shelf, uint64_t segment, uint32_t blocks, bool count)
{
    struct column column = create_column(STA_KIND_INT, false);
    uint32_t there = 0;
    fill(&column, 0, 200);
    for (uint32_t block = 0; block < blocks; block++) {
        struct sta_column_shelf_key key = {.segment = segment, .block = block, .column = 3};
        if (!count)
            sta_column_shelf_put(shelf, key, ROWS, column.min, column.max, &column.values);
        there += sta_column_shelf_get(shelf, key, ROWS, &column.values);
    }
    free_column(&column);
    return there;
}

Test(shelf, columns_of_closed_segments_are_dropped)
{
    static const uint64_t closed[] = {3, 8, 9};
    struct sta_account account;
    sta_account_init(&account, 64 << 20, "memory", NULL);
    struct sta_column_shelf *shelf = sta_column_shelf_create(64 << 20, 3600, &account);
    for (uint64_t segment = 1; segment <= 10; segment++)
        cr_assert_eq(put_some(shelf, segment, 20, false), 20);
    size_t all = account.used;
    cr_assert_gt(all, 200 * (size_t)ROWS);
    sta_column_shelf_forget(shelf, closed, STA_COUNT_OF(closed));
    for (uint64_t segment = 1; segment <= 10; segment++)
        cr_assert_eq(put_some(shelf, segment, 20, true),
                     segment == 3 || segment == 8 || segment == 9 ? 0 : 20, "segment %d", (int)segment);
    cr_assert_eq(account.used, all / 10 * 7);
    sta_column_shelf_destroy(shelf);
    sta_account_fini(&account);
}

Test(shelf, columns_give_way_and_are_not_kept_past_the_account)
{
    struct sta_account account;
    sta_account_init(&account, 100 * (size_t)ROWS, "memory", NULL);
    struct sta_column_shelf *shelf = sta_column_shelf_create(64 << 20, 3600, &account);
    put_some(shelf, 1, 200, false);
    cr_assert_leq(account.used, account.limit);
    cr_assert_gt(account.used, account.limit / 2);
    size_t before = account.used, freed = sta_column_shelf_shrink(shelf, before / 2);
    cr_assert_eq(account.used, before - freed);
    cr_assert_geq(freed, before / 2);
    sta_column_shelf_shrink(shelf, SIZE_MAX / 2);
    cr_assert_eq(account.used, 0);
    sta_column_shelf_destroy(shelf);
    sta_account_fini(&account);
}
