/* builder.h - rows that waited, sorted and encoded as the bytes of one segment. */
#ifndef STA_STORE_BUILDER_H
#define STA_STORE_BUILDER_H

#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/error.h"
#include "common/event.h"

/* A batch and where it comes from. */
struct sta_pending {
    struct sta_batch batch;
    uint32_t source;  /* id */
    const char *path; /* of the source; borrowed */
    uint64_t first_line;
    size_t arrival; /* set by the builder: parts of one chunk stay in the order in which they came */
};

struct sta_builder; /* working memory of one worker */
struct sta_builder *sta_builder_create(void);
void sta_builder_destroy(struct sta_builder *builder);
/**
 * sta_builder_build - make a segment of all rows of @pending (at least one)
 * @pending: its order may change; its batches stay the caller's
 * Return: 0 with the bytes in *segment (borrowed until the next call), STA_ENOMEM.
 */
STA_MUSTCHECK int sta_builder_build(struct sta_builder *builder, struct sta_pending *pending, size_t count,
                                    const struct sta_buffer **segment, struct sta_error *err);
#define STA_BUILDER_ROW_BYTES 64 /* working memory for each row, at most */

#endif
