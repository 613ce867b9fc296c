/* arg_values.h - the values of args in the columns of a batch (private to decode). */
#ifndef STA_DECODE_ARG_VALUES_H
#define STA_DECODE_ARG_VALUES_H

#include "common/event.h"
#include "decode/record.h"

struct sta_arg_values; /* one thread's: recent texts of each key, columns of the batch */

struct sta_arg_values *sta_arg_values_create(struct sta_tables *tables);
void sta_arg_values_destroy(struct sta_arg_values *args);
/** Before the first value of a batch: learns which columns it has. */
void sta_arg_values_begin(struct sta_arg_values *args, const struct sta_batch *batch);
/** Adds an arg of the row that is batch->count.  The code of a text may be missing until the end. */
void sta_arg_values_add(struct sta_arg_values *args, struct sta_batch *batch,
                        const struct sta_record_arg *arg);
/** After the last: sets the codes that are missing, and notes in the tables which kinds of values there are.
 */
void sta_arg_values_end(struct sta_arg_values *args, const struct sta_batch *batch);

#endif
