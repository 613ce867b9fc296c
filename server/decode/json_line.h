/* json_line.h - the full path: any valid object of a line, strictly, into a record (private to decode). */
#ifndef STA_DECODE_JSON_LINE_H
#define STA_DECODE_JSON_LINE_H

#include "common/memory.h"
#include "decode/json_text.h"
#include "decode/record.h"

/* Where the values of a line stand: what a template is learnt from. */
struct sta_layout_item {
    const char *begin, *end; /* of the value, strings without their quotes */
    enum sta_json_kind kind;
    enum sta_record_field field;
    uint32_t key; /* of an arg: its code */
    uint32_t raw; /* of an arg: its place among the raw args */
    bool hash;    /* only its text matters */
};

struct sta_line_layout {
    const char *begin, *end; /* of the object, with its braces */
    struct sta_layout_item items[STA_LAYOUT_ITEMS];
    size_t count;
    bool plain; /* nothing nested, no escapes, no key twice, not too many */
};

struct sta_line_parser {
    struct sta_tables *tables;
    struct sta_arena arena; /* decoded texts of the present line */
    struct sta_raw_arg {
        const char *key;
        uint32_t key_length;
        struct sta_json_value value;
    } * raw;
    size_t raw_count, raw_capacity;
    uint32_t seen[STA_ARGS_KEYS_LIMIT]; /* by key: 1 + its place in the record's args, valid when the stamp is
                                           this line's */
    uint64_t stamps[STA_ARGS_KEYS_LIMIT], stamp;
    struct sta_line_layout layout;
};

void sta_line_parser_init(struct sta_line_parser *parser, struct sta_tables *tables);
void sta_line_parser_fini(struct sta_line_parser *parser);

/**
 * sta_line_parse - read one object
 * @at: its opening brace; *behind is set to what follows the closing one
 * Return: NULL, or why the line is malformed (static).  The record's texts last until the next call.
 */
const char *sta_line_parse(struct sta_line_parser *parser, const char *at, const char *end,
                           struct sta_record *record, const char **behind);

#endif
