/* tables.h - the tables that are lists of rows as they are: high-level metrics and main view (private to
 * compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_TABLES_H
#define STA_ANALYSE_COMPATIBLE_TABLES_H

#include "analyse/compatible/schema.h"

/** All groups of an hlm, those that the table does not tell apart as one.  @table: fini it also after a
 * failure. */
STA_MUSTCHECK int sta_hlm_table(const struct sta_hlm *hlm, const struct sta_budget *budget,
                                struct sta_table *table, struct sta_error *err);
/** The main view of a layer; likewise. */
STA_MUSTCHECK int sta_main_table(const struct sta_hlm *hlm, uint32_t layer, const struct sta_budget *budget,
                                 struct sta_table *table, struct sta_error *err);

/* ---- parts */

/** Adds the key columns of grouped view types.  @keys: by row of the table */
void sta_table_add_keys(struct sta_table *table, const struct sta_axes *axes, const uint64_t *keys);
/* Values of a view type by their numbers among the members. */
struct sta_values {
    uint32_t *items;
    size_t count, capacity;
};
/** Appends the set of a group, to values that may hold repetitions. */
void sta_values_add(struct sta_values *values, const struct sta_members *members, uint32_t group);

/* Where sets go as JSON lists. */
struct sta_lists {
    struct sta_table *table;
    const struct sta_hlm *hlm;
    const struct sta_budget *budget;
    size_t bytes; /* of the lists so far */
};
/** Sets a cell to the values in order, each once.  @values: put in order.  Return: 0, STA_ENOMEM,
 * STA_ELIMIT. */
STA_MUSTCHECK int sta_lists_set(struct sta_lists *lists, struct sta_table_column *column, size_t row,
                                enum sta_axis axis, struct sta_values *values, struct sta_error *err);

#endif
