/* What ends a grouping: too many values of unique, nobody who waits, a folder that is none, a sink that has
 * had enough. */
#include <criterion/criterion.h>
#include <string.h>

#include "analyse/operators/aggregate.h"
#include "analyse/operators/spill.h"
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
