/* Spans in order of time.
 *
 * A slice of the time axis holds few bits of time, so a radix sort (least significant digit first) needs two or three passes over
 * memory that fits a core's cache, whatever the number of runs that came together.  Its digits are as wide as the passes need. */
#include "analyse/intervals/span.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 13 /* at most: counters in half a core's nearest cache */
#define FEW 48        /* that are sorted by insertion */

struct range {
    int64_t low, high;
    bool sorted;
};

static struct range range_of(const struct sta_span *spans, size_t count)
{
    struct range range = {spans[0].ts, spans[0].ts, true};
    int64_t before = spans[0].ts;
    for (size_t i = 1; i < count; i++) {
        int64_t ts = spans[i].ts;
        range.sorted &= before <= ts;
        range.low = ts < range.low ? ts : range.low;
        range.high = ts > range.high ? ts : range.high;
        before = ts;
    }
    return range;
}

static void insert_each(struct sta_span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sta_span span = spans[i];
        size_t at = i;
        for (; at > 0 && spans[at - 1].ts > span.ts; at--)
            spans[at] = spans[at - 1];
        spans[at] = span;
    }
}

/* A digit of the times: bits [shift, shift + bits). */
struct digit {
    int64_t low;
    unsigned shift, bits;
};

static inline uint32_t value_of(const struct digit *digit, const struct sta_span *span)
{
    return (uint32_t)(((uint64_t)span->ts - (uint64_t)digit->low) >> digit->shift) &
           ((1u << digit->bits) - 1);
}

static void one_pass(const struct sta_span *from, struct sta_span *to, size_t count, struct digit digit)
{
    size_t place[1u << DIGIT_BITS];
    memset(place, 0, sizeof *place << digit.bits);
    for (size_t i = 0; i < count; i++)
        place[value_of(&digit, &from[i])]++;
    size_t sum = 0;
    for (unsigned d = 0; d < 1u << digit.bits; d++) {
        size_t here = place[d];
        place[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[value_of(&digit, &from[i])]++] = from[i];
}

struct sta_span *sta_spans_sort(struct sta_span *spans, struct sta_span *scratch, size_t count)
{
    if (count < 2)
        return spans;
    struct range range = range_of(spans, count);
    if (range.sorted)
        return spans;
    if (count <= FEW) {
        insert_each(spans, count);
        return spans;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)range.high - (uint64_t)range.low);
    unsigned passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    unsigned width = (bits + passes - 1) / passes;
    for (unsigned pass = 0; pass < passes; pass++) {
        one_pass(spans, scratch, count, (struct digit){range.low, pass * width, width});
        struct sta_span *sorted = scratch;
        scratch = spans;
        spans = sorted;
    }
    return spans;
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
