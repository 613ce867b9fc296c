/* kinds.c - which kinds of values the args of a segment have, for the tables of a version that some sources
 * have left: a kind that only they had leaves with them. */
#include <stdlib.h>
#include "common/memory.h"
#include "store/versions/writer.h"

/* The column chunk says it of a column whose values are of one kind. */
static unsigned kinds_of_column_chunk(const struct sta_disk_column_chunk *column_chunk)
{
    static const unsigned kinds[] = {[STA_KIND_INT] = 1U << STA_VALUE_INT,
                                     [STA_KIND_FLOAT] = 1U << STA_VALUE_FLOAT,
                                     [STA_KIND_BOOL] = 1U << STA_VALUE_BOOL,
                                     [STA_KIND_CODE] = 1U << STA_VALUE_TEXT,
                                     [STA_KIND_MIXED] = 0};
    return kinds[column_chunk->kind];
}

static int kinds_of_rows(const struct sta_segment *segment, uint32_t row_group, uint32_t column,
                         unsigned *kinds, struct sta_error *err)
{
    struct sta_column_values values = {.integers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t)),
                                       .kinds = sta_alloc_array(STA_ROW_GROUP_ROWS, 1),
                                       .missing = sta_alloc_array(STA_ROW_GROUP_ROWS, 1)};
    int status = sta_segment_read(segment, row_group, column, &values, err);
    for (uint32_t i = 0; status == STA_OK && i < segment->row_groups[row_group].rows; i++)
        if (!values.any_missing || !values.missing[i])
            *kinds |= 1U << values.kinds[i];
    free(values.integers);
    free(values.kinds);
    free(values.missing);
    return status;
}

int sta_writer_note_kinds(struct sta_writer *writer, const struct sta_snapshot *base, uint32_t number,
                          struct sta_error *err)
{
    const struct sta_segment *segment = &base->segments[number].segment;
    int status = STA_OK;
    for (uint32_t b = 0; b < segment->header.row_group_count; b++) {
        const struct sta_disk_row_group *row_group = &segment->row_groups[b];
        for (uint32_t e = 0; e < row_group->column_chunk_count && status == STA_OK; e++) {
            const struct sta_disk_column_chunk *column_chunk =
                &segment->column_chunks[row_group->first_column_chunk + e];
            if (column_chunk->column < STA_COLUMN_ARGS)
                continue;
            unsigned kinds = kinds_of_column_chunk(column_chunk);
            if (kinds == 0)
                status = kinds_of_rows(segment, b, column_chunk->column, &kinds, err);
            sta_tables_note_kinds(writer->tables, column_chunk->column - STA_COLUMN_ARGS, kinds);
        }
    }
    return status;
}
