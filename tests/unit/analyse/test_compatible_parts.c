/* Parts of the compatible tables that small traces do not try: sorts and lists of many, sums that must not
 * depend on order, steps of scores. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/compatible/layer_view.h"
#include "analyse/compatible/pass.h"
#include "analyse/compatible/scores.h"
#include "common/memory.h"

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

Test(compatible_parts, members_are_distinct_by_group)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_members members;
    uint64_t first[] = {UINT64_C(1) << 32 | 5, 0 | 7, UINT64_C(1) << 32 | 5, UINT64_C(2) << 32 | 5};
    uint64_t second[] = {0 | 5, 0 | 6};
    const struct sta_pairs lists[] = {{.items = first, .count = 4}, {.items = second, .count = 2}};
    const uint32_t first_names[] = {3, 0, 1}, second_names[] = {0};
    const uint32_t *const names[] = {first_names, second_names};
    cr_assert_eq(sta_members_gather(lists, 2, names, 4, NULL, &members, &err), 0, "%s", err.text);
    static const size_t counts[] = {2, 1, 0, 1}; /* group 0: 5 and 6; 1: 5; 3: 7 */
    for (size_t g = 0; g < 4; g++)
        cr_expect_eq(members.start[g + 1] - members.start[g], counts[g], "group %zu", g);
    cr_expect_eq(members.value_count, 3);
    cr_expect_eq(members.values[members.items[members.start[0]]], 5, "ascending");
    cr_expect_eq(members.values[members.items[members.start[0] + 1]], 6);
    cr_expect_eq(members.values[members.items[members.start[3]]], 7);
    sta_members_fini(&members);
}

Test(compatible_parts, members_follow_the_order_of_their_names)
{
    enum { GROUPS = 50, NAMES = 300, PAIRS = 20000 };
    struct sta_error err = STA_ERROR_INIT;
    struct sta_members members;
    struct sta_dictionary *names = sta_dictionary_create();
    uint32_t codes[NAMES], groups[GROUPS];
    uint64_t state = 1;
    for (uint32_t n = 0; n < NAMES; n++) {
        char name[16];
        size_t length = (size_t)snprintf(name, sizeof name, "f%u", (n * 7919u) % NAMES);
        codes[n] = sta_dictionary_intern(names, name, length);
    }
    for (uint32_t g = 0; g < GROUPS; g++)
        groups[g] = g;
    struct sta_pairs pairs = {.items = sta_alloc_array(PAIRS, sizeof *pairs.items), .count = PAIRS};
    bool has[GROUPS][NAMES] = {0};
    for (size_t i = 0; i < PAIRS; i++) {
        uint32_t group = (uint32_t)(next(&state) % GROUPS), name = codes[next(&state) % (1 + group * 6)];
        pairs.items[i] = (uint64_t)group << 32 | name;
        has[group][name] = true;
    }
    cr_assert_eq(sta_pairs_compact(&pairs, &err), 0);
    const uint32_t *const group_of = groups;
    cr_assert_eq(sta_members_gather(&pairs, 1, &group_of, GROUPS, names, &members, &err), 0);
    for (size_t g = 0; g < GROUPS; g++) {
        size_t wanted = 0;
        for (size_t n = 0; n < NAMES; n++)
            wanted += has[g][n];
        cr_assert_eq(members.start[g + 1] - members.start[g], wanted, "group %zu", g);
        for (size_t i = members.start[g]; i < members.start[g + 1]; i++) {
            uint32_t code = members.values[members.items[i]];
            cr_assert(has[g][code]);
            cr_assert(i == members.start[g] ||
                      sta_text_order(sta_dictionary_text(names, members.values[members.items[i - 1]]),
                                     sta_dictionary_text(names, code)) < 0);
        }
    }
    sta_members_fini(&members);
    free(pairs.items);
    sta_dictionary_destroy(names);
}

Test(compatible_parts, times_add_up_in_any_order)
{
    double seconds[] = {1e-9, 4.6e9, 1e-6, 0.1, 123.456789, -0.2, 0, 3e-9};
    sta_fixed forward = 0, backward = 0;
    for (size_t i = 0; i < STA_COUNT_OF(seconds); i++) {
        cr_expect_eq(sta_fixed_number(sta_fixed_of(seconds[i])), seconds[i]);
        forward = sta_fixed_add(forward, sta_fixed_of(seconds[i]));
        backward = sta_fixed_add(backward, sta_fixed_of(seconds[STA_COUNT_OF(seconds) - 1 - i]));
    }
    cr_expect(forward == backward);
    cr_expect_eq(sta_fixed_number(sta_fixed_of(0.1) + sta_fixed_of(0.2)), 0.1 + 0.2);
    sta_fixed huge = sta_fixed_of(4.6e9);
    for (int i = 0; i < 20; i++)
        huge = sta_fixed_add(huge, huge);
    cr_expect(isinf(sta_fixed_number(huge)), "it does not fit, and says so");
    huge = sta_fixed_add(huge, sta_fixed_of(1));
    cr_expect(isinf(sta_fixed_number(huge)), "whatever is added");
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
    sta_layer_statistics(cells, &of);
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
