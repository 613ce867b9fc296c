/* Sums of doubles as digits of base 2^32, and what is made of them at the end. */
#include "analyse/operators/aggregate/exact.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"

#define BASE_BITS 32
#define LOW_BITS ((int64_t)UINT32_MAX)
#define UNIT (STA_EXACT_GRID / BASE_BITS) /* place of 2^0 */
#define TERM_BITS 48 /* of a term: the digit, shifted to be positive; above it the place */
#define TERM_ZERO ((int64_t)1 << (TERM_BITS - 1))
#define TOP_LIMIT ((int64_t)1 << 40) /* of the highest digit after a carry */
#define TOP_ADDS 512u                /* additions that such a digit stands for */

/* ---- terms */

void sta_exact_terms_fini(struct sta_exact_terms *terms)
{
    free(terms->terms);
    *terms = (struct sta_exact_terms){0};
}

static void put_term(struct sta_exact_terms *terms, int place, int64_t digit)
{
    while (digit != 0) {
        bool small = digit < TOP_LIMIT && digit > -TOP_LIMIT;
        int64_t part = small ? digit : digit & LOW_BITS;
        STA_GROW(terms->terms, terms->capacity, terms->count + 1);
        terms->terms[terms->count++] = (uint64_t)place << TERM_BITS | (uint64_t)(part + TERM_ZERO);
        digit = small ? 0 : digit >> BASE_BITS;
        place++;
    }
}

/* ---- windows */

void sta_exact_split_square(double value, struct sta_exact_parts *parts)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7ff;
    uint64_t mantissa = (bits & (UINT64_MAX >> 12)) | (uint64_t)(exponent != 0) << 52;
    int at = 2 * ((int)(exponent + (exponent == 0)) - 1075) + STA_EXACT_GRID;
    unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
    parts->place = at >> 5;
    memset(parts->digits, 0, sizeof parts->digits);
    for (unsigned d = 0; d + 1 < STA_EXACT_SQUARE_DIGITS; d++) {
        uint64_t part = (uint64_t)(uint32_t)(square >> (BASE_BITS * d)) << (at & 31);
        parts->digits[d] += (int64_t)(uint32_t)part;
        parts->digits[d + 1] += (int64_t)(part >> BASE_BITS);
    }
}

/* Digits become 0 .. 2^32 - 1, but for the highest, which keeps the sign. */
static void carry_window(struct sta_exact *exact, unsigned window, struct sta_exact_terms *terms)
{
    for (unsigned d = 0; d + 1 < window; d++) {
        exact->digits[d + 1] += exact->digits[d] >> BASE_BITS;
        exact->digits[d] &= LOW_BITS;
    }
    int64_t *top = &exact->digits[window - 1];
    if (*top >= TOP_LIMIT || *top <= -TOP_LIMIT) {
        put_term(terms, exact->base + (int)window, *top >> BASE_BITS);
        *top &= LOW_BITS;
    }
    exact->adds = TOP_ADDS;
}

static void add_digit(struct sta_exact *exact, unsigned window, int place, int64_t digit,
                      struct sta_exact_terms *terms)
{
    unsigned at = (unsigned)(place - exact->base);
    if (at < window)
        exact->digits[at] += digit;
    else
        put_term(terms, place, digit);
}

void sta_exact_add_slowly(struct sta_exact *exact, unsigned window, unsigned used,
                          const struct sta_exact_parts *parts, struct sta_exact_terms *terms)
{
    int64_t any = 0;
    for (unsigned d = 0; d < used; d++)
        any |= parts->digits[d];
    if (any == 0)
        return;
    if (exact->adds == 0)
        exact->base = STA_MAX(0, parts->place - (int)(window - used + 1) / 2);
    else if (exact->adds >= STA_EXACT_FULL)
        carry_window(exact, window, terms);
    for (unsigned d = 0; d < used; d++)
        add_digit(exact, window, parts->place + (int)d, parts->digits[d], terms);
    exact->adds++;
}

void sta_exact_merge(struct sta_exact *exact, const struct sta_exact *other, unsigned window,
                     struct sta_exact_terms *terms)
{
    if (other->adds == 0)
        return;
    if (exact->adds == 0) {
        memcpy(exact, other, sizeof *exact + window * sizeof *exact->digits);
        return;
    }
    if (exact->base == other->base && exact->adds + other->adds < STA_EXACT_FULL) {
        for (unsigned d = 0; d < window; d++)
            exact->digits[d] += other->digits[d];
        exact->adds += other->adds;
        return;
    }
    uint64_t buffer[1 + STA_EXACT_SQUARES_WINDOW];
    struct sta_exact *carried = (void *)buffer;
    memcpy(carried, other, sizeof *other + window * sizeof *other->digits);
    carry_window(carried, window, terms);
    carry_window(exact, window, terms);
    for (unsigned d = 0; d < window; d++)
        add_digit(exact, window, other->base + (int)d, carried->digits[d], terms);
    exact->adds += TOP_ADDS;
}

#define MOST_PLACE (STA_EXACT_DIGITS - 3) /* a carry may go on from the highest digit */

bool sta_exact_is_sound(const struct sta_exact *exact, unsigned window)
{
    bool sound = exact->adds == 0 || (exact->base >= 0 && exact->base + (int)window <= MOST_PLACE &&
                                      exact->adds <= STA_EXACT_FULL);
    for (unsigned d = 0; d < window; d++)
        sound = sound && exact->digits[d] < INT64_MAX / 2 && exact->digits[d] > INT64_MIN / 2;
    return sound;
}

bool sta_exact_is_term(uint64_t term)
{
    return (term >> TERM_BITS & 0xff) <= MOST_PLACE && (term & ~STA_EXACT_OF_SQUARES) >> (TERM_BITS + 8) == 0;
}

_Static_assert(sizeof(struct sta_exact) == sizeof(uint64_t), "windows are made of words");

/* ---- totals */

void sta_exact_total_init(struct sta_exact_total *total)
{
    total->low = STA_EXACT_DIGITS;
    total->high = -1;
    total->adds = 0;
}

static void widen(struct sta_exact_total *total, int place)
{
    if (total->high < total->low) {
        total->low = total->high = place;
        total->digits[place] = 0;
    }
    while (total->low > place)
        total->digits[--total->low] = 0;
    while (total->high < place)
        total->digits[++total->high] = 0;
}

/* Digits become 0 .. 2^32 - 1, but for the highest, which keeps the sign. */
static void carry_total(struct sta_exact_total *total)
{
    int64_t carry = 0;
    total->adds = 0;
    if (total->high < total->low)
        return;
    for (int d = total->low; d < total->high; d++) {
        int64_t digit = total->digits[d] + carry;
        total->digits[d] = digit & LOW_BITS;
        carry = digit >> BASE_BITS;
    }
    int64_t top = total->digits[total->high] + carry;
    while (top > LOW_BITS || top < -LOW_BITS) {
        total->digits[total->high] = top & LOW_BITS;
        top >>= BASE_BITS;
        widen(total, total->high + 1);
    }
    total->digits[total->high] = top;
}

static void add_to_total(struct sta_exact_total *total, int place, int64_t digit)
{
    STA_ASSERT(place >= 0 && place < STA_EXACT_DIGITS);
    if (total->adds >= STA_EXACT_FULL / TOP_ADDS)
        carry_total(total);
    widen(total, place);
    total->digits[place] += digit;
    total->adds++;
}

void sta_exact_total_add(struct sta_exact_total *total, const struct sta_exact *exact, unsigned window)
{
    int64_t carry = 0;
    if (exact->adds == 0)
        return;
    for (unsigned d = 0; d < window; d++) {
        int64_t digit = exact->digits[d] + carry;
        if (digit != 0)
            add_to_total(total, exact->base + (int)d, digit & LOW_BITS);
        carry = digit >> BASE_BITS;
    }
    if (carry != 0)
        add_to_total(total, exact->base + (int)window, carry);
}

void sta_exact_total_add_term(struct sta_exact_total *total, uint64_t term)
{
    int64_t digit = (int64_t)(term & (UINT64_MAX >> (64 - TERM_BITS))) - TERM_ZERO;
    add_to_total(total, (int)(term >> TERM_BITS & 0xff), digit);
}

void sta_exact_total_add_integer(struct sta_exact_total *total, const uint64_t *words, unsigned count)
{
    for (unsigned w = 0; w < count; w++) {
        bool last = w + 1 == count;
        int64_t upper = last ? (int64_t)words[w] >> BASE_BITS : (int64_t)(words[w] >> BASE_BITS);
        add_to_total(total, UNIT + 2 * (int)w, (int64_t)(words[w] & UINT32_MAX));
        add_to_total(total, UNIT + 2 * (int)w + 1, upper);
    }
}

/* ---- results */

#define MAGNITUDE_DIGITS (2 * STA_EXACT_DIGITS)

/* A number that is not negative; digits[i] counts 2^(32 (i + place)) of the grid. */
struct magnitude {
    int place, count;
    uint32_t digits[MAGNITUDE_DIGITS];
};

/* Return: whether the total is negative. */
static bool to_magnitude(struct sta_exact_total *total, struct magnitude *magnitude)
{
    carry_total(total);
    bool negative = total->high >= total->low && total->digits[total->high] < 0;
    if (negative) {
        for (int d = total->low; d <= total->high; d++)
            total->digits[d] = -total->digits[d];
        carry_total(total);
    }
    magnitude->place = total->low;
    magnitude->count = 0;
    for (int d = total->low; d <= total->high; d++)
        magnitude->digits[magnitude->count++] = (uint32_t)total->digits[d];
    return negative;
}

/* a * b, whose places add up. */
static void multiply(const struct magnitude *a, const struct magnitude *b, struct magnitude *product)
{
    STA_ASSERT(a->count + b->count <= MAGNITUDE_DIGITS);
    product->place = a->place + b->place - UNIT;
    product->count = a->count + b->count;
    memset(product->digits, 0, (size_t)product->count * sizeof *product->digits);
    for (int i = 0; i < a->count; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < b->count; k++) {
            uint64_t sum = product->digits[i + k] + (uint64_t)a->digits[i] * b->digits[k] + carry;
            product->digits[i + k] = (uint32_t)sum;
            carry = sum >> BASE_BITS;
        }
        product->digits[i + b->count] = (uint32_t)carry;
    }
}

static int64_t digit_at(const struct magnitude *magnitude, int place)
{
    int at = place - magnitude->place;
    return at >= 0 && at < magnitude->count ? magnitude->digits[at] : 0;
}

/* a - b.  Return: whether that is not negative; if it is, the difference is undefined. */
static bool subtract(const struct magnitude *a, const struct magnitude *b, struct magnitude *difference)
{
    int low = STA_MIN(a->place, b->place);
    int high = STA_MAX(a->place + a->count, b->place + b->count);
    int64_t borrow = 0;
    STA_ASSERT(high - low <= MAGNITUDE_DIGITS);
    difference->place = low;
    difference->count = high - low;
    for (int place = low; place < high; place++) {
        int64_t digit = digit_at(a, place) - digit_at(b, place) + borrow;
        difference->digits[place - low] = (uint32_t)digit;
        borrow = digit >> BASE_BITS;
    }
    return borrow == 0;
}

/* m * 2^exponent */
struct rounded {
    double m;
    int exponent;
};

/* The nearest with an m of 53 bits.  Below 64 bits from the highest it only matters whether anything is
 * there. */
static struct rounded round_magnitude(const struct magnitude *magnitude)
{
    int top = magnitude->count - 1;
    while (top >= 0 && magnitude->digits[top] == 0)
        top--;
    if (top < 0)
        return (struct rounded){0};
    int place = magnitude->place + top;
    unsigned shift = (unsigned)__builtin_clz(magnitude->digits[top]);
    unsigned __int128 high = (unsigned __int128)digit_at(magnitude, place) << 96 |
                             (unsigned __int128)digit_at(magnitude, place - 1) << 64 |
                             (unsigned __int128)digit_at(magnitude, place - 2) << 32;
    high <<= shift;
    bool rest = (uint64_t)high != 0;
    for (int d = top - 3; d >= 0 && !rest; d--)
        rest = magnitude->digits[d] != 0;
    return (struct rounded){.m = (double)((uint64_t)(high >> 64) | (uint64_t)rest),
                            .exponent = (place + 1) * BASE_BITS - STA_EXACT_GRID - 64 - (int)shift};
}

double sta_exact_sum(struct sta_exact_total *total)
{
    struct magnitude magnitude;
    bool negative = to_magnitude(total, &magnitude);
    struct rounded rounded = round_magnitude(&magnitude);
    double value = ldexp(rounded.m, rounded.exponent);
    return negative ? -value : value;
}

static struct magnitude whole(uint64_t value)
{
    return (struct magnitude){UNIT, 2, {(uint32_t)value, (uint32_t)(value >> BASE_BITS)}};
}

double sta_exact_variance(struct sta_exact_total *sum, struct sta_exact_total *squares, uint64_t count)
{
    struct magnitude sums;
    struct magnitude both[2];
    struct magnitude values = whole(count);
    to_magnitude(sum, &sums);
    multiply(&sums, &sums, &both[0]);
    to_magnitude(squares, &sums);
    multiply(&sums, &values, &both[1]);
    if (!subtract(&both[1], &both[0], &sums))
        return NAN;
    struct rounded difference = round_magnitude(&sums);
    return ldexp(difference.m / ((double)count * (double)(count - 1)), difference.exponent);
}
