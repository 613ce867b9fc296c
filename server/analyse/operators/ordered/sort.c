/* Records in order of time.
 *
 * Records with the same time keep the order in which they came, so they are not sorted by operators/radix.h,
 * which compares all words of a record.
 *
 * A slice of the time axis holds few bits of time, so a radix sort (least significant digit first) needs two
 * or three passes over memory that fits a core's cache, whatever the number of runs that came together.  Its
 * digits are as wide as the passes need.  All digits are counted in one go through the runs, and the first
 * pass takes the records from where they are.
 *
 * Functions that are inlined with a constant size serve the sizes that are common. */
#include <stdbool.h>
#include <string.h>

#include "analyse/operators/ordered/ordered_private.h"

#define DIGIT_BITS 12 /* at most: counters in half a core's nearest cache */
#define PASSES ((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define FEW 48 /* that are sorted by insertion */

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

/* Each chunk is in order. */
static inline struct range range_of(const struct sta_ordered_chunk *chunks, uint32_t first, size_t size)
{
    struct range range = {INT64_MAX, INT64_MIN, true};
    for (uint32_t c = first; c != STA_ORDERED_LAST; c = chunks[c].next) {
        const int64_t low = time_of(chunks[c].records),
                      high = time_of(chunks[c].records + (chunks[c].count - 1) * size);
        range.sorted &= range.high <= low;
        range.low = low < range.low ? low : range.low;
        range.high = high > range.high ? high : range.high;
    }
    return range;
}

static inline void concatenate(const struct sta_ordered_chunk *chunks, uint32_t first, char *to, size_t size)
{
    for (uint32_t c = first; c != STA_ORDERED_LAST; c = chunks[c].next) {
        memcpy(to, chunks[c].records, chunks[c].count * size);
        to += chunks[c].count * size;
    }
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

/* The times as numbers from the least one on, of so many digits. */
struct digits {
    int64_t low;
    unsigned passes, bits; /* of each digit */
};

static inline uint32_t digit_of(const struct digits *digits, unsigned pass, const char *record)
{
    return (uint32_t)(((uint64_t)time_of(record) - (uint64_t)digits->low) >> (pass * digits->bits)) &
           ((1u << digits->bits) - 1);
}

typedef uint32_t counters[PASSES][1u << DIGIT_BITS];

/* Where the records of each digit begin, pass by pass. */
static inline void find_places(const struct sta_ordered_chunk *chunks, uint32_t first,
                               const struct digits *digits, counters places, size_t size)
{
    for (unsigned pass = 0; pass < digits->passes; pass++)
        memset(places[pass], 0, sizeof places[pass][0] << digits->bits);
    for (uint32_t c = first; c != STA_ORDERED_LAST; c = chunks[c].next) {
        const struct sta_ordered_chunk run = chunks[c];
        for (uint32_t i = 0; i < run.count; i++)
            for (unsigned pass = 0; pass < digits->passes; pass++)
                places[pass][digit_of(digits, pass, run.records + i * size)]++;
    }
    for (unsigned pass = 0; pass < digits->passes; pass++) {
        uint32_t sum = 0;
        for (unsigned d = 0; d < 1u << digits->bits; d++) {
            const uint32_t here = places[pass][d];
            places[pass][d] = sum;
            sum += here;
        }
    }
}

static inline void distribute(const char *records, uint32_t count, const struct digits *digits, unsigned pass,
                              uint32_t *place, char *to, size_t size)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy(to + (size_t)place[digit_of(digits, pass, records + i * size)]++ * size, records + i * size,
               size);
}

static inline char *sort(const struct sta_ordered_chunk *chunks, uint32_t first, char *records, char *scratch,
                         size_t count, size_t size)
{
    counters places;
    const struct range range = range_of(chunks, first, size);
    if (range.sorted || count <= FEW) {
        concatenate(chunks, first, records, size);
        if (!range.sorted)
            insert_each(records, count, size);
        return records;
    }
    const unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)range.high - (uint64_t)range.low);
    struct digits digits = {.low = range.low, .passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS};
    digits.bits = (bits + digits.passes - 1) / digits.passes;
    find_places(chunks, first, &digits, places, size);
    for (uint32_t c = first; c != STA_ORDERED_LAST; c = chunks[c].next)
        distribute(chunks[c].records, chunks[c].count, &digits, 0, places[0], records, size);
    for (unsigned pass = 1; pass < digits.passes; pass++) {
        distribute(records, (uint32_t)count, &digits, pass, places[pass], scratch, size);
        char *sorted = scratch;
        scratch = records;
        records = sorted;
    }
    return records;
}

char *sta_ordered_sort(const struct sta_ordered_chunk *chunks, uint32_t first, char *records, char *scratch,
                       size_t count, size_t size)
{
    switch (size) {
    case 16:
        return sort(chunks, first, records, scratch, count, 16);
    case 24:
        return sort(chunks, first, records, scratch, count, 24);
    case 32:
        return sort(chunks, first, records, scratch, count, 32);
    default:
        return sort(chunks, first, records, scratch, count, size);
    }
}
