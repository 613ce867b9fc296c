/* A radix sort by eleven bits at a time, least significant first; digits in which no two items differ are
 * left out. */
#include "analyse/compatible/sort.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static uint64_t word_of(const struct sta_sort_item *item, int major)
{
    return major ? item->key : item->minor;
}

/* One pass from @from to @to. */
static void distribute(const struct sta_sort_item *from, struct sta_sort_item *to, size_t count, int major,
                       unsigned shift)
{
    size_t places[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        places[word_of(&from[i], major) >> shift & (DIGITS - 1)]++;
    size_t before = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = places[d];
        places[d] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++)
        to[places[word_of(&from[i], major) >> shift & (DIGITS - 1)]++] = from[i];
}

void sta_sort_items(struct sta_sort_item *items, struct sta_sort_item *spare, size_t count,
                    const _Atomic bool *cancel)
{
    uint64_t differ[2] = {0, 0};
    for (size_t i = 1; i < count; i++) {
        differ[0] |= items[i].minor ^ items[0].minor;
        differ[1] |= items[i].key ^ items[0].key;
    }
    struct sta_sort_item *from = items, *to = spare;
    for (int major = 0; major < 2; major++)
        for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
            bool given_up = cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed);
            if ((differ[major] >> shift & (DIGITS - 1)) == 0 || given_up)
                continue;
            distribute(from, to, count, major, shift);
            struct sta_sort_item *other = from;
            from = to;
            to = other;
        }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
