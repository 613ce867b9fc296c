/* segment.c - what FORMAT.md "Segments" says, checked in full before anything is believed.
 *
 * DESIGN: attach checks the header, the directory's checksum and then every count, offset and code of it, so
 * that reading a row group needs to check only that row group's payload: its checksum, and its values against
 * the column chunk's range. */
#include "store/format/segment.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/buffer.h"
#include "common/memory.h"
#include "store/encoding/column.h"
#include "store/format/mapped.h"

static _Atomic uint64_t next_serial = 1;

static int damaged(struct sta_error *err, const char *what)
{
    return sta_fail(err, STA_ECORRUPT, "the segment's %s is damaged", what);
}

/* ---- header and directory */

static int check_header(const struct sta_segment *segment, struct sta_error *err)
{
    const struct sta_disk_header *header = &segment->header;
    if (memcmp(header->magic, STA_DISK_SEGMENT_MAGIC, sizeof header->magic) != 0)
        return damaged(err, "beginning");
    if (header->header_checksum != XXH3_64bits(header, offsetof(struct sta_disk_header, header_checksum)))
        return damaged(err, "header");
    if (header->version > STA_DISK_VERSION || (header->features & ~(uint32_t)STA_DISK_PATCHES) != 0)
        return sta_fail(err, STA_ENEWER, "the segment is of format %u, newer than this program's %u",
                        header->version, STA_DISK_VERSION);
    uint64_t size = header->row_group_count * sizeof(struct sta_disk_row_group) +
                    header->column_chunk_count * sizeof(struct sta_disk_column_chunk) +
                    header->chunk_count * sizeof(struct sta_disk_chunk) +
                    header->code_count * sizeof(uint32_t) + header->used_size;
    if (header->file_size != segment->size || header->directory_at % 8 != 0 ||
        header->directory_at < sizeof *header || header->directory_at > segment->size ||
        header->directory_size != segment->size - header->directory_at || header->directory_size != size ||
        header->row_group_count == 0 || (header->ticks_per_us != 1 && header->ticks_per_us != 1000))
        return damaged(err, "header");
    return STA_OK;
}

static void find_tables(struct sta_segment *segment)
{
    const unsigned char *at = segment->directory;
    segment->row_groups = (const void *)at;
    at += segment->header.row_group_count * sizeof *segment->row_groups;
    segment->column_chunks = (const void *)at;
    at += segment->header.column_chunk_count * sizeof *segment->column_chunks;
    segment->chunks = (const void *)at;
    at += segment->header.chunk_count * sizeof *segment->chunks;
    segment->codes = (const void *)at;
    at += segment->header.code_count * sizeof *segment->codes;
    segment->used = at;
}

/* ---- column chunks */

/* How many codes a column may hold, or 0 when it holds none. */
static uint32_t code_limit(const struct sta_segment *segment, const struct sta_tables *tables,
                           uint32_t column)
{
    switch (column) {
    case STA_COLUMN_NAME:
        return sta_dictionary_count(sta_tables_names(tables));
    case STA_COLUMN_CAT:
        return sta_dictionary_count(sta_tables_cats(tables));
    case STA_COLUMN_FILE:
        return sta_dictionary_count(sta_tables_file_refs(tables));
    case STA_COLUMN_THREAD:
        return sta_tables_thread_count(tables);
    case STA_COLUMN_CHUNK:
        return segment->header.chunk_count;
    default:
        return column < STA_COLUMN_ARGS
                   ? 0
                   : sta_dictionary_count(sta_tables_values(tables, column - STA_COLUMN_ARGS));
    }
}

static bool codes_are_good(const struct sta_segment *segment,
                           const struct sta_disk_column_chunk *column_chunk)
{
    if (!(column_chunk->flags & STA_COLUMN_CHUNK_LISTED))
        return column_chunk->code_count == 0;
    if (column_chunk->kind != STA_KIND_CODE || column_chunk->code_count == 0 ||
        column_chunk->code_count > STA_LISTED_CODES ||
        column_chunk->first_code > segment->header.code_count ||
        column_chunk->code_count > segment->header.code_count - column_chunk->first_code)
        return false;
    const uint32_t *codes = segment->codes + column_chunk->first_code;
    for (uint32_t i = 1; i < column_chunk->code_count; i++)
        if (codes[i] <= codes[i - 1])
            return false;
    return codes[0] == column_chunk->min && codes[column_chunk->code_count - 1] == column_chunk->max;
}

static bool range_is_good(const struct sta_disk_column_chunk *column_chunk, uint32_t codes)
{
    bool bounded = column_chunk->flags & STA_COLUMN_CHUNK_BOUNDED;
    switch ((enum sta_column_kind)column_chunk->kind) {
    case STA_KIND_INT:
        return bounded && column_chunk->min <= column_chunk->max;
    case STA_KIND_BOOL:
        return bounded && column_chunk->min >= 0 && column_chunk->max <= 1 &&
               column_chunk->min <= column_chunk->max;
    case STA_KIND_CODE:
        return bounded && column_chunk->min >= 0 && column_chunk->min <= column_chunk->max &&
               column_chunk->max < codes;
    case STA_KIND_FLOAT:
        return !bounded;
    case STA_KIND_MIXED:
        return !bounded && column_chunk->max < codes;
    default:
        return false;
    }
}

static bool entry_is_good(const struct sta_segment *segment, const struct sta_tables *tables,
                          const struct sta_disk_row_group *row_group,
                          const struct sta_disk_column_chunk *column_chunk)
{
    uint32_t keys = sta_dictionary_count(sta_tables_keys(tables));
    int64_t limit = STA_TIME_LIMIT * segment->header.ticks_per_us;
    bool is_time = column_chunk->column == STA_COLUMN_TS || column_chunk->column == STA_COLUMN_DUR;
    bool is_code = column_chunk->column > STA_COLUMN_DUR && column_chunk->column < STA_COLUMN_ARGS;
    if (column_chunk->column >= STA_COLUMN_ARGS && column_chunk->column - STA_COLUMN_ARGS >= keys)
        return false;
    if ((column_chunk->flags & ~STA_COLUMN_CHUNK_FLAGS) != 0 || column_chunk->missing >= row_group->rows)
        return false;
    if (column_chunk->payload_at < sizeof(struct sta_disk_header) ||
        column_chunk->payload_at > segment->header.directory_at ||
        column_chunk->payload_size > segment->header.directory_at - column_chunk->payload_at)
        return false;
    if (is_time && (column_chunk->kind != STA_KIND_INT || column_chunk->missing != 0 ||
                    column_chunk->min < -limit || column_chunk->max > limit))
        return false;
    if (column_chunk->column == STA_COLUMN_TS &&
        (column_chunk->min != row_group->ts_min || column_chunk->max != row_group->ts_max))
        return false;
    if (is_code && column_chunk->kind != STA_KIND_CODE)
        return false;
    if ((column_chunk->column == STA_COLUMN_NAME || column_chunk->column == STA_COLUMN_THREAD) &&
        column_chunk->flags & (STA_COLUMN_CHUNK_NEEDS_NAME | STA_COLUMN_CHUNK_NEEDS_THREAD))
        return false;
    return range_is_good(column_chunk, is_time ? 0 : code_limit(segment, tables, column_chunk->column)) &&
           codes_are_good(segment, column_chunk);
}

static bool row_group_is_good(const struct sta_segment *segment, const struct sta_tables *tables,
                              const struct sta_disk_row_group *row_group)
{
    int64_t limit = STA_TIME_LIMIT * segment->header.ticks_per_us;
    if (row_group->rows == 0 || row_group->rows > STA_ROW_GROUP_ROWS ||
        row_group->first_column_chunk > segment->header.column_chunk_count ||
        row_group->column_chunk_count > segment->header.column_chunk_count - row_group->first_column_chunk)
        return false;
    if (row_group->ts_min < -limit || row_group->ts_min > row_group->ts_max || row_group->ts_max > limit ||
        row_group->te_max < -limit || row_group->te_max > limit)
        return false;
    const struct sta_disk_column_chunk *column_chunks =
        segment->column_chunks + row_group->first_column_chunk;
    for (uint32_t i = 0; i < row_group->column_chunk_count; i++)
        if ((i > 0 && column_chunks[i].column <= column_chunks[i - 1].column) ||
            !entry_is_good(segment, tables, row_group, &column_chunks[i]))
            return false;
    return true;
}

static bool has_column(const struct sta_segment *segment, uint32_t row_group, uint32_t column,
                       uint32_t missing)
{
    const struct sta_disk_column_chunk *column_chunk = sta_segment_column_chunk(segment, row_group, column);
    return column_chunk != NULL && column_chunk->missing <= missing;
}

static int check_row_groups(struct sta_segment *segment, const struct sta_tables *tables,
                            struct sta_error *err)
{
    uint64_t rows = 0;
    segment->ts_min = INT64_MAX;
    segment->te_max = INT64_MIN;
    for (uint32_t b = 0; b < segment->header.row_group_count; b++) {
        const struct sta_disk_row_group *row_group = &segment->row_groups[b];
        bool full = row_group->rows == STA_ROW_GROUP_ROWS || b + 1 == segment->header.row_group_count;
        if (!full || !row_group_is_good(segment, tables, row_group))
            return damaged(err, "directory");
        if (!has_column(segment, b, STA_COLUMN_TS, 0) || !has_column(segment, b, STA_COLUMN_DUR, 0) ||
            !has_column(segment, b, STA_COLUMN_CHUNK, 0) || !has_column(segment, b, STA_COLUMN_THREAD, 0))
            return damaged(err, "directory");
        rows += row_group->rows;
        segment->ts_min = STA_MIN(segment->ts_min, row_group->ts_min);
        segment->te_max = STA_MAX(segment->te_max, row_group->te_max);
    }
    return rows == segment->header.rows ? STA_OK : damaged(err, "directory");
}

static int copy_directory(struct sta_segment *segment, struct sta_error *err)
{
    const struct sta_disk_header *header = &segment->header;
    segment->directory = sta_try_alloc(header->directory_size);
    if (segment->directory == NULL)
        return sta_fail(err, STA_ENOMEM, "no memory for the %llu bytes of the segment's directory",
                        (unsigned long long)header->directory_size);
    if (!sta_copy_mapped(segment->directory, segment->bytes + header->directory_at, header->directory_size) ||
        header->directory_checksum != XXH3_64bits(segment->directory, header->directory_size))
        return damaged(err, "directory");
    find_tables(segment);
    return STA_OK;
}

int sta_segment_attach(struct sta_segment *segment, const unsigned char *bytes, size_t size,
                       const struct sta_tables *tables, struct sta_error *err)
{
    *segment =
        (struct sta_segment){.bytes = bytes, .size = size, .serial = atomic_fetch_add(&next_serial, 1)};
    if (size < sizeof segment->header || !sta_copy_mapped(&segment->header, bytes, sizeof segment->header))
        return damaged(err, "header");
    int status = check_header(segment, err);
    if (status == STA_OK)
        status = copy_directory(segment, err);
    if (status == STA_OK)
        status = check_row_groups(segment, tables, err);
    if (status != STA_OK)
        sta_segment_detach(segment);
    return status;
}

void sta_segment_detach(struct sta_segment *segment)
{
    free(segment->directory);
    segment->directory = NULL;
}

const struct sta_disk_column_chunk *sta_segment_column_chunk(const struct sta_segment *segment,
                                                             uint32_t row_group, uint32_t column)
{
    const struct sta_disk_column_chunk *column_chunks =
        segment->column_chunks + segment->row_groups[row_group].first_column_chunk;
    uint32_t low = 0, high = segment->row_groups[row_group].column_chunk_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (column_chunks[middle].column < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < segment->row_groups[row_group].column_chunk_count && column_chunks[low].column == column
               ? &column_chunks[low]
               : NULL;
}

/* ---- used references */

static bool mark(struct sta_cursor *in, uint8_t *flags, uint32_t limit)
{
    uint64_t count = sta_get_varint(in), code = 0;
    for (uint64_t i = 0; i < count && !in->failed; i++) {
        code += sta_get_varint(in);
        if (code >= limit)
            return false;
        flags[code] = 1;
    }
    return !in->failed;
}

bool sta_segment_mark_used(const struct sta_segment *segment, uint8_t *files, uint32_t file_count,
                           uint8_t *threads, uint32_t thread_count)
{
    struct sta_cursor in = {.at = segment->used, .end = segment->used + segment->header.used_size};
    return mark(&in, files, file_count) && mark(&in, threads, thread_count) && in.at == in.end;
}

/* ---- reading */

/* A copy of the payload in the thread's memory, until the next.  NULL: damaged, or no memory for it. */
static const unsigned char *checked_payload(const struct sta_segment *segment,
                                            const struct sta_disk_column_chunk *column_chunk,
                                            struct sta_scratch *scratch)
{
    unsigned char *payload = sta_scratch_payload(scratch, column_chunk->payload_size);
    bool good =
        payload != NULL &&
        sta_copy_mapped(payload, segment->bytes + column_chunk->payload_at, column_chunk->payload_size) &&
        (uint32_t)XXH3_64bits(payload, column_chunk->payload_size) == column_chunk->payload_checksum;
    return good ? payload : NULL;
}

/* The keys of a row group's name or thread column, from the thread's memory or decoded into it.  NULL: there
 * are none. */
static const struct sta_cached_keys *get_keys(const struct sta_segment *segment, uint32_t row_group,
                                              uint32_t column, struct sta_scratch *scratch)
{
    struct sta_cached_keys *cached = column == STA_COLUMN_NAME ? &scratch->name : &scratch->thread;
    if (cached->segment_serial != segment->serial || cached->row_group != row_group) {
        const struct sta_disk_column_chunk *column_chunk =
            sta_segment_column_chunk(segment, row_group, column);
        const unsigned char *payload = column_chunk ? checked_payload(segment, column_chunk, scratch) : NULL;
        cached->segment_serial = 0;
        if (payload == NULL || !sta_decode_column_keys(scratch, column_chunk, payload,
                                                       segment->row_groups[row_group].rows, cached))
            return NULL;
        cached->segment_serial = segment->serial;
        cached->row_group = row_group;
    }
    return cached;
}

static bool need_keys(const struct sta_segment *segment, uint32_t row_group, uint32_t column,
                      struct sta_scratch *scratch, struct sta_keys *keys)
{
    const struct sta_cached_keys *cached = get_keys(segment, row_group, column, scratch);
    if (cached != NULL)
        *keys = (struct sta_keys){.index = cached->index, .count = cached->count};
    return cached != NULL;
}

static bool read_payload(const struct sta_segment *segment, uint32_t row_group,
                         const struct sta_disk_column_chunk *column_chunk, struct sta_column_values *values)
{
    struct sta_scratch *scratch = sta_scratch_of_thread();
    struct sta_both_keys keys = {0};
    if ((column_chunk->flags & STA_COLUMN_CHUNK_NEEDS_NAME &&
         !need_keys(segment, row_group, STA_COLUMN_NAME, scratch, &keys.name)) ||
        (column_chunk->flags & STA_COLUMN_CHUNK_NEEDS_THREAD &&
         !need_keys(segment, row_group, STA_COLUMN_THREAD, scratch, &keys.thread)))
        return false;
    const unsigned char *payload = checked_payload(segment, column_chunk, scratch);
    return payload != NULL && sta_decode_column(scratch, column_chunk, payload,
                                                segment->row_groups[row_group].rows, &keys, values);
}

/* Names and threads are read by way of the keys that other columns need as well, unless there are too many
 * for keys. */
static bool read_codes(const struct sta_segment *segment, uint32_t row_group,
                       const struct sta_disk_column_chunk *column_chunk, struct sta_column_values *values)
{
    const struct sta_cached_keys *keys =
        get_keys(segment, row_group, column_chunk->column, sta_scratch_of_thread());
    if (keys == NULL)
        return read_payload(segment, row_group, column_chunk, values);
    values->kind = STA_KIND_CODE;
    values->any_missing = column_chunk->missing > 0;
    sta_codes_of_keys(keys, segment->row_groups[row_group].rows, values->codes);
    return true;
}

static bool is_ascending(const int64_t *values, uint32_t count)
{
    bool falls = false;
    for (uint32_t i = 1; i < count; i++)
        falls |= values[i] < values[i - 1];
    return !falls;
}

/* Whether no ts + dur leaves the limit, when the ranges alone don't say so. */
static bool sums_are_good(const struct sta_segment *segment, uint32_t row_group,
                          const struct sta_disk_column_chunk *dur, const int64_t *durations)
{
    const struct sta_disk_row_group *at = &segment->row_groups[row_group];
    int64_t limit = STA_TIME_LIMIT * segment->header.ticks_per_us;
    if (at->ts_max <= limit - STA_MAX(dur->max, 0) && at->ts_min >= -limit - STA_MIN(dur->min, 0))
        return true;
    int64_t *times = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *times);
    struct sta_column_values values = {.integers = times};
    bool good = read_payload(segment, row_group, sta_segment_column_chunk(segment, row_group, STA_COLUMN_TS),
                             &values);
    for (uint32_t i = 0; good && i < at->rows; i++)
        good = durations[i] >= 0 ? times[i] <= limit - durations[i] : times[i] >= -limit - durations[i];
    free(times);
    return good;
}

int sta_segment_read(const struct sta_segment *segment, uint32_t row_group, uint32_t column,
                     struct sta_column_values *values, struct sta_error *err)
{
    const struct sta_disk_column_chunk *column_chunk = sta_segment_column_chunk(segment, row_group, column);
    if (column_chunk == NULL) {
        values->kind = STA_KIND_ABSENT;
        values->any_missing = true;
        return STA_OK;
    }
    struct sta_scratch *scratch = sta_scratch_of_thread();
    scratch->short_of_memory = false;
    bool keyed = column == STA_COLUMN_NAME || column == STA_COLUMN_THREAD;
    bool good = keyed ? read_codes(segment, row_group, column_chunk, values)
                      : read_payload(segment, row_group, column_chunk, values);
    if (good && column == STA_COLUMN_TS)
        good = is_ascending(values->integers, segment->row_groups[row_group].rows);
    if (good && column == STA_COLUMN_DUR)
        good = sums_are_good(segment, row_group, column_chunk, values->integers);
    if (!good && scratch->short_of_memory)
        return sta_fail(err, STA_ENOMEM, "no memory for row group %u of the segment in column %u", row_group,
                        column);
    if (!good)
        return sta_fail(err, STA_ECORRUPT, "row group %u of the segment is damaged in column %u", row_group,
                        column);
    return STA_OK;
}
