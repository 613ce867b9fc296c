/* align_private.h - one combination of alignments, simulated (private to simulate). */
#ifndef STA_SIMULATE_ALIGN_PRIVATE_H
#define STA_SIMULATE_ALIGN_PRIVATE_H

#include "simulate/align.h"

/* By row * gpus + gpu, or by row. */
struct sta_aligned {
    int64_t *start, *done;           /* ns: of the fetch */
    double *fetch;                   /* s */
    double *stall, *pure;            /* s: stall as simulated; iteration less the largest traced stall */
    double *time;                    /* by row: iteration, s */
    double *worst, *delay;           /* by row: largest stall; largest less least */
    double *start_diff, *fetch_diff; /* by row, s */
    int64_t *slowest;                /* by row: the latest done, ns */
    int64_t *end, *end_repaired, *end_corrected; /* by row, ns: as the original, with its unit repaired, and
                                                    with the stall counted once */
    double *scratch;                             /* by row: of sta_align_measure */
    struct sta_account *account;
};
STA_MUSTCHECK int sta_aligned_init(struct sta_aligned *aligned, const struct sta_align_input *input,
                                   struct sta_error *err);
void sta_aligned_fini(struct sta_aligned *aligned);
/** Computes all of it.  Cost: rows * gpus. */
STA_MUSTCHECK int sta_align_run(const struct sta_align_input *input, const struct sta_align_value *fetch,
                                const struct sta_align_value *start, const struct sta_budget *budget,
                                struct sta_aligned *aligned, struct sta_error *err);

struct sta_align_statistics {
    size_t rows;
    double mean[STA_ALIGN_FIGURES], deviation[STA_ALIGN_FIGURES];
    double iteration_sum;
    double effective;     /* percent of the rows whose delay is above 30 ms */
    size_t negative_pure; /* rows in which some GPU's pure time is negative */
};
/** Of the rows whose index is at least @first. */
void sta_align_measure(const struct sta_align_input *input, const struct sta_aligned *aligned, int64_t first,
                       struct sta_align_statistics *statistics);

/** Seconds >= 0 as nanoseconds: whole seconds exactly; the fraction rounded to 9 digits, then cut after the
 * multiplication, so that about one in sixty comes out 1 ns low, as the original's do. */
int64_t sta_align_ns(double seconds);

#endif
