/* where.h - the intervals in which a condition on the sets holds, and the events that fill them (private to
 * overlap). */
#ifndef STA_ANALYSE_OVERLAP_WHERE_H
#define STA_ANALYSE_OVERLAP_WHERE_H

#include "analyse/overlap/charge.h"

/**
 * sta_where_masks - for which combinations of sets the request's condition holds
 * @list_of_mask: as of sta_charge_intervals: 0 where it does, else STA_CHARGE_NONE.  free() it, also
 * after a failure
 * Return: 0, or what evaluating the condition failed with.
 */
STA_MUSTCHECK int sta_where_masks(const struct sta_overlap_request *request, uint8_t **list_of_mask,
                                  struct sta_error *err);

/**
 * sta_overlap_fill - add the column `events` to a table of intervals
 * @intervals: those of the table's rows; those of one unit do not overlap
 * @outside: also events of no set: for intervals in which no set need be active
 * @table: gets a list per row: of the events of the interval's unit that cover most of it, request->events at
 * most, those that cover most first
 * One more pass.  Return: 0, STA_ELIMIT (memory), or what the pass failed with.
 */
STA_MUSTCHECK int sta_overlap_fill(const struct sta_overlap_binding *binding,
                                   const struct sta_span *intervals, size_t count, bool outside,
                                   struct sta_table *table, struct sta_error *err);

#endif
