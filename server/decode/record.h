/* record.h - one line's members, before they become a row (private to decode).
 *
 * Both ways of reading a line, the template match and the full parser, fill the same record, and one
 * function turns records into rows: so the two can differ only in which lines they take. */
#ifndef STA_DECODE_RECORD_H
#define STA_DECODE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/event.h"

enum sta_json_kind {
    STA_JSON_ABSENT,
    STA_JSON_NULL,
    STA_JSON_BOOL,   /* integer is 0 or 1 */
    STA_JSON_INT,    /* an integer that fits int64; text is its digits as written, NULL: of a binary source */
    STA_JSON_BIG,    /* any other integer; text is its digits as written */
    STA_JSON_NUMBER, /* a number with a fraction or an exponent; text as written */
    STA_JSON_DOUBLE, /* `number`, finite: of a binary source */
    STA_JSON_STRING, /* text is the decoded content */
    STA_JSON_NESTED, /* text is the value re-written compactly */
    STA_JSON_CODE,   /* a text of its key by its code, integer: of a binary source */
    STA_JSON_LATER,  /* a text whose code is set once the row is there: of a binary source */
    STA_JSON_DEEP    /* nested deeper than STA_JSON_DEPTH: valid, not re-written */
};

/* The text belongs to the line or to the parser's scratch memory, and lasts until the next line. */
struct sta_json_value {
    enum sta_json_kind kind;
    uint32_t length;
    const char *text;
    union {
        int64_t integer;
        double number;
    };
};

/* X(field, key): the top-level members that mean something. */
#define STA_RECORD_FIELDS(X) X(name) X(cat) X(ph) X(pid) X(tid) X(ts) X(dur)

enum sta_record_field {
#define X(field) STA_FIELD_##field,
    STA_RECORD_FIELDS(X)
#undef X
        STA_FIELD_COUNT,
    STA_FIELD_IGNORED = STA_FIELD_COUNT,
    STA_FIELD_ARGS /* one of args: which key, says its code */
};

/* args keys that have a meaning of their own; their codes in the key table differ from trace to trace. */
#define STA_RESERVED_KEYS(X) X(hhash) X(hostname) X(fhash) X(fname) X(filename) X(name) X(value)

enum sta_reserved_key {
#define X(key) STA_RESERVED_##key,
    STA_RESERVED_KEYS(X)
#undef X
        STA_RESERVED_COUNT
};

struct sta_record_arg {
    uint32_t key; /* code in the tables' keys; STA_NO_CODE: past the limit, not stored */
    struct sta_json_value value;
};

#define STA_NO_ARG UINT32_MAX
#define STA_LAYOUT_ITEMS 48 /* values of a line that a template can have */

/* What the events of one template have in common, worked out for the first of them. */
struct sta_event_plan {
    bool known;         /* false: not worked out yet */
    uint32_t name, cat; /* codes */
    struct sta_referring_arg {
        uint32_t arg; /* which of the record's args, or STA_NO_ARG */
        enum sta_reference kind;
    } file, host;
    unsigned stored_count; /* the other args */
    struct sta_stored_arg {
        uint16_t arg;    /* which of the record's */
        uint16_t column; /* of the batch */
    } stored[STA_LAYOUT_ITEMS];
};

/* A time as microseconds and 0..999 nanoseconds above it. */
struct sta_time {
    int64_t us;
    uint16_t ns;
};

struct sta_template_path;

struct sta_record {
    struct sta_json_value fields[STA_FIELD_COUNT + 1]; /* the last is of all that are ignored */
    struct sta_record_arg *args;                       /* each key once */
    size_t arg_count, arg_capacity;
    /* Where the template's plan is kept; NULL: it is not known.  The fields name, cat and ph of an
     * event whose plan is known are not filled. */
    struct sta_event_plan *plan;
    struct sta_template_path
        *path;  /* that the line followed: its values are there, and only there; else NULL */
    bool timed; /* ts and dur are here, and not among the fields */
    struct sta_time ts, dur;
    uint64_t unstored; /* args whose key is past the limit, or that are nested too deep */
    bool repaired;     /* control characters or bytes that are not UTF-8 in a string */
};

/** Index of a top-level key among the fields; STA_FIELD_IGNORED if it is none, STA_FIELD_ARGS for "args". */
enum sta_record_field sta_record_field_of(const char *key, size_t length);
void sta_record_clear(struct sta_record *record);
void sta_record_fini(struct sta_record *record);

#endif
