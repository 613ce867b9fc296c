/* counters.h - counter records (ph = C) as bytes: decode makes them, the store keeps them with their source,
 * analyse reads them.
 *
 * What is kept is chunks, one behind the other: a block with the path of the source, a block of records.  A
 * record: zigzag varints of its time (ns since 1970), as difference to the record before in its chunk, and of
 * its pid; block with what it says about its host (enum sta_reference as a char, then the text; empty:
 * nothing); block name; varint count of values, each a varint code of its args key and a u64, the double's
 * bits.  Values that are no numbers are left out. */
#ifndef STA_COMMON_COUNTERS_H
#define STA_COMMON_COUNTERS_H

#include "common/buffer.h"
#include "common/event.h"

struct sta_counter_record {
    int64_t ns, pid; /* since 1970; STA_NO_ID: missing */
    struct sta_text host, name;
    uint64_t values; /* that follow */
};

/** Begins a record.  @last_ns: of the record before in its chunk, 0 of the first. */
void sta_counter_put(struct sta_buffer *out, const struct sta_counter_record *record, int64_t last_ns);
void sta_counter_put_value(struct sta_buffer *out, uint32_t key, double value);
void sta_counters_put_chunk(struct sta_buffer *out, const char *path, const void *records, size_t size);

/** The next chunk; *path is not ended by zero.  Return: false at the end, or when in->failed. */
bool sta_counters_get_chunk(struct sta_cursor *in, struct sta_text *path, struct sta_cursor *records);
/** The next record of a chunk.  @record: the one before, or zeros. */
bool sta_counter_get(struct sta_cursor *in, struct sta_counter_record *record);
void sta_counter_get_value(struct sta_cursor *in, uint32_t *key, double *value);

#endif
