/* gather.h - the pass over the events: source -> filters -> aggregations by view types and signature (private
 * to compatible).
 *
 * What a group holds besides counts and times are aggregations of their own, by a further key: sizes by size
 * bin, and the distinct values of each view type that is not grouped by.  All of them come out in the order
 * of the groups. */
#ifndef STA_ANALYSE_COMPATIBLE_GATHER_H
#define STA_ANALYSE_COMPATIBLE_GATHER_H

#include "analyse/compatible/signatures.h"
#include "analyse/operators/aggregate.h"

#define STA_GATHER_MOST_KEYS (STA_AXES + 2)

enum sta_gathered {
    STA_GATHER_TIMES, /* rows, sum of seconds */
    STA_GATHER_SIZES, /* also by size bin, of events with a size: rows, sum of sizes */
    STA_GATHER_AXES,  /* + axis: also by its value, a missing one last; nothing but the groups */
    STA_GATHERS = STA_GATHER_AXES + STA_AXES
};

struct sta_gather {
    struct sta_hlm *hlm;
    const struct sta_budget *budget;
    struct sta_signatures signatures;
    size_t key_count; /* view types that are grouped by, in their order, and the signature */
    struct sta_aggregation *aggregations[STA_GATHERS]; /* NULL: not requested */
    struct sta_gather_worker **workers;
    unsigned worker_count;
};

/** Needs sta_gather_fini, also after a failure. */
STA_MUSTCHECK int sta_gather_run(struct sta_gather *gather, struct sta_hlm *hlm,
                                 const struct sta_hlm_options *options, const struct sta_budget *budget,
                                 struct sta_error *err);
/** What became of the events. */
void sta_gather_count(const struct sta_gather *gather, struct sta_hlm_counts *counts);
void sta_gather_fini(struct sta_gather *gather);

#endif
