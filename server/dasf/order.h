/* order.h - where records of several kinds go, so that each kind is in the order of the stream (private to
 * dasf). */
#ifndef STA_DASF_ORDER_H
#define STA_DASF_ORDER_H

#include "analyse/analyse.h"

#define DASF_KINDS 3
#define DASF_NO_KIND 0 /* of a position: no record of a kind that is kept */

struct dasf_order {
    uint8_t *kinds;         /* by position: kind + 1, or DASF_NO_KIND */
    uint32_t *places;       /* by position: how many records of its kind come before it */
    uint64_t positions;     /* above those of all records */
    _Atomic uint64_t noted; /* records whose kind was written there */
    size_t counts[DASF_KINDS];
};

/** Sets places and counts by the kinds.  @order->places: as many as positions.  Return: 0, STA_ECANCELLED,
 * STA_ELIMIT (deadline), or STA_ECORRUPT when two records have one position. */
STA_MUSTCHECK int dasf_order_find(struct dasf_order *order, const struct sta_budget *budget,
                                  struct sta_error *err);

#endif
