/* plan.h - a request, checked and made into stages to be run (private to query).
 *
 * The plan knows names, types and expressions; it has read no row.  All its expressions of a stage share that
 * stage's schema: the columns that come in, then those it derives.  What describe, value_counts and histogram
 * ask for is said in groups and primitives, so that queries need no other engine for grouping.  The columns
 * that come into a stage are the result columns of the one before it, in their order. */
#ifndef STA_ANALYSE_QUERY_PLAN_H
#define STA_ANALYSE_QUERY_PLAN_H

#include "analyse/expression/expression.h"
#include "analyse/facade/query.h"
#include "analyse/operators/aggregate.h"

/* A column of a result, computed from a stage's rows or from keys and primitives.  No type is NULL. */
struct sta_plan_output {
    char *name;
    const char *unit;
    struct sta_expression *expression;
    bool unused; /* of a stage that passes its rows on: no later stage reads it and no order needs it */
};

struct sta_plan_order {
    uint32_t column; /* of the result (of the last stage with compare: of the query's); for plain rows of the
                        schema when past the outputs: outputs + schema index */
    bool descending;
};

enum sta_plan_kind {
    STA_PLAN_ROWS,     /* rows pass on, or end as the result */
    STA_PLAN_GROUPS,   /* keys and outputs */
    STA_PLAN_DESCRIBE, /* groups with STA_DESCRIBE_OUTPUTS outputs for each described expression: turned into
                          a row per expression */
    STA_PLAN_HISTOGRAM /* keys and a last key, not in `keys`, that is the number of a bin: filled up with
                          empty bins.  One primitive, ROWS */
};

/* What describe says of an expression: count mean std min 25% 50% 75% max. */
#define STA_DESCRIBE_OUTPUTS 8

struct sta_plan_histogram {
    double *edges; /* bins + 1; NULL: between the least and the largest value, which the driver finds first */
    uint32_t bins;
    struct sta_expression
        *of; /* INT or FLOAT.  Bin i holds edges[i] <= x < edges[i + 1], the last one its end too */
    const char *pointer; /* of what says the edges */
};
/** The edges (bins + 1) of equal bins from @low to @high; where these are equal, of a range of 1 around them.
 * STA_EINPUT if they lie too close together to differ. */
STA_MUSTCHECK int sta_plan_equal_edges(const struct sta_plan_histogram *histogram, double low, double high,
                                       double *edges, struct sta_error *err);

struct sta_plan_stage {
    struct sta_schema schema; /* what comes in, then what is derived */
    size_t input_count;
    struct sta_expression **derived; /* of column input_count + i */
    size_t derived_count;
    struct sta_expression *filter; /* over the schema; NULL: all rows */

    enum sta_plan_kind kind;
    struct sta_plan_output *keys; /* over the schema */
    size_t key_count;
    bool keep_missing;              /* dropna: false */
    struct sta_aggregates gathered; /* all zero of ROWS */
    struct sta_plan_output
        *outputs; /* ROWS: over the schema.  Else: behind the keys, over gathered.grouped */
    size_t output_count;
    bool fraction;    /* value_counts: a last column, the first output (count) divided by the sum of counts */
    char **described; /* DESCRIBE: names */
    size_t described_count;
    struct sta_plan_histogram histogram;

    /* ROWS: outputs.  GROUPS: keys, outputs, fraction.  DESCRIBE: keys, column, then STA_DESCRIBE_OUTPUTS.
     * HISTOGRAM: keys, left, right, count. */
    struct sta_column_info *result;
    size_t result_count;

    struct sta_plan_order *order;
    size_t order_count;
    bool has_limit;
    uint64_t limit; /* with a stage behind: cuts.  Of the last stage: rows of a page, left to the readers */
};

struct sta_plan_compare {
    bool asked;
    uint32_t baseline; /* number of the trace */
    uint32_t *columns; /* of the last stage's result; each gives x_baseline, x_delta and x_ratio, behind the
                          result's columns */
    size_t column_count;
    uint32_t trace_key; /* which column of the last stage's result is `trace` */
    uint32_t *keys;     /* which are the other keys, in their order */
    size_t key_count;
};

struct sta_plan {
    struct sta_plan_stage *stages;
    size_t stage_count;
    struct sta_plan_compare compare;
    const char *preset; /* NULL: none */
    bool filters;
    bool has_from, has_to;
    double from, to; /* seconds from the origin */
    struct sta_column_info
        *columns; /* of the query's result, in order: the last stage's, then what compare adds */
    size_t column_count;
    struct sta_arena memory;
};

/** What a request says before the events' schema is known: preset, filters, from, to; checks the names of the
 * first stage's members. */
STA_MUSTCHECK int sta_plan_begin(const struct sta_query *query, struct sta_plan *plan, struct sta_error *err);
/** The stages, against the schema of the events.  @schema must outlive the plan.  Fini also after a
 * failure. */
STA_MUSTCHECK int sta_plan_stages(const struct sta_query *query, const struct sta_schema *schema,
                                  struct sta_plan *plan, struct sta_error *err);
void sta_plan_fini(struct sta_plan *plan);

#endif
