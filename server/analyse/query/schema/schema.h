/* schema.h - one pass over a trace that tallies columns (private to the schema of queries). */
#ifndef STA_ANALYSE_QUERY_SCHEMA_SCHEMA_H
#define STA_ANALYSE_QUERY_SCHEMA_SCHEMA_H

#include "analyse/columns.h"
#include "analyse/query/schema/tally.h"

/* The columns that are tallied; tallies[i] is of columns[i]. */
struct sta_tallied {
    struct sta_columns *all;
    uint32_t *columns;
    struct sta_tally *tallies;
    size_t count;
};

/**
 * sta_tally_columns - count what some columns hold
 * @tallied: `all` and `columns` are set; the tallies are made.  Destroy both kinds with sta_tallied_fini,
 * also after a failure.
 * @most: distinct integers of a column that are counted
 */
STA_MUSTCHECK int sta_tally_columns(struct sta_tallied *tallied, size_t most, const struct sta_budget *budget,
                                    struct sta_error *err);
void sta_tallied_fini(struct sta_tallied *tallied);

/** Binds the columns of a question: STA_EINPUT (/preset) for one that is not there. */
STA_MUSTCHECK int sta_schema_bind(const struct sta_columns_question *question, struct sta_columns **columns,
                                  struct sta_error *err);

#endif
