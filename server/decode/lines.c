/* Lines: framing, blank, or objects; several objects on one line count as several lines. */
#include "decode/lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/counters.h"
#include "common/memory.h"
#include "common/number.h"
#include "decode/bytes.h"
#include "decode/counter_record.h"
#include "decode/json_line.h"
#include "decode/rows.h"
#include "decode/template.h"
#include "decode/template_path.h"

#define NOTE_CHARACTERS 200

struct sta_line_scanner {
    struct sta_line_parser parser;
    struct sta_templates *templates; /* NULL: only the full path */
    struct sta_rows *rows;
    struct sta_record record;
};

struct line {
    const char *begin, *end; /* without '\n' */
    uint64_t number, offset;
};

/* What a scan of one chunk works with. */
struct scan {
    struct sta_line_scanner *scanner;
    struct sta_batch *batch;
    struct sta_buffer *counters; /* NULL: not wanted */
    int64_t counter_ns;          /* time of the last one */
    struct sta_chunk_outcome *outcome;
};

struct sta_line_scanner *sta_line_scanner_create(struct sta_tables *tables, enum sta_decode_path path)
{
    struct sta_line_scanner *scanner = sta_alloc(sizeof *scanner);
    sta_line_parser_init(&scanner->parser, tables);
    scanner->rows = sta_rows_create(tables);
    STA_GROW(scanner->record.args, scanner->record.arg_capacity, (size_t)STA_LAYOUT_ITEMS);
    if (path == STA_DECODE_BOTH)
        scanner->templates = sta_templates_create();
    return scanner;
}

void sta_line_scanner_destroy(struct sta_line_scanner *scanner)
{
    sta_line_parser_fini(&scanner->parser);
    sta_rows_destroy(scanner->rows);
    sta_templates_destroy(scanner->templates);
    sta_record_fini(&scanner->record);
    free(scanner);
}

/* ---- notes */

/* The first characters of a line as valid UTF-8 without zeros. */
static size_t excerpt(const struct line *line, char out[NOTE_CHARACTERS * 4])
{
    const char *at = line->begin;
    size_t size = 0;
    for (unsigned i = 0; i < NOTE_CHARACTERS && at < line->end; i++) {
        if ((unsigned char)(*at - 1) < 0x7f) { /* ASCII but for zero */
            out[size++] = *at++;
            continue;
        }
        size_t left = (size_t)(line->end - at);
        size_t length = 1;
        while (length < 4 && length < left && ((unsigned char)at[length] & 0xc0) == 0x80)
            length++;
        if (sta_utf8_valid_prefix(at, length) != length || *at == '\0') {
            memcpy(out + size, "\xef\xbf\xbd", 3);
            size += 3;
            at += *at == '\0' ? 1 : length;
        } else {
            memcpy(out + size, at, length);
            size += length;
            at += length;
        }
    }
    return size;
}

static void note(struct sta_line_notes *notes, const struct line *line, const char *reason)
{
    char text[NOTE_CHARACTERS * 4];
    bool full = notes->count == STA_LINE_NOTES && notes->items[notes->count - 1].line < line->number;
    if (!full)
        sta_line_notes_add(notes, line->number, line->offset, reason, text, excerpt(line, text));
}

static void malformed(struct scan *scan, const struct line *line, const char *reason)
{
    scan->outcome->counts.malformed++;
    note(&scan->outcome->malformed, line, reason);
}

/* ---- objects */

/* The bytes of a blank or of a byte order mark, which stands where files that begin with one were joined; 0:
 * neither is there. */
static size_t blank_size(const char *at, const char *end)
{
    if (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
        return 1;
    return end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static const char *skip_blanks(const char *at, const char *end)
{
    for (size_t size; (size = blank_size(at, end)) > 0;)
        at += size;
    return at;
}

static const char *skip_blanks_and_commas(const char *at, const char *end)
{
    for (size_t size; (size = at < end && *at == ',' ? 1 : blank_size(at, end)) > 0;)
        at += size;
    return at;
}

/* Only commas, blanks and at most one closing bracket may follow the last object of a line. */
static bool is_tail(const char *at, const char *end)
{
    at = skip_blanks_and_commas(at, end);
    if (at < end && *at == ']')
        at = skip_blanks_and_commas(at + 1, end);
    return at == end;
}

/* Reads the object at @at into the scanner's record.  Return: NULL, or why it is malformed. */
static const char *read_object(struct sta_line_scanner *scanner, const char *at, const char *end,
                               const char **behind)
{
    const char *known =
        scanner->templates ? sta_templates_match(scanner->templates, at, &scanner->record) : NULL;
    if (known != NULL) {
        *behind = known;
        return NULL;
    }
    const char *reason = sta_line_parse(&scanner->parser, at, end, &scanner->record, behind);
    if (reason == NULL && scanner->templates != NULL)
        sta_templates_learn(scanner->templates, &scanner->parser.layout);
    return reason;
}

/* Most objects: an event of a path.  Return: false when the record is none. */
static inline bool take_event(struct scan *scan)
{
    const struct sta_template_path *path = scan->scanner->record.path;
    if (path == NULL || !sta_rows_add_path(scan->scanner->rows, path, scan->batch))
        return false;
    scan->outcome->counts.events++;
    return true;
}

/* Counts the object in the record, which is not to be taken by its path. */
static void take_record(struct scan *scan, const struct line *line)
{
    struct sta_ledger_counts *counts = &scan->outcome->counts;
    struct sta_record *record = &scan->scanner->record;
    const char *reason = NULL;
    if (record->path != NULL)
        sta_template_path_fill(record->path, record);
    switch (sta_rows_add(scan->scanner->rows, record, line->number, scan->batch, &reason)) {
    case STA_RECORD_EVENT:
        counts->events++;
        counts->unstored_args += record->unstored;
        break;
    case STA_RECORD_METADATA:
        counts->metadata++;
        break;
    case STA_RECORD_COUNTER:
        counts->counters++;
        if (scan->counters != NULL)
            sta_counter_record_put(record, scan->scanner->parser.tables, &scan->counter_ns, scan->counters);
        break;
    case STA_RECORD_OTHER:
        counts->other++;
        break;
    case STA_RECORD_MALFORMED:
        malformed(scan, line, reason);
        return;
    }
    if (record->repaired) {
        counts->repaired++;
        note(&scan->outcome->repaired, line, "control characters or bytes that are not UTF-8");
    }
}

/* All objects of a line that begins with one. */
static void scan_objects(struct scan *scan, const struct line *line, const char *at)
{
    bool more = true;
    while (more) {
        const char *behind = at;
        scan->outcome->counts.lines++;
        const char *reason = read_object(scan->scanner, at, line->end, &behind);
        const char *next = skip_blanks_and_commas(behind, line->end);
        more = reason == NULL && next < line->end && *next == '{';
        if (reason == NULL && !more && !is_tail(behind, line->end))
            reason = "text behind the object";
        if (reason != NULL)
            malformed(scan, line, reason);
        else if (!take_event(scan))
            take_record(scan, line);
        at = next;
    }
}

bool sta_last_line_is_whole(struct sta_line_scanner *scanner, const struct sta_chunk_text *chunk)
{
    const char *end = chunk->bytes + chunk->size;
    const char *newline = memrchr(chunk->bytes, '\n', chunk->size);
    const char *at = skip_blanks(newline != NULL ? newline + 1 : chunk->bytes, end);
    if (at < end && *at == '[')
        at = skip_blanks_and_commas(at + 1, end);
    while (at < end && *at == '{') {
        const char *behind = at;
        if (read_object(scanner, at, end, &behind) != NULL)
            return false;
        at = skip_blanks_and_commas(behind, end);
    }
    return is_tail(at, end);
}

static void scan_line(struct scan *scan, const struct line *line)
{
    struct sta_ledger_counts *counts = &scan->outcome->counts;
    const char *at = skip_blanks(line->begin, line->end);
    const char *inside = at < line->end && *at == '[' ? skip_blanks_and_commas(at + 1, line->end) : at;
    if ((size_t)(line->end - line->begin) > STA_LINE_LIMIT) {
        counts->lines++;
        malformed(scan, line, "longer than 16 MiB");
    } else if (inside < line->end && *inside == '{') {
        scan_objects(scan, line, inside);
    } else {
        counts->lines++;
        if (at == line->end)
            counts->blank++;
        else if (is_tail(inside, line->end))
            counts->framing++;
        else
            malformed(scan, line, "not an object");
    }
}

/* ---- lines */

/* A line of one object with a known template, taken without looking for its end first.  Return: the line
 * behind it, or NULL. */
static const char *take_predicted(struct scan *scan, struct line *line, const char *end)
{
    struct sta_line_scanner *scanner = scan->scanner;
    const char *at = line->begin;
    while (*at == ' ' || *at == '\t')
        at++;
    const char *behind = *at == '{' ? sta_templates_match(scanner->templates, at, &scanner->record) : NULL;
    if (behind == NULL)
        return NULL;
    if (*behind != '\n') {
        behind += *behind == ',';
        behind += *behind == '\r';
        if (behind != end && *behind != '\n')
            return NULL;
    }
    if ((size_t)(behind - line->begin) > STA_LINE_LIMIT)
        return NULL;
    line->end = behind;
    scan->outcome->counts.lines++;
    if (!take_event(scan))
        take_record(scan, line);
    return behind == end ? end : behind + 1;
}

/* A run of blank lines, counted at once: a file of nothing else is read as fast as it is inflated.  Return:
 * what follows them. */
static const char *skip_blank_lines(struct scan *scan, const char *at, const char *end, uint64_t *number)
{
    const char *run = sta_byte_kernels()->blanks_end(at, end);
    const char *last = memrchr(at, '\n', (size_t)(run - at));
    if (last == NULL)
        return at;
    uint64_t count = sta_count_newlines(at, (size_t)(last + 1 - at));
    scan->outcome->counts.lines += count;
    scan->outcome->counts.blank += count;
    *number += count;
    return last + 1;
}

static const char *scan_any_line(struct scan *scan, struct line *line, const char *end)
{
    const char *newline = memchr(line->begin, '\n', (size_t)(end - line->begin));
    line->end = newline ? newline : end;
    scan_line(scan, line);
    return newline ? newline + 1 : end;
}

void sta_lines_scan(struct sta_line_scanner *scanner, const struct sta_chunk_text *chunk, const char *path,
                    struct sta_batch *batch, struct sta_buffer *counters, struct sta_chunk_outcome *outcome)
{
    struct sta_buffer records;
    struct scan scan = {scanner, batch, counters != NULL ? &records : NULL, 0, outcome};
    const char *end = chunk->bytes + chunk->size;
    const char *at = chunk->bytes;
    uint64_t number = chunk->first_line;
    sta_buffer_init(&records);
    sta_rows_begin(scanner->rows, batch, path);
    while (at < end) {
        if ((unsigned char)*at <= ' ')
            at = skip_blank_lines(&scan, at, end, &number);
        struct line line = {at, end, number, chunk->offset + (uint64_t)(at - chunk->bytes)};
        const char *next = scanner->templates != NULL && at < end ? take_predicted(&scan, &line, end) : NULL;
        if (next == NULL && at < end)
            next = scan_any_line(&scan, &line, end);
        at = next != NULL ? next : end;
        number++;
    }
    sta_rows_end(scanner->rows, batch);
    if (records.size > 0)
        sta_counters_put_chunk(counters, path, records.data, records.size);
    sta_buffer_fini(&records);
}
