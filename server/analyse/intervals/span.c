/* Spans in order of time.
 *
 * A slice of the time axis holds few bits of time, so a radix sort (least significant digit first) needs two
 * or three passes over memory that fits a core's cache, whatever the number of runs that came together.  Its
 * digits are as wide as the passes need.
 *
 * Spans come in two sizes, both with the time first; functions that are inlined with a constant size serve
 * both. */
#include "analyse/intervals/span.h"

#include <stdbool.h>
#include <string.h>

#include "analyse/intervals/parcel.h"

#define DIGIT_BITS 13 /* at most: counters in half a core's nearest cache */
#define FEW 48        /* that are sorted by insertion */

static inline int64_t time_of(const char *span)
{
    int64_t ts;
    memcpy(&ts, span, sizeof ts);
    return ts;
}

struct range {
    int64_t low, high;
    bool sorted;
};

static inline struct range range_of(const char *spans, size_t count, size_t size)
{
    int64_t before = time_of(spans);
    struct range range = {before, before, true};
    for (size_t i = 1; i < count; i++) {
        int64_t ts = time_of(spans + i * size);
        range.sorted &= before <= ts;
        range.low = ts < range.low ? ts : range.low;
        range.high = ts > range.high ? ts : range.high;
        before = ts;
    }
    return range;
}

static inline void insert_each(char *spans, size_t count, size_t size)
{
    for (size_t i = 1; i < count; i++) {
        char span[sizeof(struct sta_span)];
        memcpy(span, spans + i * size, size);
        size_t at = i;
        for (; at > 0 && time_of(spans + (at - 1) * size) > time_of(span); at--)
            memcpy(spans + at * size, spans + (at - 1) * size, size);
        memcpy(spans + at * size, span, size);
    }
}

/* A digit of the times: bits [shift, shift + bits). */
struct digit {
    int64_t low;
    unsigned shift, bits;
};

static inline uint32_t value_of(const struct digit *digit, const char *span)
{
    return (uint32_t)(((uint64_t)time_of(span) - (uint64_t)digit->low) >> digit->shift) &
           ((1u << digit->bits) - 1);
}

static inline void one_pass(const char *from, char *to, size_t count, size_t size, struct digit digit)
{
    size_t place[1u << DIGIT_BITS];
    memset(place, 0, sizeof *place << digit.bits);
    for (size_t i = 0; i < count; i++)
        place[value_of(&digit, from + i * size)]++;
    size_t sum = 0;
    for (unsigned d = 0; d < 1u << digit.bits; d++) {
        size_t here = place[d];
        place[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(to + place[value_of(&digit, from + i * size)]++ * size, from + i * size, size);
}

static inline char *sort(char *spans, char *scratch, size_t count, size_t size)
{
    if (count < 2)
        return spans;
    struct range range = range_of(spans, count, size);
    if (range.sorted)
        return spans;
    if (count <= FEW) {
        insert_each(spans, count, size);
        return spans;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)range.high - (uint64_t)range.low);
    unsigned passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    unsigned width = (bits + passes - 1) / passes;
    for (unsigned pass = 0; pass < passes; pass++) {
        one_pass(spans, scratch, count, size, (struct digit){range.low, pass * width, width});
        char *sorted = scratch;
        scratch = spans;
        spans = sorted;
    }
    return spans;
}

struct sta_span *sta_spans_sort(struct sta_span *spans, struct sta_span *scratch, size_t count)
{
    return (struct sta_span *)(void *)sort((char *)spans, (char *)scratch, count, sizeof *spans);
}

struct sta_packed_span *sta_packed_spans_sort(struct sta_packed_span *spans, struct sta_packed_span *scratch,
                                              size_t count)
{
    return (struct sta_packed_span *)(void *)sort((char *)spans, (char *)scratch, count, sizeof *spans);
}

size_t sta_spans_lower_bound(const struct sta_span *spans, size_t count, int64_t ts)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (spans[low + half].ts < ts) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}
