/* Rows to parcels: slice by slice counted by unit, then written to their places. */
#include "analyse/intervals/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct sta_packer {
    uint32_t *places; /* by unit: how many rows, then where the next one goes; 0 between slices */
    size_t place_capacity;
    uint32_t *met; /* units of the slice */
    size_t met_capacity;
    struct sta_packed_end *ends; /* apart, of the slice */
    size_t end_count, end_capacity;
};

struct sta_packer *sta_packer_create(void)
{
    return sta_alloc(sizeof(struct sta_packer));
}

void sta_packer_destroy(struct sta_packer *packer)
{
    if (packer == NULL)
        return;
    free(packer->places);
    free(packer->met);
    free(packer->ends);
    free(packer);
}

static void make_room(struct sta_packer *packer, uint32_t unit_limit, uint32_t rows)
{
    size_t before = packer->place_capacity;
    STA_GROW(packer->places, packer->place_capacity, unit_limit);
    if (packer->place_capacity > before)
        memset(packer->places + before, 0, (packer->place_capacity - before) * sizeof *packer->places);
    STA_GROW(packer->met, packer->met_capacity, rows);
}

/* Counts the rows of each unit.  Return: how many units. */
static uint32_t count_units(struct sta_packer *packer, const uint32_t *units, const uint32_t *rows,
                            uint32_t count)
{
    uint32_t *places = packer->places;
    uint32_t met_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t unit = units[rows[i]];
        if (places[unit]++ == 0)
            packer->met[met_count++] = unit;
    }
    return met_count;
}

/* From counts to places. */
static void put_units(struct sta_packer *packer, uint32_t met_count, struct sta_packed_unit *units)
{
    uint32_t sum = 0;
    for (uint32_t m = 0; m < met_count; m++) {
        uint32_t *place = &packer->places[packer->met[m]];
        units[m] = (struct sta_packed_unit){packer->met[m], *place};
        *place = sum;
        sum += units[m].count;
    }
}

static void put_spans(struct sta_packer *packer, const struct sta_pack_events *events, const uint32_t *rows,
                      uint32_t count, int64_t cut, struct sta_packed_span *spans)
{
    const struct sta_pack_events from = *events;
    uint32_t *places = packer->places;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rows[i];
        uint32_t unit = from.units[row];
        uint32_t mask = from.masks[row];
        int64_t ts = from.ts[row];
        int64_t te = STA_MIN(ts + from.dur[row], from.to);
        if (__builtin_expect(te > cut || te - ts > UINT32_MAX, 0)) {
            STA_GROW(packer->ends, packer->end_capacity, packer->end_count + 1);
            packer->ends[packer->end_count++] = (struct sta_packed_end){te, unit, mask};
            mask |= STA_PACKED_APART;
        }
        spans[places[unit]++] = (struct sta_packed_span){ts, (uint32_t)(te - ts), mask};
    }
}

/* Return: the size of the parcel. */
static size_t put_parcel(struct sta_packer *packer, const struct sta_pack_events *events,
                         const uint32_t *rows, uint32_t count, int64_t cut, char *bytes)
{
    struct sta_parcel_head *head = (struct sta_parcel_head *)(void *)bytes;
    packer->end_count = 0;
    head->units = count_units(packer, events->units, rows, count);
    head->spans = sizeof *head + (head->units + 1) / 2 * 2 * sizeof(struct sta_packed_unit);
    struct sta_packed_unit *units = (struct sta_packed_unit *)(void *)(head + 1);
    struct sta_packed_span *spans = (struct sta_packed_span *)(void *)(bytes + head->spans);
    put_units(packer, head->units, units);
    put_spans(packer, events, rows, count, cut, spans);
    for (uint32_t m = 0; m < head->units; m++)
        packer->places[packer->met[m]] = 0;
    head->ends = (uint32_t)packer->end_count;
    if (packer->end_count > 0)
        memcpy(spans + count, packer->ends, packer->end_count * sizeof *packer->ends);
    return head->spans + count * sizeof *spans + packer->end_count * sizeof *packer->ends;
}

/* How many of the rows begin before a cut. */
static uint32_t rows_before(const int64_t *ts, const uint32_t *rows, uint32_t count, int64_t cut)
{
    uint32_t low = 0;
    if (cut == INT64_MAX)
        return count;
    while (count > 0) {
        uint32_t half = count / 2;
        bool before = ts[rows[low + half]] < cut;
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

void sta_packer_put(struct sta_packer *packer, const struct sta_pack_events *events, const uint32_t *rows,
                    uint32_t count, struct sta_block_spans *spans)
{
    size_t size = 0;
    make_room(packer, events->unit_limit, count);
    for (size_t c = 0; spans->count < count; c++) {
        const uint32_t *rest = rows + spans->count;
        uint32_t mine = rows_before(events->ts, rest, count - spans->count, spans->cuts[c]);
        if (mine > 0)
            size += put_parcel(packer, events, rest, mine, spans->cuts[c], spans->bytes + size);
        spans->ends[c] = size;
        spans->count += mine;
    }
}
