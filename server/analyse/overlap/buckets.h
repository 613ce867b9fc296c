/* buckets.h - the bucket method: sums per bin of time subtracted from one another (private to overlap;
 * overlap.md section 4, 4.).
 *
 * An event counts whole in the bin that it starts in.  In each bin the durations of a set are added up by
 * (pid, tid), and the largest sum stands for the bin: of each set for itself, whichever thread it comes
 * from. */
#ifndef STA_ANALYSE_OVERLAP_BUCKETS_H
#define STA_ANALYSE_OVERLAP_BUCKETS_H

#include "analyse/overlap/pass.h"

struct sta_buckets {
    uint32_t sets;
    __int128 total[STA_OVERLAP_SETS];                   /* ticks: sum over bins */
    __int128 minus[STA_OVERLAP_SETS][STA_OVERLAP_SETS]; /* [a][b]: sum over bins of what of a is beyond b */
    int64_t events[STA_OVERLAP_SETS + 1];               /* .. of a set; last: of none */
    __int128 time[STA_OVERLAP_SETS + 1];                /* ticks: their durations */
    uint32_t threads[STA_OVERLAP_SETS];                 /* distinct (pid, tid) */
};

/** One pass.  @request: its scope is BIN, of which only the width matters.  Return: 0, or what the pass
 * failed with. */
STA_MUSTCHECK int sta_buckets_measure(const struct sta_overlap_request *request,
                                      const struct sta_budget *budget, struct sta_buckets *buckets,
                                      struct sta_error *err);

#endif
