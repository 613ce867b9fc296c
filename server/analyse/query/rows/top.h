/* top.h - what of all rows may be among the first of an order (private to query/rows).
 *
 * Workers that look for the first rows share a bound, a row: none that comes behind it is among them.  Parts
 * come in the order of the least lead (sort_keys.h) that they can have, so that the first ones bring the
 * bound down and most others are never read.  Where many rows agree in the only key, as sizes do, those of
 * later parts come behind the bound by their time. */
#ifndef STA_ANALYSE_QUERY_TOP_H
#define STA_ANALYSE_QUERY_TOP_H

#include <uv.h>

#include "analyse/query/rows/plain.h"

struct sta_top {
    const struct sta_plain *plain;
    uint64_t least;  /* lead of the row to start behind, or 0 */
    uv_mutex_t lock; /* over bound */
    struct sta_top_bound {
        uint64_t lead, trace, at; /* of a row, as in its key */
    } bound;                      /* only becomes less */
    struct sta_top_part {
        uint64_t lead; /* the least that it can have */
        uint32_t part;
    } * parts; /* ascending */
};

/** @after: the key of a row to start behind, or NULL. */
void sta_top_init(struct sta_top *top, const struct sta_plain *plain, const uint64_t *after);
void sta_top_fini(struct sta_top *top);
/** The part to look at as number @number.  Return: false when no row of it is wanted. */
bool sta_top_part(struct sta_top *top, size_t number, size_t *part);
/** Drops rows of a lane that are not among the first.  @kept: room for all. */
STA_MUSTCHECK int sta_top_narrow(struct sta_top *top, struct sta_lane *lane, uint32_t *kept,
                                 struct sta_error *err);
/** As many rows as are wanted come no later than this one. */
void sta_top_lower(struct sta_top *top, const uint64_t *key);

#endif
