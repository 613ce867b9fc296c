/* Parts of the compatible tables that small traces do not try: ranks of many values, sums that must be exact,
 * steps of scores. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/compatible/layer_view.h"
#include "analyse/compatible/scores.h"
#include "analyse/compatible/sum.h"
#include "analyse/exec/budget.h"
#include "analyse/operators/aggregate.h"
#include "common/memory.h"

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

/* ---- sums of seconds */

/* Seconds in units of 2^-82, which divides every double from 2^-30 (more than a nanosecond) on. */
static __int128 fixed_of(double seconds)
{
    int exponent;
    double mantissa = frexp(seconds, &exponent);
    return seconds == 0 ? 0 : (__int128)ldexp(mantissa, 53) << (exponent - 53 + 82);
}

enum { SUM_GROUPS = 40, SUM_ROWS = 50000 };

static int compare_sums(void *self, const struct sta_vector *keys, const struct sta_vector *values,
                        uint32_t rows, struct sta_error *err)
{
    const __int128 *wanted = self;
    for (uint32_t i = 0; i < rows; i++)
        cr_expect_eq(values[0].numbers[i], (double)wanted[keys[0].integers[i]] * 0x1p-82, "group %ld",
                     (long)keys[0].integers[i]);
    return 0;
}

/* Durations rounded to seconds each and added as fixed-point numbers, exactly: what the aggregation of
 * doubles must give to the last bit. */
Test(compatible_parts, sums_of_seconds_are_exact)
{
    static double seconds[SUM_ROWS];
    static int64_t groups[SUM_ROWS];
    __int128 wanted[SUM_GROUPS] = {0};
    uint64_t state = 7;
    for (size_t i = 0; i < SUM_ROWS; i++) {
        uint64_t ticks = next(&state) >> next(&state) % 44;
        seconds[i] = (double)STA_MIN(ticks, UINT64_C(4600000000000000)) / (i % 2 > 0 ? 1e6 : 1e9);
        groups[i] = (int64_t)(next(&state) % SUM_GROUPS);
        wanted[groups[i]] += fixed_of(seconds[i]);
    }
    struct sta_error err = STA_ERROR_INIT;
    struct sta_aggregation *aggregation;
    const struct sta_budget budget = {.workers = 2, .memory = (size_t)1 << 26};
    const enum sta_type key = STA_TYPE_INT;
    const struct sta_primitive sum = {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_FLOAT}};
    const struct sta_aggregation_spec spec = {
        .keys = &key, .key_count = 1, .primitives = &sum, .primitive_count = 1};
    cr_assert_eq(sta_aggregation_create(&spec, &budget, NULL, &aggregation, &err), 0);
    for (unsigned i = 0, rows; i < SUM_ROWS; i += rows) {
        rows = i == 0 ? 1 : STA_MIN(SUM_ROWS - i, 1000u);
        struct sta_vector keys = {.type = STA_TYPE_INT, .integers = groups + i};
        struct sta_vector arguments = {.type = STA_TYPE_FLOAT, .numbers = seconds + i};
        struct sta_aggregation_input input = {.count = rows, .keys = &keys, .arguments = &arguments};
        cr_assert_eq(sta_aggregation_consume(aggregation, i / 1000 % 2, &input, &err), 0);
    }
    struct sta_aggregation_output output = {wanted, compare_sums};
    cr_assert_eq(sta_aggregation_finish(aggregation, &output, &err), 0);
    sta_aggregation_destroy(aggregation);
}

/* ---- values of axes */

Test(compatible_parts, bins_are_ranked)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_axes axes = {0};
    const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 26};
    struct sta_pool pool = {.budget = &budget};
    static uint32_t items[30000], bins[30000];
    uint64_t state = 3;
    for (size_t i = 0; i < STA_COUNT_OF(items); i++)
        items[i] = bins[i] = i % 50 < 40 ? (uint32_t)(i / 7) : (uint32_t)(next(&state) % INT32_MAX);
    cr_assert_eq(sta_axes_rank(&axes, STA_AXIS_TIME, items, STA_COUNT_OF(items), &pool, &err), 0);
    for (size_t i = 0; i < STA_COUNT_OF(items); i++)
        cr_assert_eq(axes.values[STA_AXIS_TIME][items[i]], bins[i]);
    for (uint32_t rank = 1; rank < axes.count[STA_AXIS_TIME]; rank++)
        cr_assert_lt(axes.values[STA_AXIS_TIME][rank - 1], axes.values[STA_AXIS_TIME][rank]);
    sta_pool_fini(&pool);
}

Test(compatible_parts, names_that_occur_are_ranked)
{
    enum { NAMES = 300 };
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_budget budget = {.workers = 1};
    struct sta_pool pool = {.budget = &budget};
    struct sta_dictionary *names = sta_dictionary_create();
    uint32_t codes[NAMES], items[NAMES], *values, count;
    for (uint32_t n = 0; n < NAMES; n++) {
        char name[16];
        codes[n] =
            sta_dictionary_intern(names, name, (size_t)snprintf(name, sizeof name, "f%u", n * 7919u % NAMES));
    }
    for (uint32_t n = 0; n < NAMES; n++)
        items[n] = n % 3 == 0 ? STA_NO_CODE : codes[n - n % 3];
    cr_assert_eq(sta_rank_texts(names, items, NAMES, &values, &count, &pool, &err), 0);
    cr_expect_eq(count, NAMES / 3);
    for (uint32_t n = 0; n < NAMES; n++)
        cr_assert(n % 3 == 0 ? items[n] == STA_NO_CODE : values[items[n]] == codes[n - n % 3]);
    for (uint32_t rank = 1; rank < count; rank++)
        cr_assert_lt(sta_text_order(sta_dictionary_text(names, values[rank - 1]),
                                    sta_dictionary_text(names, values[rank])),
                     0);
    sta_pool_fini(&pool);
    sta_dictionary_destroy(names);
}

Test(compatible_parts, columns_add_up)
{
    double values[1000];
    double plain = 0;
    for (size_t i = 0; i < STA_COUNT_OF(values); i++) {
        values[i] = (double)(i % 17);
        plain += values[i];
    }
    for (size_t count = 0; count < 20; count++)
        cr_expect_eq(sta_sum_pairwise(values, count),
                     (double)(count < 18 ? count * (count - 1) / 2 : 136 + (count - 17) * (count - 18) / 2));
    cr_expect_eq(sta_sum_pairwise(values, STA_COUNT_OF(values)), plain);
}

/* One row of a layer view over these values and @zeros units without. */
static void describe(const double *values, size_t count, uint32_t zeros, double out[STA_STATS])
{
    double *cells[STA_STATS] = {0};
    double quantiles[4][STA_QUANTILE_NUMBERS];
    for (int stat = 0; stat < STA_STATS; stat++)
        cells[stat] = &out[stat];
    for (int q = 0; q < 4; q++)
        cells[STA_STAT_Q10 + q] = quantiles[q];
    for (int stat = 0; stat < STA_STATS; stat++)
        out[stat] = NAN;
    size_t start[] = {0, count};
    uint32_t units = (uint32_t)count + zeros;
    struct sta_layer_values of = {.values = values, .start = start, .units = &units, .rows = 1};
    for (int q = 0; q < 4; q++)
        quantiles[q][0] = NAN;
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_budget budget = {.workers = 1};
    cr_assert_eq(sta_layer_statistics(cells, &of, &budget, &err), 0);
    out[STA_STAT_Q25] = quantiles[STA_STAT_Q25 - STA_STAT_Q10][0];
}

Test(compatible_parts, statistics_of_a_row)
{
    double out[STA_STATS];
    describe((double[]){1, 2, 3, 10}, 4, 0, out);
    cr_expect_eq(out[STA_STAT_MEAN], 4);
    cr_expect_eq(out[STA_STAT_STD], sqrt(50.0 / 3));
    cr_expect_eq(out[STA_STAT_Q25], 2.5, "of 2 and 3: from 1.75 to 4.75");
    describe((double[]){5}, 1, 0, out);
    cr_expect_eq(out[STA_STAT_STD], 0, "one value, whose minimum is its maximum");
    describe((double[]){5}, 1, 1, out);
    cr_expect(isnan(out[STA_STAT_MIN]), "0 is missing");
    cr_expect_eq(out[STA_STAT_STD], sqrt(12.5));
    describe((double[]){0}, 0, 3, out);
    cr_expect(isnan(out[STA_STAT_SUM]) && isnan(out[STA_STAT_STD]) && isnan(out[STA_STAT_Q25]));
    describe((double[]){INFINITY, INFINITY}, 2, 0, out);
    cr_expect(isinf(out[STA_STAT_MEAN]));
    cr_expect_eq(out[STA_STAT_STD], 0);
    describe((double[]){INFINITY, 1}, 2, 0, out);
    cr_expect_eq(out[STA_STAT_MIN], 1);
    cr_expect(isnan(out[STA_STAT_STD]));
}

Test(compatible_parts, scores_count_the_steps_below)
{
    cr_expect_eq(sta_score(sta_score_shares, 0), 0);
    cr_expect_eq(sta_score(sta_score_shares, 0.25), 1);
    cr_expect_eq(sta_score(sta_score_shares, 0.91), 5);
    cr_expect_eq(sta_score(sta_score_shares, INFINITY), 5);
    cr_expect_eq(sta_score(sta_score_slopes, 1), 3, "a slope of 1 lies above tan 45 as computed");
    cr_expect_eq(sta_score(sta_score_intensities, 0x1p-20), 3, "1 MiB a call lies above its step");
    cr_expect_eq(sta_score(sta_score_intensities, 0x1p-25), 1);
    cr_expect_eq(sta_score(sta_score_intensities, 0x1p-15), 4, "32 KiB a call lies above its step");
}
