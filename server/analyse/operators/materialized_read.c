/* Rows in batches: looking at them. */
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/materialized_private.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

const struct sta_column_info *sta_materialized_columns(const struct sta_materialized *materialized,
                                                       size_t *count)
{
    *count = materialized->column_count;
    return materialized->info;
}

uint64_t sta_materialized_rows(const struct sta_materialized *materialized)
{
    return materialized->rows;
}

uint64_t sta_materialized_bytes(const struct sta_materialized *materialized)
{
    uint64_t bytes = materialized->bytes;
    for (size_t i = 0; i < materialized->column_count; i++) {
        const struct sta_materialized_column *column = &materialized->columns[i];
        bytes += column->piece_capacity * sizeof *column->pieces;
        bytes += column->texts != NULL ? sta_dictionary_bytes(column->texts) : 0;
    }
    return bytes;
}

uint64_t sta_materialized_spilled(const struct sta_materialized *materialized)
{
    return materialized->spill != NULL ? sta_spill_size(materialized->spill) : 0;
}

size_t sta_materialized_batch_count(const struct sta_materialized *materialized)
{
    return materialized->batch_count;
}

const struct sta_dictionary *sta_materialized_texts(const struct sta_materialized *materialized,
                                                    uint32_t column)
{
    return materialized->columns[column].texts;
}

/* ---- batches */

struct sta_materialized_batch {
    const struct sta_materialized *materialized;
    size_t number;
    uint32_t rows;
    char *stored; /* room for narrow values that lie on disk */
    struct {
        size_t batch; /* number + 1 of the batch that was brought here */
        char *bytes;
    } * read;
};

struct sta_materialized_batch *sta_materialized_batch_create(const struct sta_materialized *materialized)
{
    struct sta_materialized_batch *batch = sta_alloc(sizeof *batch);
    batch->materialized = materialized;
    batch->read = sta_alloc_array(materialized->column_count + 1, sizeof *batch->read);
    return batch;
}

void sta_materialized_batch_destroy(struct sta_materialized_batch *batch)
{
    if (batch == NULL)
        return;
    for (size_t i = 0; i < batch->materialized->column_count; i++)
        free(batch->read[i].bytes);
    free(batch->read);
    free(batch->stored);
    free(batch);
}

uint32_t sta_materialized_batch_seek(struct sta_materialized_batch *batch, size_t number)
{
    STA_ASSERT(number < batch->materialized->batch_count);
    const uint64_t behind = batch->materialized->rows - (uint64_t)number * STA_VECTOR_ROWS;
    batch->number = number;
    batch->rows = (uint32_t)STA_MIN(behind, (uint64_t)STA_VECTOR_ROWS);
    return batch->rows;
}

static int widen_piece(struct sta_materialized_batch *batch, const struct sta_materialized_column *column,
                       const struct sta_column_piece *piece, char *bytes, struct sta_error *err)
{
    const char *stored = piece->bytes;
    int rc = STA_OK;
    if (stored == NULL) {
        if (batch->stored == NULL)
            batch->stored = sta_alloc_array(STA_VECTOR_ROWS, sizeof(uint32_t));
        stored = batch->stored;
        rc = sta_spill_read(batch->materialized->spill, piece->offset, batch->stored,
                            (size_t)batch->rows << piece->narrow.width, err);
    }
    if (rc == 0 && column->texts != NULL)
        sta_narrow_get_codes(&piece->narrow, stored, batch->rows, (uint32_t *)(void *)bytes);
    else if (rc == 0)
        sta_narrow_get(&piece->narrow, stored, batch->rows, (int64_t *)(void *)bytes,
                       (uint8_t *)bytes + batch->rows * column->width);
    return rc;
}

/* Brings values that are narrow, or lie on disk, to the batch's own memory. */
static int bring(struct sta_materialized_batch *batch, uint32_t number, const struct sta_column_piece *piece,
                 const char **bytes, struct sta_error *err)
{
    const struct sta_materialized_column *column = &batch->materialized->columns[number];
    if (batch->read[number].bytes == NULL)
        batch->read[number].bytes = sta_alloc_array(STA_VECTOR_ROWS, column->width + 1);
    *bytes = batch->read[number].bytes;
    if (batch->read[number].batch == batch->number + 1)
        return 0;
    const size_t size = batch->rows * (column->width + piece->narrow.any_missing);
    int rc = piece->plain ? sta_spill_read(batch->materialized->spill, piece->offset,
                                           batch->read[number].bytes, size, err)
                          : widen_piece(batch, column, piece, batch->read[number].bytes, err);
    batch->read[number].batch = rc == 0 ? batch->number + 1 : 0;
    return rc;
}

int sta_materialized_batch_get(void *context, uint32_t column, struct sta_vector *vector,
                               struct sta_error *err)
{
    struct sta_materialized_batch *batch = context;
    const struct sta_materialized *materialized = batch->materialized;
    STA_ASSERT(column < materialized->column_count);
    const struct sta_materialized_column *own = &materialized->columns[column];
    const struct sta_column_piece *piece = &own->pieces[batch->number];
    const char *bytes = piece->bytes;
    int rc = bytes == NULL || !piece->plain ? bring(batch, column, piece, &bytes, err) : 0;
    if (rc != 0)
        return rc;
    *vector = (struct sta_vector){.type = own->info.type, .texts = own->texts};
    sta_vector_point(vector, bytes);
    if (piece->narrow.any_missing && own->texts == NULL)
        vector->missing = (const uint8_t *)bytes + batch->rows * own->width;
    return 0;
}

/* ---- statistics */

bool sta_materialized_range(const struct sta_materialized *materialized, size_t batch, uint32_t number,
                            double *low, double *high)
{
    const struct sta_materialized_column *column = &materialized->columns[number];
    const struct sta_column_piece *piece = &column->pieces[batch];
    if (column->info.type != STA_TYPE_INT || piece->plain)
        return false;
    *low = (double)(int64_t)(piece->narrow.base + piece->narrow.any_missing);
    *high = (double)(int64_t)piece->narrow.base + (double)(UINT32_MAX >> (32 - (8 << piece->narrow.width)));
    return true;
}
