/* schema.h - passes over a trace that tally columns (private to the schema of queries). */
#ifndef STA_ANALYSE_QUERY_SCHEMA_SCHEMA_H
#define STA_ANALYSE_QUERY_SCHEMA_SCHEMA_H

#include "analyse/sources/columns.h"
#include "analyse/query/schema/tally.h"

/* Takes what a column holds; @number: place among the columns that were asked for. */
struct sta_tally_output {
    void *self;
    int (*take)(void *self, size_t number, const struct sta_column_tally *tally, struct sta_error *err);
};

/**
 * sta_tally_columns - count what some columns hold
 * Some hundred of them per pass, so that memory does not follow their number.
 * @most: distinct integers of a column that are counted
 */
STA_MUSTCHECK int sta_tally_columns(const struct sta_columns *all, const uint32_t *columns, size_t count,
                                    size_t most, const struct sta_tally_output *output,
                                    const struct sta_budget *budget, struct sta_error *err);

/** Binds the columns of a query: STA_EINPUT (/preset) for one that is not there. */
STA_MUSTCHECK int sta_schema_bind(const struct sta_columns_query *query, struct sta_columns **columns,
                                  struct sta_error *err);

#endif
