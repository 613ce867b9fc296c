/* cold.h - how fast files are read in each epoch: the first one may find nothing in memory (private to
 * findings). */
#ifndef STA_FINDINGS_COLD_H
#define STA_FINDINGS_COLD_H

#include "findings/phases.h"

struct sta_cold_epoch {
    double rate; /* bytes per second in which a rank has a read running; NAN: no such time */
    int64_t size;
};

struct sta_cold {
    struct sta_cold_epoch *epochs; /* by place in phases.numbers */
    int64_t reading;               /* epochs with a rate */
    double first, later;           /* the first rate, and the median of the others; NAN: there is none */
    struct sta_account *account;
};

/** The reads that are measured. */
extern const char sta_cold_condition[];

/** One pass.  Fini also after a failure. */
STA_MUSTCHECK int sta_cold_measure(struct sta_run *run, const struct sta_phases *phases,
                                   struct sta_cold *cold, struct sta_error *err);
void sta_cold_fini(struct sta_cold *cold);

#endif
