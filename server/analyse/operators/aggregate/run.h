/* run.h - groups in order, in a spill file (private to aggregate).
 *
 * A run is a stream of records and a stream for each list.  A record is the words of the key, the states, and
 * how many values each list has for the group; those follow one another in the list's stream, in the order of
 * the records. */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_RUN_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_RUN_H

#include "analyse/operators/aggregate/order.h"
#include "analyse/operators/spill.h"

/* Bytes that lie in a spill file in pieces. */
struct sta_run_stream {
    struct sta_stream_piece {
        uint64_t offset, size;
    } * pieces;
    size_t count, capacity;
};

struct sta_group_run {
    const struct sta_shape *shape;
    const struct sta_spill *spill;
    struct sta_key_layout layout;
    bool ordered; /* the layout is that of the merge: words are in its order already */
    struct sta_key_range ranges[STA_MOST_KEY_FIELDS]; /* of what occurs */
    struct sta_run_stream records;
    struct sta_run_stream *lists; /* by list of the shape.  Words of texts are their numbers */
};
void sta_run_destroy(struct sta_group_run *run); /* NULL allowed */

static inline size_t sta_run_record_bytes(const struct sta_group_run *run)
{
    return (run->layout.words + run->shape->list_count) * sizeof(uint64_t) + run->shape->record;
}

/** Writes a table as a run. */
STA_MUSTCHECK int sta_run_write_table(struct sta_group_table *table, const struct sta_budget *budget,
                                      struct sta_spill *spill, struct sta_group_run **run,
                                      struct sta_error *err);

/* ---- writing group by group */

struct sta_stream_writer {
    struct sta_spill *spill;
    struct sta_run_stream *stream;
    uint8_t *bytes;
    size_t used, capacity;
};
struct sta_run_writer {
    struct sta_group_run *run;
    struct sta_stream_writer records, *lists;
    size_t list_count;
    uint64_t *counts; /* by list: values of the present group */
};
/** @buffer: bytes held per stream. */
void sta_run_writer_init(struct sta_run_writer *writer, const struct sta_shape *shape,
                         const struct sta_key_layout *layout, bool ordered, struct sta_spill *spill,
                         size_t buffer);
/** Values of the group that comes next; of texts the ranks in @order. */
STA_MUSTCHECK int sta_run_writer_add_values(struct sta_run_writer *writer,
                                            const struct sta_group_order *order, size_t list,
                                            const uint64_t *words, size_t count, struct sta_error *err);
STA_MUSTCHECK int sta_run_writer_add_group(struct sta_run_writer *writer, const uint64_t *words,
                                           const uint8_t *record, struct sta_error *err);
/** Writes what is held.  Return: 0 and the run in *run, or why not. */
STA_MUSTCHECK int sta_run_writer_finish(struct sta_run_writer *writer, struct sta_group_run **run,
                                        struct sta_error *err);
void sta_run_writer_fini(struct sta_run_writer *writer);

/* ---- reading */

struct sta_stream_reader {
    const struct sta_spill *spill;
    const struct sta_run_stream *stream;
    size_t piece;    /* that comes next .. */
    uint64_t inside; /* .. and how much of it was read */
    uint8_t *bytes;
    size_t at, used, capacity;
};
void sta_stream_reader_init(struct sta_stream_reader *reader, const struct sta_spill *spill,
                            const struct sta_run_stream *stream, size_t capacity);
void sta_stream_reader_fini(struct sta_stream_reader *reader);
/** Reads until @need bytes are at bytes + at, or the stream ends; more if they fit. */
STA_MUSTCHECK int sta_stream_reader_fill(struct sta_stream_reader *reader, size_t need,
                                         struct sta_error *err);

#endif
