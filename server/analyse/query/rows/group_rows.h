/* group_rows.h - groups turned into the rows of a result (private to query/rows).
 *
 * group_rows.c computes outputs from keys and primitives; describe_rows.c gives a row for each expression,
 * histogram_rows.c one for each bin. */
#ifndef STA_ANALYSE_QUERY_GROUP_ROWS_H
#define STA_ANALYSE_QUERY_GROUP_ROWS_H

#include "analyse/query/plan.h"
#include "analyse/query/rows/thread_keys.h"
#include "analyse/operators/materialized.h"
#include "common/memory.h"

struct sta_group_rows {
    struct sta_arena memory; /* of what follows */
    const struct sta_plan_stage *stage;
    const struct sta_aggregation *grouping; /* that gives the groups */
    struct sta_materialized *result;        /* that rows are appended to */
    const struct sta_thread_keys *threads;  /* keys that groups have as one */
    struct sta_vector *keys;                /* where there are such: all keys apart .. */
    struct sta_vector_space *key_space;     /* .. and of those of threads */
    double *fractions;                      /* of the rows: value_counts; scratch */
    struct sta_program **programs;          /* by output */
    struct sta_evaluator **evaluators;
    struct sta_vector *vectors;           /* by column of the result */
    struct sta_describe_rows *describe;   /* DESCRIBE */
    struct sta_histogram_rows *histogram; /* HISTOGRAM */
};

/** @edges: of a histogram; borrowed. */
void sta_group_rows_init(struct sta_group_rows *into, const struct sta_plan_stage *stage,
                         const struct sta_aggregation *grouping, const struct sta_thread_keys *threads,
                         const double *edges, struct sta_materialized *result);
/** A sta_aggregation_output's take; @self: a struct sta_group_rows *. */
STA_MUSTCHECK int sta_group_rows_take(void *self, const struct sta_vector *keys,
                                      const struct sta_vector *values, uint32_t rows, struct sta_error *err);
/** The last group has come. */
STA_MUSTCHECK int sta_group_rows_end(struct sta_group_rows *into, struct sta_error *err);
void sta_group_rows_fini(struct sta_group_rows *into);

/* ---- kinds of rows */

/** The outputs of some groups; @outputs: valid until the next call. */
STA_MUSTCHECK int sta_group_outputs(const struct sta_group_rows *into, const struct sta_vector *keys,
                                    const struct sta_vector *values, uint32_t rows,
                                    struct sta_vector *outputs, struct sta_error *err);

void sta_describe_rows_init(struct sta_group_rows *into);
void sta_describe_rows_fini(struct sta_describe_rows *describe); /* NULL allowed */
STA_MUSTCHECK int sta_describe_rows_take(struct sta_group_rows *into, const struct sta_vector *keys,
                                         const struct sta_vector *values, uint32_t rows,
                                         struct sta_error *err);

void sta_histogram_rows_init(struct sta_group_rows *into, const double *edges);
STA_MUSTCHECK int sta_histogram_rows_take(struct sta_group_rows *into, const struct sta_vector *keys,
                                          const struct sta_vector *values, uint32_t rows,
                                          struct sta_error *err);
/** The last group is given out. */
STA_MUSTCHECK int sta_histogram_rows_end(struct sta_group_rows *into, struct sta_error *err);

#endif
