/* slices.h - where a pass cuts the time axis (private to ordered). */
#ifndef STA_ANALYSE_OPERATORS_ORDERED_SLICES_H
#define STA_ANALYSE_OPERATORS_ORDERED_SLICES_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/operators/ordered.h"

struct sta_slice_plan {
    uint32_t *order;      /* row group numbers by ts_min: the order in which row groups are read */
    size_t slice_count;   /* at least 1 */
    int64_t *bounds;      /* slice s is [bounds[s], bounds[s + 1]) */
    size_t *reads;        /* slice s is complete once order[0 .. reads[s]) have been read */
    size_t *first_member; /* slice s is made of members[first_member[s] .. first_member[s + 1]) */
    uint32_t *members;    /* row group numbers */
    uint32_t *uses;       /* by row group number: of how many slices it is a member, .. */
    size_t *first_slice;  /* .. the first of them, the others follow, .. */
    size_t *first_use;    /* .. and of how many the row groups before it are */
};

/** Charged to the budget's account.  Return: 0; STA_ECANCELLED, STA_ELIMIT, STA_EBUSY of the budget; fini
 * also then. */
STA_MUSTCHECK int sta_slice_plan_init(struct sta_slice_plan *plan,
                                      const struct sta_ordered_row_group *row_groups, size_t row_group_count,
                                      size_t slice_rows, const struct sta_budget *budget,
                                      struct sta_error *err);
void sta_slice_plan_fini(struct sta_slice_plan *plan, struct sta_account *account);

#endif
