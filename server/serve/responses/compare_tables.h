/* compare_tables.h - the same table of several runs, put beside a baseline. */
#ifndef STA_SERVE_COMPARE_TABLES_H
#define STA_SERVE_COMPARE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include "analyse/analyse.h"
#include "common/error.h"
#include "common/table.h"

struct sta_comparison {
    const struct sta_table *const *tables; /* one of each run */
    const char *const *labels;             /* of the runs */
    size_t count;
    size_t baseline; /* number of the run */
    size_t keys;     /* how many leading columns name a row */
    bool in_order;   /* rows come as the tables have them, the first run's first; else by key, missing last */
};

/**
 * sta_compare_tables - query.md part 4
 * A row for every combination of keys that occurs in any run, and run: missing where the run has no such row.
 * Columns: the keys, `trace`, those of the tables, and for each numeric one x also x_baseline, x_delta = x -
 * baseline and x_ratio = x / baseline.
 * @budget: what the table may take.  Return: 0; STA_ELIMIT, STA_EBUSY, STA_ENOMEM.  The texts stay where they
 * are.
 */
STA_MUSTCHECK int sta_compare_tables(const struct sta_comparison *comparison, const struct sta_budget *budget,
                                     struct sta_table *compared, struct sta_error *err);

#endif
