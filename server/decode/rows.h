/* rows.h - records into rows of a batch, definitions into the tables (private to decode). */
#ifndef STA_DECODE_ROWS_H
#define STA_DECODE_ROWS_H

#include "common/event.h"
#include "decode/record.h"

enum sta_record_class {
    STA_RECORD_EVENT,
    STA_RECORD_METADATA,
    STA_RECORD_COUNTER,
    STA_RECORD_OTHER,
    STA_RECORD_MALFORMED
};

struct sta_rows; /* one thread's way from records to rows: caches in front of the shared tables */

struct sta_rows *sta_rows_create(struct sta_tables *tables);
void sta_rows_destroy(struct sta_rows *rows);
/** Before the first record of a batch: gives it args columns for what this thread has seen.  @path: of the
 * source that all its records are from, borrowed till the end. */
void sta_rows_begin(struct sta_rows *rows, struct sta_batch *batch, const char *path);

/** After the last: the codes of texts are there, and the tables know which kinds of values the args have. */
void sta_rows_end(struct sta_rows *rows, const struct sta_batch *batch);

/**
 * sta_rows_add - take one record
 * An event becomes the batch's last row; a definition (FH, HH) goes to the tables under (source, @line).
 * @reason: set for STA_RECORD_MALFORMED: why; static
 */
enum sta_record_class sta_rows_add(struct sta_rows *rows, const struct sta_record *record, uint64_t line,
                                   struct sta_batch *batch, const char **reason);

/** The same of a line that followed a path.  Return: false, and nothing is done, when it is not as most: then
 * the record is to be filled. */
bool sta_rows_add_path(struct sta_rows *rows, const struct sta_template_path *path, struct sta_batch *batch);
/** The number of a key's column in the batch. */
uint32_t sta_rows_column(struct sta_rows *rows, struct sta_batch *batch, uint32_t key);

enum sta_time_fault { STA_TIME_GOOD, STA_TIME_MISSING, STA_TIME_NO_NUMBER, STA_TIME_OUT_OF_RANGE };

static inline enum sta_time_fault sta_time_whole(int64_t us, struct sta_time *time)
{
    *time = (struct sta_time){.us = us};
    return us < -STA_TIME_LIMIT || us > STA_TIME_LIMIT ? STA_TIME_OUT_OF_RANGE : STA_TIME_GOOD;
}

/** sta_time_parse of what is no integer. */
enum sta_time_fault sta_time_parse_other(const struct sta_json_value *value, struct sta_time *time);

/** Microseconds from an integer, a decimal or a text that is one; rounded to whole nanoseconds. */
static inline enum sta_time_fault sta_time_parse(const struct sta_json_value *value, struct sta_time *time)
{
    return value->kind == STA_JSON_INT ? sta_time_whole(value->integer, time)
                                       : sta_time_parse_other(value, time);
}

#endif
