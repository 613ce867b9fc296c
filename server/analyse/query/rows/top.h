/* top.h - what of all rows may be among the first of an order (private to query/rows).
 *
 * Workers that look for the first rows share a bound: no row with a larger lead (sort_keys.h) is among them.  Parts come in the order of the
 * least lead that they can have, so that the first ones bring the bound down and most others are never read. */
#ifndef STA_ANALYSE_QUERY_TOP_H
#define STA_ANALYSE_QUERY_TOP_H

#include <stdatomic.h>

#include "analyse/query/rows/plain.h"

struct sta_top {
    const struct sta_plain *plain;
    uint64_t least;         /* lead of the row to start behind, or 0 */
    _Atomic uint64_t bound; /* only becomes less */
    struct sta_top_part {
        uint64_t lead; /* the least that it can have */
        uint32_t part;
    } * parts; /* ascending */
};

/** @after: the key of a row to start behind, or NULL. */
void sta_top_init(struct sta_top *top, const struct sta_plain *plain, const uint64_t *after);
void sta_top_fini(struct sta_top *top);
/** The part to look at as number @number.  Return: false when no row of it is wanted. */
bool sta_top_part(const struct sta_top *top, size_t number, size_t *part);
/** Drops rows of a lane that are not among the first.  @kept: room for all. */
STA_MUSTCHECK int sta_top_narrow(const struct sta_top *top, struct sta_lane *lane, uint32_t *kept,
                                 struct sta_error *err);
/** As many rows as are wanted come no later than this one. */
void sta_top_lower(struct sta_top *top, const uint64_t *key);

#endif
