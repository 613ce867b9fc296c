/* exact.h - sums of doubles and of their squares without any rounding (private to aggregate).
 *
 * A sum is held as digits of base 2^32 on one grid for all doubles, so that adding is adding integers and no
 * order of rows, threads or runs can change the result.  A group has a window of a few digits, laid around
 * its first value.  What falls outside, which ordinary data never does, becomes a term, a digit with its
 * place, kept in a list like the values of a median.  At the end window and terms give the correctly rounded
 * sum. */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_EXACT_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STA_EXACT_GRID 2176       /* bits below 1: below the square of the smallest double */
#define STA_EXACT_DIGITS 140      /* of the whole grid: beyond the square of the largest double, 2^50 times */
#define STA_EXACT_FULL (1u << 29) /* additions until digits must be carried */
#define STA_EXACT_VALUE_DIGITS 3  /* that a double can touch .. */
#define STA_EXACT_SQUARE_DIGITS 5 /* .. and its square */
#define STA_EXACT_SUM_WINDOW 6    /* digits of a window of values .. */
#define STA_EXACT_SQUARES_WINDOW 9 /* .. and of squares */

/* A window: `digits` has as many as its kind says. */
struct sta_exact {
    int32_t base;  /* place of digits[0]; meaningless while nothing was added */
    uint32_t adds; /* since the last carry; 0: the window is empty */
    int64_t digits[];
};

/* Terms that a window could not take: digits with their places, and what they are digits of. */
#define STA_EXACT_OF_SQUARES (UINT64_C(1) << 56) /* set by who adds squares; no part of the number */
struct sta_exact_terms {
    uint64_t *terms;
    size_t count, capacity;
};
void sta_exact_terms_fini(struct sta_exact_terms *terms);

/* ---- windows */

/* m * 2^exponent as digits at a place of the grid. */
struct sta_exact_parts {
    int place;
    int64_t digits[STA_EXACT_SQUARE_DIGITS];
};

static inline void sta_exact_split(double value, struct sta_exact_parts *parts)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7ff;
    uint64_t mantissa = (bits & (UINT64_MAX >> 12)) | (uint64_t)(exponent != 0) << 52;
    int64_t sign = (int64_t)bits >> 63;
    unsigned at = (unsigned)(exponent + (exponent == 0)) - 1075 + STA_EXACT_GRID;
    unsigned __int128 wide = (unsigned __int128)mantissa << (at & 31);
    parts->place = (int)(at >> 5);
    for (unsigned d = 0; d < STA_EXACT_VALUE_DIGITS; d++)
        parts->digits[d] = ((int64_t)(uint32_t)(wide >> (32 * d)) ^ sign) - sign;
}

/** The square of a value. */
void sta_exact_split_square(double value, struct sta_exact_parts *parts);
/** Adds what does not fit in place, or when the window is empty or full of additions.  @window, @used: digits
 * of the window and of the parts. */
void sta_exact_add_slowly(struct sta_exact *exact, unsigned window, unsigned used,
                          const struct sta_exact_parts *parts, struct sta_exact_terms *terms);

static inline void sta_exact_add(struct sta_exact *exact, unsigned window, unsigned used,
                                 const struct sta_exact_parts *parts, struct sta_exact_terms *terms)
{
    unsigned at = (unsigned)(parts->place - exact->base);
    if (at > window - used || exact->adds - 1 >= STA_EXACT_FULL - 1) {
        sta_exact_add_slowly(exact, window, used, parts, terms);
        return;
    }
    for (unsigned d = 0; d < used; d++)
        exact->digits[at + d] += parts->digits[d];
    exact->adds++;
}

/** Adds @other to @exact, two windows of the same size. */
void sta_exact_merge(struct sta_exact *exact, const struct sta_exact *other, unsigned window,
                     struct sta_exact_terms *terms);

/** Whether a window, or a term, that was read can be one that additions have made. */
bool sta_exact_is_sound(const struct sta_exact *exact, unsigned window);
bool sta_exact_is_term(uint64_t term);

/* ---- the whole grid, for one group at a time */

struct sta_exact_total {
    int low, high; /* digits outside are 0 */
    uint32_t adds;
    int64_t digits[STA_EXACT_DIGITS];
};
void sta_exact_total_init(struct sta_exact_total *total);
void sta_exact_total_add(struct sta_exact_total *total, const struct sta_exact *exact, unsigned window);
void sta_exact_total_add_term(struct sta_exact_total *total, uint64_t term);
/** Adds a number of @words 64-bit words, least significant first, of two's complement. */
void sta_exact_total_add_integer(struct sta_exact_total *total, const uint64_t *words, unsigned count);

/** The nearest double; not finite when it is beyond them. */
double sta_exact_sum(struct sta_exact_total *total);
/**
 * sta_exact_variance - of @count values whose sum and sum of squares are given, divided by count - 1
 * (count * squares - sum^2) / (count * (count - 1)), the difference without rounding, so no cancellation
 * hurts.  At least two values.  NAN: no values have such sums; a state from elsewhere may.
 */
double sta_exact_variance(struct sta_exact_total *sum, struct sta_exact_total *squares, uint64_t count);

#endif
