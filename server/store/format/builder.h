/* builder.h - rows as the bytes of one segment: batches that waited, which it sorts, or rows in order. */
#ifndef STA_STORE_BUILDER_H
#define STA_STORE_BUILDER_H

#include <stddef.h>
#include <stdint.h>
#include "common/account.h"
#include "common/buffer.h"
#include "common/error.h"
#include "common/event.h"
#include "store/disk.h"
#include "store/encoding/codec.h"

/* A batch and where it comes from. */
struct sta_pending {
    struct sta_batch batch;
    uint32_t source;  /* id */
    const char *path; /* of the source; borrowed */
    uint64_t first_line;
    size_t arrival; /* set by the builder: parts of one chunk stay in the order in which they came */
};

struct sta_segment_builder; /* working memory of one worker */
/** What grows with the codes of a trace is overdrawn from @account (NULL allowed), which is borrowed. */
struct sta_segment_builder *sta_builder_create(enum sta_effort effort, struct sta_account *account);
void sta_builder_destroy(struct sta_segment_builder *builder);
/**
 * sta_builder_build - make a segment of all rows of @pending (at least one)
 * @pending: its order may change; its batches stay the caller's
 * Return: 0 with the bytes in *segment (borrowed until the next call), STA_ENOMEM.
 */
STA_MUSTCHECK int sta_builder_build(struct sta_segment_builder *builder, struct sta_pending *pending,
                                    size_t count, const struct sta_buffer **segment, struct sta_error *err);

/* Where a column goes, by place of the row in the segment. */
struct sta_builder_column {
    int64_t *values;
    uint8_t *kinds;      /* 0 (no value) or 1 + enum sta_value_kind; not of times */
    uint8_t *row_groups; /* of args keys: set where the row group has a value */
};

/* Rows in the order in which they lie in the segment, a column at a time. */
struct sta_builder_rows {
    uint32_t count, ticks_per_us;
    const struct sta_disk_chunk *chunks;
    size_t chunk_count;
    const uint32_t *keys; /* of args, ascending */
    size_t key_count;
    /** Puts the values of a column: of all rows, but of args keys (asked for in their order) only those that
     * are there, since all others are without one already.  A failure ends the segment. */
    int (*put)(void *context, uint32_t column, const struct sta_builder_column *to, struct sta_error *err);
    void *context;
};
/** The same of sorted rows.  Return: 0, STA_ENOMEM, what put returns. */
STA_MUSTCHECK int sta_builder_encode(struct sta_segment_builder *builder, const struct sta_builder_rows *rows,
                                     const struct sta_buffer **segment, struct sta_error *err);
#define STA_BUILDER_ROW_BYTES 64 /* working memory for each row, at most */

#endif
