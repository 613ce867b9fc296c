/* arrow.h - tables in the Arrow IPC streaming format: a schema, batches of rows, an end. */
#ifndef STA_SERVE_ARROW_H
#define STA_SERVE_ARROW_H

#include "common/buffer.h"
#include "common/table.h"
#include "common/vector.h"

#define STA_ARROW_ROWS 8192 /* of a full batch */

/** The schema: int64, double, bool and dictionary encoded large UTF-8 columns, all nullable; a unit is
 * metadata "unit" of its column. */
void sta_put_arrow_schema(struct sta_buffer *out, const struct sta_table *table);

/* Rows that are gathered for a batch, and the dictionaries of a stream; of one thread at a time. */
struct sta_arrow;
/** @table: its columns are those of the rows to come.  @account: is charged with what this holds; may be
 * NULL. */
struct sta_arrow *sta_arrow_create(const struct sta_table *table, struct sta_account *account);
void sta_arrow_destroy(struct sta_arrow *arrow); /* NULL allowed */
/** How many rows the batch can still take. */
size_t sta_arrow_capacity_left(const struct sta_arrow *arrow);
/** Takes rows @first .. @first + @count - 1, no more than sta_arrow_capacity_left. */
void sta_arrow_take(struct sta_arrow *arrow, const struct sta_vector *vectors, size_t first, size_t count);
void sta_arrow_take_table(struct sta_arrow *arrow, const struct sta_table *table, size_t first, size_t count);
/** The rows as a record batch, behind the dictionaries that it needs; then there are none. */
void sta_arrow_put(struct sta_arrow *arrow, struct sta_buffer *out);
/** The end of the stream. */
void sta_put_arrow_end(struct sta_buffer *out);

#endif
