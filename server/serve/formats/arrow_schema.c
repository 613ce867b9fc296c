/* arrow_schema.c - the first message of a stream: names, types and units of its columns. */
#include "serve/formats/arrow_private.h"

enum { METADATA_V5 = 4, PRECISION_DOUBLE = 2 };

enum sta_arrow_type sta_arrow_type_of(const struct sta_table_column *column)
{
    switch (column->type) {
    case STA_TYPE_BOOL:
        return STA_ARROW_BOOL;
    case STA_TYPE_INT:
        return STA_ARROW_INT;
    case STA_TYPE_FLOAT:
        return STA_ARROW_FLOAT;
    case STA_TYPE_TEXT:
    case STA_TYPE_LIST:
        return STA_ARROW_LARGE_UTF8;
    case STA_TYPE_NULL:
        break;
    }
    return STA_ARROW_NULL;
}

struct sta_flat_table sta_arrow_begin_message(struct sta_flat *flat, struct sta_buffer *out, unsigned header)
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

void sta_arrow_end_message(struct sta_flat *flat)
{
    const size_t size = sta_flat_end(flat);
    struct sta_flat head = {flat->out, flat->start - 4};
    sta_flat_set(&head, 0, size, 4);
}

/* ---- the schema */

static size_t put_int(struct sta_flat *flat, unsigned bits)
{
    const struct sta_flat_table table = sta_flat_put_table(flat, (const uint8_t[]){4, 1}, 2);
    sta_flat_set(flat, table.fields[0], bits, 4);
    sta_flat_set(flat, table.fields[1], 1, 1); /* signed */
    return table.at;
}

static size_t put_type(struct sta_flat *flat, enum sta_arrow_type type)
{
    struct sta_flat_table table;
    if (type == STA_ARROW_INT)
        return put_int(flat, 64);
    if (type == STA_ARROW_FLOAT) {
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

/* Fields: id, type of the indexes. */
static size_t put_encoding(struct sta_flat *flat, size_t id)
{
    const struct sta_flat_table encoding = sta_flat_put_table(flat, (const uint8_t[]){8, 4}, 2);
    sta_flat_set(flat, encoding.fields[0], id, 8);
    sta_flat_point(flat, encoding.fields[1], put_int(flat, 32));
    return encoding.at;
}

/* Fields: name, nullable, number of the type, type, dictionary, children, metadata. */
static size_t put_field(struct sta_flat *flat, const struct sta_table_column *column, size_t id)
{
    const enum sta_arrow_type type = sta_arrow_type_of(column);
    const uint8_t unit = column->unit != NULL ? 4 : 0, encoded = type == STA_ARROW_LARGE_UTF8 ? 4 : 0;
    const struct sta_flat_table field =
        sta_flat_put_table(flat, (const uint8_t[]){4, 1, 1, 4, encoded, 4, unit}, 7);
    sta_flat_set(flat, field.fields[1], 1, 1);
    sta_flat_set(flat, field.fields[2], type, 1);
    sta_flat_point(flat, field.fields[0], sta_flat_put_string(flat, column->name));
    sta_flat_point(flat, field.fields[3], put_type(flat, type));
    if (encoded)
        sta_flat_point(flat, field.fields[4], put_encoding(flat, id));
    sta_flat_point(flat, field.fields[5], sta_flat_put_vector(flat, 0, 4));
    if (column->unit != NULL)
        sta_flat_point(flat, field.fields[6], put_unit(flat, column->unit));
    return field.at;
}

void sta_put_arrow_schema(struct sta_buffer *out, const struct sta_table *table)
{
    struct sta_flat flat;
    const struct sta_flat_table message = sta_arrow_begin_message(&flat, out, STA_ARROW_SCHEMA);
    const struct sta_flat_table schema = sta_flat_put_table(&flat, (const uint8_t[]){2, 4}, 2);
    sta_flat_point(&flat, message.fields[2], schema.at);
    const size_t fields = sta_flat_put_vector(&flat, table->column_count, 4);
    sta_flat_point(&flat, schema.fields[1], fields);
    for (size_t c = 0; c < table->column_count; c++)
        sta_flat_point(&flat, fields + 4 + 4 * c, put_field(&flat, &table->columns[c], c));
    sta_arrow_end_message(&flat);
}
