/* sum.h - sums of numbers as the reference's tables have them, to the last bit (private to compatible).
 *
 * The reference adds seconds as doubles, each duration rounded by itself, with compensation.  Its quantiles
 * and ranks tell values apart that differ in their last bit only, so sums of whole microseconds, which tie,
 * would land on other sides of a limit.  Durations are therefore rounded to seconds like there, and the
 * aggregation adds them exactly, so in any order.  What is summed up from groups is few numbers in the order
 * of the table, and is added as the reference does. */
#ifndef STA_ANALYSE_COMPATIBLE_SUM_H
#define STA_ANALYSE_COMPATIBLE_SUM_H

#include <stddef.h>

/* A sum of doubles with Kahan's compensation. */
struct sta_sum {
    double sum, error;
};

static inline void sta_sum_add(struct sta_sum *sum, double value)
{
    double part = value - sum->error;
    double total = sum->sum + part;
    double error = total - sum->sum - part;
    sum->error = error == error ? error : 0; /* not a number: from infinite ones */
    sum->sum = total;
}

/** The sum of a whole column, in which 0 stands for missing; pairwise, and in the order of the reference's
 * library. */
double sta_sum_pairwise(const double *values, size_t count);

#endif
