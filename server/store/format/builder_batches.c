/* builder_batches.c - batches that waited, as the sorted rows of one segment.
 *
 * DESIGN: the rows are numbered in the order of (source path, first line, place) and put in the order of
 * their times by a stable sort, so that equal times come out in the order that readers are promised.  What is
 * kept of the sort is each row's position, to which every column is then scattered. */
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/format/builder_private.h"
#include "store/store.h"

struct batches {
    struct sta_segment_builder *builder;
    const struct sta_pending *pending;
    size_t count;
    size_t next_part; /* args keys are asked for in the order of the parts */
};

/* ---- order */

static int by_origin(const void *a, const void *b)
{
    const struct sta_pending *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    if (order != 0)
        return order;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->first_line != y->first_line)
        return x->first_line < y->first_line ? -1 : 1;
    return x->arrival < y->arrival ? -1 : x->arrival > y->arrival;
}

/* One chunk for each (source, first line); parts of one chunk follow each other. */
static void list_chunks(struct sta_segment_builder *builder, const struct sta_pending *pending, size_t count)
{
    builder->chunk_count = 0;
    for (size_t p = 0; p < count; p++) {
        if (p > 0 && pending[p].source == pending[p - 1].source &&
            pending[p].first_line == pending[p - 1].first_line)
            continue;
        STA_GROW(builder->chunks, builder->chunk_capacity, builder->chunk_count + 1);
        builder->chunks[builder->chunk_count++] =
            (struct sta_disk_chunk){.source = pending[p].source, .first_line = pending[p].first_line};
    }
}

/* Microseconds and the nanoseconds on top (NULL: none) as ticks of the segment. */
static void put_ticks(int64_t ticks_per_us, const int64_t *us, const uint16_t *ns, uint32_t count,
                      int64_t *ticks)
{
    for (uint32_t i = 0; i < count; i++)
        ticks[i] = us[i] * ticks_per_us;
    for (uint32_t i = 0; ns != NULL && i < count; i++)
        ticks[i] += ns[i];
}

/* Sets every row's position in time order. */
static void order_rows(struct sta_segment_builder *builder, const struct sta_pending *pending, size_t count)
{
    int64_t *keys = builder->order.keys;
    for (size_t p = 0; p < count; keys += pending[p++].batch.count)
        put_ticks(builder->ticks_per_us, pending[p].batch.ts, pending[p].batch.ts_ns, pending[p].batch.count,
                  keys);
    sta_row_order_sort(&builder->order, builder->rows);
}

/* ---- columns */

static void scatter_ts(const struct batches *batches, int64_t *values)
{
    const struct sta_row_order *order = &batches->builder->order;
    for (uint32_t row = 0; row < batches->builder->rows; row++)
        values[order->position[row]] = order->keys[row];
}

static void scatter_dur(const struct batches *batches, int64_t *values)
{
    const uint32_t *position = batches->builder->order.position;
    const int64_t unit = batches->builder->ticks_per_us;
    for (size_t p = 0; p < batches->count; position += batches->pending[p++].batch.count) {
        const struct sta_batch batch = batches->pending[p].batch;
        for (uint32_t i = 0; i < batch.count; i++)
            values[position[i]] = batch.dur[i] * unit + (batch.dur_ns ? batch.dur_ns[i] : 0);
    }
}

static const size_t code_columns[] = {
    [STA_COLUMN_NAME] = offsetof(struct sta_batch, name),
    [STA_COLUMN_CAT] = offsetof(struct sta_batch, cat),
    [STA_COLUMN_FILE] = offsetof(struct sta_batch, file),
    [STA_COLUMN_THREAD] = offsetof(struct sta_batch, thread),
};

static void scatter_codes(const struct batches *batches, uint32_t column, const struct sta_builder_column *to)
{
    const uint32_t *position = batches->builder->order.position;
    int64_t *values = to->values; /* in locals: a byte written may be anything's, to the compiler */
    uint8_t *kinds = to->kinds;
    for (size_t p = 0; p < batches->count; position += batches->pending[p++].batch.count) {
        const struct sta_batch *batch = &batches->pending[p].batch;
        const uint32_t *codes = *(uint32_t *const *)((const char *)batch + code_columns[column]);
        const uint32_t rows = batch->count;
        for (uint32_t i = 0; i < rows; i++) {
            values[position[i]] = codes[i];
            kinds[position[i]] = codes[i] == STA_NO_CODE ? 0 : 1 + STA_VALUE_TEXT;
        }
    }
}

static void scatter_chunks(const struct batches *batches, const struct sta_builder_column *to)
{
    const struct sta_segment_builder *builder = batches->builder;
    const uint32_t *position = builder->order.position;
    memset(to->kinds, 1 + STA_VALUE_TEXT, builder->rows);
    uint32_t chunk = 0;
    for (size_t p = 0; p < batches->count; position += batches->pending[p++].batch.count) {
        const struct sta_pending *pending = &batches->pending[p];
        if (builder->chunks[chunk].source != pending->source ||
            builder->chunks[chunk].first_line != pending->first_line)
            chunk++;
        for (uint32_t i = 0; i < pending->batch.count; i++)
            to->values[position[i]] = chunk;
    }
}

static void scatter_part(const struct sta_segment_builder *builder, const struct sta_args_part *part,
                         const struct sta_builder_column *to)
{
    const struct sta_args_column column = *part->column;
    const uint32_t *position = builder->order.position + part->first_row;
    int64_t *values = to->values;
    uint8_t *kinds = to->kinds;
    uint8_t *row_groups = to->row_groups;
    for (uint32_t i = 0; i < column.count; i++) {
        uint32_t at = position[column.rows[i]];
        enum sta_value_kind kind = column.kinds[i];
        values[at] = kind == STA_VALUE_TEXT ? (int64_t)column.values[i].code : column.values[i].integer;
        kinds[at] = (uint8_t)(1 + kind);
        row_groups[at / STA_ROW_GROUP_ROWS] = 1; /* no count: each would wait for the one before */
    }
}

static void scatter_args(struct batches *batches, uint32_t key, const struct sta_builder_column *to)
{
    const struct sta_segment_builder *builder = batches->builder;
    for (; batches->next_part < builder->part_count && builder->parts[batches->next_part].key == key;
         batches->next_part++)
        scatter_part(builder, &builder->parts[batches->next_part], to);
}

static int put_column(void *context, uint32_t column, const struct sta_builder_column *to,
                      struct sta_error *err)
{
    struct batches *batches = context;
    if (column == STA_COLUMN_TS)
        scatter_ts(batches, to->values);
    else if (column == STA_COLUMN_DUR)
        scatter_dur(batches, to->values);
    else if (column == STA_COLUMN_CHUNK)
        scatter_chunks(batches, to);
    else if (column < STA_COLUMN_ARGS)
        scatter_codes(batches, column, to);
    else
        scatter_args(batches, column - STA_COLUMN_ARGS, to);
    return STA_OK;
}

static int by_key(const void *a, const void *b)
{
    const struct sta_args_part *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

/* The args columns of all batches, by key; and the keys. */
static void list_parts(struct sta_segment_builder *builder, const struct sta_pending *pending, size_t count)
{
    uint32_t first_row = 0;
    builder->part_count = builder->key_count = 0;
    for (size_t p = 0; p < count; first_row += pending[p++].batch.count)
        for (uint32_t a = 0; a < pending[p].batch.args_count; a++) {
            const struct sta_args_column *column = &pending[p].batch.args[a];
            if (column->count == 0)
                continue;
            STA_GROW(builder->parts, builder->part_capacity, builder->part_count + 1);
            builder->parts[builder->part_count++] = (struct sta_args_part){column->key, first_row, column};
        }
    if (builder->part_count > 0)
        qsort(builder->parts, builder->part_count, sizeof *builder->parts, by_key);
    for (size_t i = 0; i < builder->part_count; i++) {
        if (i > 0 && builder->parts[i].key == builder->parts[i - 1].key)
            continue;
        STA_GROW(builder->keys, builder->key_capacity, builder->key_count + 1);
        builder->keys[builder->key_count++] = builder->parts[i].key;
    }
}

int sta_builder_build(struct sta_segment_builder *builder, struct sta_pending *pending, size_t count,
                      const struct sta_buffer **segment, struct sta_error *err)
{
    builder->rows = 0;
    builder->ticks_per_us = 1;
    for (size_t p = 0; p < count; p++) {
        builder->rows += pending[p].batch.count;
        pending[p].arrival = p;
        if (pending[p].batch.ts_ns != NULL)
            builder->ticks_per_us = 1000;
    }
    STA_ASSERT(builder->rows > 0);
    if (!sta_row_order_reserve(&builder->order, builder->rows))
        return sta_fail(err, STA_ENOMEM, "no memory to sort %u events", builder->rows);
    qsort(pending, count, sizeof *pending, by_origin);
    order_rows(builder, pending, count);
    list_chunks(builder, pending, count);
    list_parts(builder, pending, count);
    struct batches batches = {.builder = builder, .pending = pending, .count = count};
    const struct sta_builder_rows rows = {.count = builder->rows,
                                          .ticks_per_us = builder->ticks_per_us,
                                          .chunks = builder->chunks,
                                          .chunk_count = builder->chunk_count,
                                          .keys = builder->keys,
                                          .key_count = builder->key_count,
                                          .put = put_column,
                                          .context = &batches};
    return sta_builder_encode(builder, &rows, segment, err);
}
