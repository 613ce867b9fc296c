/* access_extents.h - the bytes of files that calls moved, as disjoint extents (private to findings). */
#ifndef STA_FINDINGS_ACCESS_EXTENTS_H
#define STA_FINDINGS_ACCESS_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/exec/budget.h"

/* Bytes of a file that calls of an epoch moved. */
struct sta_extent {
    uint64_t place; /* file << 32 | number of the epoch; UINT32_MAX: none */
    int64_t from, to;
};

/* All zero at first. */
struct sta_extents {
    struct sta_extent *items;
    size_t count, capacity;
};

/** Adds one.  What touches or overlaps in the same place may become one, so that the memory follows the
 * places, not the calls.  Charged to the budget's account. */
STA_MUSTCHECK int sta_extents_add(struct sta_extents *extents, struct sta_extent extent,
                                  const struct sta_budget *budget, struct sta_error *err);
/** Brings them in order, by place and start, with none that touches another of its place. */
STA_MUSTCHECK int sta_extents_unite(struct sta_extents *extents, const struct sta_budget *budget,
                                    struct sta_error *err);
/** What several lists have together, in the first one; the others are left without any.  Each is in order, as
 * sta_extents_unite leaves it. */
STA_MUSTCHECK int sta_extents_merge(struct sta_extents *const *lists, size_t count,
                                    const struct sta_budget *budget, struct sta_error *err);
/** Records of three words ascending by the first, then as integers by the second. */
STA_MUSTCHECK int sta_sort_intervals(void *records, size_t count, const struct sta_budget *budget,
                                     struct sta_error *err);
void sta_extents_fini(struct sta_extents *extents, struct sta_account *account);

#endif
