/* Rows to parcels: counted by unit, then written to their places. */
#include "analyse/intervals/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

struct sta_packer {
    uint32_t *places; /* by unit: how many rows, then where the next one goes; 0 between lists */
    size_t place_capacity;
    uint32_t *rows, *units; /* of the list */
    size_t row_capacity, unit_capacity;
    struct sta_packed_end *ends; /* apart, of the parcel */
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
    free(packer->rows);
    free(packer->units);
    free(packer->ends);
    free(packer);
}

struct sta_pack_list sta_packer_list(struct sta_packer *packer, uint32_t unit_limit, uint32_t rows)
{
    size_t before = packer->place_capacity;
    STA_GROW(packer->places, packer->place_capacity, unit_limit);
    if (packer->place_capacity > before)
        memset(packer->places + before, 0, (packer->place_capacity - before) * sizeof *packer->places);
    STA_GROW(packer->rows, packer->row_capacity, (size_t)rows + 1);
    STA_GROW(packer->units, packer->unit_capacity, rows);
    return (struct sta_pack_list){.rows = packer->rows, .counts = packer->places, .units = packer->units};
}

/* From counts to places. */
static void put_units(const struct sta_pack_list *list, struct sta_packed_unit *units)
{
    uint32_t sum = 0;
    for (uint32_t u = 0; u < list->unit_count; u++) {
        uint32_t *place = &list->counts[list->units[u]];
        units[u] = (struct sta_packed_unit){list->units[u], *place};
        *place = sum;
        sum += units[u].count;
    }
}

static void put_spans(struct sta_packer *packer, const struct sta_pack_events *events,
                      const struct sta_pack_list *list, int64_t cut, struct sta_packed_span *spans)
{
    const struct sta_pack_events from = *events;
    const struct sta_pack_list of = *list;
    uint32_t *places = packer->places;
    for (uint32_t i = 0; i < of.row_count; i++) {
        uint32_t row = of.rows[i];
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
                         const struct sta_pack_list *list, int64_t cut, char *bytes)
{
    struct sta_parcel_head *head = (struct sta_parcel_head *)(void *)bytes;
    packer->end_count = 0;
    head->units = list->unit_count;
    head->spans = sizeof *head + (head->units + 1) / 2 * 2 * sizeof(struct sta_packed_unit);
    struct sta_packed_span *spans = (struct sta_packed_span *)(void *)(bytes + head->spans);
    put_units(list, (struct sta_packed_unit *)(void *)(head + 1));
    put_spans(packer, events, list, cut, spans);
    for (uint32_t u = 0; u < list->unit_count; u++)
        packer->places[list->units[u]] = 0;
    head->ends = (uint32_t)packer->end_count;
    if (packer->end_count > 0)
        memcpy(spans + list->row_count, packer->ends, packer->end_count * sizeof *packer->ends);
    return head->spans + list->row_count * sizeof *spans + packer->end_count * sizeof *packer->ends;
}

void sta_packer_put(struct sta_packer *packer, const struct sta_pack_events *events,
                    const struct sta_pack_list *list, size_t cut, struct sta_block_spans *spans)
{
    size_t end = cut > 0 ? spans->ends[cut - 1] : 0;
    if (list->row_count > 0)
        end += put_parcel(packer, events, list, spans->cuts[cut], spans->bytes + end);
    spans->ends[cut] = end;
    spans->count += list->row_count;
}
