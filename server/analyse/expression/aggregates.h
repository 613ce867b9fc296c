/* aggregates.h - members of `aggregate`: expressions of groups (private to analyse).
 *
 * `max(te) - min(ts)` is taken apart into what has to be gathered from the rows of a group (primitives, each
 * with arguments that are expressions of a row) and an expression of what was gathered.  The latter's schema
 * is the "grouped" one: keys, then primitives.  Equal primitives of a stage are gathered once.
 *
 * Aggregates of time, time_start, time_end (columns with ticks_of) are gathered from whole ticks and
 * divided afterwards, so that they are exact and the same for any number of threads. */
#ifndef STA_ANALYSE_EXPRESSION_AGGREGATES_H
#define STA_ANALYSE_EXPRESSION_AGGREGATES_H

#include "analyse/expression/expression.h"

/* X(id, name, arguments) in the order of query.md */
#define STA_AGGREGATE_LIST(X)                                                                                \
    X(ROWS, "count", 0)                                                                                      \
    X(COUNT, "count", 1)                                                                                     \
    X(NUNIQUE, "nunique", 1)                                                                                 \
    X(SUM, "sum", 1)                                                                                         \
    X(MIN, "min", 1)                                                                                         \
    X(MAX, "max", 1)                                                                                         \
    X(FIRST, "first", 1)                                                                                     \
    X(LAST, "last", 1)                                                                                       \
    X(MEAN, "mean", 1)                                                                                       \
    X(MEDIAN, "median", 1)                                                                                   \
    X(STD, "std", 1)                                                                                         \
    X(VAR, "var", 1)                                                                                         \
    X(QUANTILE, "quantile", 1)                                                                               \
    X(UNIQUE, "unique", 1)                                                                                   \
    X(ARGMAX, "argmax", 2)                                                                                   \
    X(BUSY, "busy", 2)

enum sta_aggregate {
#define X(id, name, arguments) STA_AGGREGATE_##id,
    STA_AGGREGATE_LIST(X)
#undef X
        STA_AGGREGATES
};

/* One aggregate of the rows of a group.  Types of arguments: BOOL INT FLOAT TEXT; of COUNT, FIRST, LAST and
 * the first of ARGMAX LIST too; of SUM BOOL INT FLOAT; of MEAN MEDIAN STD VAR QUANTILE and the second of
 * ARGMAX INT FLOAT; of BUSY INT. */
struct sta_primitive {
    enum sta_aggregate aggregate;
    enum sta_type types[2];  /* of its arguments */
    double quantile;         /* of QUANTILE; 0.5 for MEDIAN */
    uint32_t first_argument; /* among all primitives' arguments.  BUSY: ts and te in whole ticks; its
                                result is in ticks */
};
/** Type of the result: COUNT and NUNIQUE INT, SUM INT of integers and conditions, UNIQUE LIST, .. */
enum sta_type sta_primitive_type(const struct sta_primitive *primitive);
/** How many arguments it has. */
unsigned sta_primitive_arguments(const struct sta_primitive *primitive);

/* What the aggregates of one stage gather. */
struct sta_aggregates {
    const struct sta_schema *rows; /* borrowed */
    bool events;                   /* rows are events as traced: busy() means something */
    struct sta_schema grouped;     /* keys, then primitives, which have no names */
    size_t key_count, grouped_capacity;
    struct sta_primitive *primitives;
    size_t primitive_count, primitive_capacity;
    struct sta_expression **arguments; /* of the primitives, one after another; primitives may share them */
    size_t argument_count, argument_capacity;
    struct sta_dictionary *known; /* keys of arguments and primitives; by code, where they are */
    uint32_t *places;
    size_t place_capacity;
};

/** @rows: schema of a row, borrowed; @keys: group keys under their names, copied, the names borrowed. */
void sta_aggregates_init(struct sta_aggregates *aggregates, const struct sta_schema *rows, bool events,
                         const struct sta_schema_column *keys, size_t key_count);
void sta_aggregates_fini(struct sta_aggregates *aggregates);

/**
 * sta_aggregate_parse - an expression of aggregates and group keys
 * @expression: over the grouped schema.  Its unit is that of a bare key, or of the column behind sum min max
 * mean median std quantile first last and busy that stand alone.  Mistakes as sta_expression_parse has them.
 * After a mistake, @aggregates is of no use but for fini.
 */
STA_MUSTCHECK int sta_aggregate_parse(const char *text, size_t length, struct sta_aggregates *aggregates,
                                      struct sta_expression **expression, struct sta_error *err);

/**
 * sta_aggregate_apply - one aggregate of one argument (or of none: ROWS) to an expression of a row
 * @text: of the argument
 * @expression: over the grouped schema; a FLOAT but for counts
 */
STA_MUSTCHECK int sta_aggregate_apply(enum sta_aggregate aggregate, double quantile, const char *text,
                                      size_t length, struct sta_aggregates *aggregates,
                                      struct sta_expression **expression, struct sta_error *err);

#endif
