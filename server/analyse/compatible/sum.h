/* sum.h - sums of numbers as the reference's tables have them, to the last bit (private to compatible).
 *
 * The reference adds seconds as doubles, each duration rounded by itself, with compensation.  Its quantiles
 * and ranks tell values apart that differ in their last bit only, so sums of whole microseconds, which tie,
 * would land on other sides of a limit.  Durations are therefore rounded to seconds like there, but added as
 * fixed-point numbers: exactly, so in any order. */
#ifndef STA_ANALYSE_COMPATIBLE_SUM_H
#define STA_ANALYSE_COMPATIBLE_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/** The nearest double. */
static inline double sta_fixed_number(sta_fixed value)
{
    return (double)value * 0x1p-82;
}

/* Sums stay at the ends of their range instead of wrapping around. */
static inline sta_fixed sta_fixed_add(sta_fixed a, sta_fixed b)
{
    sta_fixed sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? -((sta_fixed)1 << 126) : (sta_fixed)1 << 126;
    return sum;
}
static inline int64_t sta_add_capped(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
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
