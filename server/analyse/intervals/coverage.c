/* Intervals over bins of time. */
#include "analyse/intervals/coverage.h"

#include <stdbool.h>

#include "common/memory.h"

/* First and last bin of [ts, te) as indexes; of an instant the bin of ts.  May lie outside 0 .. count - 1. */
struct farthest_end {
    int64_t low, high;
};

static struct farthest_end farthest_end_of(const struct sta_bins *bins, int64_t ts, int64_t te)
{
    int64_t low = ts / bins->g - bins->first;
    int64_t high = te > ts ? (te - 1) / bins->g - bins->first : low;
    return (struct farthest_end){low, high};
}

static bool is_inside(const struct sta_bins *bins, int64_t bin)
{
    return bin >= 0 && bin < (int64_t)bins->count;
}

/* Adds 1 to the bins low .. high of an array of differences. */
static void add_run(int64_t *differences, const struct sta_bins *bins, int64_t low, int64_t high)
{
    low = STA_MAX(low, 0);
    high = STA_MIN(high, (int64_t)bins->count - 1);
    if (low > high)
        return;
    differences[low]++;
    differences[high + 1]--;
}

void sta_coverage_add(struct sta_coverage *coverage, const struct sta_bins *bins, int64_t ts, int64_t te)
{
    struct farthest_end farthest_end = farthest_end_of(bins, ts, te);
    if (farthest_end.low == farthest_end.high) {
        if (is_inside(bins, farthest_end.low))
            coverage->parts[farthest_end.low] += te - ts;
        return;
    }
    if (is_inside(bins, farthest_end.low))
        coverage->parts[farthest_end.low] += (bins->first + farthest_end.low + 1) * bins->g - ts;
    if (is_inside(bins, farthest_end.high))
        coverage->parts[farthest_end.high] += te - (bins->first + farthest_end.high) * bins->g;
    add_run(coverage->inside, bins, farthest_end.low + 1, farthest_end.high - 1);
}

void sta_coverage_finish(struct sta_coverage *coverage, const struct sta_bins *bins)
{
    int64_t whole = 0;
    for (size_t b = 0; b < bins->count; b++) {
        whole += coverage->inside[b];
        coverage->parts[b] += whole * bins->g;
    }
}
