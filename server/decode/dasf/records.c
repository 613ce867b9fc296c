/* Records: what each is, as a row of the store.
 *
 * A row keeps what its tables need to be computed to the letter: the timestamp and the duration as they were
 * recorded, beside the times in whole nanoseconds, and the record's number in its file. */
#include "decode/dasf/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/number.h"
#include "decode/dasf/lists.h"
#include "decode/dasf/payload.h"
#include "decode/dasf/values.h"
#include "decode/dasf/workers.h"
#include "decode/rows.h"

#define EXCERPT 200 /* characters of a damaged record */
#define NANOSECONDS_LIMIT ((double)STA_TIME_LIMIT * 1000)

/* X(field, name): keys of columns that are made here, or mean something */
#define KEY_LIST(X)                                                                                          \
    X(hostname, "hostname")                                                                                  \
    X(worker, "worker")                                                                                      \
    X(timestamp, "timestamp")                                                                                \
    X(duration, "duration")                                                                                  \
    X(record, "record")                                                                                      \
    X(managed, "managed")

struct keys {
#define X(field, name) uint32_t field;
    KEY_LIST(X)
#undef X
};

/* Records whose args have the same keys in the same order: where their values go is worked out once. */
struct layout {
    uint32_t keys[STA_LAYOUT_ITEMS];
    size_t count;
    struct sta_event_plan plan;
};

struct sta_record_scanner {
    struct sta_tables *tables;
    struct sta_rows *rows;
    struct sta_record record;
    struct sta_payload_reader payload;
    struct sta_value_texts texts;
    struct sta_task_lists *lists;
    struct keys keys;
    struct layout layouts[STA_KIND_OTHER];
    struct sta_known_workers workers;
    struct sta_dictionary_cache functions;
    uint64_t stamps[STA_ARGS_KEYS_LIMIT], stamp; /* by key: the record that has it */
    uint32_t place[STA_ARGS_KEYS_LIMIT];         /* among its args */
};

/* One record of a chunk. */
struct span {
    const char *payload;
    size_t size;
    uint64_t number, offset; /* from 1; of its length in the file */
};

struct sta_record_scanner *sta_record_scanner_create(struct sta_tables *tables)
{
    struct sta_record_scanner *scanner = sta_alloc(sizeof *scanner);
    scanner->tables = tables;
    scanner->rows = sta_rows_create(tables);
    scanner->lists = sta_task_lists_create(tables);
    sta_dictionary_cache_init(&scanner->functions, sta_tables_names(tables));
#define X(field, name) scanner->keys.field = sta_tables_intern_key(tables, name, strlen(name));
    KEY_LIST(X)
#undef X
    if (scanner->keys.worker != STA_NO_CODE)
        scanner->workers.threads = sta_tables_values(tables, scanner->keys.worker);
    return scanner;
}

void sta_record_scanner_destroy(struct sta_record_scanner *scanner)
{
    sta_rows_destroy(scanner->rows);
    sta_task_lists_destroy(scanner->lists);
    sta_record_fini(&scanner->record);
    sta_payload_reader_fini(&scanner->payload);
    sta_buffer_fini(&scanner->texts.text);
    free(scanner);
}

/* ---- recognising */

bool sta_records_begin(const char *bytes, size_t size)
{
    static const char name[] = "name", timestamp[] = "timestamp", phase[] = "phase";
    if (size <= STA_RECORD_LENGTH)
        return false;
    uint64_t length = sta_record_length(bytes);
    const char *payload = bytes + STA_RECORD_LENGTH;
    unsigned first = (unsigned char)*payload;
    size_t seen = (size_t)STA_MIN(length, (uint64_t)(size - STA_RECORD_LENGTH));
    return length <= STA_RECORD_LIMIT && ((first & 0xf0) == 0x80 || first == 0xde || first == 0xdf) &&
           memmem(payload, seen, name, sizeof name - 1) != NULL &&
           memmem(payload, seen, timestamp, sizeof timestamp - 1) != NULL &&
           memmem(payload, seen, phase, sizeof phase - 1) != NULL;
}

/* ---- args */

/* Where the next arg's value is made, and stays: a copy would wait for what was just written. */
static struct sta_json_value *next_value(struct sta_record *record)
{
    STA_GROW(record->args, record->arg_capacity, record->arg_count + 1);
    return &record->args[record->arg_count].value;
}

/* Keeps the next value.  Of repeated keys the last value counts. */
static void keep_value(struct sta_record_scanner *scanner, uint32_t key)
{
    struct sta_record *record = &scanner->record;
    struct sta_record_arg *next = &record->args[record->arg_count];
    if (key == STA_NO_CODE) {
        record->unstored++;
    } else if (scanner->stamps[key] == scanner->stamp) {
        record->args[scanner->place[key]].value = next->value;
    } else {
        scanner->stamps[key] = scanner->stamp;
        scanner->place[key] = (uint32_t)record->arg_count++;
        next->key = key;
    }
}

static void keep_or_count(struct sta_record_scanner *scanner, uint32_t key)
{
    const enum sta_json_kind kind = scanner->record.args[scanner->record.arg_count].value.kind;
    if (kind == STA_JSON_DEEP)
        scanner->record.unstored++;
    else if (kind != STA_JSON_ABSENT)
        keep_value(scanner, key);
}

static void add_value(struct sta_record_scanner *scanner, uint32_t key, const struct sta_message_value *value)
{
    sta_value_of(&scanner->texts, value, next_value(&scanner->record));
    keep_or_count(scanner, key);
}

/* Tasks that a record names.  A text that reads like a list of tasks is that list. */
static void add_list(struct sta_record_scanner *scanner, uint32_t key, const struct sta_message_value *value)
{
    struct sta_json_value *next = next_value(&scanner->record);
    if (!sta_task_lists_take(scanner->lists, key, value, next)) {
        sta_value_of(&scanner->texts, value, next);
        struct sta_json_value placed = *next;
        uint32_t code;
        sta_value_place(&scanner->texts, &placed);
        if ((placed.kind == STA_JSON_STRING || placed.kind == STA_JSON_NESTED) &&
            sta_task_lists_from_text(scanner->lists, key, &placed, &code))
            *next = (struct sta_json_value){.kind = STA_JSON_CODE, .integer = code};
    }
    keep_or_count(scanner, key);
}

static void add_number(struct sta_record_scanner *scanner, uint32_t key, double number)
{
    *next_value(&scanner->record) = (struct sta_json_value){.kind = STA_JSON_DOUBLE, .number = number};
    keep_value(scanner, key);
}

static void add_code(struct sta_record_scanner *scanner, uint32_t key, uint32_t code)
{
    *next_value(&scanner->record) = (struct sta_json_value){.kind = STA_JSON_CODE, .integer = code};
    keep_value(scanner, key);
}

/* What only a Compute record has: it is of no use without. */
struct task {
    const struct sta_message_value *key, *function; /* NULL: missing; the last of repeated ones */
};

/* A text that came again where it stood before is known by its code from now on. */
static void learn_text(struct sta_record_scanner *scanner, const struct sta_payload_pair *pair)
{
    struct sta_json_value value = scanner->record.args[scanner->record.arg_count - 1].value;
    int64_t integer;
    sta_value_place(&scanner->texts, &value);
    if (value.kind == STA_JSON_NESTED ||
        (value.kind == STA_JSON_STRING && !sta_parse_int(value.text, value.length, &integer)))
        pair->known->last.code = sta_dictionary_intern(sta_tables_values(scanner->tables, pair->known->code),
                                                       value.text, value.length);
}

/* What is neither of the task nor known. */
static void add_arg(struct sta_record_scanner *scanner, const struct sta_payload_pair *pair, uint32_t key,
                    enum sta_arg_role role)
{
    const size_t before = scanner->record.arg_count;
    const enum sta_message_type type = pair->value.type;
    if (role == STA_ROLE_LIST) {
        add_list(scanner, key, &pair->value);
        return;
    }
    add_value(scanner, key, &pair->value);
    const bool text = type == STA_MESSAGE_TEXT || type == STA_MESSAGE_ARRAY || type == STA_MESSAGE_MAP;
    if (text && role == STA_ROLE_NONE && pair->known != NULL && scanner->record.arg_count > before &&
        !scanner->texts.repaired && sta_payload_came_twice(pair))
        learn_text(scanner, pair);
}

static struct task add_args(struct sta_record_scanner *scanner, const struct sta_payload *members,
                            enum sta_record_kind kind)
{
    struct task task = {0};
    for (size_t i = 0; i < members->pair_count; i++) {
        const struct sta_payload_pair *pair = &members->pairs[i];
        struct sta_payload_key other;
        if (pair->code != STA_NO_CODE) {
            add_code(scanner, pair->known->code, pair->code);
            continue;
        }
        if (pair->known == NULL)
            other = sta_payload_look_up(&scanner->payload, scanner->tables, kind, i, &pair->key);
        const struct sta_payload_key *key = pair->known != NULL ? pair->known : &other;
        if (key->role == STA_ROLE_TASK)
            task.key = &pair->value;
        if (key->role == STA_ROLE_FUNCTION && kind == STA_KIND_COMPUTE) {
            task.function = &pair->value; /* it is the event's name */
            continue;
        }
        bool managed = key->role == STA_ROLE_SIZE && kind == STA_KIND_MEMORY; /* not the size of a result */
        add_arg(scanner, pair, managed ? scanner->keys.managed : key->code, key->role);
    }
    return task;
}

/* ---- who and when */

static struct sta_time split_time(int64_t ns)
{
    int64_t us = ns / 1000 - (ns % 1000 < 0);
    return (struct sta_time){.us = us, .ns = (uint16_t)(ns - us * 1000)};
}

/* Reads the times of a record.  Return: NULL, or why they are none. */
static const char *set_times(struct sta_record_scanner *scanner, const struct sta_payload *members,
                             enum sta_record_kind kind)
{
    struct sta_record *record = &scanner->record;
    double timestamp, duration = 0;
    if (!sta_number_of(&members->timestamp, &timestamp))
        return members->timestamp.type == STA_MESSAGE_ABSENT ? "timestamp is missing"
                                                             : "timestamp is not a number";
    if (kind == STA_KIND_COMPUTE && !sta_number_of(&members->duration, &duration))
        return members->duration.type == STA_MESSAGE_ABSENT ? "duration is missing"
                                                            : "duration is not a number";
    if (duration < 0)
        return "duration is negative";
    if (fabs(timestamp) * 1e9 > NANOSECONDS_LIMIT / 2 || duration * 1e9 > NANOSECONDS_LIMIT / 2)
        return "timestamp or duration is out of range";
    int64_t end = (int64_t)rint(timestamp * 1e9), ns = (int64_t)rint(duration * 1e9);
    record->timed = true;
    record->ts = split_time(end - ns);
    record->dur = split_time(ns);
    add_number(scanner, scanner->keys.timestamp, timestamp);
    if (kind == STA_KIND_COMPUTE)
        add_number(scanner, scanner->keys.duration, duration);
    return NULL;
}

static void set_worker(struct sta_record_scanner *scanner, const struct sta_known_worker *worker,
                       const struct sta_message_value *host)
{
    *next_value(&scanner->record) =
        (struct sta_json_value){.kind = STA_JSON_STRING, .text = host->bytes, .length = host->count};
    keep_value(scanner, scanner->keys.hostname);
    add_code(scanner, scanner->keys.worker, worker->code);
}

static void set_other_worker(struct sta_record_scanner *scanner, const struct sta_payload *members)
{
    static const struct sta_message_value zero = {.type = STA_MESSAGE_WHOLE};
    const struct sta_message_value *host = &members->process_id;
    add_value(scanner, scanner->keys.hostname, host->type != STA_MESSAGE_ABSENT ? host : &zero);
    add_value(scanner, scanner->keys.worker, &members->thread_id);
}

static void set_place(struct sta_record_scanner *scanner, const struct sta_payload *members, uint64_t number)
{
    struct sta_record *record = &scanner->record;
    const struct sta_known_worker *known =
        sta_know_worker(&scanner->workers, &members->process_id, &members->thread_id);
    struct sta_json_value id = {
        .kind = STA_JSON_INT,
        .integer =
            known != NULL ? known->number : sta_worker_number(&members->process_id, &members->thread_id)};
    if (id.integer == STA_NO_ID)
        id.kind = STA_JSON_ABSENT;
    record->fields[STA_FIELD_pid] = record->fields[STA_FIELD_tid] = id;
    if (known != NULL)
        set_worker(scanner, known, &members->process_id);
    else
        set_other_worker(scanner, members);
    *next_value(record) = (struct sta_json_value){.kind = STA_JSON_INT, .integer = (int64_t)number};
    keep_value(scanner, scanner->keys.record);
}

/* ---- records */

static void place_texts(struct sta_record_scanner *scanner)
{
    struct sta_record *record = &scanner->record;
    if (scanner->texts.text.size == 0 && !scanner->texts.text.failed) /* all are where the payload has them */
        return;
    sta_value_place(&scanner->texts, &record->fields[STA_FIELD_name]);
    for (size_t i = 0; i < record->arg_count; i++)
        sta_value_place(&scanner->texts, &record->args[i].value);
}

static void begin_record(struct sta_record_scanner *scanner)
{
    sta_record_clear(&scanner->record);
    scanner->stamp++;
    sta_payload_clear_buffer(&scanner->texts.text);
    scanner->texts.repaired = false;
}

/* Return: NULL, or what is missing. */
static const char *set_task(struct sta_record_scanner *scanner, const struct task *task)
{
    if (task->key == NULL || task->key->type != STA_MESSAGE_TEXT)
        return "args.key is missing or no text";
    if (task->function == NULL || task->function->type != STA_MESSAGE_TEXT)
        return "args.name is missing or no text";
    sta_value_of(&scanner->texts, task->function, &scanner->record.fields[STA_FIELD_name]);
    return NULL;
}

static bool has_keys(const struct layout *layout, const struct sta_record *record)
{
    size_t i = 0;
    if (layout->count != record->arg_count)
        return false;
    while (i < layout->count && layout->keys[i] == record->args[i].key)
        i++;
    return i == layout->count;
}

/* The layout of the record, or a new one in place of that of its kind. */
static void set_plan(struct sta_record_scanner *scanner, enum sta_record_kind kind)
{
    struct layout *layout = &scanner->layouts[kind];
    struct sta_record *record = &scanner->record;
    if (record->arg_count > STA_LAYOUT_ITEMS)
        return;
    if (!has_keys(layout, record)) {
        for (size_t i = 0; i < record->arg_count; i++)
            layout->keys[i] = record->args[i].key;
        layout->count = record->arg_count;
        layout->plan.known = false;
    }
    record->plan = &layout->plan;
    const struct sta_json_value *name = &record->fields[STA_FIELD_name];
    if (layout->plan.known && kind == STA_KIND_COMPUTE) /* the only one whose name is not that of the kind */
        layout->plan.name = sta_dictionary_cache_intern(&scanner->functions, name->text, name->length);
}

/* An event of the kind's name and category. */
static void set_kind(struct sta_record *record, enum sta_record_kind kind)
{
#define TEXT(literal)                                                                                        \
    {                                                                                                        \
        .kind = STA_JSON_STRING, .text = (literal), .length = sizeof(literal) - 1                            \
    }
#define X(NAME, name, category) {TEXT(name), TEXT(category)},
    static const struct sta_json_value kinds[][2] = {STA_RECORD_KINDS(X)}, event = TEXT("X");
#undef X
#undef TEXT
    record->fields[STA_FIELD_name] = kinds[kind][0];
    record->fields[STA_FIELD_cat] = kinds[kind][1];
    record->fields[STA_FIELD_ph] = event;
}

/* Makes the record of an event of a kind that is kept.  Return: NULL, or why it is damaged. */
static const char *fill_record(struct sta_record_scanner *scanner, const struct sta_payload *members,
                               enum sta_record_kind kind, uint64_t number)
{
    struct sta_record *record = &scanner->record;
    begin_record(scanner);
    const struct task task = add_args(scanner, members, kind);
    const char *reason = set_times(scanner, members, kind);
    set_kind(record, kind);
    if (reason == NULL && kind == STA_KIND_COMPUTE)
        reason = set_task(scanner, &task);
    set_place(scanner, members, number);
    place_texts(scanner);
    if (reason == NULL)
        set_plan(scanner, kind);
    record->unstored += members->unknown;
    record->repaired = scanner->texts.repaired;
    return scanner->texts.text.failed ? "no memory for its texts" : reason;
}

/* The first bytes, those that are no ASCII characters as points. */
static void note(struct sta_line_notes *notes, const struct span *span, const char *reason)
{
    char text[EXCERPT];
    size_t size = STA_MIN(span->size, sizeof text);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(span->payload[i] >= ' ' && span->payload[i] < 0x7f ? span->payload[i] : '.');
    sta_line_notes_add(notes, span->number, span->offset, reason, text, size);
}

static const char *take_record(struct sta_record_scanner *scanner, const struct span *span,
                               struct sta_batch *batch, struct sta_chunk_outcome *outcome)
{
    struct sta_payload members;
    const char *reason = sta_payload_read(&scanner->payload, span->payload, span->size, &members);
    if (reason != NULL)
        return reason;
    enum sta_record_kind kind = sta_payload_kind(&members);
    if (kind == STA_KIND_OTHER) {
        outcome->counts.other++;
        return NULL;
    }
    reason = fill_record(scanner, &members, kind, span->number);
    if (reason != NULL)
        return reason;
    if (sta_rows_add(scanner->rows, &scanner->record, span->number, batch, &reason) != STA_RECORD_EVENT)
        return reason;
    sta_task_lists_place(scanner->lists, &scanner->record, scanner->rows, batch);
    sta_task_lists_flush(scanner->lists, batch, false);
    outcome->counts.events += kind == STA_KIND_COMPUTE;
    outcome->counts.counters += kind != STA_KIND_COMPUTE;
    outcome->counts.unstored_args += scanner->record.unstored;
    if (scanner->record.repaired) {
        outcome->counts.repaired++;
        note(&outcome->repaired, span, "bytes that are not UTF-8");
    }
    return NULL;
}

void sta_records_scan(struct sta_record_scanner *scanner, const struct sta_chunk_text *chunk,
                      const char *path, struct sta_batch *batch, struct sta_chunk_outcome *outcome)
{
    uint64_t number = chunk->first_line;
    sta_rows_begin(scanner->rows, batch, path);
    for (size_t at = 0; at < chunk->size; number++) {
        size_t size = (size_t)sta_record_length(chunk->bytes + at);
        struct span span = {chunk->bytes + at + STA_RECORD_LENGTH, size, number, chunk->offset + at};
        outcome->counts.lines++;
        const char *reason = take_record(scanner, &span, batch, outcome);
        if (reason != NULL) {
            outcome->counts.malformed++;
            note(&outcome->malformed, &span, reason);
        }
        at += STA_RECORD_LENGTH + size;
    }
    sta_task_lists_flush(scanner->lists, batch, true);
    sta_rows_end(scanner->rows, batch);
}
