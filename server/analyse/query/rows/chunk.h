/* chunk.h - shown columns of some rows, taken out of the blocks that they lie in, to be given out in another
 * order (private to query/rows).
 *
 * A piece holds the rows of one part of a path, side by side; a chunk is some pieces.  Pieces are filled in
 * parallel, then read by one thread. */
#ifndef STA_ANALYSE_QUERY_CHUNK_H
#define STA_ANALYSE_QUERY_CHUNK_H

#include "analyse/query/rows/path.h"
#include "common/table.h"

struct sta_piece {
    uint32_t rows;
    struct sta_vector *columns; /* their memory belongs to the piece */
    int64_t *at;                /* of the rows' order, when it is kept */
    uint64_t *place;
};

/* Which outputs of a stage are shown. */
struct sta_shown {
    const struct sta_plan_stage *stage;
    size_t row_bytes; /* of a row in a piece, about */
};
void sta_shown_init(struct sta_shown *shown, const struct sta_plan_stage *stage);

/** Takes the rows that are left in a lane, which is compacted. */
STA_MUSTCHECK int sta_piece_take(struct sta_piece *piece, const struct sta_shown *shown,
                                 struct sta_lane *lane, bool ordered, struct sta_error *err);
void sta_piece_fini(struct sta_piece *piece, const struct sta_shown *shown);

/* A row of a chunk. */
struct sta_chunk_row {
    uint32_t piece, row;
};

/** A table with room for @rows rows of what is shown; it has as many as have been put once table->rows is set
 * to that.  @table: initialised by this. */
void sta_chunk_table(const struct sta_shown *shown, size_t rows, struct sta_table *table);
/** Puts some rows into a table, from row @at on.  Its texts point into dictionaries of the path. */
void sta_chunk_put(const struct sta_piece *pieces, const struct sta_shown *shown,
                   const struct sta_chunk_row *rows, size_t count, struct sta_table *table, size_t at);

#endif
