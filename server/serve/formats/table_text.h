/* table_text.h - tables as JSON, CSV, NDJSON and Arrow, whole or piece by piece. */
#ifndef STA_SERVE_TABLE_TEXT_H
#define STA_SERVE_TABLE_TEXT_H

#include "common/buffer.h"
#include "common/table.h"

enum sta_format { STA_FORMAT_JSON, STA_FORMAT_CSV, STA_FORMAT_NDJSON, STA_FORMAT_ARROW };
enum sta_format sta_format_of(const char *name); /* "json", "csv", "ndjson", "arrow" */
const char *sta_format_content_type(enum sta_format format);

/** Missing is null. */
void sta_put_cell(struct sta_buffer *out, const struct sta_table_column *column, size_t row);
/** The members columns and units. */
void sta_put_table_columns(struct sta_buffer *out, const struct sta_table *table);

/** A member for each column: the cell of a row. */
void sta_put_row_members(struct sta_buffer *out, const struct sta_table *table, size_t row);
/** A member that holds the rows as a list of objects. */
void sta_put_member_rows(struct sta_buffer *out, const char *name, const struct sta_table *table);

/** All of a table.  JSON: members of an object whose braces are the caller's. */
void sta_put_whole_table(struct sta_buffer *out, enum sta_format format, const struct sta_table *table);
/** A member that holds all of a table as an object. */
void sta_put_member_table(struct sta_buffer *out, const char *name, const struct sta_table *table);

/* A table in pieces: its begin, any number of times rows, its end.  JSON: the members columns, units, data,
 * row_count, next of an object whose braces are the caller's. */
void sta_put_table_begin(struct sta_buffer *out, enum sta_format format, const struct sta_table *table);
/** @first: no rows have been put before. */
void sta_put_table_rows(struct sta_buffer *out, enum sta_format format, const struct sta_table *table,
                        bool first);
/** @next: NULL on the last page. */
void sta_put_table_end(struct sta_buffer *out, enum sta_format format, uint64_t row_count, const char *next);

#endif
