/* Spans in order of time.
 *
 * A slice of the time axis holds few bits of time, so a radix sort (least significant digit first, 11 bits a digit)
 * needs two or three passes over memory that fits a core's cache, whatever the number of runs that came together. */
#include "analyse/intervals/span.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

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

static uint32_t digit_of(const struct sta_span *span, int64_t low, unsigned shift)
{
    return (uint32_t)(((uint64_t)span->ts - (uint64_t)low) >> shift) & (DIGITS - 1);
}

static void one_pass(const struct sta_span *from, struct sta_span *to, size_t count, int64_t low,
                     unsigned shift)
{
    size_t place[DIGITS];
    memset(place, 0, sizeof place);
    for (size_t i = 0; i < count; i++)
        place[digit_of(&from[i], low, shift)]++;
    size_t sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t here = place[d];
        place[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[digit_of(&from[i], low, shift)]++] = from[i];
}

struct sta_span *sta_spans_sort(struct sta_span *spans, struct sta_span *scratch, size_t count)
{
    if (count < 2)
        return spans;
    struct range range = range_of(spans, count);
    if (range.sorted)
        return spans;
    uint64_t width = (uint64_t)range.high - (uint64_t)range.low;
    for (unsigned shift = 0; shift < 64 && width >> shift != 0; shift += DIGIT_BITS) {
        one_pass(spans, scratch, count, range.low, shift);
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
