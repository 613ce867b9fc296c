/* Records in order of time.
 *
 * A slice of the time axis holds few bits of time, so a radix sort (least significant digit first) needs two
 * or three passes over memory that fits a core's cache, whatever the number of runs that came together.  Its
 * digits are as wide as the passes need.
 *
 * Functions that are inlined with a constant size serve the sizes that are common. */
#include <stdbool.h>
#include <string.h>

#include "analyse/operators/ordered/ordered_private.h"

#define DIGIT_BITS 13 /* at most: counters in half a core's nearest cache */
#define FEW 48        /* that are sorted by insertion */

static inline int64_t time_of(const char *record)
{
    int64_t ts;
    memcpy(&ts, record, sizeof ts);
    return ts;
}

struct range {
    int64_t low, high;
    bool sorted;
};

static inline struct range range_of(const char *records, size_t count, size_t size)
{
    int64_t before = time_of(records);
    struct range range = {before, before, true};
    for (size_t i = 1; i < count; i++) {
        int64_t ts = time_of(records + i * size);
        range.sorted &= before <= ts;
        range.low = ts < range.low ? ts : range.low;
        range.high = ts > range.high ? ts : range.high;
        before = ts;
    }
    return range;
}

static inline void insert_each(char *records, size_t count, size_t size)
{
    for (size_t i = 1; i < count; i++) {
        char record[STA_ORDERED_RECORD];
        memcpy(record, records + i * size, size);
        size_t at = i;
        for (; at > 0 && time_of(records + (at - 1) * size) > time_of(record); at--)
            memcpy(records + at * size, records + (at - 1) * size, size);
        memcpy(records + at * size, record, size);
    }
}

/* A digit of the times: bits [shift, shift + bits). */
struct digit {
    int64_t low;
    unsigned shift, bits;
};

static inline uint32_t value_of(const struct digit *digit, const char *record)
{
    return (uint32_t)(((uint64_t)time_of(record) - (uint64_t)digit->low) >> digit->shift) &
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

static inline char *sort(char *records, char *scratch, size_t count, size_t size)
{
    if (count < 2)
        return records;
    struct range range = range_of(records, count, size);
    if (range.sorted)
        return records;
    if (count <= FEW) {
        insert_each(records, count, size);
        return records;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)range.high - (uint64_t)range.low);
    unsigned passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    unsigned width = (bits + passes - 1) / passes;
    for (unsigned pass = 0; pass < passes; pass++) {
        one_pass(records, scratch, count, size, (struct digit){range.low, pass * width, width});
        char *sorted = scratch;
        scratch = records;
        records = sorted;
    }
    return records;
}

char *sta_ordered_sort(char *records, char *scratch, size_t count, size_t size)
{
    switch (size) {
    case 16:
        return sort(records, scratch, count, 16);
    case 24:
        return sort(records, scratch, count, 24);
    case 32:
        return sort(records, scratch, count, 32);
    default:
        return sort(records, scratch, count, size);
    }
}
