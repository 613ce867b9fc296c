/* The kinds of files that traces are made of. */
#include "decode/formats.h"

#include <string.h>

#include "common/memory.h"
#include "decode/dasf/records.h"
#include "decode/training_scan.h"

/* ---- events: lines of JSON */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_pfw(const char *path)
{
    return ends_with(path, ".pfw") || ends_with(path, ".pfw.gz");
}

/* Whether a text begins like a trace: blanks or brackets, then an object that says its "ph". */
static bool begins_like_events(const char *text, size_t size)
{
    const char *at = text + (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    at += strspn(at, " \t\r\n[,");
    return *at == '{' && memmem(at, (size_t)(text + size - at), "\"ph\"", 4) != NULL;
}

static void *create_lines(struct sta_tables *tables)
{
    return sta_line_scanner_create(tables, STA_DECODE_BOTH);
}

static void destroy_lines(void *scanner)
{
    sta_line_scanner_destroy(scanner);
}

static bool last_line_is_whole(void *scanner, const struct sta_chunk_text *chunk)
{
    return sta_last_line_is_whole(scanner, chunk);
}

static void scan_lines(void *scanner, const struct sta_chunk_text *chunk, const char *path,
                       struct sta_batch *batch, struct sta_buffer *counters,
                       struct sta_chunk_outcome *outcome)
{
    sta_lines_scan(scanner, chunk, path, batch, counters, outcome);
}

/* ---- dasf: records of msgpack */

static bool is_msgpack(const char *path)
{
    return ends_with(path, ".msgpack");
}

static void *create_records(struct sta_tables *tables)
{
    return sta_record_scanner_create(tables);
}

static void destroy_records(void *scanner)
{
    sta_record_scanner_destroy(scanner);
}

static void scan_records(void *scanner, const struct sta_chunk_text *chunk, const char *path,
                         struct sta_batch *batch, struct sta_buffer *counters,
                         struct sta_chunk_outcome *outcome)
{
    sta_records_scan(scanner, chunk, path, batch, outcome);
}

/* ---- dataload: lines of a training log */

static void *create_training(struct sta_tables *tables)
{
    return sta_training_scanner_create(tables);
}

static void destroy_training(void *scanner)
{
    sta_training_scanner_destroy(scanner);
}

static bool training_line_is_whole(void *scanner, const struct sta_chunk_text *chunk)
{
    return true;
}

static void scan_training(void *scanner, const struct sta_chunk_text *chunk, const char *path,
                          struct sta_batch *batch, struct sta_buffer *counters,
                          struct sta_chunk_outcome *outcome)
{
    sta_training_scan(scanner, chunk, path, batch, outcome);
}

/* ---- the table */

static const struct sta_trace_format formats[] = {
    {STA_TRACE_EVENTS, is_pfw, NULL, begins_like_events, STA_FRAMING_LINES, create_lines, destroy_lines,
     last_line_is_whole, scan_lines},
    {STA_TRACE_DASF, NULL, is_msgpack, sta_records_begin, STA_FRAMING_RECORDS, create_records,
     destroy_records, NULL, scan_records},
    {STA_TRACE_DATALOAD, NULL, sta_has_training_name, sta_training_begins, STA_FRAMING_LINES, create_training,
     destroy_training, training_line_is_whole, scan_training},
};

const struct sta_trace_format *sta_trace_format(enum sta_trace_kind kind)
{
    for (size_t i = 0; i < STA_COUNT_OF(formats); i++)
        if (formats[i].kind == kind)
            return &formats[i];
    STA_ASSERT(!"a kind without a format");
    return NULL;
}

enum sta_trace_kind sta_kind_by_name(const char *path)
{
    for (size_t i = 0; i < STA_COUNT_OF(formats); i++)
        if (formats[i].has_name != NULL && formats[i].has_name(path))
            return formats[i].kind;
    return STA_TRACE_UNKNOWN;
}

enum sta_trace_kind sta_kind_by_usual_name(const char *path)
{
    for (size_t i = 0; i < STA_COUNT_OF(formats); i++)
        if (formats[i].has_usual_name != NULL && formats[i].has_usual_name(path))
            return formats[i].kind;
    return STA_TRACE_UNKNOWN;
}

enum sta_trace_kind sta_kind_by_content(const char *text, size_t size)
{
    for (size_t i = 0; i < STA_COUNT_OF(formats); i++)
        if (formats[i].begins_like(text, size))
            return formats[i].kind;
    return STA_TRACE_UNKNOWN;
}
