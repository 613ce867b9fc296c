/* parcel.h - spans as the sweep takes them from a block: a parcel for each slice, in which the spans of a
 * unit come together, in order.
 *
 * Millions of spans go through memory between the worker that reads them and the one that sweeps them, so
 * they are packed: a unit is named once, and a span keeps its length.  Where that says nothing, or where the
 * sweep must know of an end before it comes to the span, the parcel has the end apart. */
#ifndef STA_ANALYSE_INTERVALS_PARCEL_H
#define STA_ANALYSE_INTERVALS_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/intervals/timeline.h"

#define STA_PACKED_APART (UINT32_C(1) << 31) /* in the mask of a span: its end is among the parcel's ends */

struct sta_packed_span {
    int64_t ts;
    uint32_t length, mask;
};

/** As sta_spans_sort. */
struct sta_packed_span *sta_packed_spans_sort(struct sta_packed_span *spans, struct sta_packed_span *scratch,
                                              size_t count);

struct sta_packed_unit {
    uint32_t unit, count; /* of its spans */
};

/* The end of a span of a unit. */
struct sta_packed_end {
    int64_t te;
    uint32_t unit, mask;
};

/* A parcel begins with this; its units follow, then their spans, then the ends apart. */
struct sta_parcel_head {
    uint32_t units, ends;
    size_t spans; /* where these begin, in bytes */
};

/* Bytes that one more row takes at most, whatever unit and slice it is of. */
#define STA_PARCEL_ROW                                                                                       \
    (sizeof(struct sta_parcel_head) + 2 * sizeof(struct sta_packed_unit) + sizeof(struct sta_packed_span) +  \
     sizeof(struct sta_packed_end))

struct sta_packer; /* of one worker; holds a number for each unit */

struct sta_packer *sta_packer_create(void);
void sta_packer_destroy(struct sta_packer *packer); /* NULL allowed */

/* Rows of a block that give spans to a slice, counted by unit as they are listed.  Kept by value, so that a
 * loop has it in registers. */
struct sta_pack_list {
    uint32_t *rows, row_count;
    uint32_t *counts; /* by unit */
    uint32_t *units, unit_count;
};

/** An empty list for at most @rows rows, of units below @unit_limit; valid until it is put. */
struct sta_pack_list sta_packer_list(struct sta_packer *packer, uint32_t unit_limit, uint32_t rows);

/** Lists a row, ascending by ts, if it is @wanted. */
static inline void sta_pack_row(struct sta_pack_list *list, uint32_t row, uint32_t unit, bool wanted)
{
    uint32_t before = list->counts[unit];
    list->rows[list->row_count] = row;
    list->row_count += wanted;
    list->counts[unit] = before + wanted;
    if (__builtin_expect(before < wanted, 0))
        list->units[list->unit_count++] = unit;
}

/* Events of a block, by row. */
struct sta_pack_events {
    const int64_t *ts, *dur; /* dur > 0 */
    int64_t to;              /* spans end there at last */
    const uint32_t *units, *masks;
};

/** Writes the parcel for the slice that ends at cut number @cut; those of all cuts in order, up to the last
 * one that has rows. */
void sta_packer_put(struct sta_packer *packer, const struct sta_pack_events *events,
                    const struct sta_pack_list *list, size_t cut, struct sta_block_spans *spans);

#endif
