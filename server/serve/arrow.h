/* arrow.h - tables in the Arrow IPC streaming format, piece by piece. */
#ifndef STA_SERVE_ARROW_H
#define STA_SERVE_ARROW_H

#include "common/buffer.h"
#include "common/table.h"

/** The schema: int64, double, bool and large UTF-8 columns, all nullable; a unit is metadata "unit" of its
 * column. */
void sta_put_arrow_schema(struct sta_buffer *out, const struct sta_table *table);
/** The rows of @table, whose columns are those of the schema, as a record batch. */
void sta_put_arrow_batch(struct sta_buffer *out, const struct sta_table *table);
/** The end of the stream. */
void sta_put_arrow_end(struct sta_buffer *out);

#endif
