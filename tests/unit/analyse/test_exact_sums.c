/* Sums by bin of time against sums over single ticks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "analyse/bounded_sum.h"
#include "analyse/exact/sums.h"
#include "common/memory.h"

#define HORIZON 300

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

/* What exact.md says, bin by bin; the window cuts events as edges of bins do. */
struct wanted {
    int64_t count[HORIZON + 1], events[HORIZON + 1], time[HORIZON + 1], sizes[HORIZON + 1];
};

static int64_t bytes_before(int64_t size, int64_t ts, int64_t te, int64_t at)
{
    return (int64_t)((__int128)size * (at - ts) / (te - ts));
}

static void add_slowly(struct wanted *wanted, const struct sta_exact_bins *bins, int64_t ts, int64_t te,
                       int64_t size)
{
    for (size_t b = 0; b < bins->count; b++) {
        int64_t low = STA_MAX(ts, sta_bin_from(bins, b));
        int64_t high = STA_MIN(te, sta_bin_to(bins, b));
        bool starts = ts >= sta_bin_from(bins, b) && ts < sta_bin_to(bins, b);
        if (!starts && low >= high)
            continue;
        wanted->events[b]++;
        wanted->count[b] += starts;
        wanted->time[b] += high - low;
        wanted->sizes[b] +=
            te == ts ? size : bytes_before(size, ts, te, high) - bytes_before(size, ts, te, low);
    }
}

static void compare(const struct sta_fields *fields, const struct wanted *wanted, size_t bins, uint64_t seed)
{
    for (size_t b = 0; b < bins; b++) {
        cr_assert_eq(fields->values[STA_FIELD_EVENTS][b], wanted->events[b], "seed %lu bin %zu events",
                     (unsigned long)seed, b);
        cr_assert_eq(fields->values[STA_FIELD_COUNT][b], wanted->count[b], "seed %lu bin %zu count",
                     (unsigned long)seed, b);
        cr_assert_eq(fields->values[STA_FIELD_TIME][b], wanted->time[b], "seed %lu bin %zu time",
                     (unsigned long)seed, b);
        cr_assert_eq(fields->values[STA_FIELD_SIZE][b], wanted->sizes[b], "seed %lu bin %zu size",
                     (unsigned long)seed, b);
    }
}

static struct sta_exact_bins some_bins(void)
{
    int64_t g = 1 + below(40);
    int64_t all = HORIZON / g + 1;
    struct sta_exact_bins bins = {.g = g, .first = below(2) ? 0 : below((uint32_t)all)};
    bins.count = 1 + below((uint32_t)(all - bins.first));
    bins.from = bins.first * g + below((uint32_t)g);
    bins.to = (bins.first + (int64_t)bins.count) * g - below((uint32_t)g);
    if (bins.to <= bins.from) /* both in one bin */
        bins.to = bins.from + 1;
    return bins;
}

Test(exact_sums, equal_sums_over_single_ticks)
{
    struct sta_error err = STA_ERROR_INIT;
    struct wanted *wanted = sta_alloc(sizeof *wanted);
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        state = seed;
        *wanted = (struct wanted){0};
        const struct sta_exact_bins bins = some_bins();
        struct sta_sums sums;
        struct sta_fields fields;
        sta_sums_init(&sums, &bins, STA_WANT_SIZES, NULL);
        sta_fields_init(&fields, bins.count, STA_WANT_SIZES, false);
        for (int i = 0; i < 30; i++) {
            int64_t ts = below(HORIZON);
            int64_t te = below(5) == 0 ? ts : ts + below((uint32_t)(HORIZON - ts)) / (1 + below(9));
            int64_t size = below(3) == 0 ? 0 : (int64_t)below(1000) << below(45);
            struct sta_sums_event event = {ts, te - ts, size};
            struct sta_exact_part part;
            if (sta_exact_part_of(&bins, ts, te, &part)) {
                sta_exact_part_bins(&bins, &part);
                cr_assert_eq(sta_sums_add(&sums, 3, &event, &part, &err), 0);
            }
            add_slowly(wanted, &bins, ts, te, size);
        }
        sta_sums_fold(&sums, 3, &fields, 0);
        compare(&fields, wanted, bins.count, seed);
        sta_fields_fini(&fields);
        sta_sums_fini(&sums);
    }
    free(wanted);
}

Test(exact_sums, bins_in_runs_are_found)
{
    static const struct sta_bin_run runs[] = {{2, 0}, {5, 3}, {1000000, 4}};
    static const int64_t numbers[] = {2, 3, 4, 5, 1000000, 1000001};
    const struct sta_exact_bins bins = {
        .g = 10, .count = 6, .from = 23, .to = 10000015, .runs = runs, .run_count = 3};
    for (size_t b = 0; b < bins.count; b++) {
        cr_expect_eq(sta_bin_number(&bins, b), numbers[b]);
        cr_expect_eq(sta_bin_of(&bins, STA_MAX(bins.from, numbers[b] * 10)), b);
        cr_expect_eq(sta_bin_of(&bins, STA_MIN(bins.to, numbers[b] * 10 + 10) - 1), b);
    }
    cr_expect_eq(sta_bin_from(&bins, 0), 23, "cut by the window");
    cr_expect_eq(sta_bin_to(&bins, 5), 10000015);
    cr_expect_eq(sta_bin_to(&bins, 3), 60);
    cr_expect_eq(sta_bin_of(&bins, 60), 4, "the next one that there is");
    cr_expect_eq(sta_bin_of(&bins, 9999999), 4);
    cr_expect_eq(sta_bin_of(&bins, 10000020), 6, "there is none");
}

Test(exact_sums, room_is_asked_for_before_it_is_taken)
{
    const struct sta_exact_bins bins = {.g = 1, .count = (size_t)1 << 36, .to = INT64_C(1) << 36};
    struct sta_budget budget = {.workers = 2, .memory = (size_t)1 << 30};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_sums sums;
    struct sta_sums_event event = {5, 1, 1};
    struct sta_exact_part part;
    sta_sums_init(&sums, &bins, STA_WANT_SIZES, &budget);
    cr_assert(sta_exact_part_of(&bins, 5, 6, &part));
    sta_exact_part_bins(&bins, &part);
    cr_expect_eq(sta_sums_add(&sums, 0, &event, &part, &err), STA_ELIMIT);
    cr_expect_not_null(strstr(err.text, "query_memory"), "%s", err.text);
    sta_sums_fini(&sums);
}

Test(exact_sums, what_does_not_fit_is_too_large_in_any_order)
{
    const struct sta_exact_bins bins = {.g = 100, .count = 2, .to = 200};
    struct sta_error err = STA_ERROR_INIT;
    static const int64_t sizes[] = {INT64_C(1) << 62, INT64_C(1) << 62, 1};
    for (int first = 0; first < 3; first++) {
        struct sta_sums sums;
        struct sta_fields fields;
        sta_sums_init(&sums, &bins, STA_WANT_SIZES, NULL);
        sta_fields_init(&fields, bins.count, STA_WANT_SIZES, false);
        for (int i = 0; i < 3; i++) {
            struct sta_sums_event event = {5, 10, sizes[(first + i) % 3]};
            struct sta_exact_part part;
            cr_assert(sta_exact_part_of(&bins, 5, 15, &part));
            sta_exact_part_bins(&bins, &part);
            cr_assert_eq(sta_sums_add(&sums, 0, &event, &part, &err), 0);
        }
        sta_sums_fold(&sums, 0, &fields, 0);
        cr_expect_eq(fields.values[STA_FIELD_SIZE][0], STA_TOO_LARGE);
        cr_expect_eq(fields.values[STA_FIELD_SIZE][1], 0);
        cr_expect_eq(fields.values[STA_FIELD_COUNT][0], 3);
        sta_fields_fini(&fields);
        sta_sums_fini(&sums);
    }
}

Test(exact_sums, no_byte_of_a_huge_transfer_is_lost_between_bins)
{
    enum { BINS = 1000 };
    const int64_t size = INT64_MAX / 3;
    const int64_t g = INT64_C(1000000007);
    int64_t sizes[BINS] = {0};
    struct sta_exact_bins bins = {.g = g, .count = BINS, .to = g * BINS};
    struct sta_exact_part part;
    cr_assert(sta_exact_part_of(&bins, 5, g * BINS - 3, &part));
    sta_exact_part_bins(&bins, &part);
    sta_spread_size(sizes, &bins, &part, 5, g * BINS - 3, size);
    int64_t sum = 0;
    for (int b = 0; b < BINS; b++) {
        sum += sizes[b];
        cr_assert(llabs(sizes[b] - size / BINS) < size / BINS / 100);
    }
    cr_assert_eq(sum, size);
}

Test(exact_sums, size_bins_are_closed_on_the_right)
{
    static const struct {
        int64_t size;
        unsigned bin;
    } cases[] = {{1, 0},
                 {2, 0},
                 {4096, 0},
                 {4097, 1},
                 {16384, 1},
                 {16385, 2},
                 {1 << 20, 4},
                 {1 << 30, 9},
                 {(1 << 30) + 1, 10},
                 {INT64_C(1) << 32, 10},
                 {(INT64_C(1) << 32) + 1, 11},
                 {INT64_MAX, 11}};
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++)
        cr_assert_eq(sta_size_bin(cases[i].size), cases[i].bin, "%ld", (long)cases[i].size);
}
