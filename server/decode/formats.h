/* formats.h - the kinds of files that traces are made of: how each is recognised and scanned (private to
 * decode).  A new kind is a line in the table of formats.c. */
#ifndef STA_DECODE_FORMATS_H
#define STA_DECODE_FORMATS_H

#include "common/trace_kind.h"
#include "decode/lines.h"

struct sta_trace_format {
    enum sta_trace_kind kind;
    bool (*has_name)(const char *path);       /* is one by its name, whatever it holds; NULL: none is */
    bool (*has_usual_name)(const char *path); /* may be one whatever it begins with; NULL: none may */
    bool (*begins_like)(const char *text,
                        size_t size); /* by its first bytes, decompressed; text[size] is 0 */
    enum sta_framing framing;
    /* One thread's way from chunks to rows: see lines.h. */
    void *(*create)(struct sta_tables *tables);
    void (*destroy)(void *scanner);
    /* Whether the last line, which has no end, is whole all the same; NULL: none is. */
    bool (*last_is_whole)(void *scanner, const struct sta_chunk_text *chunk);
    void (*scan)(void *scanner, const struct sta_chunk_text *chunk, const char *path, struct sta_batch *batch,
                 struct sta_buffer *counters, struct sta_chunk_outcome *outcome);
};

/** The format of a kind of trace.  @kind: not UNKNOWN */
const struct sta_trace_format *sta_trace_format(enum sta_trace_kind kind);
/** Which kind of trace a file is of, by its name alone; UNKNOWN: its content decides. */
enum sta_trace_kind sta_kind_by_name(const char *path);
/** Which kind of trace files of this name usually belong to; UNKNOWN: any or none. */
enum sta_trace_kind sta_kind_by_usual_name(const char *path);
/** Which kind of trace a file that begins so is of; UNKNOWN: of none.  text[size] is 0. */
enum sta_trace_kind sta_kind_by_content(const char *text, size_t size);

#endif
