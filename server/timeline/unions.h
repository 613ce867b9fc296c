/* unions.h - disjoint intervals of time (private to timeline). */
#ifndef STA_TIMELINE_UNIONS_H
#define STA_TIMELINE_UNIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/exec/budget.h"
#include "analyse/intervals/span.h"

/* Intervals in ascending order, none of them below 0 and no two of which touch, once they have been added in
 * order of `from` or sorted.  Zeroed at first.  Many that are added out of order are sorted and united now
 * and then, so that it takes the memory of the union rather than of all that was added. */
struct sta_union {
    struct sta_interval *items;
    size_t count, capacity;
    bool unordered;
};

void sta_union_fini(struct sta_union *spans, struct sta_account *account);
/** Adds [from, to), unless it is empty; unites it with the last one where they touch. */
STA_MUSTCHECK int sta_union_add(struct sta_union *spans, int64_t from, int64_t to,
                                const struct sta_budget *budget, struct sta_error *err);
/** Puts all of @from behind the intervals of @to, which must be sorted afterwards. */
STA_MUSTCHECK int sta_union_move(struct sta_union *to, const struct sta_union *from,
                                 const struct sta_budget *budget, struct sta_error *err);
/** Unites what @from holds with @to, both of which are sorted; @from stays. */
STA_MUSTCHECK int sta_union_merge(struct sta_union *to, const struct sta_union *from,
                                  const struct sta_budget *budget, struct sta_error *err);
/** Sorts and unites. */
STA_MUSTCHECK int sta_union_sort(struct sta_union *spans, const struct sta_budget *budget,
                                 struct sta_error *err);
int64_t sta_union_measure(const struct sta_union *spans);

#endif
