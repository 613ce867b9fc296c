/* sweep.h - unions by row, process, rank group and metric, fed by the slices of a timeline (private to
 * exact).
 *
 * With spans in order of time a union needs only its running end: a span [ts, te) adds the piece [max(ts,
 * end), te).  Time is cut at slices and at bins, and spans with it; since measures add up over intervals of
 * time, no result depends on the cuts.  What reaches from one slice into the next is handed on by
 * contribution: how far the contribution's events reach. */
#ifndef STA_ANALYSE_EXACT_SWEEP_H
#define STA_ANALYSE_EXACT_SWEEP_H

#include "analyse/exact/spans.h"
#include "analyse/exact/tally.h"
#include "analyse/operators/ordered.h"
#include "analyse/sources/ranges.h"

struct sta_exact_sweep;

struct sta_exact_sweep_options {
    struct sta_contributions *contributions;
    const struct sta_exact_shape *shape;
    const struct sta_exact_bins *bins;
    struct sta_tallies *tallies;
    const struct sta_long_spans *long_spans;
    uint32_t group_count;               /* 0: no unions */
    const struct sta_time_range *range; /* what is measured; may change between passes, to a later one */
    unsigned workers;
    struct sta_account *account;
};

/** All borrowed. */
struct sta_exact_sweep *sta_exact_sweep_create(const struct sta_exact_sweep_options *options);
void sta_exact_sweep_destroy(struct sta_exact_sweep *sweep); /* NULL allowed */

/* Three steps of struct sta_ordered_consumer; its records are struct sta_exact_span of unit 0, of length 0
 * for an event that covers nothing.  Return: 0, or what a charge returns. */
STA_MUSTCHECK int sta_exact_sweep_prepare(struct sta_exact_sweep *sweep, unsigned worker,
                                          const struct sta_slice *slice, struct sta_error *err);
STA_MUSTCHECK int sta_exact_sweep_carry(struct sta_exact_sweep *sweep, unsigned worker,
                                        const struct sta_slice *slice, struct sta_error *err);
STA_MUSTCHECK int sta_exact_sweep_measure(struct sta_exact_sweep *sweep, unsigned worker,
                                          const struct sta_slice *slice, struct sta_error *err);
/** After a pass: hands in what workers still hold. */
STA_MUSTCHECK int sta_exact_sweep_finish(struct sta_exact_sweep *sweep, struct sta_error *err);

#endif
