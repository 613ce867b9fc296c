/* row_batches.h - shown columns of rows, copied out of the row groups that they lie in, to be returned in
 * another order (private to query/rows).
 *
 * A batch holds rows of one part of a pipeline.  Batches are filled in parallel, then read by one thread. */
#ifndef STA_ANALYSE_QUERY_ROW_BATCHES_H
#define STA_ANALYSE_QUERY_ROW_BATCHES_H

#include "analyse/operators/vectors.h"
#include "analyse/query/rows/pipeline.h"

struct sta_row_batch {
    uint32_t rows;
    struct sta_vector *columns; /* their memory belongs to the batch */
    int64_t *at;                /* of the rows' order, when it is kept */
    uint64_t *place;
};

/* Which outputs of a stage are shown. */
struct sta_shown {
    const struct sta_plan_stage *stage;
    int *keys;        /* by output: the key of the order that is its value; -1: batches hold it */
    bool any;         /* batches hold some */
    size_t row_bytes; /* of a row in a batch, about */
};
void sta_shown_init(struct sta_shown *shown, const struct sta_plan_stage *stage);
void sta_shown_fini(struct sta_shown *shown);

/** Takes the rows that are left in a state, which is compacted. */
STA_MUSTCHECK int sta_row_batch_take(struct sta_row_batch *batch, const struct sta_shown *shown,
                                     struct sta_pipeline_state *state, bool ordered, struct sta_error *err);
void sta_row_batch_fini(struct sta_row_batch *batch, const struct sta_shown *shown);

/* A row of some batches. */
struct sta_batch_row {
    uint32_t batch, row;
};

/* Rows of batches in their order, as vectors; of one thread. */
struct sta_gathered_rows {
    const struct sta_shown *shown;
    struct sta_vector *vectors;           /* by output; of outputs that nobody reads one missing value */
    struct sta_vector_space *space;       /* of them */
    struct sta_dictionary_cache **merged; /* by output: texts of batches whose dictionaries differ */
};
void sta_gathered_rows_init(struct sta_gathered_rows *to, const struct sta_shown *shown);
void sta_gathered_rows_fini(struct sta_gathered_rows *to);
/** @rows: at most STA_VECTOR_ROWS.  The vectors are valid until the next call, texts as long as the pipeline
 * and @to.  Outputs that are keys of the order are left out. */
void sta_gathered_rows_take(struct sta_gathered_rows *to, const struct sta_row_batch *batches,
                            size_t batch_count, const struct sta_batch_row *rows, size_t count);

#endif
