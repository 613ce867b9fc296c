/* sweep.h - unions by row, process, rank group and metric, fed by the slices of a timeline (private to
 * exact).
 *
 * With spans in order of time a union needs only its running end: a span [ts, te) adds the piece [max(ts,
 * end), te).  Time is cut at slices and at bins, and spans with it; since measures add up over intervals of
 * time, no result depends on the cuts.  What reaches from one slice into the next is handed on by
 * contribution: how far the contribution's events reach. */
#ifndef STA_ANALYSE_EXACT_SWEEP_H
#define STA_ANALYSE_EXACT_SWEEP_H

#include "analyse/exact/intake.h"
#include "analyse/exact/tally.h"
#include "analyse/operators/ordered.h"

struct sta_exact_sweep;

/** Of the spans of @intake.  All borrowed. */
struct sta_exact_sweep *sta_exact_sweep_create(struct sta_intake *intake, struct sta_tallies *tallies);
void sta_exact_sweep_destroy(struct sta_exact_sweep *sweep); /* NULL allowed */
/** What takes the rows of a scan in, and measures the range of the intake. */
struct sta_ordered_consumer sta_exact_sweep_consumer(struct sta_exact_sweep *sweep);
/** After a pass: hands in what workers still hold.  Return: 0, or what a charge returns. */
STA_MUSTCHECK int sta_exact_sweep_finish(struct sta_exact_sweep *sweep, struct sta_error *err);

#endif
