/* chunk.h - shown columns of some rows, taken out of the row groups that they lie in, to be given out in
 * another order (private to query/rows).
 *
 * A piece holds the rows of one part of a pipeline, side by side; a chunk is some pieces.  Pieces are filled
 * in parallel, then read by one thread. */
#ifndef STA_ANALYSE_QUERY_CHUNK_H
#define STA_ANALYSE_QUERY_CHUNK_H

#include "analyse/operators/vectors.h"
#include "analyse/query/rows/pipeline.h"

struct sta_piece {
    uint32_t rows;
    struct sta_vector *columns; /* their memory belongs to the piece */
    int64_t *at;                /* of the rows' order, when it is kept */
    uint64_t *place;
};

/* Which outputs of a stage are shown. */
struct sta_shown {
    const struct sta_plan_stage *stage;
    int *keys;        /* by output: the key of the order that tells its value, or -1: pieces do not hold it */
    bool any;         /* pieces hold some */
    size_t row_bytes; /* of a row in a piece, about */
};
void sta_shown_init(struct sta_shown *shown, const struct sta_plan_stage *stage);
void sta_shown_fini(struct sta_shown *shown);

/** Takes the rows that are left in a state, which is compacted. */
STA_MUSTCHECK int sta_piece_take(struct sta_piece *piece, const struct sta_shown *shown,
                                 struct sta_pipeline_state *state, bool ordered, struct sta_error *err);
void sta_piece_fini(struct sta_piece *piece, const struct sta_shown *shown);

/* A row of a chunk. */
struct sta_chunk_row {
    uint32_t piece, row;
};

/* Rows of a chunk in their order, as vectors; of one thread. */
struct sta_chunk_batch {
    const struct sta_shown *shown;
    struct sta_vector *vectors;           /* by output; of outputs that nobody reads one missing value */
    struct sta_vector_space *space;       /* of them */
    struct sta_dictionary_cache **merged; /* by output: texts of pieces whose dictionaries differ */
};
void sta_chunk_batch_init(struct sta_chunk_batch *batch, const struct sta_shown *shown);
void sta_chunk_batch_fini(struct sta_chunk_batch *batch);
/** @rows: at most STA_VECTOR_ROWS.  The vectors are valid until the next call, texts as long as the pipeline
 * and the batch.  What keys tell is left out. */
void sta_chunk_gather(struct sta_chunk_batch *batch, const struct sta_piece *pieces, size_t piece_count,
                      const struct sta_chunk_row *rows, size_t count);

#endif
