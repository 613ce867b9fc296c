/* read.c - columns of a snapshot's blocks: a segment's values in the snapshot's ticks, decoded or as they
 * were kept. */
#include "common/memory.h"
#include "store/kernels.h"
#include "store/private.h"

static const struct sta_open_segment *segment_of(const struct sta_snapshot *snapshot,
                                                 const struct sta_block *block)
{
    return &snapshot->segments[block->segment];
}

void sta_block_stats(const struct sta_snapshot *snapshot, const struct sta_block *block, uint32_t column,
                     struct sta_column_stats *stats)
{
    const struct sta_open_segment *open = segment_of(snapshot, block);
    const struct sta_disk_entry *entry = sta_segment_entry(&open->segment, block->index, column);
    *stats = (struct sta_column_stats){.kind = STA_KIND_ABSENT, .missing = block->rows};
    if (entry == NULL)
        return;
    *stats = (struct sta_column_stats){.kind = entry->kind,
                                       .missing = entry->missing,
                                       .bounded = entry->flags & STA_ENTRY_BOUNDED,
                                       .listed = entry->flags & STA_ENTRY_LISTED};
    if (stats->bounded) {
        bool is_time = column == STA_COLUMN_TS || column == STA_COLUMN_DUR;
        int64_t factor = is_time ? open->factor : 1, origin = column == STA_COLUMN_TS ? snapshot->origin : 0;
        stats->min = entry->min * factor - origin;
        stats->max = entry->max * factor - origin;
    }
    if (stats->listed) {
        stats->codes = open->segment.codes + entry->first_code;
        stats->code_count = entry->code_count;
    }
}

/* From the shelf, or decoded and put there. */
static int read_column(const struct sta_snapshot *snapshot, const struct sta_block *block, uint32_t column,
                       struct sta_column_values *values, struct sta_error *err)
{
    const struct sta_segment *segment = &segment_of(snapshot, block)->segment;
    const struct sta_disk_entry *entry = sta_segment_entry(segment, block->index, column);
    struct sta_column_shelf *shelf = entry != NULL ? snapshot->store->shelf : NULL;
    struct sta_column_shelf_key key = {segment->serial, block->index, column};
    if (shelf != NULL && sta_column_shelf_get(shelf, key, block->rows, values))
        return STA_OK;
    int status = sta_segment_read(segment, block->index, column, values, err);
    if (status == STA_OK && shelf != NULL)
        sta_column_shelf_put(shelf, key, block->rows, entry->min, entry->max, values);
    return status;
}

int sta_block_read(const struct sta_snapshot *snapshot, const struct sta_block *block, uint32_t column,
                   struct sta_column_values *values, struct sta_error *err)
{
    const struct sta_open_segment *open = segment_of(snapshot, block);
    int status = read_column(snapshot, block, column, values, err);
    if (status != STA_OK)
        sta_because(err, "cannot read segment %08x of trace %s", open->named.file, snapshot->id);
    if (status == STA_ECORRUPT)
        sta_snapshot_note_damage(snapshot, open, err);
    if (status != STA_OK)
        return status;
    if (column != STA_COLUMN_TS && column != STA_COLUMN_DUR)
        return STA_OK;
    for (uint32_t i = 0; open->factor != 1 && i < block->rows; i++)
        values->integers[i] *= open->factor;
    if (column == STA_COLUMN_TS)
        sta_kernels()->scale(values->integers, block->rows, 0, -(uint64_t)snapshot->origin);
    return STA_OK;
}
