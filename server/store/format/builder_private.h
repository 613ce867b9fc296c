/* builder_private.h - a segment in work (private to build*.c). */
#ifndef STA_STORE_BUILDER_PRIVATE_H
#define STA_STORE_BUILDER_PRIVATE_H

#include "common/buffer.h"
#include "store/format/builder.h"
#include "store/encoding/column.h"
#include "store/disk.h"
#include "store/format/row_order.h"

struct sta_made_column_chunk {
    uint32_t row_group;
    struct sta_disk_column_chunk column_chunk;
};

/* An args column of one of the batches. */
struct sta_args_part {
    uint32_t key;
    uint32_t first_row; /* of its batch */
    const struct sta_args_column *column;
};

/* Keys that the name (thread) column gives to others. */
struct sta_key_column {
    uint16_t *index;            /* by position */
    struct sta_made_keys *made; /* by row group */
};

struct sta_segment_builder {
    struct sta_account *account;
    struct sta_column_encoder *encoder;
    struct sta_column_plans *plans; /* by column */
    size_t plan_capacity;
    struct sta_buffer out, codes, used;
    struct sta_made_column_chunk *column_chunks;
    size_t column_chunk_count, column_chunk_capacity;

    /* of the segment in work */
    uint32_t rows, row_capacity, row_group_count, row_group_capacity;
    uint32_t ticks_per_us;
    int64_t *ts, *values; /* ts, and one other column, by position */
    uint8_t *kinds;       /* 0, or 1 + enum sta_value_kind; all 0 between args columns */
    struct sta_key_column name, thread;
    struct sta_disk_row_group *row_groups;
    uint8_t *validity; /* by row group: whether it has values of the args key */
    uint8_t *flags;    /* by code of a column: whether it is used; counted in the account */
    size_t flag_capacity;

    /* of the batches it is made from: builder_batches.c */
    struct sta_row_order order; /* row numbers to positions */
    struct sta_disk_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    struct sta_args_part *parts; /* by key */
    size_t part_count, part_capacity;
    uint32_t *keys;
    size_t key_count, key_capacity;
};

/** Ends the file: behind the columns what finds them, and the header before them.  Return: false when memory
 * is short. */
bool sta_builder_put_directory(struct sta_segment_builder *builder, const struct sta_builder_rows *rows);

#endif
