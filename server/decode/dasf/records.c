/* Records: what each is, as a row of the store.
 *
 * A row keeps what its tables need to be computed to the letter: the timestamp and the duration as they were
 * recorded, beside the times in whole nanoseconds, and the record's number in its file. */
#include "decode/dasf/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/memory.h"
#include "common/number.h"
#include "decode/dasf/values.h"
#include "decode/rows.h"

#define EXCERPT 200                  /* characters of a damaged record */
#define PREDICTED 32                 /* args whose keys are looked for where they were the last time */
#define KEPT_TEXT ((size_t)1 << 20)  /* bytes of a buffer that are kept for the next record */
#define NO_WORKER (INT64_C(1) << 32) /* above the numbers of workers: for those without one */
#define NANOSECONDS_LIMIT ((double)STA_TIME_LIMIT * 1000)

/* X(name, category): the records that are kept, and what their rows are */
#define KIND_LIST(X)                                                                                         \
    X(COMPUTE, "Compute", "compute")                                                                         \
    X(MEMORY, "Managed Memory", "memory")                                                                    \
    X(RESOURCE, "Resource Usage", "resource")

enum record_kind {
#define X(NAME, name, category) KIND_##NAME,
    KIND_LIST(X)
#undef X
        KIND_OTHER
};

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

/* The members of a record's map. */
#define MEMBER_LIST(X) X(name) X(timestamp) X(duration) X(phase) X(process_id) X(thread_id) X(args) X(scope)
struct members {
#define X(member) struct sta_message_value member;
    MEMBER_LIST(X)
#undef X
    uint64_t unknown;
    const struct pair *pairs; /* of args, when that is a map */
    size_t pair_count;
};

struct pair {
    struct sta_message_value key, value;
};

struct known_key {
    char text[48];
    uint32_t length, code;
};

struct sta_record_scanner {
    struct sta_tables *tables;
    struct sta_rows *rows;
    struct sta_record record;
    struct sta_buffer pairs; /* of the record's args */
    struct sta_value_texts texts;
    struct keys keys;
    struct known_key predicted[KIND_OTHER][PREDICTED];
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
#define X(field, name) scanner->keys.field = sta_tables_intern_key(tables, name, strlen(name));
    KEY_LIST(X)
#undef X
    return scanner;
}

void sta_record_scanner_destroy(struct sta_record_scanner *scanner)
{
    sta_rows_destroy(scanner->rows);
    sta_record_fini(&scanner->record);
    sta_buffer_fini(&scanner->pairs);
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

/* ---- members */

static inline bool is_text(const struct sta_message_value *value, const char *text)
{
    size_t length = strlen(text);
    return value->type == STA_MESSAGE_TEXT && value->count == length &&
           memcmp(value->bytes, text, length) == 0;
}

/* The last of repeated members counts. */
static struct sta_message_value *member_of(struct members *members, const struct sta_message_value *key)
{
#define X(member)                                                                                            \
    if (is_text(key, #member))                                                                               \
        return &members->member;
    MEMBER_LIST(X)
#undef X
    return NULL;
}

static void clear_kept(struct sta_buffer *buffer)
{
    sta_buffer_clear(buffer);
    if (buffer->capacity > KEPT_TEXT)
        sta_buffer_fini(buffer);
}

static bool read_pairs(struct sta_record_scanner *scanner, struct sta_message *in,
                       struct sta_message_value *args)
{
    clear_kept(&scanner->pairs);
    for (uint32_t i = 0; i < args->count; i++) {
        struct pair *pair = (struct pair *)(void *)sta_buffer_reserve(&scanner->pairs, sizeof *pair);
        if (pair == NULL) {
            in->reason = "no memory for its values";
            return false;
        }
        if (!sta_message_read(in, &pair->key, 2) || !sta_message_read(in, &pair->value, 2))
            return false;
        scanner->pairs.size += sizeof *pair;
    }
    return true;
}

static bool read_member(struct sta_record_scanner *scanner, struct sta_message *in, struct members *members)
{
    struct sta_message_value key, value;
    if (!sta_message_read(in, &key, 1) || !sta_message_next(in, &value))
        return false;
    struct sta_message_value *member = member_of(members, &key);
    members->unknown += member == NULL;
    bool pairs = member == &members->args && value.type == STA_MESSAGE_MAP;
    if (pairs ? !read_pairs(scanner, in, &value)
              : sta_message_nests(&value) && !sta_message_skip(in, &value, 1))
        return false;
    if (member != NULL)
        *member = value;
    return true;
}

/* Reads a payload, which is one map and nothing behind it.  Return: NULL, or why it is damaged. */
static const char *read_members(struct sta_record_scanner *scanner, const struct span *span,
                                struct members *members)
{
    struct sta_message in = {.at = span->payload, .end = span->payload + span->size};
    struct sta_message_value all;
    *members = (struct members){0};
    bool good = sta_message_next(&in, &all);
    bool map = good && all.type == STA_MESSAGE_MAP;
    for (uint32_t i = 0; map && good && i < all.count; i++)
        good = read_member(scanner, &in, members);
    if (good && all.type == STA_MESSAGE_ARRAY)
        good = sta_message_skip(&in, &all, 0);
    if (!good)
        return in.reason;
    if (in.at != in.end)
        return "bytes behind the object";
    if (members->args.type == STA_MESSAGE_MAP) {
        members->pairs = (const struct pair *)(const void *)scanner->pairs.data;
        members->pair_count = members->args.count;
    }
    return map ? NULL : "not a map";
}

/* By its name; one of an unknown phase is none that an analysis reads. */
static enum record_kind kind_of(const struct members *members)
{
    static const char *const phases[] = {"X", "I", "B", "E"};
    bool known = false;
    for (size_t i = 0; i < STA_COUNT_OF(phases); i++)
        known |= is_text(&members->phase, phases[i]);
    if (!known)
        return KIND_OTHER;
#define X(NAME, text, category)                                                                              \
    if (is_text(&members->name, text))                                                                       \
        return KIND_##NAME;
    KIND_LIST(X)
#undef X
    return KIND_OTHER;
}

static const struct sta_message_value *find_arg(const struct members *members, const char *name)
{
    static const struct sta_message_value absent = {.type = STA_MESSAGE_ABSENT};
    const struct sta_message_value *found = &absent;
    for (size_t i = 0; i < members->pair_count; i++)
        if (is_text(&members->pairs[i].key, name))
            found = &members->pairs[i].value;
    return found;
}

/* ---- args */

static void add_value(struct sta_record_scanner *scanner, uint32_t key, struct sta_json_value value)
{
    struct sta_record *record = &scanner->record;
    if (value.kind == STA_JSON_DEEP || (key == STA_NO_CODE && value.kind != STA_JSON_ABSENT))
        record->unstored++;
    if (value.kind == STA_JSON_DEEP || value.kind == STA_JSON_ABSENT || key == STA_NO_CODE)
        return;
    if (scanner->stamps[key] == scanner->stamp) {
        record->args[scanner->place[key]].value = value;
        return;
    }
    scanner->stamps[key] = scanner->stamp;
    scanner->place[key] = (uint32_t)record->arg_count;
    STA_GROW(record->args, record->arg_capacity, record->arg_count + 1);
    record->args[record->arg_count++] = (struct sta_record_arg){key, value};
}

/* The code of an arg's key.  Records of a kind have the same keys in the same order, nearly always. */
static uint32_t key_code(struct sta_record_scanner *scanner, struct known_key *predicted,
                         const struct sta_message_value *key)
{
    bool fits = predicted != NULL && key->count > 0 && key->count <= sizeof predicted->text;
    if (fits && predicted->length == key->count && memcmp(predicted->text, key->bytes, key->count) == 0)
        return predicted->code;
    if (sta_utf8_valid_prefix(key->bytes, key->count) != key->count)
        return STA_NO_CODE;
    uint32_t code = sta_tables_intern_key(scanner->tables, key->bytes, key->count);
    if (fits) {
        memcpy(predicted->text, key->bytes, key->count);
        predicted->length = key->count;
        predicted->code = code;
    }
    return code;
}

static void add_args(struct sta_record_scanner *scanner, const struct members *members, enum record_kind kind)
{
    for (size_t i = 0; i < members->pair_count; i++) {
        const struct pair *pair = &members->pairs[i];
        if (kind == KIND_COMPUTE && is_text(&pair->key, "name"))
            continue; /* it is the event's */
        uint32_t code = STA_NO_CODE;
        if (kind == KIND_MEMORY && is_text(&pair->key, "size")) /* not the size of a result */
            code = scanner->keys.managed;
        else if (pair->key.type == STA_MESSAGE_TEXT)
            code = key_code(scanner, i < PREDICTED ? &scanner->predicted[kind][i] : NULL, &pair->key);
        add_value(scanner, code, sta_value_of(&scanner->texts, &pair->value));
    }
}

/* ---- who and when */

static struct sta_json_value constant(const char *text)
{
    return (struct sta_json_value){.kind = STA_JSON_STRING, .text = text, .length = (uint32_t)strlen(text)};
}

/* The number by which the store tells a host's workers apart: the one behind "worker-HOST-", or one made of
 * the text when it is named otherwise.  Each worker is a process. */
static int64_t worker_number(const struct members *members)
{
    const struct sta_message_value *thread = &members->thread_id, *host = &members->process_id;
    int64_t number;
    if (thread->type == STA_MESSAGE_ABSENT || thread->type == STA_MESSAGE_NIL)
        return STA_NO_ID;
    if (thread->type == STA_MESSAGE_WHOLE)
        return (int64_t)(thread->whole % NO_WORKER);
    if (thread->type != STA_MESSAGE_TEXT)
        return NO_WORKER;
    const char *text = thread->bytes;
    size_t size = thread->count, begin = strlen("worker--");
    begin += host->type == STA_MESSAGE_TEXT ? host->count : size;
    bool usual = size > begin && memcmp(text, "worker-", 7) == 0 &&
                 memcmp(text + 7, host->bytes, host->count) == 0 && text[begin - 1] == '-';
    if (usual && sta_parse_int(text + begin, size - begin, &number) && number >= 0 && number < NO_WORKER)
        return number;
    return NO_WORKER + (int64_t)(XXH3_64bits(text, size) >> 32);
}

static struct sta_time split_time(int64_t ns)
{
    int64_t us = ns / 1000 - (ns % 1000 < 0);
    return (struct sta_time){.us = us, .ns = (uint16_t)(ns - us * 1000)};
}

/* Reads the times of a record.  Return: NULL, or why they are none. */
static const char *set_times(struct sta_record_scanner *scanner, const struct members *members,
                             enum record_kind kind)
{
    struct sta_record *record = &scanner->record;
    double timestamp, duration = 0;
    if (!sta_number_of(&members->timestamp, &timestamp))
        return members->timestamp.type == STA_MESSAGE_ABSENT ? "timestamp is missing"
                                                             : "timestamp is not a number";
    if (kind == KIND_COMPUTE && !sta_number_of(&members->duration, &duration))
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
    add_value(scanner, scanner->keys.timestamp,
              (struct sta_json_value){.kind = STA_JSON_DOUBLE, .number = timestamp});
    if (kind == KIND_COMPUTE)
        add_value(scanner, scanner->keys.duration,
                  (struct sta_json_value){.kind = STA_JSON_DOUBLE, .number = duration});
    return NULL;
}

static void set_place(struct sta_record_scanner *scanner, const struct members *members, uint64_t number)
{
    static const struct sta_message_value zero = {.type = STA_MESSAGE_WHOLE};
    const struct sta_message_value *host = &members->process_id;
    struct sta_record *record = &scanner->record;
    struct sta_json_value id = {.kind = STA_JSON_INT, .integer = worker_number(members)};
    if (id.integer == STA_NO_ID)
        id.kind = STA_JSON_ABSENT;
    record->fields[STA_FIELD_pid] = record->fields[STA_FIELD_tid] = id;
    add_value(scanner, scanner->keys.hostname,
              sta_value_of(&scanner->texts, host->type != STA_MESSAGE_ABSENT ? host : &zero));
    add_value(scanner, scanner->keys.worker, sta_value_of(&scanner->texts, &members->thread_id));
    add_value(scanner, scanner->keys.record,
              (struct sta_json_value){.kind = STA_JSON_INT, .integer = (int64_t)number});
}

/* ---- records */

static void place_texts(struct sta_record_scanner *scanner)
{
    struct sta_record *record = &scanner->record;
    sta_value_place(&scanner->texts, &record->fields[STA_FIELD_name]);
    for (size_t i = 0; i < record->arg_count; i++)
        sta_value_place(&scanner->texts, &record->args[i].value);
}

static void begin_record(struct sta_record_scanner *scanner)
{
    sta_record_clear(&scanner->record);
    scanner->stamp++;
    clear_kept(&scanner->texts.text);
    scanner->texts.repaired = false;
}

/* What only a Compute record has: it is of no use without its key and name.  Return: NULL, or what is
 * missing. */
static const char *set_task(struct sta_record_scanner *scanner, const struct members *members)
{
    const struct sta_message_value *key = find_arg(members, "key"), *name = find_arg(members, "name");
    if (key->type != STA_MESSAGE_TEXT)
        return "args.key is missing or no text";
    if (name->type != STA_MESSAGE_TEXT)
        return "args.name is missing or no text";
    scanner->record.fields[STA_FIELD_name] = sta_value_of(&scanner->texts, name);
    return NULL;
}

/* Makes the record of an event of a kind that is kept.  Return: NULL, or why it is damaged. */
static const char *fill_record(struct sta_record_scanner *scanner, const struct members *members,
                               enum record_kind kind, uint64_t number)
{
#define X(NAME, name, category) {name, category},
    static const char *const kinds[][2] = {KIND_LIST(X)};
#undef X
    struct sta_record *record = &scanner->record;
    begin_record(scanner);
    add_args(scanner, members, kind);
    const char *reason = set_times(scanner, members, kind);
    record->fields[STA_FIELD_name] = constant(kinds[kind][0]);
    record->fields[STA_FIELD_cat] = constant(kinds[kind][1]);
    record->fields[STA_FIELD_ph] = constant("X");
    if (reason == NULL && kind == KIND_COMPUTE)
        reason = set_task(scanner, members);
    set_place(scanner, members, number);
    place_texts(scanner);
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
    struct members members;
    const char *reason = read_members(scanner, span, &members);
    if (reason != NULL)
        return reason;
    enum record_kind kind = kind_of(&members);
    if (kind == KIND_OTHER) {
        outcome->counts.other++;
        return NULL;
    }
    reason = fill_record(scanner, &members, kind, span->number);
    if (reason != NULL)
        return reason;
    if (sta_rows_add(scanner->rows, &scanner->record, span->number, batch, &reason) != STA_RECORD_EVENT)
        return reason;
    outcome->counts.events += kind == KIND_COMPUTE;
    outcome->counts.counters += kind != KIND_COMPUTE;
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
    sta_rows_end(scanner->rows, batch);
}
