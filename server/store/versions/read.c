/* read.c - columns of a snapshot's row groups: a segment's values in the snapshot's ticks, decoded or as they
 * were kept. */
#include "common/memory.h"
#include "store/encoding/kernels.h"
#include "store/versions/private.h"

static const struct sta_open_segment *segment_of(const struct sta_snapshot *snapshot,
                                                 const struct sta_row_group *row_group)
{
    return &snapshot->segments[row_group->segment];
}

void sta_row_group_stats(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                         uint32_t column, struct sta_column_stats *stats)
{
    const struct sta_open_segment *open = segment_of(snapshot, row_group);
    const struct sta_disk_column_chunk *column_chunk =
        sta_segment_column_chunk(&open->segment, row_group->index, column);
    *stats = (struct sta_column_stats){.kind = STA_KIND_ABSENT, .missing = row_group->rows};
    if (column_chunk == NULL)
        return;
    *stats = (struct sta_column_stats){.kind = column_chunk->kind,
                                       .missing = column_chunk->missing,
                                       .bounded = column_chunk->flags & STA_COLUMN_CHUNK_BOUNDED,
                                       .listed = column_chunk->flags & STA_COLUMN_CHUNK_LISTED};
    if (stats->bounded) {
        bool is_time = column == STA_COLUMN_TS || column == STA_COLUMN_DUR;
        int64_t factor = is_time ? open->factor : 1, origin = column == STA_COLUMN_TS ? snapshot->origin : 0;
        stats->min = column_chunk->min * factor - origin;
        stats->max = column_chunk->max * factor - origin;
    }
    if (stats->listed) {
        stats->codes = open->segment.codes + column_chunk->first_code;
        stats->code_count = column_chunk->code_count;
    }
}

static int decode(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group, uint32_t column,
                  struct sta_column_values *values, struct sta_error *err)
{
    const struct sta_open_segment *open = segment_of(snapshot, row_group);
    int status = sta_segment_read(&open->segment, row_group->index, column, values, err);
    if (status != STA_OK)
        sta_error_wrap(err, "cannot read segment %08x of trace %s", open->named.file, snapshot->id);
    if (status == STA_ECORRUPT)
        sta_snapshot_note_damage(snapshot, STA_FILE_SEGMENT, open->named.file, err);
    return status;
}

/* From the cache, or decoded and put there. */
static int read_column(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                       uint32_t column, struct sta_column_values *values, struct sta_error *err)
{
    const struct sta_segment *segment = &segment_of(snapshot, row_group)->segment;
    const struct sta_disk_column_chunk *column_chunk =
        sta_segment_column_chunk(segment, row_group->index, column);
    struct sta_column_cache *cache = column_chunk != NULL ? snapshot->store->cache : NULL;
    struct sta_column_cache_key key = {segment->serial, row_group->index, column};
    if (cache != NULL && sta_column_cache_get(cache, key, row_group->rows, values))
        return STA_OK;
    int status = decode(snapshot, row_group, column, values, err);
    if (status == STA_OK && cache != NULL)
        sta_column_cache_put(cache, key, row_group->rows, column_chunk->min, column_chunk->max, values);
    return status;
}

int sta_row_group_warm(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                       uint32_t column, struct sta_column_values *values, struct sta_error *err)
{
    const struct sta_segment *segment = &segment_of(snapshot, row_group)->segment;
    const struct sta_disk_column_chunk *column_chunk =
        sta_segment_column_chunk(segment, row_group->index, column);
    struct sta_column_cache *cache = snapshot->store->cache;
    const struct sta_column_cache_key key = {segment->serial, row_group->index, column};
    if (cache == NULL || column_chunk == NULL || !sta_column_cache_takes(column_chunk->kind) ||
        !sta_column_cache_fits(cache, key, row_group->rows))
        return STA_OK;
    int status = decode(snapshot, row_group, column, values, err);
    if (status == STA_OK)
        sta_column_cache_warm(cache, key, row_group->rows, column_chunk->min, column_chunk->max, values);
    return status;
}

/* Times of the segment, since 1970, to those of the snapshot. */
static void to_ticks(const struct sta_snapshot *snapshot, const struct sta_open_segment *open,
                     uint32_t column, uint32_t count, struct sta_column_values *values)
{
    if (column != STA_COLUMN_TS && column != STA_COLUMN_DUR)
        return;
    for (uint32_t i = 0; open->factor != 1 && i < count; i++)
        values->integers[i] *= open->factor;
    if (column == STA_COLUMN_TS)
        sta_kernels()->scale(values->integers, count, 0, -(uint64_t)snapshot->origin);
}

int sta_row_group_read(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                       uint32_t column, struct sta_column_values *values, struct sta_error *err)
{
    const struct sta_open_segment *open = segment_of(snapshot, row_group);
    int status = read_column(snapshot, row_group, column, values, err);
    if (status == STA_OK)
        to_ticks(snapshot, open, column, row_group->rows, values);
    return status;
}

bool sta_row_group_read_rows(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                             uint32_t column, const uint32_t *rows, uint32_t count,
                             struct sta_column_values *values)
{
    const struct sta_open_segment *open = segment_of(snapshot, row_group);
    const struct sta_column_cache_key key = {open->segment.serial, row_group->index, column};
    struct sta_column_cache *cache = snapshot->store->cache;
    if (cache == NULL || !sta_column_cache_get_rows(cache, key, rows, count, values))
        return false;
    to_ticks(snapshot, open, column, count, values);
    return true;
}

static int64_t floor_divided(__int128 value, int64_t by)
{
    const __int128 quotient = value / by - (value % by < 0);
    return (int64_t)STA_MAX(STA_MIN(quotient, (__int128)INT64_MAX), (__int128)INT64_MIN);
}

bool sta_row_group_test(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                        uint32_t column, const struct sta_row_test *test, uint8_t *marks)
{
    const struct sta_open_segment *open = segment_of(snapshot, row_group);
    const struct sta_column_cache_key key = {open->segment.serial, row_group->index, column};
    struct sta_row_test own = *test; /* in the segment's ticks since 1970 */
    if (column == STA_COLUMN_TS || column == STA_COLUMN_DUR) {
        const int64_t origin = column == STA_COLUMN_TS ? snapshot->origin : 0;
        own.low = floor_divided((__int128)test->low + origin + open->factor - 1, open->factor);
        own.high = floor_divided((__int128)test->high + origin, open->factor);
    }
    return snapshot->store->cache != NULL &&
           sta_column_cache_test(snapshot->store->cache, key, row_group->rows, &own, marks);
}
