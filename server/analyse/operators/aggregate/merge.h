/* merge.h - several runs or tables as one: each group once, its states united (private to aggregate). */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_MERGE_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_MERGE_H

#include "analyse/exec/budget.h"
#include "analyse/operators/aggregate/cursor.h"

#define STA_MERGE_PIECE 256 /* entries of a list that are brought in order at a time */

struct sta_group_merge {
    const struct sta_group_order *order;
    const struct sta_budget *budget;
    struct sta_group_cursor *cursors;
    size_t cursor_count; /* those that the caller has set */
    /* Words of groups in order, each with the number of its cursor and its place there: those at hand, up to
     * where every run is known. */
    uint64_t *entries;
    size_t entry, entry_count,
        most_entries;   /* there is space for most_entries, and as many to sort them by */
    uint64_t *bound;    /* scratch: up to where every run is known */
    uint32_t *together; /* cursors that have the present group */
    size_t together_count;
    const uint64_t *words;         /* of the present group; NULL at the end */
    struct sta_exact_terms *terms; /* by list: what uniting states put out */
    uint64_t work;                 /* groups and pieces since the budget was asked */
    uint64_t *piece;               /* scratch of lists */
};

/** Then the caller sets up to @most cursors, before their first groups, and counts them; merging ends them.
 */
void sta_group_merge_init(struct sta_group_merge *merge, const struct sta_group_order *order,
                          const struct sta_budget *budget, size_t most);
void sta_group_merge_fini(struct sta_group_merge *merge);
/** To the next group.  @record: its united states, the lists not yet read. */
STA_MUSTCHECK int sta_group_merge_next(struct sta_group_merge *merge, uint8_t *record, struct sta_error *err);

/** How many values a list has for the present group, equal ones in several runs counted apart. */
uint64_t sta_group_merge_count(const struct sta_group_merge *merge, size_t list);
/** The next values of a list, ascending, in pieces; *count is 0 at the end.  They are gone then. */
STA_MUSTCHECK int sta_group_merge_piece(struct sta_group_merge *merge, size_t list, const uint64_t **words,
                                        size_t *count, struct sta_error *err);

#endif
