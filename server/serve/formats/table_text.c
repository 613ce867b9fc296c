/* Tables as JSON, CSV, NDJSON and Arrow. */
#include "serve/formats/table_text.h"

#include <math.h>
#include <string.h>

#include "serve/formats/arrow.h"
#include "serve/api/response.h"

enum sta_format sta_format_of(const char *name)
{
    return strcmp(name, "csv") == 0      ? STA_FORMAT_CSV
           : strcmp(name, "ndjson") == 0 ? STA_FORMAT_NDJSON
           : strcmp(name, "arrow") == 0  ? STA_FORMAT_ARROW
                                         : STA_FORMAT_JSON;
}

const char *sta_format_content_type(enum sta_format format)
{
    static const char *const types[] = {"application/json", "text/csv; charset=utf-8; header=present",
                                        "application/x-ndjson", "application/vnd.apache.arrow.stream"};
    return types[format];
}

void sta_put_cell(struct sta_buffer *out, const struct sta_table_column *column, size_t row)
{
    if (column->missing[row]) {
        sta_put_text(out, "null");
        return;
    }
    switch (column->type) {
    case STA_TYPE_BOOL:
        sta_put_text(out, column->integers[row] ? "true" : "false");
        break;
    case STA_TYPE_INT:
        sta_put_int(out, column->integers[row]);
        break;
    case STA_TYPE_FLOAT:
        sta_put_double(out, column->numbers[row]);
        break;
    case STA_TYPE_TEXT:
        sta_put_json_string(out, column->texts[row].bytes, column->texts[row].length);
        break;
    case STA_TYPE_LIST:
        sta_put(out, column->texts[row].bytes, column->texts[row].length);
        break;
    case STA_TYPE_NULL:
        sta_put_text(out, "null");
        break;
    }
}

/* Missing is an empty field. */
static void put_cell_csv(struct sta_buffer *out, const struct sta_table_column *column, size_t row)
{
    if (column->missing[row])
        return;
    if (column->type == STA_TYPE_TEXT || column->type == STA_TYPE_LIST)
        sta_put_csv_text(out, column->texts[row].bytes, column->texts[row].length);
    else if (column->type == STA_TYPE_FLOAT && isinf(column->numbers[row])) /* compatible tables have them */
        sta_put_text(out, column->numbers[row] > 0 ? "inf" : "-inf");
    else
        sta_put_cell(out, column, row);
}

void sta_put_table_columns(struct sta_buffer *out, const struct sta_table *table)
{
    sta_put_member(out, "columns");
    for (size_t c = 0; c < table->column_count; c++) {
        sta_put_char(out, c ? ',' : '[');
        sta_put_json_text(out, table->columns[c].name);
    }
    sta_put_text(out, table->column_count ? "]" : "[]");
    sta_begin_object(out, "units");
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].unit != NULL)
            sta_put_member_text(out, table->columns[c].name, table->columns[c].unit);
    sta_put_char(out, '}');
}

void sta_put_table_begin(struct sta_buffer *out, enum sta_format format, const struct sta_table *table)
{
    if (format == STA_FORMAT_JSON) {
        sta_put_table_columns(out, table);
        sta_begin_list(out, "data");
    } else if (format == STA_FORMAT_CSV) {
        for (size_t c = 0; c < table->column_count; c++) {
            if (c > 0)
                sta_put_char(out, ',');
            sta_put_csv_text(out, table->columns[c].name, strlen(table->columns[c].name));
        }
        sta_put_text(out, "\r\n");
    } else if (format == STA_FORMAT_ARROW) {
        sta_put_arrow_schema(out, table);
    }
}

static void put_row_json(struct sta_buffer *out, const struct sta_table *table, size_t row)
{
    for (size_t c = 0; c < table->column_count; c++) {
        sta_put_char(out, c ? ',' : '[');
        sta_put_cell(out, &table->columns[c], row);
    }
    sta_put_char(out, ']');
}

/* A record of one empty field is quoted: readers skip blank lines. */
static void put_row_csv(struct sta_buffer *out, const struct sta_table *table, size_t row)
{
    size_t start = out->size;
    for (size_t c = 0; c < table->column_count; c++) {
        if (c > 0)
            sta_put_char(out, ',');
        put_cell_csv(out, &table->columns[c], row);
    }
    if (out->size == start)
        sta_put_text(out, "\"\"");
    sta_put_text(out, "\r\n");
}

void sta_put_row_members(struct sta_buffer *out, const struct sta_table *table, size_t row)
{
    for (size_t c = 0; c < table->column_count; c++) {
        sta_put_member(out, table->columns[c].name);
        sta_put_cell(out, &table->columns[c], row);
    }
}

static void put_row_object(struct sta_buffer *out, const struct sta_table *table, size_t row)
{
    sta_put_char(out, '{');
    sta_put_row_members(out, table, row);
    sta_put_char(out, '}');
}

void sta_put_member_rows(struct sta_buffer *out, const char *name, const struct sta_table *table)
{
    sta_begin_list(out, name);
    for (size_t row = 0; row < table->rows; row++) {
        sta_put_text(out, row > 0 ? ",\n" : "\n");
        put_row_object(out, table, row);
    }
    sta_put_char(out, ']');
}

static void put_rows_arrow(struct sta_buffer *out, const struct sta_table *table)
{
    struct sta_arrow *arrow = sta_arrow_create(table, table->account);
    for (size_t at = 0; at < table->rows;) {
        const size_t now = STA_MIN(table->rows - at, sta_arrow_capacity_left(arrow));
        sta_arrow_take_table(arrow, table, at, now);
        sta_arrow_put(arrow, out);
        at += now;
    }
    sta_arrow_destroy(arrow);
}

void sta_put_table_rows(struct sta_buffer *out, enum sta_format format, const struct sta_table *table,
                        bool first)
{
    if (format == STA_FORMAT_ARROW) {
        put_rows_arrow(out, table);
        return;
    }
    for (size_t row = 0; row < table->rows; row++)
        switch (format) {
        case STA_FORMAT_JSON:
            sta_put_text(out, row > 0 || !first ? ",\n" : "\n");
            put_row_json(out, table, row);
            break;
        case STA_FORMAT_CSV:
            put_row_csv(out, table, row);
            break;
        case STA_FORMAT_NDJSON:
            put_row_object(out, table, row);
            sta_put_char(out, '\n');
            break;
        case STA_FORMAT_ARROW:
            break;
        }
}

void sta_put_table_end(struct sta_buffer *out, enum sta_format format, uint64_t row_count, const char *next)
{
    if (format == STA_FORMAT_ARROW)
        sta_put_arrow_end(out);
    if (format != STA_FORMAT_JSON)
        return;
    sta_put_char(out, ']');
    sta_put_member_uint(out, "row_count", row_count);
    sta_put_member_text(out, "next", next);
}

void sta_put_whole_table(struct sta_buffer *out, enum sta_format format, const struct sta_table *table)
{
    sta_put_table_begin(out, format, table);
    sta_put_table_rows(out, format, table, true);
    sta_put_table_end(out, format, table->rows, NULL);
}

void sta_put_member_table(struct sta_buffer *out, const char *name, const struct sta_table *table)
{
    sta_begin_object(out, name);
    sta_put_whole_table(out, STA_FORMAT_JSON, table);
    sta_put_char(out, '}');
}
