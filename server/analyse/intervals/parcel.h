/* parcel.h - spans as the sweep takes them from a block: a parcel for each slice, in which the spans of a unit come together, in order.
 *
 * Millions of spans go through memory between the worker that reads them and the one that sweeps them, so they are packed: a unit is named once,
 * and a span keeps its length.  Where that says nothing, or where the sweep must know of an end before it comes to the span, the parcel
 * has the end apart. */
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

/* Events of a block, by row. */
struct sta_pack_events {
    const int64_t *ts, *dur; /* dur > 0 */
    int64_t to;              /* spans end there at last */
    const uint32_t *units, *masks;
    uint32_t unit_limit; /* above all units */
};

/** Writes the spans of rows, ascending by ts, as parcels. */
void sta_packer_put(struct sta_packer *packer, const struct sta_pack_events *events, const uint32_t *rows,
                    uint32_t count, struct sta_block_spans *spans);

#endif
