/* tables.h - the tables that are lists of rows as they are: high-level metrics and main view (private to
 * compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_TABLES_H
#define STA_ANALYSE_COMPATIBLE_TABLES_H

#include "analyse/compatible/schema.h"

/** The main view of a layer: a column per metric and measure, by name; or, STA_NO_LAYER, all groups of an
 * hlm, those that the table does not tell apart as one.  @table: fini it also after a failure. */
STA_MUSTCHECK int sta_main_table(const struct sta_hlm *hlm, uint32_t layer, const struct sta_budget *budget,
                                 struct sta_table *table, struct sta_error *err);

/* Sets as JSON lists.  The pool and the ranks, of the pool's account, are for who makes it to free. */
struct sta_lists {
    struct sta_table *table;
    const struct sta_hlm *hlm;
    const struct sta_budget *budget;
    struct sta_text *single[STA_AXES]; /* by rank: the list of that value alone, once it is needed */
    uint32_t *ranks;                   /* of one cell */
    size_t capacity;
    size_t bytes, checked; /* of the lists so far, and when their memory was last looked at */
    struct sta_pool pool;
};
/** Sets a cell to the union of the sets of a row's groups that belong to a metric. */
STA_MUSTCHECK int sta_lists_set(struct sta_lists *lists, struct sta_table_column *column,
                                const struct sta_main_metric *metric, size_t row, enum sta_axis axis,
                                struct sta_error *err);

#endif
