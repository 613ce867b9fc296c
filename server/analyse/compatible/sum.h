/* sum.h - sums of numbers as the reference's tables have them, to the last bit (private to compatible).
 *
 * The reference adds seconds as doubles, each duration rounded by itself, with compensation.  Its quantiles
 * and ranks tell values apart that differ in their last bit only, so sums of whole microseconds, which tie,
 * would land on other sides of a limit.  Durations are therefore rounded to seconds like there, but added as
 * fixed-point numbers: exactly, so in any order. */
#ifndef STA_ANALYSE_COMPATIBLE_SUM_H
#define STA_ANALYSE_COMPATIBLE_SUM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/memory.h"

/* Seconds in units of 2^-82, which divides every double from 2^-30 (more than a nanosecond) on. */
typedef __int128 sta_fixed;
#define STA_FIXED_BITS 82

/** Seconds of a duration, which are 0 or at least 10^-9 away from it. */
static inline sta_fixed sta_fixed_of(double seconds)
{
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    unsigned exponent = (unsigned)(bits >> 52 & 0x7ff);
    if (exponent == 0)
        return 0;
    sta_fixed mantissa = (sta_fixed)((bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52);
    sta_fixed value = mantissa << (exponent - (1075 - STA_FIXED_BITS));
    return bits >> 63 ? -value : value;
}

/* What stands for a sum beyond 2^44 seconds, which does not fit. */
#define STA_FIXED_TOO_LARGE ((sta_fixed)1 << 126)

/** The nearest double; infinite when it is too large. */
static inline double sta_fixed_number(sta_fixed value)
{
    return value >= STA_FIXED_TOO_LARGE ? INFINITY : (double)value * 0x1p-82;
}

/** A sum of what is not below 0, whatever the order; too large it stays. */
static inline sta_fixed sta_fixed_add(sta_fixed a, sta_fixed b)
{
    sta_fixed sum;
    return __builtin_add_overflow(a, b, &sum) ? STA_FIXED_TOO_LARGE : STA_MIN(sum, STA_FIXED_TOO_LARGE);
}

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
