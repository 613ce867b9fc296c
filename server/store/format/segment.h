/* segment.h - one segment's bytes, checked and readable.  Knows no files: the bytes are mapped (or made) by
 * others, and each is copied before it is believed, since a mapped file may change or end. */
#ifndef STA_STORE_SEGMENT_H
#define STA_STORE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/event.h"
#include "store/disk.h"
#include "store/store.h"

struct sta_segment {
    const unsigned char *bytes; /* borrowed */
    unsigned char *directory;   /* a copy, which the following point into */
    size_t size;
    uint64_t serial; /* of this attachment, unique in the process */
    struct sta_disk_header header;
    const struct sta_disk_row_group *row_groups;
    const struct sta_disk_column_chunk *column_chunks;
    const struct sta_disk_chunk *chunks;
    const uint32_t *codes;
    const unsigned char *used;
    int64_t ts_min, te_max; /* ticks since 1970 */
};

/**
 * sta_segment_attach - check header and directory, and copy them
 * @bytes: borrowed while the segment is used
 * @tables: what its codes stand for; every code of the segment is below these tables' counts, or it is
 * damaged
 * Return: 0, STA_ECORRUPT, STA_ENEWER, STA_ENOMEM; nothing to detach on failure.  Context: any thread;
 * reading an attached segment takes no lock.
 */
STA_MUSTCHECK int sta_segment_attach(struct sta_segment *segment, const unsigned char *bytes, size_t size,
                                     const struct sta_tables *tables, struct sta_error *err);
void sta_segment_detach(struct sta_segment *segment);
/** NULL: no row of the row group has a value in the column. */
const struct sta_disk_column_chunk *sta_segment_column_chunk(const struct sta_segment *segment,
                                                             uint32_t row_group, uint32_t column);
/** Like sta_row_group_read, but times are ticks of the segment since 1970. */
STA_MUSTCHECK int sta_segment_read(const struct sta_segment *segment, uint32_t row_group, uint32_t column,
                                   struct sta_column_values *values, struct sta_error *err);
/** Sets the byte of every file reference and thread that an event of the segment uses.  False: damaged. */
bool sta_segment_mark_used(const struct sta_segment *segment, uint8_t *files, uint32_t file_count,
                           uint8_t *threads, uint32_t thread_count);

#endif
