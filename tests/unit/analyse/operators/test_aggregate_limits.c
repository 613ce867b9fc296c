/* What ends a grouping: too many values of unique, nobody who waits, a folder that is none, a sink that has
 * had enough. */
#include <criterion/criterion.h>
#include <string.h>

#include "analyse/operators/aggregate.h"
#include "analyse/operators/spill.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

#define ROWS 12000

static int64_t numbers[ROWS];
static _Atomic bool cancelled;

/* Groups all different numbers by themselves or together. */
static int group(bool by_number, enum sta_aggregate aggregate, const struct sta_budget *budget,
                 const char *folder, const struct sta_aggregation_output *sink, struct sta_error *err)
{
    static const enum sta_type keys[] = {STA_TYPE_INT};
    struct sta_primitive primitive = {.aggregate = aggregate, .types = {STA_TYPE_INT}};
    struct sta_aggregation_spec shape = {
        .keys = keys, .key_count = by_number, .primitives = &primitive, .primitive_count = 1};
    struct sta_vector vector = {.type = STA_TYPE_INT, .integers = numbers};
    struct sta_aggregation_input rows = {.count = ROWS, .keys = &vector, .arguments = &vector};
    struct sta_aggregation *grouping;
    for (int64_t i = 0; i < ROWS; i++)
        numbers[i] = i * 7919;
    int rc = sta_aggregation_create(&shape, budget, folder, &grouping, err);
    cr_assert_eq(rc, 0);
    rc = sta_aggregation_consume(grouping, 0, &rows, err);
    if (rc == 0)
        rc = sta_aggregation_finish(grouping, sink, err);
    sta_aggregation_destroy(grouping);
    return rc;
}

static int count_rows(void *self, const struct sta_vector *keys, const struct sta_vector *values,
                      uint32_t rows, struct sta_error *err)
{
    *(uint64_t *)self += rows;
    return 0;
}

static int refuse(void *self, const struct sta_vector *keys, const struct sta_vector *values, uint32_t rows,
                  struct sta_error *err)
{
    return sta_fail(err, STA_ENOSPC, "enough");
}

static uint64_t given;
static const struct sta_aggregation_output counting = {.self = &given, .take = count_rows};
static const struct sta_budget plenty = {.workers = 2, .memory = (size_t)1 << 30};
static const struct sta_budget little = {.workers = 1, .memory = 64 << 10};

Test(grouping_limits, unique_has_a_limit_and_nunique_none)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_eq(group(false, STA_AGGREGATE_UNIQUE, &plenty, ".", &counting, &err), STA_ELIMIT);
    cr_expect(strstr(err.text, "10000") != NULL, "%s", err.text);
    cr_expect_eq(group(false, STA_AGGREGATE_UNIQUE, &little, ".", &counting, &err), STA_ELIMIT);
    cr_expect_eq(group(false, STA_AGGREGATE_NUNIQUE, &plenty, ".", &counting, &err), 0);
    cr_expect_eq(group(true, STA_AGGREGATE_UNIQUE, &plenty, ".", &counting, &err), 0);
}

Test(grouping_limits, cancelling_ends_the_merge)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = plenty;
    budget.cancel = &cancelled;
    cancelled = true;
    cr_expect_eq(group(true, STA_AGGREGATE_ROWS, &budget, ".", &counting, &err), STA_ECANCELLED);
    budget.memory = little.memory;
    cr_expect_eq(group(true, STA_AGGREGATE_ROWS, &budget, ".", &counting, &err), STA_ECANCELLED);
}

Test(grouping_limits, a_folder_that_is_none)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_eq(group(true, STA_AGGREGATE_ROWS, &plenty, "/dev/null/spill", &counting, &err), 0,
                 "not needed");
    cr_expect_neq(group(true, STA_AGGREGATE_ROWS, &little, "/dev/null/spill", &counting, &err), 0);
    cr_expect(strstr(err.text, "/dev/null") != NULL, "%s", err.text);
}

Test(grouping_limits, a_sink_that_fails)
{
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_aggregation_output refusing = {.take = refuse};
    cr_expect_eq(group(true, STA_AGGREGATE_ROWS, &plenty, ".", &refusing, &err), STA_ENOSPC);
    cr_expect_str_eq(err.text, "enough");
    cr_expect_eq(group(true, STA_AGGREGATE_ROWS, &little, ".", &refusing, &err), STA_ENOSPC);
}

Test(grouping_limits, spilled_bytes_come_back)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_spill *spill;
    char text[6];
    cr_assert_eq(sta_spill_create(".", &spill, &err), 0, "%s", err.text);
    cr_assert_eq(sta_spill_write(spill, "abc", 3, &err), 0);
    cr_assert_eq(sta_spill_write(spill, "defgh", 5, &err), 0);
    cr_assert_eq(sta_spill_read(spill, 2, text, 5, &err), 0);
    cr_expect_eq(memcmp(text, "cdefg", 5), 0);
    cr_expect_eq(sta_spill_size(spill), 8);
    sta_spill_destroy(spill);
}

/* ---- in memory */

/* Numbers 0 .. ROWS - 1, modulo @distinct, counted; the sum of @of. */
static struct sta_aggregation *count_integers(const struct sta_budget *budget, uint64_t most_groups,
                                              int64_t distinct, const int64_t *of, int *rc,
                                              struct sta_error *err)
{
    static const enum sta_type keys[] = {STA_TYPE_INT};
    static const struct sta_primitive aggregates[] = {
        {.aggregate = STA_AGGREGATE_ROWS}, {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_INT}}};
    struct sta_aggregation_spec spec = {.keys = keys,
                                        .key_count = 1,
                                        .primitives = aggregates,
                                        .primitive_count = 2,
                                        .most_groups = most_groups};
    struct sta_vector key = sta_vector_of_integers(numbers);
    struct sta_vector argument = sta_vector_of_integers(of);
    struct sta_aggregation_input rows = {.count = ROWS, .keys = &key, .arguments = &argument};
    struct sta_aggregation *grouping;
    for (int64_t i = 0; i < ROWS; i++)
        numbers[i] = (ROWS - i) % distinct;
    cr_assert_eq(sta_aggregation_create(&spec, budget, NULL, &grouping, err), 0);
    *rc = sta_aggregation_consume(grouping, 0, &rows, err);
    return grouping;
}

Test(grouping_limits, groups_are_collected_in_order_and_sums_that_do_not_fit_are_counted)
{
    static int64_t huge[ROWS];
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    struct sta_aggregation_table table;
    struct sta_budget budget = plenty;
    int rc;
    sta_account_init(&account, (size_t)1 << 30, "query_memory", NULL);
    budget.account = &account;
    for (size_t i = 0; i < ROWS; i++)
        huge[i] = (ROWS - i) % 100 < 2 ? INT64_C(1) << 62 : 1;
    struct sta_aggregation *grouping = count_integers(&budget, 0, 100, huge, &rc, &err);
    cr_assert_eq(rc, 0);
    cr_assert_eq(sta_aggregation_collect(grouping, &table, &err), 0, "%s", err.text);
    cr_assert_eq(table.rows, 100);
    for (int64_t i = 0; i < 100; i++) {
        cr_expect(table.keys[0].integers[i] == i && table.values[0].integers[i] == ROWS / 100);
        cr_expect_eq(table.values[1].missing[i], i < 2);
        cr_expect(i < 2 || table.values[1].integers[i] == ROWS / 100);
    }
    cr_expect_eq(sta_aggregation_figures(grouping).too_large, 2);
    cr_expect_gt(account.used, 0, "the table is charged");
    sta_aggregation_table_fini(&table);
    sta_aggregation_destroy(grouping);
    cr_expect_eq(account.used, 0);
}

Test(grouping_limits, past_most_groups_it_is_full)
{
    struct sta_error err = STA_ERROR_INIT;
    for (uint64_t most = 999; most <= 1000; most++) {
        struct sta_aggregation_table table;
        int rc;
        struct sta_aggregation *grouping = count_integers(&plenty, most, 1000, numbers, &rc, &err);
        cr_assert_eq(rc, 0);
        cr_assert_eq(sta_aggregation_collect(grouping, &table, &err), 0);
        cr_expect_eq(sta_aggregation_is_full(grouping), most < 1000);
        cr_expect_eq(table.rows, 1000);
        sta_aggregation_table_fini(&table);
        sta_aggregation_destroy(grouping);
    }
}

Test(grouping_limits, without_a_folder_what_does_not_fit_is_refused)
{
    struct sta_error err = STA_ERROR_INIT;
    int rc;
    struct sta_aggregation *grouping = count_integers(&little, 0, ROWS, numbers, &rc, &err);
    cr_expect_eq(rc, STA_ELIMIT);
    cr_expect(strstr(err.text, "query_memory") != NULL, "%s", err.text);
    sta_aggregation_destroy(grouping);
}
