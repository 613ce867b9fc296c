/* fill.h - the events that fill an interval, so that one can go and look (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_FILL_H
#define STA_ANALYSE_OVERLAP_FILL_H

#include "analyse/overlap/pass.h"

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
