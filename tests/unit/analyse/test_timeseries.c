/* Bins of time against sums over single ticks. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/timeseries.h"
#include "common/memory.h"

#define HORIZON 300
#define MOST_BINS (HORIZON + 1)

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

struct arrays {
    int64_t starts[MOST_BINS + 1], touched[MOST_BINS + 1], parts[MOST_BINS + 1], inside[MOST_BINS + 1];
    int64_t sizes[MOST_BINS + 1];
};

static struct sta_series_sums sums_in(struct arrays *arrays)
{
    return (struct sta_series_sums){.starts = arrays->starts,
                                    .touched = arrays->touched,
                                    .time = {arrays->parts, arrays->inside},
                                    .sizes = arrays->sizes};
}

/* What exact.md says, bin by bin. */
static void add_slowly(struct arrays *wanted, int64_t g, int64_t ts, int64_t te, int64_t size)
{
    if (te == ts) {
        wanted->starts[ts / g]++;
        wanted->touched[ts / g]++;
        wanted->sizes[ts / g] += size;
        return;
    }
    for (int64_t b = ts / g; b <= (te - 1) / g; b++) {
        int64_t low = STA_MAX(ts, b * g);
        int64_t high = STA_MIN(te, (b + 1) * g);
        wanted->starts[b] += b == ts / g;
        wanted->touched[b]++;
        wanted->parts[b] += high - low;
        wanted->sizes[b] += (int64_t)((__int128)size * (high - ts) / (te - ts)) -
                            (int64_t)((__int128)size * (low - ts) / (te - ts));
    }
}

static void compare(const struct arrays *got, const struct arrays *wanted, const struct sta_bins *bins,
                    uint64_t seed)
{
    int64_t touched = 0;
    for (size_t b = 0; b < bins->count; b++) {
        size_t whole = (size_t)bins->first + b; /* the same bin of the whole series */
        touched += got->touched[b];
        cr_assert_eq(got->starts[b], wanted->starts[whole], "seed %lu bin %zu starts", (unsigned long)seed,
                     b);
        cr_assert_eq(touched, wanted->touched[whole], "seed %lu bin %zu touched", (unsigned long)seed, b);
        cr_assert_eq(got->parts[b], wanted->parts[whole], "seed %lu bin %zu time", (unsigned long)seed, b);
        cr_assert_eq(got->sizes[b], wanted->sizes[whole], "seed %lu bin %zu size", (unsigned long)seed, b);
    }
}

Test(timeseries, a_window_shows_the_same_numbers_as_the_whole)
{
    struct arrays *got = sta_alloc(sizeof *got);
    struct arrays *wanted = sta_alloc(sizeof *wanted);
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        state = seed;
        memset(got, 0, sizeof *got);
        memset(wanted, 0, sizeof *wanted);
        int64_t g = 1 + below(40);
        int64_t all = HORIZON / g + 1;
        struct sta_bins bins = {.g = g, .first = seed % 3 == 0 ? 0 : below((uint32_t)all)};
        bins.count = seed % 3 == 0 ? (size_t)all : below((uint32_t)(all - bins.first) + 1);
        struct sta_series_sums sums = sums_in(got);
        for (int i = 0; i < 30; i++) {
            int64_t ts = below(HORIZON);
            int64_t te = below(5) == 0 ? ts : ts + below((uint32_t)(HORIZON - ts)) / (1 + below(9));
            int64_t size = below(3) == 0 ? 0 : (int64_t)below(1000) << below(45);
            sta_series_add(&sums, &bins, ts, te, size);
            add_slowly(wanted, g, ts, te, size);
        }
        sta_cover_finish(&sums.time, &bins);
        compare(got, wanted, &bins, seed);
    }
    free(wanted);
    free(got);
}

Test(timeseries, no_byte_of_a_huge_transfer_is_lost_between_bins)
{
    enum { BINS = 1000 };
    const int64_t size = INT64_MAX / 3;
    const int64_t g = INT64_C(1000000007);
    int64_t sizes[BINS] = {0};
    struct sta_bins bins = {.g = g, .first = 0, .count = BINS};
    sta_spread_size(sizes, &bins, 5, g * BINS - 3, size);
    int64_t sum = 0;
    for (int b = 0; b < BINS; b++) {
        sum += sizes[b];
        cr_assert(llabs(sizes[b] - size / BINS) < size / BINS / 100);
    }
    cr_assert_eq(sum, size);
}
