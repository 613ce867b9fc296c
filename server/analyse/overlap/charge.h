/* charge.h - moments of each unit dealt out to lists, by which sets are active (private to overlap and
 * findings). */
#ifndef STA_ANALYSE_OVERLAP_CHARGE_H
#define STA_ANALYSE_OVERLAP_CHARGE_H

#include "analyse/intervals/pieces.h"
#include "analyse/overlap/pass.h"

#define STA_CHARGE_LISTS (STA_OVERLAP_SETS + 1)
#define STA_CHARGE_NONE UINT8_MAX

/** Takes an interval of a list and a unit, on worker @worker, one call at a time each. */
typedef int (*sta_charge_take)(void *context, unsigned worker, uint32_t list, uint32_t unit,
                               const struct sta_interval *interval, struct sta_error *err);

/* What becomes of the intervals. */
struct sta_charge_wants {
    uint32_t longest;     /* of each list these are among those that are listed; 0: all are */
    bool units_first;     /* of equally long ones those of the first unit, not those that begin first */
    sta_charge_take take; /* of each interval once; NULL: nobody, else `longest` is not 0 */
    void *context;
};

/**
 * sta_charge_intervals - one pass: the maximal intervals of each list, within the span of each unit
 * @list_of_mask: by combination of sets; STA_CHARGE_NONE: of no list.  [0]: when no set is active
 * @lists: @count of them, at most STA_CHARGE_LISTS; sta_joined_fini each, also after a failure
 */
STA_MUSTCHECK int sta_charge_intervals(const uint8_t *list_of_mask, uint32_t count,
                                       const struct sta_charge_wants *wants,
                                       const struct sta_overlap_binding *binding,
                                       struct sta_overlap_results *results, struct sta_joined *lists,
                                       struct sta_error *err);

/* ---- intervals in which a condition on the sets holds, and the events that fill them */

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
