/* records.h - a chunk's records: what each is, and what becomes of it (private to decode).
 *
 * Trace files of DASF are records, a length of 8 bytes (big endian) and so many bytes of msgpack each, with
 * nothing between them.  A Compute record becomes an event that ends at its timestamp, since that is taken
 * when the task has ended; a Managed Memory or Resource Usage record becomes a row without duration, its
 * values in columns of their own. */
#ifndef STA_DECODE_DASF_RECORDS_H
#define STA_DECODE_DASF_RECORDS_H

#include "decode/lines.h"

/** Whether a file that begins so is of records. */
bool sta_records_begin(const char *bytes, size_t size);

struct sta_record_scanner; /* one thread's: message, caches */

struct sta_record_scanner *sta_record_scanner_create(struct sta_tables *tables);
void sta_record_scanner_destroy(struct sta_record_scanner *scanner);

/** Turns a chunk of whole records into rows of @batch (appended) and counts: compute records are its events,
 * samples its counters, records that no analysis reads the others. */
void sta_records_scan(struct sta_record_scanner *scanner, const struct sta_chunk_text *chunk,
                      const char *path, struct sta_batch *batch, struct sta_chunk_outcome *outcome);

#endif
