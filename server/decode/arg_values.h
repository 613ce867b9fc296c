/* arg_values.h - the values of args in the columns of a batch (private to decode). */
#ifndef STA_DECODE_ARG_VALUES_H
#define STA_DECODE_ARG_VALUES_H

#include "common/event.h"
#include "decode/record.h"

struct sta_template_path;
struct sta_arg_values; /* one thread's: recent texts of each key, columns of the batch */

struct sta_arg_values *sta_arg_values_create(struct sta_tables *tables);
void sta_arg_values_destroy(struct sta_arg_values *args);
/** Before the first value of a batch: gives it the columns of all keys that this thread has seen, in the
 * order in which it saw them, so that a column's number holds for all its batches. */
void sta_arg_values_begin(struct sta_arg_values *args, struct sta_batch *batch);
/** The number of a key's column; adds it to the batch in work when the key is new. */
uint32_t sta_arg_values_column(struct sta_arg_values *args, struct sta_batch *batch, uint32_t key);
/** Adds args of the row that is batch->count, but those that are absent or null.  The code of a text may be
 * missing until the end. */
void sta_arg_values_add(struct sta_arg_values *args, struct sta_batch *batch,
                        const struct sta_record_arg *record_args, const struct sta_stored_arg *stored,
                        unsigned count);
/** The same of the last line of a path. */
void sta_arg_values_add_path(struct sta_arg_values *args, struct sta_batch *batch,
                             const struct sta_template_path *path);
/** After the last: sets the codes that are missing, and notes in the tables which kinds of values there are.
 */
void sta_arg_values_end(struct sta_arg_values *args, const struct sta_batch *batch);

#endif
