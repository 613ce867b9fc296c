/* coverage.h - how long each bin of time is covered.
 *
 * An interval over many bins costs as much as one over two: bins that are covered whole are kept as
 * differences. */
#ifndef STA_ANALYSE_INTERVALS_COVERAGE_H
#define STA_ANALYSE_INTERVALS_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

/* The bins first .. first + count - 1, bin b being [b g, (b + 1) g) ticks from the origin. */
struct sta_bins {
    int64_t g; /* ticks */
    int64_t first;
    size_t count;
};

struct sta_coverage {
    int64_t *parts;  /* by bin: covered ticks of bins that are covered in part */
    int64_t *inside; /* by bin, one more: change in the number of times that a bin is covered whole */
};

/** Adds [ts, te), ts < te, as far as it lies in the bins. */
void sta_coverage_add(struct sta_coverage *coverage, const struct sta_bins *bins, int64_t ts, int64_t te);
/** After all have been added: turns parts into the covered ticks of each bin. */
void sta_coverage_finish(struct sta_coverage *coverage, const struct sta_bins *bins);

#endif
