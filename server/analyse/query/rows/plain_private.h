/* plain_private.h - shared by the files of plain rows only. */
#ifndef STA_ANALYSE_QUERY_PLAIN_PRIVATE_H
#define STA_ANALYSE_QUERY_PLAIN_PRIVATE_H

#include "analyse/exec/budget.h"
#include "analyse/query/rows/plain.h"
#include "analyse/operators/sorter.h"

struct sta_plain_reader {
    const struct sta_plain *plain;
    struct sta_budget budget;
    uint64_t *key;    /* of the last row given out */
    bool started;     /* key is set: rows up to it have been returned */
    uint64_t wanted;  /* rows that will be read; 0: unknown */
    uint64_t skip;    /* rows that are passed over before the next one is given out */
    size_t most_rows; /* of all batches */

    struct sta_row_batch *batches;
    size_t batch_count;
    struct sta_batch_row *rows; /* of the present batches, in order */
    size_t row_count, row_capacity, at;
    struct sta_gathered_rows gathered;

    /* event order: slices of time */
    uint32_t trace;
    int64_t from;  /* of the next slice, ticks */
    size_t target; /* rows that it aims at */

    /* sorted */
    struct sta_sorter *sorter;
    uint64_t *records; /* of the rows of the batches */
    size_t record_capacity;
    bool whole;           /* the sorter has all rows, not just the first ones */
    uint64_t sorted_left; /* that it may still give */
};

/* Each fills the next batches, or leaves none at the end. */
STA_MUSTCHECK int sta_plain_next_slice(struct sta_plain_reader *reader, size_t most, struct sta_error *err);
STA_MUSTCHECK int sta_plain_next_sorted(struct sta_plain_reader *reader, size_t most, struct sta_error *err);

/** In event order, before the first batches: begins shortly before row number reader->skip, and leaves there
 * how many rows that is. */
STA_MUSTCHECK int sta_plain_seek(struct sta_plain_reader *reader, struct sta_error *err);

/** Writes how many rows a stripe has. */
STA_MUSTCHECK int sta_plain_put_count(const struct sta_plain *plain, const struct sta_budget *budget,
                                      const struct sta_stripe *stripe, const struct sta_byte_sink *sink,
                                      struct sta_error *err);
/** The column of the last stage's schema that order_by number @key is, or -1. */
int sta_plain_key_column(const struct sta_plain *plain, size_t key);
/** The values of what order_by number @key names. */
STA_MUSTCHECK int sta_plain_key_vector(const struct sta_plain *plain, struct sta_pipeline_state *state,
                                       size_t key, struct sta_vector *vector, struct sta_error *err);
/** Frees the batches and makes so many new ones, with no rows. */
void sta_plain_begin_batches(struct sta_plain_reader *reader, size_t batches);
void sta_plain_add_row(struct sta_plain_reader *reader, uint32_t batch, uint32_t row);

#endif
