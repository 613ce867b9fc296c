/* tally.h - what columns hold: how often each value occurs, and its range (private to the schema of queries).
 *
 * A column is an aggregation by value.  Numbers are not counted, nor integers any more once there are too
 * many of them: the rest goes into an aggregation without keys, for least and greatest. */
#ifndef STA_ANALYSE_QUERY_SCHEMA_TALLY_H
#define STA_ANALYSE_QUERY_SCHEMA_TALLY_H

#include "analyse/operators/aggregate.h"
#include "analyse/sources/columns.h"

struct sta_column_tally {
    enum sta_type type;
    size_t most;
    struct sta_aggregation *by_value; /* NULL: of FLOAT */
    struct sta_aggregation *range;    /* INT, FLOAT: of rows that are not counted by value; else NULL */
    /* once finished */
    uint64_t missing;
    bool overflowed; /* INT: there are more than `most`, of which some are counted */
    struct sta_aggregation_table
        values;             /* distinct values, ascending: keys[0], and their counts: values[0] */
    uint64_t count;         /* of them */
    bool any;               /* INT, FLOAT: a value that is not missing */
    int64_t least, largest; /* INT */
    double least_number, largest_number; /* FLOAT */
};

/** @most: distinct integers that are counted.  Fini also after a failure. */
STA_MUSTCHECK int sta_tally_init(struct sta_column_tally *tally, enum sta_type type, size_t most,
                                 const struct sta_budget *budget, struct sta_error *err);
void sta_tally_fini(struct sta_column_tally *tally);
/** Counts the first @rows rows.  Context: worker @worker, one call at a time each. */
STA_MUSTCHECK int sta_tally_add(struct sta_column_tally *tally, unsigned worker,
                                const struct sta_vector *vector, uint32_t rows, struct sta_error *err);
/** No more rows come. */
STA_MUSTCHECK int sta_tally_finish(struct sta_column_tally *tally, struct sta_error *err);
/** Numbers of the distinct values, most frequent first, then by value.  Charged; sta_account_free it.  NULL:
 * STA_ENOMEM, STA_ELIMIT, STA_ECANCELLED, .. */
STA_MUSTCHECK uint64_t *sta_tally_by_frequency(const struct sta_column_tally *tally,
                                               const struct sta_budget *budget, struct sta_error *err);

static inline int64_t sta_tally_frequency(const struct sta_column_tally *tally, uint64_t value)
{
    return tally->values.values[0].integers[value];
}

/** A value of TEXT. */
static inline struct sta_text sta_tally_text(const struct sta_column_tally *tally, uint64_t value)
{
    return sta_dictionary_text(tally->values.keys[0].texts, tally->values.keys[0].codes[value]);
}

/* ---- schema.c: passes over a trace */

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
