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

/* X(id, name, arguments, help): the help is that of sta_language_word; ROWS has that of COUNT */
#define STA_AGGREGATE_LIST(X)                                                                                \
    X(ROWS, "count", 0, NULL, NULL, NULL, NULL)                                                              \
    X(COUNT, "count", 1, "count([x])", "How many rows, or how many that have a value of x.", "count()", "4") \
    X(NUNIQUE, "nunique", 1, "nunique(x)", "How many distinct values.", "nunique(size)", "2")                \
    X(SUM, "sum", 1, "sum(x)", "The sum; of a condition, how many rows satisfy it.", "sum(size > 4096)",     \
      "2")                                                                                                   \
    X(MIN, "min", 1, "min(x)", "The smallest value.", "min(size)", "4096")                                   \
    X(MAX, "max", 1, "max(x)", "The largest value.", "max(size)", "8192")                                    \
    X(FIRST, "first", 1, "first(x)", "The value of the first row in event order that has one.",              \
      "first(func_name)", "\"open\"")                                                                        \
    X(LAST, "last", 1, "last(x)", "The value of the last row in event order that has one.",                  \
      "last(func_name)", "\"read\"")                                                                         \
    X(MEAN, "mean", 1, "mean(x)", "The arithmetic mean.", "mean(dur)", "25.0")                               \
    X(MEDIAN, "median", 1, "median(x)",                                                                      \
      "The value in the middle; of an even number of rows, the mean of both.", "median(dur)", "25.0")        \
    X(STD, "std", 1, "std(x)", "The standard deviation, dividing by n - 1; missing of one value.",           \
      "round(std(dur), 2)", "12.91")                                                                         \
    X(VAR, "var", 1, "var(x)", "The variance, dividing by n - 1; missing of one value.",                     \
      "round(var(dur), 2)", "166.67")                                                                        \
    X(QUANTILE, "quantile", 1, "quantile(x, q)", "The quantile for q from 0 to 1, interpolated linearly.",   \
      "quantile(dur, 0.9)", "37.0")                                                                          \
    X(UNIQUE, "unique", 1, "unique(x)", "The sorted list of distinct values.", "unique(size)",               \
      "[4096,8192]")                                                                                         \
    X(ARGMAX, "argmax", 2, "argmax(x, y)", "x of the row whose y is largest, the first of equals.",          \
      "argmax(size, dur)", "8192")                                                                           \
    X(BUSY, "busy", 2, "busy()", "Seconds in which at least one of the events was running; of events only.", \
      "busy()", "8e-05")

enum sta_aggregate {
#define X(id, name, arguments, ...) STA_AGGREGATE_##id,
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
