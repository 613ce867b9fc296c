/* merge_private.h - a running merge (private to merge*.c). */
#ifndef STA_STORE_MERGE_PRIVATE_H
#define STA_STORE_MERGE_PRIVATE_H

#include "store/format/builder.h"
#include "store/format/row_order.h"
#include "store/versions/merge_chunks.h"

#define STA_MERGE_WHAT "merging segments" /* in a sentence about memory */

/* A row group to merge; times in ticks of the merge. */
struct sta_merge_group {
    uint32_t segment, row_group; /* number of the segment in the snapshot */
    int64_t ts_min, ts_max;
};

/* The rows of a row group that lie in the slice. */
struct sta_merge_part {
    const struct sta_merge_group *group;
    uint32_t first, count; /* rows of the slice */
};

struct sta_merging {
    const struct sta_merge *options;
    struct sta_error *err;
    int64_t ticks_per_us;
    struct sta_merge_group *groups;
    size_t group_count;
    struct sta_merge_chunks chunks;
    int64_t *bounds; /* where slices begin, but the first */
    size_t bound_count;
    uint64_t merged;
    struct sta_segment_builder *builder;
    struct sta_column_values values; /* of the row group in work */

    /* of the slice in work */
    struct sta_merge_part *parts;
    size_t part_count, part_capacity;
    uint32_t rows;
    struct sta_merge_row {
        int64_t ts;
        uint32_t chunk; /* rank of its chunk */
        uint16_t from;  /* its row in the row group */
    } * taken;
    size_t row_capacity;
    struct sta_row_order order;
    size_t charged; /* bytes of the order and of the builder */
    struct sta_disk_chunk *own_chunks;
    uint32_t *own_number; /* by chunk that is written: its number in the slice, or STA_NO_CODE */
    uint32_t own_count;
    uint8_t *has_key; /* by code of the args key */
    uint32_t *keys;
    uint32_t key_count;
};

/** Reads a column of a row group into values.  Return: as sta_merge_run. */
STA_MUSTCHECK int sta_merge_read(struct sta_merging *merging, const struct sta_merge_group *group,
                                 uint32_t column);
/** Reads the times of a row group, in ticks of the merge. */
STA_MUSTCHECK int sta_merge_read_times(struct sta_merging *merging, const struct sta_merge_group *group);
/** Ticks of a row group's segment in ticks of the merge. */
int64_t sta_merge_factor(const struct sta_merging *merging, const struct sta_merge_group *group);
const struct sta_segment *sta_merge_segment(const struct sta_merging *merging,
                                            const struct sta_merge_group *group);
STA_MUSTCHECK int sta_merge_step(const struct sta_merging *merging);
/** Sorts and encodes the rows that were taken, at least one.  *bytes: borrowed until the next call. */
STA_MUSTCHECK int sta_merge_encode(struct sta_merging *merging, const struct sta_buffer **bytes);

#endif
