/* builder.c - rows that waited, sorted and encoded as the bytes of one segment.
 *
 * DESIGN: the rows are numbered in the order of (source path, first line, place) and put in the order of
 * their times by a stable sort, so that equal times come out in the order that readers are promised.  What is
 * kept of the sort is each row's position; every column is then scattered once into a dense array and encoded
 * block by block.  Columns follow each other in the file, so that a scan of a few reads few pages. */
#include "store/format/builder.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/format/builder_private.h"
#include "store/store.h"

struct sta_builder *sta_builder_create(void)
{
    struct sta_builder *builder = sta_alloc(sizeof *builder);
    builder->encoder = sta_column_encoder_create();
    return builder;
}

static void free_rows(struct sta_builder *builder)
{
    free(builder->ts);
    free(builder->values);
    free(builder->kinds);
    free(builder->name.index);
    free(builder->thread.index);
    builder->ts = builder->values = NULL;
    builder->kinds = NULL;
    builder->name.index = builder->thread.index = NULL;
    builder->row_capacity = 0;
}

void sta_builder_destroy(struct sta_builder *builder)
{
    if (builder == NULL)
        return;
    free_rows(builder);
    sta_row_order_fini(&builder->order);
    sta_column_encoder_destroy(builder->encoder);
    free(builder->plans);
    free(builder->entries);
    free(builder->name.made);
    free(builder->thread.made);
    free(builder->blocks);
    free(builder->validity);
    free(builder->chunks);
    free(builder->parts);
    free(builder->flags);
    sta_buffer_fini(&builder->out);
    sta_buffer_fini(&builder->codes);
    sta_buffer_fini(&builder->used);
    free(builder);
}

/* ---- room */

static int reserve_rows(struct sta_builder *builder, uint32_t rows, struct sta_error *err)
{
    if (rows <= builder->row_capacity)
        return STA_OK;
    free_rows(builder);
    builder->ts = sta_try_alloc_array(rows, sizeof *builder->ts);
    builder->values = sta_try_alloc_array(rows, sizeof *builder->values);
    builder->kinds = sta_try_alloc_array(rows, sizeof *builder->kinds);
    builder->name.index = sta_try_alloc_array(rows, sizeof *builder->name.index);
    builder->thread.index = sta_try_alloc_array(rows, sizeof *builder->thread.index);
    if (!sta_row_order_reserve(&builder->order, rows) || !builder->ts || !builder->values ||
        !builder->kinds || !builder->name.index || !builder->thread.index) {
        free_rows(builder);
        return sta_fail(err, STA_ENOMEM, "no memory to sort %u events", rows);
    }
    builder->row_capacity = rows;
    return STA_OK;
}

static void reserve_blocks(struct sta_builder *builder)
{
    builder->block_count = (builder->rows + STA_BLOCK_ROWS - 1) / STA_BLOCK_ROWS;
    if (builder->block_count <= builder->block_capacity)
        return;
    builder->block_capacity = builder->block_count;
    builder->blocks = sta_realloc_array(builder->blocks, builder->block_capacity, sizeof *builder->blocks);
    builder->validity =
        sta_realloc_array(builder->validity, builder->block_capacity, sizeof *builder->validity);
    builder->name.made =
        sta_realloc_array(builder->name.made, builder->block_capacity, sizeof *builder->name.made);
    builder->thread.made =
        sta_realloc_array(builder->thread.made, builder->block_capacity, sizeof *builder->thread.made);
}

static struct sta_column_plans *plans_of(struct sta_builder *builder, uint32_t column)
{
    size_t before = builder->plan_capacity;
    STA_GROW(builder->plans, builder->plan_capacity, column + 1);
    memset(builder->plans + before, 0, (builder->plan_capacity - before) * sizeof *builder->plans);
    return &builder->plans[column];
}

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
static uint32_t chunk_of(struct sta_builder *builder, const struct sta_pending *pending)
{
    const struct sta_disk_chunk *last =
        builder->chunk_count ? &builder->chunks[builder->chunk_count - 1] : NULL;
    if (last == NULL || last->source != pending->source || last->first_line != pending->first_line) {
        STA_GROW(builder->chunks, builder->chunk_capacity, builder->chunk_count + 1);
        builder->chunks[builder->chunk_count++] =
            (struct sta_disk_chunk){.source = pending->source, .first_line = pending->first_line};
    }
    return (uint32_t)builder->chunk_count - 1;
}

/* Microseconds and the nanoseconds on top (NULL: none) as ticks of the segment. */
static void put_ticks(const struct sta_builder *builder, const int64_t *us, const uint16_t *ns,
                      uint32_t count, int64_t *ticks)
{
    for (uint32_t i = 0; i < count; i++)
        ticks[i] = us[i] * builder->ticks_per_us;
    for (uint32_t i = 0; ns != NULL && i < count; i++)
        ticks[i] += ns[i];
}

/* Sets every row's position in time order. */
static void order_rows(struct sta_builder *builder, const struct sta_pending *pending, size_t count)
{
    int64_t *keys = builder->order.keys;
    for (size_t p = 0; p < count; keys += pending[p++].batch.count)
        put_ticks(builder, pending[p].batch.ts, pending[p].batch.ts_ns, pending[p].batch.count, keys);
    sta_row_order_sort(&builder->order, builder->rows);
}

/* ---- columns */

static struct sta_keys keys_of_block(const struct sta_key_column *column, uint32_t block)
{
    const struct sta_made_keys *made = &column->made[block];
    if (made->count == 0)
        return (struct sta_keys){0};
    return (struct sta_keys){column->index + (size_t)block * STA_BLOCK_ROWS, made->count, made->rows};
}

static uint32_t rows_of_block(const struct sta_builder *builder, uint32_t block)
{
    return STA_MIN(builder->rows - block * STA_BLOCK_ROWS, (uint32_t)STA_BLOCK_ROWS);
}

/* Encodes one block of a column.  @kinds: NULL, or of every row; @made: NULL, or where its keys go. */
static void encode_block(struct sta_builder *builder, uint32_t column, uint32_t block, const int64_t *values,
                         const uint8_t *kinds, struct sta_key_column *made)
{
    size_t at = (size_t)block * STA_BLOCK_ROWS;
    struct sta_column_rows rows = {values + at, kinds ? kinds + at : NULL, rows_of_block(builder, block)};
    struct sta_both_keys keys = {0};
    if (made == NULL)
        keys = (struct sta_both_keys){keys_of_block(&builder->name, block),
                                      keys_of_block(&builder->thread, block)};
    struct sta_made_entry added = {.block = block};
    size_t payload_at = builder->out.size, first_code = builder->codes.size / sizeof(uint32_t);
    if (!sta_encode_column(builder->encoder, plans_of(builder, column), &rows, &keys,
                           made ? made->index + at : NULL, made ? &made->made[block] : NULL, &added.entry,
                           &builder->codes, &builder->out))
        return;
    added.entry.column = column;
    added.entry.payload_at = payload_at;
    added.entry.first_code = (uint32_t)first_code;
    STA_GROW(builder->entries, builder->entry_capacity, builder->entry_count + 1);
    builder->entries[builder->entry_count++] = added;
}

static void encode_column(struct sta_builder *builder, uint32_t column, const int64_t *values,
                          const uint8_t *kinds, struct sta_key_column *made)
{
    for (uint32_t b = 0; b < builder->block_count; b++)
        encode_block(builder, column, b, values, kinds, made);
}

static void scatter_times(struct sta_builder *builder, const struct sta_pending *pending, size_t count)
{
    const uint32_t *position = builder->order.position;
    const int64_t unit = builder->ticks_per_us;
    for (uint32_t row = 0; row < builder->rows; row++)
        builder->ts[position[row]] = builder->order.keys[row];
    for (size_t p = 0; p < count; position += pending[p++].batch.count) {
        const struct sta_batch batch = pending[p].batch;
        for (uint32_t i = 0; i < batch.count; i++)
            builder->values[position[i]] = batch.dur[i] * unit + (batch.dur_ns ? batch.dur_ns[i] : 0);
    }
}

static struct sta_disk_block block_of(const int64_t *ts, const int64_t *dur, uint32_t rows)
{
    struct sta_disk_block block = {
        .rows = rows, .ts_min = ts[0], .ts_max = ts[rows - 1], .te_max = INT64_MIN};
    for (uint32_t i = 0; i < rows; i++)
        block.te_max = STA_MAX(block.te_max, ts[i] + dur[i]);
    return block;
}

static void encode_times(struct sta_builder *builder, const struct sta_pending *pending, size_t count)
{
    scatter_times(builder, pending, count);
    for (uint32_t b = 0; b < builder->block_count; b++) {
        size_t at = (size_t)b * STA_BLOCK_ROWS;
        builder->blocks[b] = block_of(builder->ts + at, builder->values + at, rows_of_block(builder, b));
    }
    encode_column(builder, STA_COLUMN_DUR, builder->values, NULL, NULL);
    encode_column(builder, STA_COLUMN_TS, builder->ts, NULL, NULL);
}

/* The code columns of a batch. */
static const struct {
    enum sta_column_id column;
    size_t offset;      /* of its array in struct sta_batch */
    size_t made_offset; /* of its struct sta_key_column in struct sta_builder; 0: none */
    bool used;          /* the segment tells which codes its events use */
} code_columns[] = {
    /* first those that others build on */
    {STA_COLUMN_NAME, offsetof(struct sta_batch, name), offsetof(struct sta_builder, name), false},
    {STA_COLUMN_THREAD, offsetof(struct sta_batch, thread), offsetof(struct sta_builder, thread), true},
    {STA_COLUMN_CAT, offsetof(struct sta_batch, cat), 0, false},
    {STA_COLUMN_FILE, offsetof(struct sta_batch, file), 0, true},
};

static const uint32_t *codes_of(const struct sta_batch *batch, size_t number)
{
    return *(uint32_t *const *)((const char *)batch + code_columns[number].offset);
}

/* The codes of a column that events use.  Flags begin with that of no code, which is code -1. */
static void put_used(struct sta_builder *builder, const struct sta_pending *pending, size_t count,
                     size_t number, struct sta_buffer *used)
{
    uint32_t past = 0, before = 0, used_count = 0;
    for (size_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < pending[p].batch.count; i++)
            past = STA_MAX(past, codes_of(&pending[p].batch, number)[i] + 1);
    STA_GROW(builder->flags, builder->flag_capacity, (size_t)past + 1);
    uint8_t *flags = builder->flags;
    memset(flags, 0, (size_t)past + 1);
    for (size_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < pending[p].batch.count; i++)
            flags[codes_of(&pending[p].batch, number)[i] + 1] = 1;
    for (uint32_t code = 0; code < past; code++)
        used_count += flags[code + 1];
    sta_put_varint(used, used_count);
    for (uint32_t code = 0; code < past; code++) {
        if (!flags[code + 1])
            continue;
        sta_put_varint(used, code - before);
        before = code;
    }
}

static void encode_codes(struct sta_builder *builder, const struct sta_pending *pending, size_t count,
                         size_t number, struct sta_buffer *used)
{
    const uint32_t *position = builder->order.position;
    int64_t *values = builder->values; /* in locals: a byte written may be anything's, to the compiler */
    uint8_t *kinds = builder->kinds;
    for (size_t p = 0; p < count; position += pending[p++].batch.count) {
        const uint32_t *codes = codes_of(&pending[p].batch, number);
        const uint32_t rows = pending[p].batch.count;
        for (uint32_t i = 0; i < rows; i++) {
            values[position[i]] = codes[i];
            kinds[position[i]] = codes[i] == STA_NO_CODE ? 0 : 1 + STA_VALUE_TEXT;
        }
    }
    size_t made = code_columns[number].made_offset;
    encode_column(builder, code_columns[number].column, values, kinds,
                  made ? (struct sta_key_column *)((char *)builder + made) : NULL);
    if (code_columns[number].used)
        put_used(builder, pending, count, number, used);
}

static void encode_chunks(struct sta_builder *builder, const struct sta_pending *pending, size_t count)
{
    const uint32_t *position = builder->order.position;
    memset(builder->kinds, 1 + STA_VALUE_TEXT, builder->rows);
    builder->chunk_count = 0;
    for (size_t p = 0; p < count; position += pending[p++].batch.count) {
        uint32_t chunk = chunk_of(builder, &pending[p]);
        for (uint32_t i = 0; i < pending[p].batch.count; i++)
            builder->values[position[i]] = chunk;
    }
    encode_column(builder, STA_COLUMN_CHUNK, builder->values, builder->kinds, NULL);
}

static void scatter_part(struct sta_builder *builder, const struct sta_args_part *part)
{
    const struct sta_args_column column = *part->column;
    const uint32_t *position = builder->order.position + part->first_row;
    int64_t *values = builder->values;
    uint8_t *kinds = builder->kinds;
    uint8_t *validity = builder->validity;
    for (uint32_t i = 0; i < column.count; i++) {
        uint32_t at = position[column.rows[i]];
        enum sta_value_kind kind = column.kinds[i];
        values[at] = kind == STA_VALUE_TEXT ? (int64_t)column.values[i].code : column.values[i].integer;
        kinds[at] = (uint8_t)(1 + kind);
        validity[at / STA_BLOCK_ROWS] = 1; /* no count: it would wait for itself */
    }
}

static int by_key(const void *a, const void *b)
{
    const struct sta_args_part *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

/* Only blocks in which a key occurs are looked at, so that thousands of rare keys stay cheap. */
static void encode_args(struct sta_builder *builder, const struct sta_pending *pending, size_t count)
{
    uint32_t first_row = 0;
    builder->part_count = 0;
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
    memset(builder->kinds, 0, builder->rows);
    for (size_t i = 0; i < builder->part_count;) {
        uint32_t key = builder->parts[i].key;
        memset(builder->validity, 0, builder->block_count * sizeof *builder->validity);
        for (; i < builder->part_count && builder->parts[i].key == key; i++)
            scatter_part(builder, &builder->parts[i]);
        for (uint32_t b = 0; b < builder->block_count; b++) {
            if (!builder->validity[b])
                continue;
            encode_block(builder, STA_COLUMN_ARGS + key, b, builder->values, builder->kinds, NULL);
            memset(builder->kinds + (size_t)b * STA_BLOCK_ROWS, 0, rows_of_block(builder, b));
        }
    }
}

/* ---- all of it */

static void begin(struct sta_builder *builder, const struct sta_pending *pending, size_t count)
{
    builder->ticks_per_us = 1;
    for (size_t p = 0; p < count; p++)
        if (pending[p].batch.ts_ns != NULL)
            builder->ticks_per_us = 1000;
    builder->entry_count = 0;
    sta_buffer_clear(&builder->out);
    sta_buffer_clear(&builder->codes);
    sta_buffer_clear(&builder->used);
    sta_put(&builder->out, &(struct sta_disk_header){0}, sizeof(struct sta_disk_header));
}

int sta_builder_build(struct sta_builder *builder, struct sta_pending *pending, size_t count,
                      const struct sta_buffer **segment, struct sta_error *err)
{
    struct sta_buffer used_threads = {0};
    builder->rows = 0;
    for (size_t p = 0; p < count; p++) {
        builder->rows += pending[p].batch.count;
        pending[p].arrival = p;
    }
    STA_ASSERT(builder->rows > 0);
    int status = reserve_rows(builder, builder->rows, err);
    if (status != STA_OK)
        return status;
    reserve_blocks(builder);
    begin(builder, pending, count);
    qsort(pending, count, sizeof *pending, by_origin);
    order_rows(builder, pending, count);
    for (size_t c = 0; c < STA_COUNT_OF(code_columns); c++)
        encode_codes(builder, pending, count, c,
                     code_columns[c].column == STA_COLUMN_FILE ? &builder->used : &used_threads);
    encode_times(builder, pending, count);
    encode_chunks(builder, pending, count);
    encode_args(builder, pending, count);
    sta_put(&builder->used, used_threads.data, used_threads.size);
    bool done = sta_builder_put_directory(builder) && !used_threads.failed;
    sta_buffer_fini(&used_threads);
    if (!done)
        return sta_fail(err, STA_ENOMEM, "no memory to encode %u events", builder->rows);
    *segment = &builder->out;
    return STA_OK;
}
