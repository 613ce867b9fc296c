/* builder.c - sorted rows, encoded as the bytes of one segment.
 *
 * DESIGN: whoever has the rows puts one column after the other into a dense array, which is encoded row group
 * by row group.  Columns follow each other in the file, so that a scan of a few reads few pages. */
#include "store/format/builder.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/format/builder_private.h"
#include "store/store.h"

struct sta_segment_builder *sta_builder_create(enum sta_effort effort, struct sta_account *account)
{
    struct sta_segment_builder *builder = sta_alloc(sizeof *builder);
    builder->account = account;
    builder->encoder = sta_column_encoder_create(effort);
    return builder;
}

static void free_rows(struct sta_segment_builder *builder)
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

void sta_builder_destroy(struct sta_segment_builder *builder)
{
    if (builder == NULL)
        return;
    free_rows(builder);
    sta_row_order_fini(&builder->order);
    sta_column_encoder_destroy(builder->encoder);
    free(builder->plans);
    free(builder->column_chunks);
    free(builder->name.made);
    free(builder->thread.made);
    free(builder->row_groups);
    free(builder->validity);
    free(builder->chunks);
    free(builder->parts);
    free(builder->keys);
    free(builder->flags);
    sta_account_release(builder->account, builder->flag_capacity);
    sta_buffer_fini(&builder->out);
    sta_buffer_fini(&builder->codes);
    sta_buffer_fini(&builder->used);
    free(builder);
}

/* ---- memory */

static int reserve_rows(struct sta_segment_builder *builder, uint32_t rows, struct sta_error *err)
{
    if (rows <= builder->row_capacity)
        return STA_OK;
    free_rows(builder);
    builder->ts = sta_try_alloc_array(rows, sizeof *builder->ts);
    builder->values = sta_try_alloc_array(rows, sizeof *builder->values);
    builder->kinds = sta_try_alloc_array(rows, sizeof *builder->kinds);
    builder->name.index = sta_try_alloc_array(rows, sizeof *builder->name.index);
    builder->thread.index = sta_try_alloc_array(rows, sizeof *builder->thread.index);
    if (!builder->ts || !builder->values || !builder->kinds || !builder->name.index ||
        !builder->thread.index) {
        free_rows(builder);
        return sta_fail(err, STA_ENOMEM, "no memory to encode %u events", rows);
    }
    builder->row_capacity = rows;
    return STA_OK;
}

static void reserve_row_groups(struct sta_segment_builder *builder)
{
    builder->row_group_count = (builder->rows + STA_ROW_GROUP_ROWS - 1) / STA_ROW_GROUP_ROWS;
    if (builder->row_group_count <= builder->row_group_capacity)
        return;
    builder->row_group_capacity = builder->row_group_count;
    builder->row_groups =
        sta_realloc_array(builder->row_groups, builder->row_group_capacity, sizeof *builder->row_groups);
    builder->validity =
        sta_realloc_array(builder->validity, builder->row_group_capacity, sizeof *builder->validity);
    builder->name.made =
        sta_realloc_array(builder->name.made, builder->row_group_capacity, sizeof *builder->name.made);
    builder->thread.made =
        sta_realloc_array(builder->thread.made, builder->row_group_capacity, sizeof *builder->thread.made);
}

static struct sta_column_plans *plans_of(struct sta_segment_builder *builder, uint32_t column)
{
    size_t before = builder->plan_capacity;
    STA_GROW(builder->plans, builder->plan_capacity, column + 1);
    memset(builder->plans + before, 0, (builder->plan_capacity - before) * sizeof *builder->plans);
    return &builder->plans[column];
}

/* ---- columns */

static struct sta_keys keys_of_row_group(const struct sta_key_column *column, uint32_t row_group)
{
    const struct sta_made_keys *made = &column->made[row_group];
    if (made->count == 0)
        return (struct sta_keys){0};
    return (struct sta_keys){column->index + (size_t)row_group * STA_ROW_GROUP_ROWS, made->count, made->rows};
}

static uint32_t rows_of_row_group(const struct sta_segment_builder *builder, uint32_t row_group)
{
    return STA_MIN(builder->rows - row_group * STA_ROW_GROUP_ROWS, (uint32_t)STA_ROW_GROUP_ROWS);
}

/* Encodes one row group of a column.  @kinds: NULL, or of every row; @made: NULL, or where its keys go. */
static void encode_row_group(struct sta_segment_builder *builder, uint32_t column, uint32_t row_group,
                             const int64_t *values, const uint8_t *kinds, struct sta_key_column *made)
{
    size_t at = (size_t)row_group * STA_ROW_GROUP_ROWS;
    struct sta_column_rows rows = {values + at, kinds ? kinds + at : NULL,
                                   rows_of_row_group(builder, row_group)};
    struct sta_both_keys keys = {0};
    if (made == NULL)
        keys = (struct sta_both_keys){keys_of_row_group(&builder->name, row_group),
                                      keys_of_row_group(&builder->thread, row_group)};
    struct sta_made_column_chunk added = {.row_group = row_group};
    size_t payload_at = builder->out.size, first_code = builder->codes.size / sizeof(uint32_t);
    if (!sta_encode_column(builder->encoder, plans_of(builder, column), &rows, &keys,
                           made ? made->index + at : NULL, made ? &made->made[row_group] : NULL,
                           &added.column_chunk, &builder->codes, &builder->out))
        return;
    added.column_chunk.column = column;
    added.column_chunk.payload_at = payload_at;
    added.column_chunk.first_code = (uint32_t)first_code;
    STA_GROW(builder->column_chunks, builder->column_chunk_capacity, builder->column_chunk_count + 1);
    builder->column_chunks[builder->column_chunk_count++] = added;
}

static void encode_column(struct sta_segment_builder *builder, uint32_t column, const int64_t *values,
                          const uint8_t *kinds, struct sta_key_column *made)
{
    for (uint32_t b = 0; b < builder->row_group_count; b++)
        encode_row_group(builder, column, b, values, kinds, made);
}

static struct sta_disk_row_group row_group_of(const int64_t *ts, const int64_t *dur, uint32_t rows)
{
    struct sta_disk_row_group row_group = {
        .rows = rows, .ts_min = ts[0], .ts_max = ts[rows - 1], .te_max = INT64_MIN};
    for (uint32_t i = 0; i < rows; i++)
        row_group.te_max = STA_MAX(row_group.te_max, ts[i] + dur[i]);
    return row_group;
}

/* The values of a column, and kinds of each. */
static int put(struct sta_segment_builder *builder, const struct sta_builder_rows *rows, uint32_t column,
               struct sta_error *err)
{
    const struct sta_builder_column to = {.values = column == STA_COLUMN_TS ? builder->ts : builder->values,
                                          .kinds = builder->kinds,
                                          .row_groups = builder->validity};
    return rows->put(rows->context, column, &to, err);
}

static int encode_times(struct sta_segment_builder *builder, const struct sta_builder_rows *rows,
                        struct sta_error *err)
{
    int status = put(builder, rows, STA_COLUMN_TS, err);
    if (status == STA_OK)
        status = put(builder, rows, STA_COLUMN_DUR, err);
    if (status != STA_OK)
        return status;
    for (uint32_t b = 0; b < builder->row_group_count; b++) {
        size_t at = (size_t)b * STA_ROW_GROUP_ROWS;
        builder->row_groups[b] =
            row_group_of(builder->ts + at, builder->values + at, rows_of_row_group(builder, b));
    }
    encode_column(builder, STA_COLUMN_DUR, builder->values, NULL, NULL);
    encode_column(builder, STA_COLUMN_TS, builder->ts, NULL, NULL);
    return STA_OK;
}

/* Flags the codes of a column chunk: those that are listed, else of each row. */
static void flag_used(struct sta_segment_builder *builder, const struct sta_made_column_chunk *made)
{
    if (made->column_chunk.flags & STA_COLUMN_CHUNK_LISTED) {
        const uint32_t *codes = (const uint32_t *)builder->codes.data + made->column_chunk.first_code;
        for (uint32_t i = 0; i < made->column_chunk.code_count; i++)
            builder->flags[codes[i]] = 1;
        return;
    }
    const uint32_t first = made->row_group * STA_ROW_GROUP_ROWS;
    const uint32_t end = first + rows_of_row_group(builder, made->row_group);
    for (uint32_t i = first; i < end; i++)
        if (builder->kinds[i] != 0)
            builder->flags[builder->values[i]] = 1;
}

/* The codes that events use: a count, and the gaps between them.  @first: the first column chunk of the
 * column. */
static void put_used(struct sta_segment_builder *builder, size_t first, struct sta_buffer *used)
{
    int64_t past = 0, before = 0;
    uint32_t used_count = 0;
    for (size_t i = first; i < builder->column_chunk_count; i++)
        past = STA_MAX(past, builder->column_chunks[i].column_chunk.max + 1);
    const size_t before_growth = builder->flag_capacity;
    STA_GROW(builder->flags, builder->flag_capacity, (size_t)past + 1);
    sta_account_overdraw(builder->account, builder->flag_capacity - before_growth);
    uint8_t *flags = builder->flags;
    memset(flags, 0, (size_t)past + 1);
    for (size_t i = first; i < builder->column_chunk_count && !builder->codes.failed; i++)
        flag_used(builder, &builder->column_chunks[i]);
    for (int64_t code = 0; code < past; code++)
        used_count += flags[code];
    sta_put_varint(used, used_count);
    for (int64_t code = 0; code < past; code++) {
        if (!flags[code])
            continue;
        sta_put_varint(used, (uint64_t)(code - before));
        before = code;
    }
}

static int encode_codes(struct sta_segment_builder *builder, const struct sta_builder_rows *rows,
                        uint32_t column, struct sta_key_column *made, struct sta_buffer *used,
                        struct sta_error *err)
{
    int status = put(builder, rows, column, err);
    if (status != STA_OK)
        return status;
    const size_t first = builder->column_chunk_count;
    encode_column(builder, column, builder->values, builder->kinds, made);
    if (used != NULL)
        put_used(builder, first, used);
    return STA_OK;
}

/* Only row groups in which a key occurs are looked at, so that thousands of rare keys stay cheap. */
static int encode_args(struct sta_segment_builder *builder, const struct sta_builder_rows *rows,
                       struct sta_error *err)
{
    memset(builder->kinds, 0, builder->rows);
    for (size_t i = 0; i < rows->key_count; i++) {
        uint32_t column = STA_COLUMN_ARGS + rows->keys[i];
        memset(builder->validity, 0, builder->row_group_count * sizeof *builder->validity);
        int status = put(builder, rows, column, err);
        if (status != STA_OK)
            return status;
        for (uint32_t b = 0; b < builder->row_group_count; b++) {
            if (!builder->validity[b])
                continue;
            encode_row_group(builder, column, b, builder->values, builder->kinds, NULL);
            memset(builder->kinds + (size_t)b * STA_ROW_GROUP_ROWS, 0, rows_of_row_group(builder, b));
        }
    }
    return STA_OK;
}

/* ---- all of it */

static void begin(struct sta_segment_builder *builder, const struct sta_builder_rows *rows)
{
    builder->rows = rows->count;
    builder->ticks_per_us = rows->ticks_per_us;
    builder->column_chunk_count = 0;
    sta_buffer_clear(&builder->out);
    sta_buffer_clear(&builder->codes);
    sta_buffer_clear(&builder->used);
    sta_put(&builder->out, &(struct sta_disk_header){0}, sizeof(struct sta_disk_header));
}

/* Names and threads first, since others build on them.  The used files lie before the used threads. */
static int encode_columns(struct sta_segment_builder *builder, const struct sta_builder_rows *rows,
                          struct sta_buffer *used_threads, struct sta_error *err)
{
    int status = encode_codes(builder, rows, STA_COLUMN_NAME, &builder->name, NULL, err);
    if (status == STA_OK)
        status = encode_codes(builder, rows, STA_COLUMN_THREAD, &builder->thread, used_threads, err);
    if (status == STA_OK)
        status = encode_codes(builder, rows, STA_COLUMN_CAT, NULL, NULL, err);
    if (status == STA_OK)
        status = encode_codes(builder, rows, STA_COLUMN_FILE, NULL, &builder->used, err);
    if (status == STA_OK)
        status = encode_times(builder, rows, err);
    if (status == STA_OK)
        status = encode_codes(builder, rows, STA_COLUMN_CHUNK, NULL, NULL, err);
    return status == STA_OK ? encode_args(builder, rows, err) : status;
}

int sta_builder_encode(struct sta_segment_builder *builder, const struct sta_builder_rows *rows,
                       const struct sta_buffer **segment, struct sta_error *err)
{
    struct sta_buffer used_threads = {0};
    STA_ASSERT(rows->count > 0);
    int status = reserve_rows(builder, rows->count, err);
    if (status != STA_OK)
        return status;
    begin(builder, rows);
    reserve_row_groups(builder);
    status = encode_columns(builder, rows, &used_threads, err);
    sta_put(&builder->used, used_threads.data, used_threads.size);
    if (status == STA_OK && (used_threads.failed || !sta_builder_put_directory(builder, rows)))
        status = sta_fail(err, STA_ENOMEM, "no memory to encode %u events", rows->count);
    sta_buffer_fini(&used_threads);
    *segment = &builder->out;
    return status;
}
