/* Sums by bin of time against sums over single ticks; sums by signature and key. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "analyse/views/bounded_sum.h"
#include "analyse/exact/additive.h"
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

/* What the groups give to each bin; of one signature, and any key. */
static int add_up(void *context, uint32_t signature, uint32_t key, size_t bin,
                  const struct sta_additive_sums *sums, struct sta_error *err)
{
    struct wanted *got = context;
    cr_assert_eq(signature, 3);
    got->count[bin] += sums->count;
    got->events[bin] += sums->events;
    got->time[bin] = sta_bounded_add(got->time[bin], sums->time);
    got->sizes[bin] = sta_bounded_add(got->sizes[bin], sums->size);
    return 0;
}

static void take(struct sta_additive *additive, unsigned worker, int64_t ts, int64_t te, int64_t size)
{
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_additive_event event = {.signature = 3, .ts = ts, .dur = te - ts, .size = size};
    struct sta_exact_part part;
    if (!sta_exact_part_of(additive->bins, ts, te, &part))
        return;
    sta_exact_part_bins(additive->bins, &part);
    cr_assert_eq(sta_additive_take(additive, worker, &event, &part, &err), 0, "%s", err.text);
}

static void gather(struct sta_additive *additive, struct wanted *got)
{
    struct sta_error err = STA_ERROR_INIT;
    *got = (struct wanted){0};
    cr_assert_eq(sta_additive_end(additive, &err), 0, "%s", err.text);
    cr_assert_eq(sta_additive_each(additive, add_up, got, &err), 0, "%s", err.text);
}

static void compare(const struct wanted *got, const struct wanted *wanted, size_t bins, uint64_t seed)
{
    const unsigned long number = seed;
    for (size_t b = 0; b < bins; b++) {
        cr_assert_eq(got->events[b], wanted->events[b], "seed %lu bin %zu events", number, b);
        cr_assert_eq(got->count[b], wanted->count[b], "seed %lu bin %zu count", number, b);
        cr_assert_eq(got->time[b], wanted->time[b], "seed %lu bin %zu time", number, b);
        cr_assert_eq(got->sizes[b], wanted->sizes[b], "seed %lu bin %zu size", number, b);
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

Test(exact_additive, equals_sums_over_single_ticks)
{
    const struct sta_budget budget = {.workers = 2, .memory = (size_t)1 << 28};
    struct sta_error err = STA_ERROR_INIT;
    struct wanted *wanted = sta_alloc(2 * sizeof *wanted), *got = wanted + 1;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        state = seed;
        *wanted = (struct wanted){0};
        const struct sta_exact_bins bins = some_bins();
        struct sta_additive additive;
        cr_assert_eq(sta_additive_init(&additive, &bins, STA_WANT_SIZES, &budget, &err), 0, "%s", err.text);
        for (int i = 0; i < 30; i++) {
            int64_t ts = below(HORIZON);
            int64_t te = below(5) == 0 ? ts : ts + below((uint32_t)(HORIZON - ts)) / (1 + below(9));
            int64_t size = below(3) == 0 ? 0 : (int64_t)below(1000) << below(45);
            take(&additive, below(2), ts, te, size);
            add_slowly(wanted, &bins, ts, te, size);
        }
        gather(&additive, got);
        compare(got, wanted, bins.count, seed);
        sta_additive_fini(&additive);
    }
    free(wanted);
}

/* An event costs no more rows for lying over more bins. */
Test(exact_additive, long_events_take_few_rows)
{
    const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 28};
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_exact_bins bins = {.g = 1, .count = HORIZON, .to = HORIZON};
    struct wanted *got = sta_alloc(sizeof *got);
    struct sta_additive additive;
    cr_assert_eq(sta_additive_init(&additive, &bins, 0, &budget, &err), 0, "%s", err.text);
    take(&additive, 0, 0, HORIZON, 1000);
    take(&additive, 0, 3, HORIZON - 3, 1000);
    gather(&additive, got);
    cr_expect_eq(additive.feed.groups.rows, 6);
    for (size_t b = 0; b < HORIZON; b++) {
        const int64_t both = b >= 3 && b < HORIZON - 3;
        cr_assert_eq(got->events[b], 1 + both, "bin %zu", b);
        cr_assert_eq(got->time[b], 1 + both, "bin %zu", b);
        cr_assert_eq(got->count[b], (b == 0) + (b == 3), "bin %zu", b);
    }
    sta_additive_fini(&additive);
    free(got);
}

static int count_keys(void *context, uint32_t signature, uint32_t key, size_t bin,
                      const struct sta_additive_sums *sums, struct sta_error *err)
{
    int64_t *counts = context;
    cr_assert(key == STA_NO_CODE || key < 2);
    counts[key == STA_NO_CODE ? 2 : key] += sums->count;
    cr_expect_eq(sums->size_bin, key == 1 ? 1 : STA_SIZE_BINS);
    return 0;
}

Test(exact_additive, a_missing_key_is_one_like_others)
{
    const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 28};
    const struct sta_exact_bins bins = sta_exact_bins_one(0, INT64_MAX);
    struct sta_error err = STA_ERROR_INIT;
    static const uint32_t keys[] = {0, STA_NO_CODE, 1, 1, STA_NO_CODE, 1};
    struct sta_additive additive;
    struct sta_exact_part part;
    int64_t counts[3] = {0};
    cr_assert_eq(sta_additive_init(&additive, &bins, STA_WANT_ALL, &budget, &err), 0, "%s", err.text);
    cr_assert(sta_exact_part_of(&bins, 5, 6, &part));
    sta_exact_part_bins(&bins, &part);
    for (size_t i = 0; i < STA_COUNT_OF(keys); i++) {
        struct sta_additive_event event = {
            .key = keys[i], .ts = 5, .dur = 1, .size = keys[i] == 1 ? 5000 : 0};
        cr_assert_eq(sta_additive_take(&additive, 0, &event, &part, &err), 0, "%s", err.text);
    }
    cr_assert_eq(sta_additive_end(&additive, &err), 0, "%s", err.text);
    cr_assert_eq(sta_additive_each(&additive, count_keys, counts, &err), 0, "%s", err.text);
    cr_expect(counts[0] == 1 && counts[1] == 3 && counts[2] == 2);
    sta_additive_fini(&additive);
}

Test(exact_additive, bins_in_runs_are_found)
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

/* Takes events of so many bins.  Return: the first status that is not 0. */
static int take_bins(const struct sta_budget *budget, int64_t count, struct sta_error *err)
{
    const struct sta_exact_bins bins = {.g = 1, .count = (size_t)count, .to = count};
    struct sta_additive additive;
    struct wanted none;
    int rc = sta_additive_init(&additive, &bins, STA_WANT_ALL, budget, err);
    for (int64_t ts = 0; rc == 0 && ts < count; ts++) {
        const struct sta_additive_event event = {.signature = 1, .ts = ts, .dur = 1, .size = 1};
        const struct sta_exact_part part = {ts, ts + 1, (size_t)ts, (size_t)ts, 1};
        rc = sta_additive_take(&additive, 0, &event, &part, err);
    }
    if (rc == 0)
        rc = sta_additive_end(&additive, err);
    if (rc == 0)
        rc = sta_additive_each(&additive, NULL, &none, err);
    sta_additive_fini(&additive);
    return rc;
}

Test(exact_additive, what_does_not_fit_the_memory_is_refused)
{
    const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 20};
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_eq(take_bins(&budget, 1 << 20, &err), STA_ELIMIT);
    cr_expect_not_null(strstr(err.text, "query_memory"), "%s", err.text);
}

Test(exact_additive, is_cancelled_while_groups_are_brought_in_order)
{
    const _Atomic bool cancel = true;
    const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 30, .cancel = &cancel};
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_eq(take_bins(&budget, 1 << 18, &err), STA_ECANCELLED);
}

Test(exact_additive, what_does_not_fit_is_too_large_in_any_order)
{
    const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 28};
    const struct sta_exact_bins bins = {.g = 100, .count = 2, .to = 200};
    struct sta_error err = STA_ERROR_INIT;
    static const int64_t sizes[] = {INT64_C(1) << 62, INT64_C(1) << 62, 1};
    struct wanted *got = sta_alloc(sizeof *got);
    for (int first = 0; first < 3; first++) {
        struct sta_additive additive;
        cr_assert_eq(sta_additive_init(&additive, &bins, STA_WANT_SIZES, &budget, &err), 0, "%s", err.text);
        for (int i = 0; i < 3; i++)
            take(&additive, 0, 5, 15, sizes[(first + i) % 3]);
        gather(&additive, got);
        cr_expect_eq(got->sizes[0], STA_TOO_LARGE);
        cr_expect_eq(got->sizes[1], 0);
        cr_expect_eq(got->count[0], 3);
        sta_additive_fini(&additive);
    }
    free(got);
}

Test(exact_additive, no_byte_of_a_huge_transfer_is_lost_between_bins)
{
    enum { BINS = 1000 };
    const int64_t size = INT64_MAX / 3;
    const int64_t g = INT64_C(1000000007);
    const struct sta_exact_bins bins = {.g = g, .count = BINS, .to = g * BINS};
    struct sta_exact_part part;
    int64_t sum = 0;
    cr_assert(sta_exact_part_of(&bins, 5, g * BINS - 3, &part));
    sta_exact_part_bins(&bins, &part);
    for (size_t b = 0; b < BINS; b++) {
        const int64_t from = STA_MAX(part.from, sta_bin_from(&bins, b));
        const int64_t to = STA_MIN(part.to, sta_bin_to(&bins, b));
        int64_t bytes = sta_bytes_between(from, to, 5, g * BINS - 8, size);
        sum += bytes;
        cr_assert(llabs(bytes - size / BINS) < size / BINS / 100);
    }
    cr_assert_eq(sum, size);
}

Test(exact_additive, size_bins_are_closed_on_the_right)
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
