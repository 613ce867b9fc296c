/* expression.h - the language of filters, conditions and derived columns (private to analyse).
 *
 * Text is parsed to a typed tree against the columns that exist, then bound into a program that evaluates
 * vectors of rows.  Predicates and functions of text run once per distinct value: their results are
 * remembered by dictionary code. */
#ifndef STA_ANALYSE_EXPRESSION_EXPRESSION_H
#define STA_ANALYSE_EXPRESSION_EXPRESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/dictionary.h"
#include "common/error.h"
#include "common/table.h"
#include "common/vector.h"

/* The columns an expression may use. */
struct sta_schema_column {
    const char *name; /* "func_name", "args.ret", a derived name */
    enum sta_type type;
    const char *unit; /* or NULL */
    bool caseless;    /* cat: compares without case, everywhere */
    const char
        *ticks_of;          /* time, time_start, time_end: the integer column (dur, ts, te) in microseconds
                               behind it.  Where times have nanoseconds: of all six, a column of these.  Else NULL */
    int64_t ticks_per_unit; /* how many of those make one of its unit; 0: 10^6 */
};

struct sta_schema {
    const struct sta_schema_column *columns;
    size_t count;
};
/** Index of the column of that name, or -1. */
int sta_schema_find(const struct sta_schema *schema, struct sta_text name);
/** Likewise, or of the column that once had that name; none that requests cannot name. */
int sta_schema_resolve(const struct sta_schema *schema, struct sta_text name);
/** Index of the integer column behind a column of times, or -1; *per_unit as in the schema.  @column: -1 has
 * none. */
int sta_schema_ticks(const struct sta_schema *schema, int column, int64_t *per_unit);
/** Whether requests cannot name a column: its name begins with a blank. */
bool sta_schema_is_hidden(const struct sta_schema_column *column);
/** The present name of what was once called so ("filename": file_name), or NULL. */
const char *sta_present_name(struct sta_text older);

/* A typed tree: immutable, usable by any thread. */
struct sta_expression {
    struct sta_tree *tree;
    uint32_t root;
    enum sta_type type;
    int column;        /* index in the schema of a bare column, else -1 */
    const char *unit;  /* of a bare column, and of an aggregate that keeps it; else NULL */
    uint32_t *columns; /* which it reads: indexes in the schema, ascending */
    size_t column_count;
    /* Conjuncts that every row of a result satisfies, at most one range per column. */
    struct sta_predicate *predicates;
    size_t predicate_count;
    bool is_predicates; /* a row that satisfies all of these, of which none is inexact then, satisfies it */
};

struct sta_expression_limits {
    unsigned length, nesting, list, pattern; /* 10000 characters, 100, 10000, 1000 characters */
};
extern const struct sta_expression_limits sta_expression_limits;

/**
 * sta_expression_parse - text to typed tree
 * Mistakes: STA_EINPUT, err->position set (code points), the text says what was found, what was expected, and
 * names the nearest column, function or method where a name is unknown.  Limits: STA_ELIMIT.  `null` alone is
 * a missing number, so no expression has the type NULL.
 */
STA_MUSTCHECK int sta_expression_parse(const char *text, size_t length, const struct sta_schema *schema,
                                       struct sta_expression **expression, struct sta_error *err);
/** The same, and the result must be a condition.  It is never missing: a missing condition does not hold. */
STA_MUSTCHECK int sta_condition_parse(const char *text, size_t length, const struct sta_schema *schema,
                                      struct sta_expression **expression, struct sta_error *err);
/** The same, and the result must be a number; it is made INT or FLOAT. */
STA_MUSTCHECK int sta_number_parse(const char *text, size_t length, const struct sta_schema *schema,
                                   struct sta_expression **expression, struct sta_error *err);
/** The expression that is one column of the schema. */
struct sta_expression *sta_column_expression(const struct sta_schema *schema, uint32_t column);
void sta_expression_destroy(struct sta_expression *expression);
/** Sets @divisor[column] = 1 for each column that stands in what something is divided by; the others are left
 * alone. */
void sta_expression_divisors(const struct sta_expression *expression, uint8_t *divisor);

/* A program: an expression together with what it remembers per distinct text.  Shared by threads.  It keeps
 * what it needs of the expression, which may be destroyed before it; dictionaries of the vectors it was given
 * must live as long as it does. */
struct sta_program;
struct sta_program *sta_program_create(const struct sta_expression *expression);
void sta_program_destroy(struct sta_program *program); /* NULL allowed */
/** Before it runs: the distinct texts that it makes, and what it remembers by text, may take @bytes of
 * memory; more lies in files in @spill_folder, or ends runs with STA_ELIMIT if that is NULL.  Unless this is
 * called, 256 MiB and NULL. */
void sta_program_limit(struct sta_program *program, size_t bytes, const char *spill_folder);

/* One thread's scratch memory for programs. */
struct sta_evaluator;
struct sta_evaluator *sta_evaluator_create(void);
/** @cancel: runs with it end with STA_ECANCELLED, soon, when it becomes true; NULL: never. */
void sta_evaluator_watch(struct sta_evaluator *evaluator, const _Atomic bool *cancel);
void sta_evaluator_destroy(struct sta_evaluator *evaluator);

/** Gives the values of a column for the rows being evaluated.  @column: index in the schema.  The vector's
 * memory stays valid until the evaluation ends. */
typedef int (*sta_column_source)(void *context, uint32_t column, struct sta_vector *vector,
                                 struct sta_error *err);

/**
 * sta_program_run - evaluate for @rows rows (at most STA_VECTOR_ROWS)
 * @result: its memory belongs to the evaluator (or, of a bare column, to the source), valid until the next
 * run with it
 * Return: 0, what the source returned, STA_ECANCELLED (sta_evaluator_watch), STA_ELIMIT when a pattern
 * exceeded its match limit (the text names the pattern), or a text or all of them grew too long, or
 * STA_ENOMEM.
 */
STA_MUSTCHECK int sta_program_run(struct sta_program *program, struct sta_evaluator *evaluator, uint32_t rows,
                                  sta_column_source source, void *context, struct sta_vector *result,
                                  struct sta_error *err);

/* ---- sargable predicates: what a condition says of single columns */

enum sta_predicate_kind {
    STA_PREDICATE_RANGE, /* of INT and FLOAT: a row whose value is missing or outside low .. high cannot */
    STA_PREDICATE_TEXT   /* of TEXT: a row whose text (or lack of one) the test refuses can't satisfy */
};

struct sta_value_range {
    double low, high;         /* +-INFINITY where there is no end */
    bool low_open, high_open; /* not these values themselves */
};

struct sta_predicate {
    uint32_t column; /* index in the schema */
    enum sta_predicate_kind kind;
    struct sta_value_range range; /* RANGE: low > high: no row satisfies.  Compare with integers as doubles:
                                   * rounding keeps order, so that never excludes too much.  Open ends count
                                   * with exact alone */
    bool exact;                   /* every row that has a value in the range satisfies it */
    struct sta_program *program;  /* TEXT: the test, an expression of that column alone */
};

/**
 * sta_predicate_test - which texts pass the test of a TEXT predicate
 * @codes: at most STA_VECTOR_ROWS of @texts; STA_NO_CODE stands for a missing value.  Each distinct text is
 * tested once in the life of the expression.
 * @passes: set: 0 or 1, by number of the code
 * Return: what sta_program_run returns.
 */
STA_MUSTCHECK int sta_predicate_test(const struct sta_predicate *predicate, struct sta_evaluator *evaluator,
                                     const struct sta_dictionary *texts, const uint32_t *codes,
                                     uint32_t count, uint8_t *passes, struct sta_error *err);

#endif
