/* groups.h - a stage that groups: from the rows of a path to the relation of its result (private to query/rows). */
#ifndef STA_ANALYSE_QUERY_GROUPS_H
#define STA_ANALYSE_QUERY_GROUPS_H

#include "analyse/query/rows/path.h"
#include "analyse/query/rows/relation.h"
#include "analyse/query/rows/workshop.h"

/**
 * sta_groups_run - group the rows of a path by its last stage
 * @result: of the stage's result columns, ascending by key
 */
STA_MUSTCHECK int sta_groups_run(const struct sta_path *path, struct sta_workshop *workshop,
                                 struct sta_relation **result, struct sta_error *err);

/* ---- between the files of groups */

/* Turns groups, as they are finished, into the rows of a result. */
struct sta_group_rows {
    const struct sta_plan_stage *stage;
    struct sta_relation *result;
    struct sta_program **programs; /* by output */
    struct sta_evaluator **evaluators;
    struct sta_vector *vectors; /* of a row of the result */
    const double *edges;        /* HISTOGRAM */
    struct sta_histogram_rows *histogram;
    struct sta_describe_rows *describe;
};

/** A sta_grouping_sink's take; @self: a struct sta_group_rows *. */
STA_MUSTCHECK int sta_group_rows_take(void *self, const struct sta_vector *keys,
                                      const struct sta_vector *values, uint32_t rows, struct sta_error *err);
STA_MUSTCHECK int sta_group_rows_init(struct sta_group_rows *into, const struct sta_plan_stage *stage,
                                      const double *edges, struct sta_relation *result,
                                      struct sta_error *err);
/** The last group has come. */
STA_MUSTCHECK int sta_group_rows_end(struct sta_group_rows *into, struct sta_error *err);
void sta_group_rows_fini(struct sta_group_rows *into);

#endif
