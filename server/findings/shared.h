/* shared.h - files whose data several ranks move: small calls, and how evenly (private to findings). */
#ifndef STA_FINDINGS_SHARED_H
#define STA_FINDINGS_SHARED_H

#include "findings/phases.h"

/* Of reads, or of writes. */
struct sta_shared_sums {
    int64_t files, ops, small;
    int64_t uneven_size, uneven_time, uneven; /* files */
    double worst_size, worst_time, worst;     /* shares */
};

/** Of reads, of writes. */
extern const char *const sta_shared_conditions[2];

/** @sums: of reads, of writes. */
STA_MUSTCHECK int sta_shared_measure(struct sta_run *run, const struct sta_phases *phases,
                                     struct sta_shared_sums sums[2], struct sta_error *err);

#endif
