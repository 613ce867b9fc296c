/* lines.h - a chunk's lines: what each is, and what becomes of it (private to decode). */
#ifndef STA_DECODE_LINES_H
#define STA_DECODE_LINES_H

#include "common/buffer.h"
#include "common/ledger.h"
#include "decode/chunks.h"
#include "decode/decode.h"

/* What a chunk's lines came to; added to the source's ledger under its lock. */
struct sta_chunk_outcome {
    struct sta_ledger_counts counts;
    struct sta_line_notes malformed, repaired;
};

struct sta_line_scanner; /* one thread's: parser, templates, caches */

struct sta_line_scanner *sta_line_scanner_create(struct sta_tables *tables, enum sta_decode_path path);
void sta_line_scanner_destroy(struct sta_line_scanner *scanner);

/** Whether the last line of a chunk, which has no '\n', is whole all the same: such as the last of a file
 * that lacks it.  The beginning of a line that is still being written is not. */
bool sta_last_line_is_whole(struct sta_line_scanner *scanner, const struct sta_chunk_text *chunk);

/**
 * sta_lines_scan - turn a chunk into rows of @batch (appended), definitions and counts
 * @path: of the source, which definitions and hashes belong to
 * @counters: receives counter records as a chunk of common/counters.h; NULL: not wanted
 */
void sta_lines_scan(struct sta_line_scanner *scanner, const struct sta_chunk_text *chunk, const char *path,
                    struct sta_batch *batch, struct sta_buffer *counters, struct sta_chunk_outcome *outcome);

#endif
