/* distinct.c - see distinct.h.
 *
 * DESIGN: values of a small range mark their place in a table, whose marks in order are the distinct values;
 * those of a range below 64 have a bit each.  Others are hashed: one pass gives every value a provisional
 * place by first sight, then the few distinct ones are sorted and, for who asks for the places, these are
 * renumbered.  Hash slots are never cleared: a stamp tells those of this call from older ones. */
#include "store/encoding/distinct.h"

#include <string.h>
#include "common/memory.h"
#include "store/encoding/kernels.h"

/* Shell's sort: some hundreds of values at most, mostly, for which a call for each comparison costs more. */
static void sort_values(int64_t *values, uint32_t count)
{
    static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < STA_COUNT_OF(gaps); g++)
        for (uint32_t i = gaps[g]; i < count; i++) {
            const int64_t value = values[i];
            uint32_t at = i;
            for (; at >= gaps[g] && values[at - gaps[g]] > value; at -= gaps[g])
                values[at] = values[at - gaps[g]];
            values[at] = value;
        }
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

/* A place that is marked has the next value.  Return: false past the limit, as with the next three. */
static bool add_value(struct sta_distinct *distinct, const struct sta_values *values, uint32_t offset,
                      uint32_t limit)
{
    if (distinct->count == limit)
        return false;
    distinct->place[offset] = (uint16_t)distinct->count;
    distinct->values[distinct->count++] = (int64_t)((uint64_t)values->range.min + offset);
    return true;
}

static bool find_by_bits(struct sta_distinct *distinct, const struct sta_values *values, uint32_t limit)
{
    uint64_t bits = sta_kernels()->bits_of(values->narrow, values->count, distinct->first);
    for (; bits != 0; bits &= bits - 1)
        if (!add_value(distinct, values, (uint32_t)__builtin_ctzll(bits), limit))
            return false;
    return true;
}

static bool find_directly(struct sta_distinct *distinct, const struct sta_values *values, uint32_t range,
                          uint32_t limit)
{
    const uint32_t first = distinct->first;
    uint16_t *place = distinct->place;
    memset(place, 0, range * sizeof *place);
    for (uint32_t i = 0; i < values->count; i++)
        place[values->narrow[i] - first] = 1;
    for (uint32_t offset = 0; offset < range; offset++)
        if (place[offset] && !add_value(distinct, values, offset, limit))
            return false;
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
    sort_values(distinct->values, distinct->count);
    return true;
}

bool sta_distinct_find(struct sta_distinct *distinct, const struct sta_values *values, uint32_t limit)
{
    const uint64_t range = (uint64_t)values->range.max - (uint64_t)values->range.min;
    STA_ASSERT(limit <= STA_KEYS_LIMIT && values->count <= STA_ROW_GROUP_ROWS);
    distinct->count = 0;
    distinct->hashed = values->narrow == NULL || range >= STA_DISTINCT_SLOTS;
    if (distinct->hashed)
        return find_by_hash(distinct, values, limit);
    distinct->first = (uint32_t)((uint64_t)values->range.min - values->origin);
    const bool found = range < 64 ? find_by_bits(distinct, values, limit)
                                  : find_directly(distinct, values, (uint32_t)range + 1, limit);
    distinct->dense = found && distinct->count == range + 1;
    return found;
}

static void renumber(struct sta_distinct *distinct, const struct sta_values *values)
{
    for (uint32_t i = 0; i < distinct->count; i++)
        distinct->place[distinct->slots[find_slot(distinct, distinct->values[i])].place] = (uint16_t)i;
    for (uint32_t i = 0; i < values->count; i++)
        distinct->index[i] = distinct->place[distinct->index[i]];
}

void sta_distinct_index(struct sta_distinct *distinct, const struct sta_values *values)
{
    const uint32_t first = distinct->first;
    if (distinct->hashed)
        renumber(distinct, values);
    else if (distinct->dense)
        for (uint32_t i = 0; i < values->count; i++)
            distinct->index[i] = (uint16_t)(values->narrow[i] - first);
    else
        for (uint32_t i = 0; i < values->count; i++)
            distinct->index[i] = distinct->place[values->narrow[i] - first];
}
