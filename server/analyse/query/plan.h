/* plan.h - a request, checked and made into stages to be run (private to query).
 *
 * The plan knows names, types and expressions; it has read no row.  All its expressions of a stage share that stage's schema:
 * the columns that come in, then those it derives.  What describe, value_counts and histogram ask for is said in groups and primitives, so that
 * there is one engine for grouping. */
#ifndef STA_ANALYSE_QUERY_PLAN_H
#define STA_ANALYSE_QUERY_PLAN_H

#include "analyse/expression/expression.h"
#include "analyse/facade/query.h"
#include "analyse/query/grouping.h"

/* A column of a result, computed from a stage's rows or from keys and primitives. */
struct sta_plan_output {
    char *name;
    const char *unit;
    struct sta_expression *expression;
};

struct sta_plan_order {
    uint32_t
        column; /* of the result; for plain rows of the schema when past the outputs: outputs + schema index */
    bool descending;
};

enum sta_plan_kind {
    STA_PLAN_ROWS,   /* rows pass on, or end as the answer */
    STA_PLAN_GROUPS, /* keys and outputs */
    STA_PLAN_DESCRIBE, /* groups whose primitives are 8 for each described expression: turned into a row per expression */
    STA_PLAN_HISTOGRAM /* keys and a last key that is the number of a bin: filled up with empty bins */
};

struct sta_plan_histogram {
    double *edges; /* bins + 1; NULL: between the least and the largest value, which the driver finds first */
    uint32_t bins;
    struct sta_expression *of;
};

struct sta_plan_stage {
    struct sta_schema schema; /* what comes in, then what is derived */
    size_t input_count;
    struct sta_expression **derived; /* of column input_count + i */
    size_t derived_count;
    struct sta_expression *filter; /* over the schema; NULL: all rows */

    enum sta_plan_kind kind;
    struct sta_plan_output *keys; /* over the schema */
    size_t key_count;
    bool keep_missing; /* dropna: false */
    struct sta_primitive *primitives;
    struct sta_expression **arguments; /* of the primitives, one after another, over the schema */
    size_t primitive_count, argument_count;
    struct sta_schema grouped;       /* keys, then primitives: what the outputs of groups are computed from */
    struct sta_plan_output *outputs; /* ROWS: over the schema.  GROUPS: behind the keys, over `grouped` */
    size_t output_count;
    bool fraction;    /* value_counts: a last column, count divided by the sum of counts */
    char **described; /* DESCRIBE: names */
    size_t described_count;
    struct sta_plan_histogram histogram;

    struct sta_plan_order *order;
    size_t order_count;
    bool has_limit;
    uint64_t limit; /* with a stage behind: cuts */
};

struct sta_plan_compare {
    bool asked;
    uint32_t baseline; /* number of the trace */
    uint32_t *columns; /* of the last stage's result */
    size_t column_count;
    uint32_t trace_key; /* which key is `trace` */
};

struct sta_plan {
    struct sta_plan_stage *stages;
    size_t stage_count;
    struct sta_plan_compare compare;
    const char *preset; /* NULL: none */
    bool filters;
    bool has_from, has_to;
    double from, to;
    struct sta_query_column *columns; /* of the answer, in order */
    size_t column_count;
    struct sta_arena memory;
};

/** What a request says before the events' schema is known: preset, filters, from, to; checks the names of the first stage's members. */
STA_MUSTCHECK int sta_plan_begin(const struct sta_query *query, struct sta_plan *plan, struct sta_error *err);
/** The stages, against the schema of the events.  @schema must outlive the plan.  Fini also after a failure. */
STA_MUSTCHECK int sta_plan_stages(const struct sta_query *query, const struct sta_schema *schema,
                                  struct sta_plan *plan, struct sta_error *err);
void sta_plan_fini(struct sta_plan *plan);

#endif
