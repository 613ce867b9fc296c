/* bounded_sum.h - sums of integers that are never below 0, as if they were added in 128 bits (private to
 * analyse).
 *
 * A sum that does not fit 64 bits is STA_TOO_LARGE, and stays so whatever is added: since nothing is
 * subtracted, no order of additions gives another result.  In a table such a cell is missing, and the result
 * says how many there are. */
#ifndef STA_ANALYSE_VIEWS_BOUNDED_SUM_H
#define STA_ANALYSE_VIEWS_BOUNDED_SUM_H

#include <stdint.h>

#define STA_TOO_LARGE INT64_C(-1)

static inline int64_t sta_bounded_add(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? STA_TOO_LARGE : sum;
}

static inline int64_t sta_bounded_multiply(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? STA_TOO_LARGE : product;
}

#endif
