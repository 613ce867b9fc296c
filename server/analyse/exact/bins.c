/* Bins in runs, and an event's bytes over bins. */
#include "analyse/exact/bins.h"

#include "analyse/bounded_sum.h"

/* ---- runs */

int64_t sta_bin_number_in_runs(const struct sta_exact_bins *bins, size_t bin)
{
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

/* floor(size x / dur), x growing by whole bins: quotient and remainder are carried on by addition. */
struct share {
    uint64_t quotient, remainder;
    uint64_t step_quotient, step_remainder; /* of one bin */
    uint64_t dur;
};

static uint64_t floor_of(uint64_t size, uint64_t x, uint64_t dur)
{
    return (uint64_t)((unsigned __int128)size * x / dur);
}

static struct share share_at(uint64_t size, uint64_t dur, uint64_t x, uint64_t g)
{
    unsigned __int128 here = (unsigned __int128)size * x;
    unsigned __int128 step = (unsigned __int128)size * g;
    return (struct share){(uint64_t)(here / dur), (uint64_t)(here % dur), (uint64_t)(step / dur),
                          (uint64_t)(step % dur), dur};
}

static void share_step(struct share *share)
{
    share->quotient += share->step_quotient;
    share->remainder += share->step_remainder;
    if (share->remainder >= share->dur) {
        share->remainder -= share->dur;
        share->quotient++;
    }
}

void sta_spread_size(int64_t *sizes, const struct sta_exact_bins *bins, const struct sta_exact_part *part,
                     int64_t ts, int64_t te, int64_t size)
{
    uint64_t bytes = (uint64_t)size;
    uint64_t dur = (uint64_t)(te - ts);
    if (dur == 0) {
        sizes[part->low] = sta_bounded_add(sizes[part->low], size);
        return;
    }
    uint64_t before = part->from == ts ? 0 : floor_of(bytes, (uint64_t)(part->from - ts), dur);
    uint64_t end = part->to == te ? bytes : floor_of(bytes, (uint64_t)(part->to - ts), dur);
    if (part->low < part->high) {
        uint64_t edge = (uint64_t)(sta_bin_to(bins, part->low) - ts);
        struct share share = share_at(bytes, dur, edge, (uint64_t)bins->g);
        for (size_t bin = part->low; bin < part->high; bin++) {
            sizes[bin] = sta_bounded_add(sizes[bin], (int64_t)(share.quotient - before));
            before = share.quotient;
            share_step(&share);
        }
    }
    sizes[part->high] = sta_bounded_add(sizes[part->high], (int64_t)(end - before));
}
