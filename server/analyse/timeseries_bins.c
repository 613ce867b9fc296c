/* Events over bins of time. */
#include "analyse/timeseries.h"

#include "common/memory.h"

/* First and last bin of [ts, te) as indexes; of an instant the bin of ts.  May lie outside 0 .. count - 1. */
struct reach {
    int64_t low, high;
};

static struct reach reach_of(const struct sta_bins *bins, int64_t ts, int64_t te)
{
    int64_t low = ts / bins->g - bins->first;
    int64_t high = te > ts ? (te - 1) / bins->g - bins->first : low;
    return (struct reach){low, high};
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

void sta_cover_add(struct sta_cover *cover, const struct sta_bins *bins, int64_t ts, int64_t te)
{
    struct reach reach = reach_of(bins, ts, te);
    if (reach.low == reach.high) {
        if (is_inside(bins, reach.low))
            cover->parts[reach.low] += te - ts;
        return;
    }
    if (is_inside(bins, reach.low))
        cover->parts[reach.low] += (bins->first + reach.low + 1) * bins->g - ts;
    if (is_inside(bins, reach.high))
        cover->parts[reach.high] += te - (bins->first + reach.high) * bins->g;
    add_run(cover->inside, bins, reach.low + 1, reach.high - 1);
}

void sta_cover_finish(struct sta_cover *cover, const struct sta_bins *bins)
{
    int64_t whole = 0;
    for (size_t b = 0; b < bins->count; b++) {
        whole += cover->inside[b];
        cover->parts[b] += whole * bins->g;
    }
}

/* floor(size x / dur) along the edges of bins, x growing by whole bins: quotient and remainder are carried on by addition. */
struct share {
    uint64_t quotient, remainder;
    uint64_t step_quotient, step_remainder; /* of one bin */
    uint64_t dur;
};

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

void sta_spread_size(int64_t *sizes, const struct sta_bins *bins, int64_t ts, int64_t te, int64_t size)
{
    struct reach reach = reach_of(bins, ts, te);
    if (reach.low == reach.high) {
        if (is_inside(bins, reach.low))
            sizes[reach.low] += size;
        return;
    }
    int64_t last = STA_MIN(reach.high, (int64_t)bins->count - 1);
    int64_t bin = STA_MAX(reach.low, 0);
    if (bin > last)
        return;
    uint64_t dur = (uint64_t)(te - ts);
    int64_t edge = (bins->first + bin + 1) * bins->g; /* the end of the bin */
    struct share share = share_at((uint64_t)size, dur, (uint64_t)(edge - ts), (uint64_t)bins->g);
    uint64_t before =
        bin == reach.low ? 0 : share_at((uint64_t)size, dur, (uint64_t)(edge - bins->g - ts), 1).quotient;
    for (; bin <= last; bin++) {
        uint64_t up_to = bin == reach.high ? (uint64_t)size : share.quotient;
        sizes[bin] += (int64_t)(up_to - before);
        before = up_to;
        share_step(&share);
    }
}

void sta_series_add(struct sta_series_sums *sums, const struct sta_bins *bins, int64_t ts, int64_t te,
                    int64_t size)
{
    struct reach reach = reach_of(bins, ts, te);
    if (is_inside(bins, reach.low))
        sums->starts[reach.low]++;
    add_run(sums->touched, bins, reach.low, reach.high);
    if (sums->time.parts != NULL && te > ts)
        sta_cover_add(&sums->time, bins, ts, te);
    if (sums->sizes != NULL && size > 0)
        sta_spread_size(sums->sizes, bins, ts, te, size);
}
