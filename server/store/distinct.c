/* distinct.c - see distinct.h.
 *
 * DESIGN: one pass gives every value a provisional place by first sight, then the few distinct ones are sorted and the places
 * renumbered.  Values of a small range address their slot directly; others are hashed.  Slots are never cleared: a stamp
 * tells those of this call from older ones. */
#include "store/distinct.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t slot_of(int64_t value)
{
    return (uint32_t)((uint64_t)value * UINT64_C(0x9E3779B97F4A7C15) >> 51);
}
static_assert(STA_DISTINCT_SLOTS == 1 << 13, "slot_of gives 13 bits");

static uint32_t find_slot(const struct sta_distinct *distinct, int64_t value)
{
    uint32_t slot = slot_of(value);
    while (distinct->slots[slot].stamp == distinct->stamp && distinct->slots[slot].value != value)
        slot = (slot + 1) % STA_DISTINCT_SLOTS;
    return slot;
}

static void next_stamp(struct sta_distinct *distinct)
{
    if (++distinct->stamp != 0)
        return;
    memset(distinct->slots, 0, sizeof distinct->slots);
    distinct->stamp = 1;
}

/* Provisional places, by first sight.  Return: false past the limit. */
static bool collect(struct sta_distinct *distinct, const int64_t *values, uint32_t count, int64_t min,
                    bool direct, uint32_t limit)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = direct ? (uint32_t)(uint64_t)(values[i] - min) : find_slot(distinct, values[i]);
        if (distinct->slots[slot].stamp != distinct->stamp) {
            if (distinct->count == limit)
                return false;
            distinct->slots[slot].stamp = distinct->stamp;
            distinct->slots[slot].value = values[i];
            distinct->slots[slot].place = distinct->count;
            distinct->values[distinct->count++] = values[i];
        }
        distinct->index[i] = (uint16_t)distinct->slots[slot].place;
    }
    return true;
}

bool sta_distinct_find(struct sta_distinct *distinct, const int64_t *values, uint32_t count, int64_t min,
                       int64_t max, uint32_t limit)
{
    uint16_t sorted_place[STA_KEYS_LIMIT];
    bool direct = (uint64_t)max - (uint64_t)min < STA_DISTINCT_SLOTS;
    STA_ASSERT(limit <= STA_KEYS_LIMIT && count <= STA_BLOCK_ROWS);
    distinct->count = 0;
    next_stamp(distinct);
    if (!collect(distinct, values, count, min, direct, limit))
        return false;
    qsort(distinct->values, distinct->count, sizeof *distinct->values, by_value);
    for (uint32_t i = 0; i < distinct->count; i++) {
        uint32_t slot = direct ? (uint32_t)(uint64_t)(distinct->values[i] - min)
                               : find_slot(distinct, distinct->values[i]);
        sorted_place[distinct->slots[slot].place] = (uint16_t)i;
    }
    for (uint32_t i = 0; i < count; i++)
        distinct->index[i] = sorted_place[distinct->index[i]];
    return true;
}
