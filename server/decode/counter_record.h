/* counter_record.h - a counter record as what is kept of it (private to decode). */
#ifndef STA_DECODE_COUNTER_RECORD_H
#define STA_DECODE_COUNTER_RECORD_H

#include "common/buffer.h"
#include "decode/record.h"

/** Appends a record whose time can be read: see common/counters.h.  *last_ns: the time of the one before in
 * its chunk, 0 at first; moved on. */
void sta_counter_record_put(const struct sta_record *record, const struct sta_tables *tables,
                            int64_t *last_ns, struct sta_buffer *out);

#endif
