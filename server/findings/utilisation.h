/* utilisation.h - how much of the time accelerators compute (private to findings). */
#ifndef STA_FINDINGS_UTILISATION_H
#define STA_FINDINGS_UTILISATION_H

#include "analyse/analyse.h"
#include "findings/phases.h"

/* Sums of ranks and epochs (findings.md part 4); a number that is not there is NAN. */
struct sta_utilisation_sum {
    __int128 window, compute; /* ticks */
    double au_dlio;
    double dlio_sum;
    size_t dlio_count;
};

struct sta_utilisation {
    struct sta_utilisation_sum whole;
    struct sta_utilisation_sum *epochs; /* by place in phases.numbers */
    double au_dlio_std;
    __int128 job_compute; /* ticks, of all ranks that compute */
    uint32_t ranks;       /* that compute */
    int64_t job;          /* ticks */
    struct sta_account *account;
};

struct sta_utilisation_options {
    double goal;
    int64_t warmup_steps, end_steps;
};

/* A rank's epoch. */
struct sta_utilisation_row {
    size_t steps;
    bool counted;            /* it has a window */
    int64_t window, compute; /* ticks */
    double au_dlio;
};
/** @steps: of the epoch, with what follows the last one. */
struct sta_utilisation_row sta_utilisation_of(const struct sta_rank *rank, const struct sta_epoch *epoch,
                                              const struct sta_step *steps, size_t count,
                                              const struct sta_utilisation_options *options);
/** The steps of a rank's epoch, with what follows them. */
const struct sta_step *sta_rank_steps(const struct sta_rank *rank, const struct sta_epoch *epoch,
                                      size_t *count);
/** Fini also after a failure. */
STA_MUSTCHECK int sta_utilisation_measure(const struct sta_phases *phases,
                                          const struct sta_utilisation_options *options,
                                          struct sta_utilisation *utilisation, struct sta_error *err);
void sta_utilisation_fini(struct sta_utilisation *utilisation);
void sta_utilisation_add(struct sta_utilisation_sum *sum, const struct sta_utilisation_row *row);
/** Share of the window; NAN without one. */
double sta_utilisation_share(const struct sta_utilisation_sum *sum);

#endif
