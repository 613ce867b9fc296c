/* arrow.c - see arrow.h.  The format is that of the Arrow columnar specification, version 5 of its metadata
 * (https://arrow.apache.org/docs/format/Columnar.html; Message.fbs and Schema.fbs say the numbers of fields).
 *
 * DESIGN.  A message is a FlatBuffer and, for batches, a body of one buffer after another, each filled up to
 * 8 bytes.  Rows are gathered until a batch is full, so that batches do not depend on how rows come.
 *
 * Texts are dictionary encoded.  A stream numbers them as they first appear, so that equal queries give
 * equal bytes, and sends the whole dictionary again before a batch with new ones: a replacement, which all
 * readers take, where some refuse a delta.  Past STA_ARROW_ROWS texts the dictionary begins anew, so that no
 * batch sends more than twice as many texts as it has rows.  Values of dictionaries are large UTF-8, whose
 * offsets are 64 bits wide, so that none is too large. */
#include "serve/formats/arrow_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/dictionary.h"
#include "common/memory.h"

enum { CACHED_CODES = 512 };

/* ---- rows that are gathered */

struct gathered {
    enum sta_arrow_type type;
    void *values;     /* of a text: its int32_t index */
    uint8_t *missing; /* a byte per row */
    size_t nulls;
    struct sta_dictionary *texts; /* those that indexes mean */
    size_t sent;                  /* of them, with the last dictionary batch */
    bool announced;               /* there was one */
    struct {
        const struct sta_dictionary *texts;
        uint32_t code;
        int32_t index;
    } cache[CACHED_CODES]; /* by code */
};

struct sta_arrow {
    struct gathered *columns;
    size_t column_count, rows;
    struct sta_account *account;
    size_t counted;
};

static size_t width_of(enum sta_arrow_type type)
{
    return type == STA_ARROW_LARGE_UTF8 ? 4 : type == STA_ARROW_BOOL ? 1 : 8;
}

struct sta_arrow *sta_arrow_create(const struct sta_table *table, struct sta_account *account)
{
    struct sta_arrow *arrow = sta_alloc(sizeof *arrow);
    arrow->column_count = table->column_count;
    arrow->columns = sta_alloc_array(table->column_count + 1, sizeof *arrow->columns);
    arrow->account = account;
    for (size_t c = 0; c < table->column_count; c++) {
        struct gathered *column = &arrow->columns[c];
        column->type = sta_arrow_type_of(&table->columns[c]);
        column->values = sta_alloc_array(STA_ARROW_ROWS, width_of(column->type));
        column->missing = sta_alloc_array(STA_ARROW_ROWS, 1);
        column->texts = column->type == STA_ARROW_LARGE_UTF8 ? sta_dictionary_create() : NULL;
        arrow->counted += sizeof *column + STA_ARROW_ROWS * (width_of(column->type) + 1);
    }
    sta_account_overdraw(account, arrow->counted);
    return arrow;
}

void sta_arrow_destroy(struct sta_arrow *arrow)
{
    if (arrow == NULL)
        return;
    for (size_t c = 0; c < arrow->column_count; c++) {
        free(arrow->columns[c].values);
        free(arrow->columns[c].missing);
        sta_dictionary_destroy(arrow->columns[c].texts);
    }
    sta_account_release(arrow->account, arrow->counted);
    free(arrow->columns);
    free(arrow);
}

size_t sta_arrow_capacity_left(const struct sta_arrow *arrow)
{
    return STA_ARROW_ROWS - arrow->rows;
}

static int32_t index_of_code(struct gathered *column, const struct sta_dictionary *texts, uint32_t code)
{
    const size_t slot = code % CACHED_CODES;
    if (column->cache[slot].texts == texts && column->cache[slot].code == code)
        return column->cache[slot].index;
    const struct sta_text text = sta_dictionary_text(texts, code);
    const int32_t index = (int32_t)sta_dictionary_intern(column->texts, text.bytes, text.length);
    column->cache[slot].texts = texts;
    column->cache[slot].code = code;
    column->cache[slot].index = index;
    return index;
}

static void take_codes(struct gathered *column, size_t at, const struct sta_vector *vector, size_t first,
                       size_t count)
{
    int32_t *indexes = (int32_t *)column->values + at;
    uint8_t *missing = column->missing + at;
    memset(column->cache, 0, sizeof column->cache); /* another dictionary may lie where one has been */
    for (size_t row = 0; row < count; row++) {
        const uint32_t code = vector->codes[vector->constant ? 0 : first + row];
        missing[row] = code == STA_NO_CODE;
        column->nulls += missing[row];
        indexes[row] = missing[row] ? 0 : index_of_code(column, vector->texts, code);
    }
}

static void take_missing(struct gathered *column, size_t at, const uint8_t *marks, bool constant,
                         size_t count)
{
    uint8_t *missing = column->missing + at;
    if (marks == NULL || (constant && !marks[0])) {
        memset(missing, 0, count);
        return;
    }
    for (size_t row = 0; row < count; row++) {
        missing[row] = marks[constant ? 0 : row] != 0;
        column->nulls += missing[row];
    }
}

/* The first of the values for all rows if @constant.  What lies behind missing ones is zero, so that equal
 * responses have equal bytes. */
static void take_values(struct gathered *column, size_t at, const void *values, bool constant, size_t first,
                        size_t count)
{
    const size_t width = width_of(column->type);
    char *to = (char *)column->values + at * width;
    if (!constant)
        memcpy(to, (const char *)values + first * width, count * width);
    for (size_t row = 0; constant && row < count; row++)
        memcpy(to + row * width, values, width);
    for (size_t row = 0; column->nulls > 0 && row < count; row++)
        if (column->missing[at + row])
            memset(to + row * width, 0, width);
}

static void take_vector(struct gathered *column, size_t at, const struct sta_vector *vector, size_t first,
                        size_t count)
{
    if (column->type == STA_ARROW_NULL)
        return;
    if (column->type == STA_ARROW_LARGE_UTF8) {
        take_codes(column, at, vector, first, count);
        return;
    }
    const uint8_t *marks =
        vector->missing != NULL && !vector->constant ? vector->missing + first : vector->missing;
    take_missing(column, at, marks, vector->constant, count);
    take_values(column, at,
                column->type == STA_ARROW_INT     ? (const void *)vector->integers
                : column->type == STA_ARROW_FLOAT ? (const void *)vector->numbers
                                                  : vector->bools,
                vector->constant, first, count);
}

void sta_arrow_take(struct sta_arrow *arrow, const struct sta_vector *vectors, size_t first, size_t count)
{
    STA_ASSERT(count <= sta_arrow_capacity_left(arrow));
    for (size_t c = 0; c < arrow->column_count; c++)
        take_vector(&arrow->columns[c], arrow->rows, &vectors[c], first, count);
    arrow->rows += count;
}

static void take_column(struct gathered *column, size_t at, const struct sta_table_column *from, size_t first,
                        size_t count)
{
    if (column->type == STA_ARROW_NULL)
        return;
    take_missing(column, at, from->missing + first, false, count);
    if (column->type == STA_ARROW_INT || column->type == STA_ARROW_FLOAT)
        take_values(column, at, column->type == STA_ARROW_INT ? (const void *)from->integers : from->numbers,
                    false, first, count);
    for (size_t row = 0; column->type == STA_ARROW_BOOL && row < count; row++)
        ((uint8_t *)column->values)[at + row] =
            !from->missing[first + row] && from->integers[first + row] != 0;
    if (column->type != STA_ARROW_LARGE_UTF8)
        return;
    for (size_t row = 0; row < count; row++) {
        int32_t *index = (int32_t *)column->values + at + row;
        const bool missing = from->missing[first + row] != 0;
        const struct sta_text *text = &from->texts[first + row];
        *index = missing ? 0 : (int32_t)sta_dictionary_intern(column->texts, text->bytes, text->length);
    }
}

void sta_arrow_take_table(struct sta_arrow *arrow, const struct sta_table *table, size_t first, size_t count)
{
    STA_ASSERT(count <= sta_arrow_capacity_left(arrow));
    for (size_t c = 0; c < arrow->column_count; c++)
        take_column(&arrow->columns[c], arrow->rows, &table->columns[c], first, count);
    arrow->rows += count;
}

/* ---- bodies of batches */

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

struct batch {
    struct sta_flat flat;
    size_t nodes, buffers; /* positions of the next elements */
    size_t body;           /* bytes so far */
};

static void describe_node(struct batch *batch, size_t rows, size_t nulls)
{
    sta_flat_set(&batch->flat, batch->nodes, rows, 8);
    sta_flat_set(&batch->flat, batch->nodes + 8, nulls, 8);
    batch->nodes += 16;
}

static void describe_buffer(struct batch *batch, size_t size)
{
    sta_flat_set(&batch->flat, batch->buffers, batch->body, 8);
    sta_flat_set(&batch->flat, batch->buffers + 8, size, 8);
    batch->buffers += 16;
    batch->body += padded(size);
}

/* The table RecordBatch: its length, and vectors of nodes and buffers, which are set later.  Return: where it
 * is. */
static size_t put_record(struct batch *batch, size_t rows, size_t nodes, size_t buffers)
{
    const struct sta_flat_table record = sta_flat_put_table(&batch->flat, (const uint8_t[]){8, 4, 4}, 3);
    sta_flat_set(&batch->flat, record.fields[0], rows, 8);
    batch->nodes = sta_flat_put_vector(&batch->flat, nodes, 16);
    sta_flat_point(&batch->flat, record.fields[1], batch->nodes);
    batch->buffers = sta_flat_put_vector(&batch->flat, buffers, 16);
    sta_flat_point(&batch->flat, record.fields[2], batch->buffers);
    batch->nodes += 4;
    batch->buffers += 4;
    return record.at;
}

/* Appends @size bytes, filled up to 8, all zero.  Return: where they begin; NULL after a failure. */
static char *put_zeros(struct sta_buffer *out, size_t size)
{
    char *buffer = sta_buffer_reserve(out, padded(size));
    if (buffer == NULL)
        return NULL;
    memset(buffer, 0, padded(size));
    out->size += padded(size);
    return buffer;
}

static void put_padded(struct sta_buffer *out, const void *bytes, size_t size)
{
    static const char zeros[8];
    sta_put(out, bytes, size);
    sta_put(out, zeros, padded(size) - size);
}

/* A bit per row, set where the byte is @set. */
static void put_bits(struct sta_buffer *out, size_t rows, const uint8_t *bytes, uint8_t set)
{
    char *bits = put_zeros(out, (rows + 7) / 8);
    for (size_t row = 0; bits != NULL && row < rows; row++)
        bits[row / 8] = (char)((unsigned char)bits[row / 8] | (unsigned)(bytes[row] == set) << row % 8);
}

/* ---- dictionary batches */

static size_t text_bytes(const struct sta_dictionary *texts, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t code = 0; code < count; code++)
        bytes += sta_dictionary_text(texts, code).length;
    return bytes;
}

static void put_texts(struct sta_buffer *out, const struct sta_dictionary *texts, uint32_t count)
{
    char *offsets = put_zeros(out, 8 * ((size_t)count + 1));
    int64_t end = 0;
    for (uint32_t code = 0; offsets != NULL && code < count; code++) {
        end += sta_dictionary_text(texts, code).length;
        memcpy(offsets + 8 * ((size_t)code + 1), &end, sizeof end);
    }
    char *bytes = put_zeros(out, (size_t)end);
    for (uint32_t code = 0; bytes != NULL && code < count; code++) {
        const struct sta_text text = sta_dictionary_text(texts, code);
        memcpy(bytes, text.bytes, text.length);
        bytes += text.length;
    }
}

/* Fields: id, data, whether it is a delta. */
static void put_dictionary(struct sta_buffer *out, struct gathered *column, size_t id)
{
    struct batch batch = {0};
    const uint32_t count = sta_dictionary_count(column->texts);
    if (column->announced && column->sent == count)
        return;
    const struct sta_flat_table message =
        sta_arrow_begin_message(&batch.flat, out, STA_ARROW_DICTIONARY_BATCH);
    const struct sta_flat_table dictionary = sta_flat_put_table(&batch.flat, (const uint8_t[]){8, 4, 1}, 3);
    sta_flat_point(&batch.flat, message.fields[2], dictionary.at);
    sta_flat_set(&batch.flat, dictionary.fields[0], id, 8);
    sta_flat_point(&batch.flat, dictionary.fields[1], put_record(&batch, count, 1, 3));
    describe_node(&batch, count, 0);
    describe_buffer(&batch, 0); /* none is missing */
    describe_buffer(&batch, 8 * ((size_t)count + 1));
    describe_buffer(&batch, text_bytes(column->texts, count));
    sta_flat_set(&batch.flat, message.fields[3], batch.body, 8);
    sta_arrow_end_message(&batch.flat);
    put_texts(out, column->texts, count);
    column->announced = true;
    column->sent = count;
}

/* Begins anew what has grown; the indexes that were sent need no more. */
static void renew_dictionary(struct gathered *column)
{
    if (column->texts == NULL || sta_dictionary_count(column->texts) <= STA_ARROW_ROWS)
        return;
    sta_dictionary_destroy(column->texts);
    column->texts = sta_dictionary_create();
    column->sent = 0;
}

/* ---- record batches */

static size_t value_bytes(const struct gathered *column, size_t rows)
{
    return column->type == STA_ARROW_BOOL ? (rows + 7) / 8 : rows * width_of(column->type);
}

static void describe_column(struct batch *batch, const struct gathered *column, size_t rows)
{
    describe_node(batch, rows, column->type == STA_ARROW_NULL ? rows : column->nulls);
    if (column->type == STA_ARROW_NULL)
        return;
    describe_buffer(batch, column->nulls > 0 ? (rows + 7) / 8 : 0);
    describe_buffer(batch, value_bytes(column, rows));
}

static void put_column(struct sta_buffer *out, const struct gathered *column, size_t rows)
{
    if (column->type == STA_ARROW_NULL)
        return;
    if (column->nulls > 0)
        put_bits(out, rows, column->missing, 0);
    if (column->type == STA_ARROW_BOOL)
        put_bits(out, rows, column->values, 1);
    else
        put_padded(out, column->values, value_bytes(column, rows));
}

void sta_arrow_put(struct sta_arrow *arrow, struct sta_buffer *out)
{
    struct batch batch = {0};
    size_t buffers = 0;
    for (size_t c = 0; c < arrow->column_count; c++) {
        buffers += arrow->columns[c].type != STA_ARROW_NULL ? 2 : 0;
        if (arrow->columns[c].texts != NULL)
            put_dictionary(out, &arrow->columns[c], c);
    }
    const struct sta_flat_table message = sta_arrow_begin_message(&batch.flat, out, STA_ARROW_RECORD_BATCH);
    sta_flat_point(&batch.flat, message.fields[2],
                   put_record(&batch, arrow->rows, arrow->column_count, buffers));
    for (size_t c = 0; c < arrow->column_count; c++)
        describe_column(&batch, &arrow->columns[c], arrow->rows);
    sta_flat_set(&batch.flat, message.fields[3], batch.body, 8);
    sta_arrow_end_message(&batch.flat);
    for (size_t c = 0; c < arrow->column_count; c++) {
        put_column(out, &arrow->columns[c], arrow->rows);
        arrow->columns[c].nulls = 0;
        renew_dictionary(&arrow->columns[c]);
    }
    arrow->rows = 0;
}

void sta_put_arrow_end(struct sta_buffer *out)
{
    sta_put_u32(out, UINT32_MAX);
    sta_put_u32(out, 0);
}
