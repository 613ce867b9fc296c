/* arrow.c - see arrow.h.  The format is that of the Arrow columnar specification, version 5 of its metadata
 * (https://arrow.apache.org/docs/format/Columnar.html; Message.fbs and Schema.fbs say the numbers of fields).
 *
 * DESIGN: a message is a FlatBuffer and, for a record batch, a body of one buffer after another, each filled
 * up to 8 bytes.  Texts are large UTF-8, whose offsets are 64 bits wide, so that no page of a table can be
 * too large for its batch. */
#include "serve/arrow.h"

#include <string.h>

#include "serve/flat_buffer.h"

enum { METADATA_V5 = 4, HEADER_SCHEMA = 1, HEADER_RECORD_BATCH = 3, PRECISION_DOUBLE = 2 };
enum arrow_type { ARROW_NULL = 1, ARROW_INT = 2, ARROW_FLOAT = 3, ARROW_BOOL = 6, ARROW_LARGE_UTF8 = 20 };

static enum arrow_type type_of(const struct sta_table_column *column)
{
    switch (column->type) {
    case STA_TYPE_BOOL:
        return ARROW_BOOL;
    case STA_TYPE_INT:
        return ARROW_INT;
    case STA_TYPE_FLOAT:
        return ARROW_FLOAT;
    case STA_TYPE_TEXT:
    case STA_TYPE_LIST:
        return ARROW_LARGE_UTF8;
    case STA_TYPE_NULL:
        break;
    }
    return ARROW_NULL;
}

/* ---- messages */

/* The head of a message: the mark of a new one and the size of its FlatBuffer, set when that is known. */
static struct sta_flat_table begin_message(struct sta_flat *flat, struct sta_buffer *out, unsigned header)
{
    sta_put_u32(out, UINT32_MAX);
    sta_put_u32(out, 0);
    sta_flat_begin(flat, out);
    const struct sta_flat_table message = sta_flat_put_table(flat, (const uint8_t[]){2, 1, 4, 8}, 4);
    sta_flat_point(flat, 0, message.at);
    sta_flat_set(flat, message.fields[0], METADATA_V5, 2);
    sta_flat_set(flat, message.fields[1], header, 1);
    return message;
}

static void end_message(struct sta_flat *flat)
{
    const size_t size = sta_flat_end(flat);
    struct sta_flat head = {flat->out, flat->start - 4};
    sta_flat_set(&head, 0, size, 4);
}

/* ---- the schema */

static size_t put_type(struct sta_flat *flat, enum arrow_type type)
{
    struct sta_flat_table table;
    if (type == ARROW_INT) {
        table = sta_flat_put_table(flat, (const uint8_t[]){4, 1}, 2);
        sta_flat_set(flat, table.fields[0], 64, 4);
        sta_flat_set(flat, table.fields[1], 1, 1);
    } else if (type == ARROW_FLOAT) {
        table = sta_flat_put_table(flat, (const uint8_t[]){2}, 1);
        sta_flat_set(flat, table.fields[0], PRECISION_DOUBLE, 2);
    } else {
        table = sta_flat_put_table(flat, NULL, 0);
    }
    return table.at;
}

/* A vector of one pair of key and value. */
static size_t put_unit(struct sta_flat *flat, const char *unit)
{
    const size_t vector = sta_flat_put_vector(flat, 1, 4);
    const struct sta_flat_table pair = sta_flat_put_table(flat, (const uint8_t[]){4, 4}, 2);
    sta_flat_point(flat, vector + 4, pair.at);
    sta_flat_point(flat, pair.fields[0], sta_flat_put_string(flat, "unit"));
    sta_flat_point(flat, pair.fields[1], sta_flat_put_string(flat, unit));
    return vector;
}

/* Fields: name, nullable, number of the type, type, dictionary, children, metadata. */
static size_t put_field(struct sta_flat *flat, const struct sta_table_column *column)
{
    const enum arrow_type type = type_of(column);
    const uint8_t unit = column->unit != NULL ? 4 : 0;
    const struct sta_flat_table field =
        sta_flat_put_table(flat, (const uint8_t[]){4, 1, 1, 4, 0, 4, unit}, 7);
    sta_flat_set(flat, field.fields[1], 1, 1);
    sta_flat_set(flat, field.fields[2], type, 1);
    sta_flat_point(flat, field.fields[0], sta_flat_put_string(flat, column->name));
    sta_flat_point(flat, field.fields[3], put_type(flat, type));
    sta_flat_point(flat, field.fields[5], sta_flat_put_vector(flat, 0, 4));
    if (column->unit != NULL)
        sta_flat_point(flat, field.fields[6], put_unit(flat, column->unit));
    return field.at;
}

void sta_put_arrow_schema(struct sta_buffer *out, const struct sta_table *table)
{
    struct sta_flat flat;
    const struct sta_flat_table message = begin_message(&flat, out, HEADER_SCHEMA);
    const struct sta_flat_table schema = sta_flat_put_table(&flat, (const uint8_t[]){2, 4}, 2);
    sta_flat_point(&flat, message.fields[2], schema.at);
    const size_t fields = sta_flat_put_vector(&flat, table->column_count, 4);
    sta_flat_point(&flat, schema.fields[1], fields);
    for (size_t c = 0; c < table->column_count; c++)
        sta_flat_point(&flat, fields + 4 + 4 * c, put_field(&flat, &table->columns[c]));
    end_message(&flat);
}

/* ---- record batches */

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

static size_t buffer_count(enum arrow_type type)
{
    return type == ARROW_NULL ? 0 : type == ARROW_LARGE_UTF8 ? 3 : 2;
}

static size_t text_bytes(const struct sta_table_column *column, size_t rows)
{
    size_t bytes = 0;
    for (size_t row = 0; row < rows; row++)
        bytes += column->missing[row] ? 0 : column->texts[row].length;
    return bytes;
}

/* Bytes of the buffers of a column behind its validity bitmap. */
static void size_values(const struct sta_table_column *column, size_t rows, size_t sizes[2])
{
    const enum arrow_type type = type_of(column);
    sizes[0] = type == ARROW_BOOL ? (rows + 7) / 8 : type == ARROW_LARGE_UTF8 ? 8 * (rows + 1) : 8 * rows;
    sizes[1] = type == ARROW_LARGE_UTF8 ? text_bytes(column, rows) : 0;
}

struct batch {
    struct sta_flat flat;
    size_t nodes, buffers; /* positions of the next elements */
    size_t body;           /* bytes so far */
};

static void describe_buffer(struct batch *batch, size_t size)
{
    sta_flat_set(&batch->flat, batch->buffers, batch->body, 8);
    sta_flat_set(&batch->flat, batch->buffers + 8, size, 8);
    batch->buffers += 16;
    batch->body += padded(size);
}

static void describe_column(struct batch *batch, const struct sta_table_column *column, size_t rows)
{
    const enum arrow_type type = type_of(column);
    size_t sizes[2], missing = 0;
    for (size_t row = 0; row < rows; row++)
        missing += column->missing[row] != 0;
    sta_flat_set(&batch->flat, batch->nodes, rows, 8);
    sta_flat_set(&batch->flat, batch->nodes + 8, type == ARROW_NULL ? rows : missing, 8);
    batch->nodes += 16;
    if (type == ARROW_NULL)
        return;
    size_values(column, rows, sizes);
    describe_buffer(batch, (rows + 7) / 8);
    for (size_t b = 0; b + 1 < buffer_count(type); b++)
        describe_buffer(batch, sizes[b]);
}

/* Appends @size bytes, filled up to 8, all zero.  Return: where they begin; NULL after a failure. */
static char *put_zeros(struct sta_buffer *out, size_t size)
{
    char *room = sta_buffer_reserve(out, padded(size));
    if (room == NULL)
        return NULL;
    memset(room, 0, padded(size));
    out->size += padded(size);
    return room;
}

static void put_bits(struct sta_buffer *out, size_t rows, const uint8_t *missing, const int64_t *values)
{
    char *bits = put_zeros(out, (rows + 7) / 8);
    for (size_t row = 0; bits != NULL && row < rows; row++) {
        const bool set = !missing[row] && (values == NULL || values[row] != 0);
        bits[row / 8] = (char)((unsigned char)bits[row / 8] | (unsigned)set << row % 8);
    }
}

static void put_texts(struct sta_buffer *out, const struct sta_table_column *column, size_t rows)
{
    char *offsets = put_zeros(out, 8 * (rows + 1));
    int64_t end = 0;
    for (size_t row = 0; offsets != NULL && row < rows; row++) {
        end += column->missing[row] ? 0 : column->texts[row].length;
        memcpy(offsets + 8 * (row + 1), &end, sizeof end);
    }
    char *bytes = put_zeros(out, (size_t)end);
    for (size_t row = 0; bytes != NULL && row < rows; row++)
        if (!column->missing[row] && column->texts[row].length > 0) {
            memcpy(bytes, column->texts[row].bytes, column->texts[row].length);
            bytes += column->texts[row].length;
        }
}

static void put_column(struct sta_buffer *out, const struct sta_table_column *column, size_t rows)
{
    const enum arrow_type type = type_of(column);
    if (type == ARROW_NULL)
        return;
    put_bits(out, rows, column->missing, NULL);
    if (type == ARROW_BOOL)
        put_bits(out, rows, column->missing, column->integers);
    else if (type == ARROW_LARGE_UTF8)
        put_texts(out, column, rows);
    else
        sta_put(out, type == ARROW_INT ? (const void *)column->integers : column->numbers, 8 * rows);
}

void sta_put_arrow_batch(struct sta_buffer *out, const struct sta_table *table)
{
    struct batch batch = {0};
    size_t buffers = 0;
    for (size_t c = 0; c < table->column_count; c++)
        buffers += buffer_count(type_of(&table->columns[c]));
    const struct sta_flat_table message = begin_message(&batch.flat, out, HEADER_RECORD_BATCH);
    const struct sta_flat_table record = sta_flat_put_table(&batch.flat, (const uint8_t[]){8, 4, 4}, 3);
    sta_flat_point(&batch.flat, message.fields[2], record.at);
    sta_flat_set(&batch.flat, record.fields[0], table->rows, 8);
    const size_t node_vector = sta_flat_put_vector(&batch.flat, table->column_count, 16);
    sta_flat_point(&batch.flat, record.fields[1], node_vector);
    const size_t buffer_vector = sta_flat_put_vector(&batch.flat, buffers, 16);
    sta_flat_point(&batch.flat, record.fields[2], buffer_vector);
    batch.nodes = node_vector + 4;
    batch.buffers = buffer_vector + 4;
    for (size_t c = 0; c < table->column_count; c++)
        describe_column(&batch, &table->columns[c], table->rows);
    sta_flat_set(&batch.flat, message.fields[3], batch.body, 8);
    end_message(&batch.flat);
    for (size_t c = 0; c < table->column_count; c++)
        put_column(out, &table->columns[c], table->rows);
}

void sta_put_arrow_end(struct sta_buffer *out)
{
    sta_put_u32(out, UINT32_MAX);
    sta_put_u32(out, 0);
}
