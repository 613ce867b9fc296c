/* whole.h - whole numbers as doubles and back, in loops that become vectors.
 *
 * AVX2 converts no integers of 64 bits.  But the bits of 1.5 * 2^52 + x hold x, as long as that is small. */
#ifndef STA_COMMON_WHOLE_H
#define STA_COMMON_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

#define STA_WHOLE_SHIFT 0x1.8p52
#define STA_WHOLE_BITS INT64_C(0x4338000000000000) /* of that */
#define STA_WHOLE_SMALL (INT64_C(1) << 50)

/** Whether @values - @origin all lie in -STA_WHOLE_SMALL .. STA_WHOLE_SMALL. */
static inline bool sta_whole_are_small(const int64_t *values, uint32_t count, int64_t origin)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= (uint64_t)values[i] - (uint64_t)origin + (uint64_t)STA_WHOLE_SMALL;
    /* An origin so far out could make a distance of 64 bits look small. */
    return bits <= 2 * (uint64_t)STA_WHOLE_SMALL && origin > INT64_MIN / 2 && origin < INT64_MAX / 2;
}

/** Of a small one. */
static inline double sta_whole_number(int64_t value)
{
    const int64_t bits = value + STA_WHOLE_BITS;
    double shifted;
    __builtin_memcpy(&shifted, &bits, sizeof shifted);
    return shifted - STA_WHOLE_SHIFT;
}

/** The largest integer that is at most @number, which lies in -STA_WHOLE_SMALL .. STA_WHOLE_SMALL. */
static inline int64_t sta_whole_floor(double number)
{
    const double shifted = number + STA_WHOLE_SHIFT; /* rounded to the nearest */
    int64_t bits;
    __builtin_memcpy(&bits, &shifted, sizeof bits);
    return bits - STA_WHOLE_BITS - (shifted - STA_WHOLE_SHIFT > number);
}

#endif
