/* Columns of the store for a reader: of the whole row group, or of the rows that it is narrowed to. */
#include <string.h>

#include "analyse/operators/vectors.h"
#include "analyse/sources/columns_private.h"
#include "common/memory.h"

static void reserve_space(struct sta_column_reader *reader, struct sta_column_values *values, uint32_t column)
{
    bool times = column <= STA_COLUMN_DUR, args = column >= STA_COLUMN_ARGS;
    if (args && reader->spare_values.integers != NULL) {
        *values = reader->spare_values;
        reader->spare_values = (struct sta_column_values){0};
        return;
    }
    if (times || args) {
        values->integers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *values->integers);
        values->numbers = (double *)values->integers;
        values->missing = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *values->missing);
    }
    if (args)
        values->kinds = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *values->kinds);
    if (!times)
        values->codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *values->codes);
}

/* A category that no row of the row group has is a column of missing codes like any other. */
static void fill_absent(const struct sta_column_reader *reader, uint32_t column,
                        struct sta_column_values *values)
{
    if (column >= STA_COLUMN_ARGS || values->kind != STA_KIND_ABSENT)
        return;
    for (uint32_t row = 0; row < reader->rows; row++)
        values->codes[row] = STA_NO_CODE;
    values->kind = STA_KIND_CODE;
}

static void gather(struct sta_column_reader *reader, void *values, size_t width)
{
    if (reader->gathered == NULL)
        reader->gathered = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t));
    sta_gather(values, width, reader->narrowed, reader->rows, reader->gathered);
    memcpy(values, reader->gathered, reader->rows * width);
}

/* Leaves of a whole column the rows that the reader is narrowed to. */
static void keep_narrowed(struct sta_column_reader *reader, struct sta_column_values *values)
{
    if (values->kind == STA_KIND_ABSENT)
        return;
    if (values->kind == STA_KIND_CODE) {
        gather(reader, values->codes, sizeof *values->codes);
        return;
    }
    gather(reader, values->integers, sizeof *values->integers);
    if (values->any_missing)
        gather(reader, values->missing, sizeof *values->missing);
    if (values->kind == STA_KIND_MIXED)
        gather(reader, values->kinds, sizeof *values->kinds);
}

static int read_column(struct sta_column_reader *reader, uint32_t column, struct sta_physical_slot *slot,
                       struct sta_error *err)
{
    const struct sta_snapshot *snapshot = reader->columns->snapshot;
    int status = STA_OK;
    if (reader->narrowed == NULL)
        return sta_row_group_read(snapshot, reader->row_group, column, &slot->values, err);
    if (slot->row_group != reader->whole &&
        sta_row_group_read_rows(snapshot, reader->row_group, column, reader->narrowed, reader->rows,
                                &slot->values))
        return STA_OK;
    if (slot->row_group != reader->whole)
        status = sta_row_group_read(snapshot, reader->row_group, column, &slot->values, err);
    if (status == STA_OK)
        keep_narrowed(reader, &slot->values);
    return status;
}

int sta_column_reader_physical(struct sta_column_reader *reader, uint32_t column,
                               const struct sta_column_values **values, struct sta_error *err)
{
    STA_ASSERT(reader->row_group != NULL && column < STA_COLUMN_ARGS + reader->columns->key_count);
    struct sta_physical_slot *slot = &reader->physical[column];
    *values = &slot->values;
    if (slot->row_group == reader->serial)
        return STA_OK;
    if (slot->values.integers == NULL && slot->values.codes == NULL)
        reserve_space(reader, &slot->values, column);
    int status = read_column(reader, column, slot, err);
    if (status != STA_OK)
        return status;
    fill_absent(reader, column, &slot->values);
    slot->row_group = reader->serial;
    return STA_OK;
}

int sta_column_reader_times(struct sta_column_reader *reader, const int64_t **ts, const int64_t **dur,
                            struct sta_error *err)
{
    const struct sta_column_values *starts, *lengths;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_TS, &starts, err);
    if (rc == 0)
        rc = sta_column_reader_physical(reader, STA_COLUMN_DUR, &lengths, err);
    if (rc != 0)
        return rc;
    *ts = starts->integers;
    *dur = lengths->integers;
    return STA_OK;
}

int sta_column_reader_codes(struct sta_column_reader *reader, uint32_t column, const uint32_t **codes,
                            struct sta_error *err)
{
    const struct sta_column_values *values;
    int rc = sta_column_reader_physical(reader, column, &values, err);
    if (rc == 0)
        *codes = values->kind == STA_KIND_ABSENT ? NULL : values->codes;
    return rc;
}
