/* distinct.c - see distinct.h.
 *
 * DESIGN: values of a small range mark their place in a table, whose marks in order are the distinct values.
 * Others are hashed: one pass gives every value a provisional place by first sight, then the few distinct
 * ones are sorted and the places renumbered.  Hash slots are never cleared: a stamp tells those of this call
 * from older ones. */
#include "store/encoding/distinct.h"

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

/* Return: false past the limit, as with the next. */
static bool find_directly(struct sta_distinct *distinct, const struct sta_values *values, uint32_t range,
                          uint32_t limit)
{
    uint32_t first = (uint32_t)((uint64_t)values->range.min - values->origin);
    uint16_t *place = distinct->place;
    memset(place, 0, range * sizeof *place);
    for (uint32_t i = 0; i < values->count; i++)
        place[values->narrow[i] - first] = 1;
    for (uint32_t offset = 0; offset < range; offset++) {
        if (!place[offset])
            continue;
        if (distinct->count == limit)
            return false;
        place[offset] = (uint16_t)distinct->count;
        distinct->values[distinct->count++] = (int64_t)((uint64_t)values->range.min + offset);
    }
    for (uint32_t i = 0; i < values->count; i++)
        distinct->index[i] = place[values->narrow[i] - first];
    return true;
}

static bool find_by_hash(struct sta_distinct *distinct, const struct sta_values *values, uint32_t limit)
{
    next_stamp(distinct);
    for (uint32_t i = 0; i < values->count; i++) {
        int64_t value = sta_value_at(values, i);
        uint32_t slot = find_slot(distinct, value);
        if (distinct->slots[slot].stamp != distinct->stamp) {
            if (distinct->count == limit)
                return false;
            distinct->slots[slot].stamp = distinct->stamp;
            distinct->slots[slot].value = value;
            distinct->slots[slot].place = distinct->count;
            distinct->values[distinct->count++] = value;
        }
        distinct->index[i] = (uint16_t)distinct->slots[slot].place;
    }
    qsort(distinct->values, distinct->count, sizeof *distinct->values, by_value);
    for (uint32_t i = 0; i < distinct->count; i++)
        distinct->place[distinct->slots[find_slot(distinct, distinct->values[i])].place] = (uint16_t)i;
    for (uint32_t i = 0; i < values->count; i++)
        distinct->index[i] = distinct->place[distinct->index[i]];
    return true;
}

bool sta_distinct_find(struct sta_distinct *distinct, const struct sta_values *values, uint32_t limit)
{
    uint64_t range = (uint64_t)values->range.max - (uint64_t)values->range.min;
    STA_ASSERT(limit <= STA_KEYS_LIMIT && values->count <= STA_ROW_GROUP_ROWS);
    distinct->count = 0;
    return values->narrow != NULL && range < STA_DISTINCT_SLOTS
               ? find_directly(distinct, values, (uint32_t)range + 1, limit)
               : find_by_hash(distinct, values, limit);
}
