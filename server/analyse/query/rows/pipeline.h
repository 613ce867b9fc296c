/* pipeline.h - rows on their way: from events or a materialized result through the filters of stages that
 * only pass rows on (private to query/rows).
 *
 * A pipeline is what all threads share: which parts (row groups of events, batches of a materialized result)
 * may matter, and the programs.  A state is one thread's view of a part: the rows that are left, and the
 * values of the expressions of the last stage.  Nothing between the stages is written down. */
#ifndef STA_ANALYSE_QUERY_PIPELINE_H
#define STA_ANALYSE_QUERY_PIPELINE_H

#include "analyse/exec/peers.h"
#include "analyse/query/plan.h"
#include "analyse/query/rows/events.h"
#include "analyse/query/rows/executor.h"
#include "analyse/operators/materialized.h"
#include "analyse/query/rows/query_context.h"
#include "analyse/sources/column_tests.h"

struct sta_pipeline_part {
    uint32_t trace;     /* 0 of a materialized result */
    uint32_t row_group; /* of the snapshot; or number of the batch */
};

struct sta_pipeline {
    struct sta_events *events;                   /* borrowed; NULL: of a materialized result */
    const struct sta_materialized *materialized; /* borrowed; NULL: of events */
    const struct sta_plan_stage *stages;         /* all but the last pass rows on; borrowed */
    size_t stage_count;
    struct sta_stage_programs **programs; /* by trace, then stage */
    struct sta_predicates **predicates;   /* of the first stage's filter, by trace; of events */
    bool predicates_suffice;              /* rows that satisfy them satisfy the filter */
    struct sta_pipeline_part *parts;
    size_t part_count, skipped; /* row groups that statistics rule out */
    uint64_t part_rows;         /* of all parts together */
};

/** @events or @materialized, the other NULL. */
void sta_pipeline_init(struct sta_pipeline *pipeline, struct sta_events *events,
                       const struct sta_materialized *materialized, const struct sta_plan_stage *stages,
                       size_t stage_count, const struct sta_query_context *context);
void sta_pipeline_fini(struct sta_pipeline *pipeline);

/** Of a part of events. */
static inline const struct sta_row_group *sta_pipeline_row_group(const struct sta_pipeline *pipeline,
                                                                 size_t number)
{
    const struct sta_pipeline_part part = pipeline->parts[number];
    return sta_snapshot_row_group(pipeline->events->traces[part.trace].snapshot, part.row_group);
}

/** Least and largest value that a column of the last stage's schema may have in a part, by statistics; as
 * sta_columns_range. */
bool sta_pipeline_range(const struct sta_pipeline *pipeline, size_t part, uint32_t column, double *low,
                        double *high);
/** Tests of rows of a trace that have a value of a column of the last stage's schema in a range; as
 * sta_column_tests_of_range. */
bool sta_pipeline_tests(const struct sta_pipeline *pipeline, uint32_t trace, uint32_t column,
                        const struct sta_value_range *range, struct sta_column_tests *tests);
/** Whether every row has a value of a column of the last stage's schema; false when that is not known. */
bool sta_pipeline_never_misses(const struct sta_pipeline *pipeline, uint32_t column);

/** Whether a column of the last stage's schema tells the ts of events in ticks. */
bool sta_pipeline_is_ticks(const struct sta_pipeline *pipeline, uint32_t column);

/** Begins the record of a step that goes through all parts. */
struct sta_query_step *sta_pipeline_step(const struct sta_pipeline *pipeline,
                                         struct sta_query_context *context, const char *name);

struct sta_pipeline_state {
    struct sta_executor *top; /* of the last stage */
    uint32_t trace;
    uint32_t rows;            /* in the vectors */
    const uint32_t *selected; /* numbers in the vectors of the rows that are left, ascending; NULL: all .. */
    const uint8_t *marks;     /* .. unless these, by row, are 1 for those that are; for who takes marks */
    uint32_t count;           /* of them */
    /* Set by whoever works with the state: what rows of events must pass besides.  Of the trace of the parts
     * that follow; borrowed; NULL: nothing. */
    const struct sta_column_tests *required;
};

/** Borrows both. */
struct sta_pipeline_state *sta_pipeline_state_create(const struct sta_pipeline *pipeline,
                                                     const struct sta_budget *budget);
void sta_pipeline_state_destroy(struct sta_pipeline_state *state); /* NULL allowed */
/** Goes to a part, and drops the rows that window, preset and filters do not keep. */
STA_MUSTCHECK int sta_pipeline_state_load(struct sta_pipeline_state *state, struct sta_pipeline_part part,
                                          struct sta_error *err);
/** The same; many rows that are left may be marked, not listed. */
STA_MUSTCHECK int sta_pipeline_state_load_marked(struct sta_pipeline_state *state,
                                                 struct sta_pipeline_part part, struct sta_error *err);
/** Goes to some rows of a part, whether filters keep them or not; the vectors hold these rows alone. */
void sta_pipeline_state_load_rows(struct sta_pipeline_state *state, struct sta_pipeline_part part,
                                  const uint32_t *rows, uint32_t count);
/** Keeps only some of the rows that are left.  @rows: their numbers in the vectors, ascending; borrowed until
 * the state goes to another part. */
void sta_pipeline_state_keep(struct sta_pipeline_state *state, const uint32_t *rows, uint32_t count);
/** From now on the vectors hold the rows that are left alone: selected is NULL. */
void sta_pipeline_state_compact(struct sta_pipeline_state *state);

/* Where the rows of a state stand in the order of rows: by trace, at, place.  By number in the vectors. */
struct sta_pipeline_state_order {
    const int64_t *at;     /* ticks; of a materialized result the number of the row */
    const uint64_t *place; /* events: sta_events_place, which needs ranked chunks; else 0 */
};
STA_MUSTCHECK int sta_pipeline_state_order(struct sta_pipeline_state *state,
                                           struct sta_pipeline_state_order *order, struct sta_error *err);
/** A column of the store, by number of the row in the vectors; of events. */
STA_MUSTCHECK int sta_pipeline_state_physical(struct sta_pipeline_state *state, uint32_t column,
                                              const struct sta_column_values **values, struct sta_error *err);

/* Tasks, each done once by some worker. */
struct sta_pipeline_work {
    void *self;
    size_t count;
    int (*run)(void *self, unsigned worker, struct sta_pipeline_state *state, size_t number,
               struct sta_error *err);
};
/** Return: 0, what the work returned, STA_ECANCELLED, STA_ELIMIT past the deadline. */
STA_MUSTCHECK int sta_pipeline_work(const struct sta_pipeline *pipeline, const struct sta_pipeline_work *work,
                                    const struct sta_budget *budget, struct sta_error *err);

/* Visits parts in parallel, each once; those in which no row is left are not shown. */
struct sta_pipeline_visitor {
    void *self;
    int (*visit)(void *self, unsigned worker, struct sta_pipeline_state *state, struct sta_error *err);
    bool takes_marks; /* visit looks at them */
};
/** The parts of a stripe; NULL: all.  Return: like sta_pipeline_work; STA_ECORRUPT. */
STA_MUSTCHECK int sta_pipeline_run(const struct sta_pipeline *pipeline,
                                   const struct sta_pipeline_visitor *visitor,
                                   const struct sta_stripe *stripe, const struct sta_budget *budget,
                                   struct sta_error *err);

#endif
