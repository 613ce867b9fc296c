/* Bins in runs, and an event's bytes over bins. */
#include "analyse/exact/bins.h"

/* ---- runs */

int64_t sta_bin_number_in_runs(const struct sta_exact_bins *bins, size_t bin)
{
    STA_ASSERT(bin < bins->count);
    size_t low = 0, high = bins->run_count; /* the run is one of low .. high - 1 */
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (bins->runs[middle].at <= bin)
            low = middle;
        else
            high = middle;
    }
    return bins->runs[low].first + (int64_t)(bin - bins->runs[low].at);
}

size_t sta_bin_of_in_runs(const struct sta_exact_bins *bins, int64_t at)
{
    int64_t number = at / bins->g;
    size_t low = 0, high = bins->run_count; /* runs before low begin no later, those from high on do */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bins->runs[middle].first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    size_t next = low < bins->run_count ? bins->runs[low].at : bins->count;
    return STA_MIN(bins->runs[low - 1].at + (size_t)(number - bins->runs[low - 1].first), next);
}

/* ---- bytes */

/* Bytes before a time, which lies in the event. */
static uint64_t bytes_before(uint64_t size, int64_t ts, int64_t dur, int64_t at)
{
    if (at - ts == dur)
        return size;
    return (uint64_t)((unsigned __int128)size * (uint64_t)(at - ts) / (uint64_t)dur);
}

int64_t sta_bytes_between(int64_t from, int64_t to, int64_t ts, int64_t dur, int64_t size)
{
    if (to - from == dur)
        return size;
    return (int64_t)(bytes_before((uint64_t)size, ts, dur, to) - bytes_before((uint64_t)size, ts, dur, from));
}
