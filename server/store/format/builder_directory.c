/* builder_directory.c - the parts of a segment's file that find the others: directory and header. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "store/format/builder_private.h"

static int by_row_group(const void *a, const void *b)
{
    const struct sta_made_column_chunk *x = a, *y = b;
    if (x->row_group != y->row_group)
        return x->row_group < y->row_group ? -1 : 1;
    return x->column_chunk.column < y->column_chunk.column ? -1
                                                           : x->column_chunk.column > y->column_chunk.column;
}

static void put_lists(struct sta_segment_builder *builder, const struct sta_builder_rows *rows)
{
    struct sta_buffer *out = &builder->out;
    qsort(builder->column_chunks, builder->column_chunk_count, sizeof *builder->column_chunks, by_row_group);
    for (uint32_t b = 0, e = 0; b < builder->row_group_count; b++) {
        builder->row_groups[b].first_column_chunk = e;
        while (e < builder->column_chunk_count && builder->column_chunks[e].row_group == b)
            e++;
        builder->row_groups[b].column_chunk_count = e - builder->row_groups[b].first_column_chunk;
    }
    sta_put(out, builder->row_groups, builder->row_group_count * sizeof *builder->row_groups);
    for (size_t e = 0; e < builder->column_chunk_count; e++)
        sta_put(out, &builder->column_chunks[e].column_chunk, sizeof builder->column_chunks[e].column_chunk);
    sta_put(out, rows->chunks, rows->chunk_count * sizeof *rows->chunks);
    sta_put(out, builder->codes.data, builder->codes.size);
    sta_put(out, builder->used.data, builder->used.size);
}

static void put_header(struct sta_segment_builder *builder, const struct sta_builder_rows *rows,
                       size_t directory_at)
{
    struct sta_buffer *out = &builder->out;
    struct sta_disk_header header = {
        .magic = STA_DISK_SEGMENT_MAGIC,
        .version = STA_DISK_VERSION,
        .features = STA_DISK_PATCHES,
        .file_size = out->size,
        .directory_at = directory_at,
        .directory_size = out->size - directory_at,
        .rows = builder->rows,
        .row_group_count = builder->row_group_count,
        .column_chunk_count = (uint32_t)builder->column_chunk_count,
        .code_count = (uint32_t)(builder->codes.size / sizeof(uint32_t)),
        .chunk_count = (uint32_t)rows->chunk_count,
        .used_size = (uint32_t)builder->used.size,
        .ticks_per_us = builder->ticks_per_us,
        .directory_checksum = XXH3_64bits(out->data + directory_at, out->size - directory_at),
    };
    header.header_checksum = XXH3_64bits(&header, offsetof(struct sta_disk_header, header_checksum));
    memcpy(out->data, &header, sizeof header);
}

bool sta_builder_put_directory(struct sta_segment_builder *builder, const struct sta_builder_rows *rows)
{
    while (builder->out.size % 8 != 0 && !builder->out.failed)
        sta_put_char(&builder->out, 0);
    size_t directory_at = builder->out.size;
    put_lists(builder, rows);
    if (builder->out.failed || builder->codes.failed || builder->used.failed)
        return false;
    put_header(builder, rows, directory_at);
    return true;
}
