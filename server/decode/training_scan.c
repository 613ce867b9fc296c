/* Records of a training log as events, so that whatever works on events works on them. */
#include "decode/training_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/number.h"
#include "decode/rows.h"
#include "decode/training_log.h"
#include "decode/training_tables.h"

/* X(field, name): the args */
#define KEY_LIST(X)                                                                                          \
    X(epoch, "epoch")                                                                                        \
    X(index, "index")                                                                                        \
    X(seconds, "seconds")                                                                                    \
    X(stall, "stall")                                                                                        \
    X(throughput, "throughput")                                                                              \
    X(line, "line")

struct sta_training_scanner {
    struct sta_tables *tables;
    struct sta_rows *rows;
    struct sta_record record;
    struct {
#define X(field, name) uint32_t field;
        KEY_LIST(X)
#undef X
    } keys;
};

struct sta_training_scanner *sta_training_scanner_create(struct sta_tables *tables)
{
    struct sta_training_scanner *scanner = sta_alloc(sizeof *scanner);
    scanner->tables = tables;
    scanner->rows = sta_rows_create(tables);
#define X(field, name) scanner->keys.field = sta_tables_intern_key(tables, name, strlen(name));
    KEY_LIST(X)
#undef X
    return scanner;
}

void sta_training_scanner_destroy(struct sta_training_scanner *scanner)
{
    sta_rows_destroy(scanner->rows);
    sta_record_fini(&scanner->record);
    free(scanner);
}

/* ---- recognising */

static bool begins_configuration(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
        at++;
    return at < size && text[at] == '{' && memmem(text, size, "\"FETCH_ALIGN\"", 13) != NULL;
}

bool sta_training_begins(const char *text, size_t size)
{
    if (begins_configuration(text, size) || sta_is_training_heading(text, size) ||
        sta_is_joined_heading(text, size))
        return true;
    for (size_t at = 0; at < size;) {
        struct sta_log_record record;
        const char *reason, *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        enum sta_log_line_kind kind = sta_log_line(text + at, length, &record, &reason);
        const bool record_of_log = kind == STA_LOG_FETCH || kind == STA_LOG_ITERATION;
        if (record_of_log && memchr(text + at, ':', STA_MIN(length, 20)) != NULL) /* no row of a table */
            return true;
        at += length + 1;
    }
    return false;
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), end_length = strlen(end);
    return length >= end_length && strcmp(path + length - end_length, end) == 0;
}

bool sta_is_derived_table(const char *path)
{
    return ends_with(path, ".csv");
}

bool sta_is_configuration(const char *path)
{
    return ends_with(path, ".json");
}

static bool is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

bool sta_has_training_name(const char *path)
{
    return is_called(path, "output.log") || is_called(path, STA_TRAINING_CONF);
}

/* ---- rows */

static struct sta_json_value constant(const char *text)
{
    return (struct sta_json_value){.kind = STA_JSON_STRING, .text = text, .length = (uint32_t)strlen(text)};
}

static void add_arg(struct sta_record *record, uint32_t key, struct sta_json_value value)
{
    if (key == STA_NO_CODE) {
        record->unstored++;
        return;
    }
    STA_GROW(record->args, record->arg_capacity, record->arg_count + 1);
    record->args[record->arg_count++] = (struct sta_record_arg){key, value};
}

static void add_integer(struct sta_record *record, uint32_t key, int64_t value)
{
    add_arg(record, key, (struct sta_json_value){.kind = STA_JSON_INT, .integer = value});
}

static void add_number(struct sta_record *record, uint32_t key, double value)
{
    if (!isnan(value))
        add_arg(record, key, (struct sta_json_value){.kind = STA_JSON_DOUBLE, .number = value});
}

enum record_kind { FETCH, FETCH_START, ITERATION };

static void fill_record(struct sta_training_scanner *scanner, const struct sta_log_record *from,
                        enum record_kind kind)
{
    static const char *const names[] = {
        [FETCH] = "fetch", [FETCH_START] = "fetch_start", [ITERATION] = "iteration"};
    struct sta_record *record = &scanner->record;
    sta_record_clear(record);
    record->fields[STA_FIELD_name] = constant(names[kind]);
    record->fields[STA_FIELD_cat] = constant("dataload");
    record->fields[STA_FIELD_ph] = constant("X");
    record->fields[STA_FIELD_pid] = (struct sta_json_value){.kind = STA_JSON_INT, .integer = from->gpu};
    if (kind == FETCH)
        record->fields[STA_FIELD_tid] =
            (struct sta_json_value){.kind = STA_JSON_INT, .integer = from->worker};
    record->timed = true;
    record->ts.us = kind == ITERATION ? from->time_us - sta_log_us(from->stall) : from->start_us;
    record->dur.us = kind == FETCH_START ? 0 : sta_log_us(from->seconds);
    if (from->epoch != STA_NO_EPOCH)
        add_integer(record, scanner->keys.epoch, from->epoch);
    add_integer(record, scanner->keys.index, from->index);
    if (kind != FETCH_START)
        add_number(record, scanner->keys.seconds, from->seconds);
    if (kind == ITERATION) {
        add_number(record, scanner->keys.stall, from->stall);
        add_number(record, scanner->keys.throughput, from->throughput);
    }
    add_integer(record, scanner->keys.line, (int64_t)from->line);
}

static const char *add_row(struct sta_training_scanner *scanner, const struct sta_log_record *record,
                           enum record_kind kind, struct sta_batch *batch, struct sta_ledger_counts *counts)
{
    const char *reason;
    fill_record(scanner, record, kind);
    if (sta_rows_add(scanner->rows, &scanner->record, record->line, batch, &reason) != STA_RECORD_EVENT)
        return reason;
    counts->events++;
    counts->unstored_args += scanner->record.unstored;
    return NULL;
}

static const char *take_line(struct sta_training_scanner *scanner, const char *line, size_t length,
                             uint64_t number, struct sta_batch *batch, struct sta_ledger_counts *counts)
{
    struct sta_log_record record;
    const char *reason;
    switch (sta_log_line(line, length, &record, &reason)) {
    case STA_LOG_OTHER:
        counts->other++;
        return NULL;
    case STA_LOG_BLANK:
        counts->blank++;
        return NULL;
    case STA_LOG_HEADING:
        counts->metadata++;
        return NULL;
    case STA_LOG_DAMAGED:
        return reason;
    case STA_LOG_FETCH:
        record.line = number;
        return add_row(scanner, &record, FETCH, batch, counts);
    case STA_LOG_ITERATION:
        record.line = number;
        return add_row(scanner, &record, ITERATION, batch, counts);
    }
    return NULL;
}

/* ---- rows of the joined tables: a value for each GPU */

static bool define_seconds(struct sta_training_scanner *scanner, const struct sta_joined_row *row,
                           uint32_t gpu, struct sta_text cell, const char *path, uint64_t number)
{
    char key[96];
    double seconds;
    if (!sta_parse_double(cell.bytes, cell.length, &seconds) || !(seconds >= 0 && seconds <= STA_LOG_SECONDS))
        return false;
    snprintf(key, sizeof key, STA_TRAINING_SECONDS, (long long)row->epoch, (long long)row->index, gpu);
    const struct sta_definition definition = {
        .text = cell.bytes, .length = cell.length, .path = path, .line = number};
    sta_tables_define(scanner->tables, STA_DEFINES_FILE, key, strlen(key), &definition);
    return true;
}

/* The first value counts as the row's line, so that lines stay the sum of what became of them. */
static const char *take_joined_row(struct sta_training_scanner *scanner, enum sta_joined_table table,
                                   const char *path, const char *line, size_t length, uint64_t number,
                                   struct sta_batch *batch, struct sta_ledger_counts *counts)
{
    struct sta_joined_row row;
    const char *reason = NULL;
    if (sta_is_joined_heading(line, length)) {
        counts->metadata++;
        return NULL;
    }
    if (!sta_joined_row_begin(line, length, &row))
        return "no row of this table: it needs a label, an epoch, an index and a value for each GPU";
    for (uint32_t gpu = 0; gpu < row.gpus && reason == NULL; gpu++) {
        const struct sta_text cell = sta_joined_row_cell(&row);
        struct sta_log_record record = {.gpu = gpu, .epoch = row.epoch, .index = row.index, .line = number};
        counts->lines += gpu > 0;
        if (table == STA_JOINED_STARTS && sta_log_time(cell.bytes, cell.length, &record.start_us))
            reason = add_row(scanner, &record, FETCH_START, batch, counts);
        else if (table == STA_JOINED_SECONDS && define_seconds(scanner, &row, gpu, cell, path, number))
            counts->metadata++;
        else
            reason = "a value of the row is missing or makes no sense";
    }
    return reason;
}

static const char *take_any_line(struct sta_training_scanner *scanner, enum sta_joined_table table,
                                 const char *path, const char *line, size_t length, uint64_t number,
                                 struct sta_batch *batch, struct sta_ledger_counts *counts)
{
    struct sta_log_record record;
    const char *reason;
    if (table == STA_JOINED_NONE || sta_log_line(line, length, &record, &reason) == STA_LOG_BLANK)
        return take_line(scanner, line, length, number, batch, counts);
    return take_joined_row(scanner, table, path, line, length, number, batch, counts);
}

/* A configuration is small, so that one chunk holds it. */
static void define_configuration(struct sta_training_scanner *scanner, const struct sta_chunk_text *chunk,
                                 const char *path, struct sta_ledger_counts *counts)
{
    const struct sta_definition definition = {
        .text = chunk->bytes, .length = (uint32_t)chunk->size, .path = path, .line = 1};
    sta_tables_define(scanner->tables, STA_DEFINES_FILE, STA_TRAINING_CONF, strlen(STA_TRAINING_CONF),
                      &definition);
    for (size_t at = 0; at < chunk->size; counts->lines++, counts->metadata++) {
        const char *end = memchr(chunk->bytes + at, '\n', chunk->size - at);
        at = end != NULL ? (size_t)(end - chunk->bytes) + 1 : chunk->size;
    }
}

void sta_training_scan(struct sta_training_scanner *scanner, const struct sta_chunk_text *chunk,
                       const char *path, struct sta_batch *batch, struct sta_chunk_outcome *outcome)
{
    uint64_t number = chunk->first_line;
    if (number == 1 &&
        (begins_configuration(chunk->bytes, chunk->size) || is_called(path, STA_TRAINING_CONF))) {
        define_configuration(scanner, chunk, path, &outcome->counts);
        return;
    }
    const enum sta_joined_table table = sta_joined_table_of(path);
    sta_rows_begin(scanner->rows, batch, path);
    for (size_t at = 0; at < chunk->size; number++) {
        const char *line = chunk->bytes + at, *end = memchr(line, '\n', chunk->size - at);
        size_t length = end != NULL ? (size_t)(end - line) : chunk->size - at;
        outcome->counts.lines++;
        const char *reason =
            take_any_line(scanner, table, path, line, length, number, batch, &outcome->counts);
        if (reason != NULL) {
            outcome->counts.malformed++;
            sta_line_notes_add(&outcome->malformed, number, chunk->offset + at, reason, line,
                               STA_MIN(length, 200));
        }
        at += length + (end != NULL);
    }
    sta_rows_end(scanner->rows, batch);
}
