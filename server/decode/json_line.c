/* The full path: strict, any key order, any spacing; the last of equal keys counts.
 *
 * Keys of args are interned only after the whole object has proved valid, so that a malformed line leaves no
 * trace. */
#include "decode/json_line.h"

#include <stdlib.h>
#include <string.h>

enum sta_record_field sta_record_field_of(const char *key, size_t length)
{
    static const char *const names[] = {
#define X(field) #field,
        STA_RECORD_FIELDS(X)
#undef X
    };
    for (size_t i = 0; i < STA_FIELD_COUNT; i++)
        if (strlen(names[i]) == length && memcmp(names[i], key, length) == 0)
            return (enum sta_record_field)i;
    return length == 4 && memcmp(key, "args", 4) == 0 ? STA_FIELD_ARGS : STA_FIELD_IGNORED;
}

void sta_record_clear(struct sta_record *record)
{
    memset(record->fields, 0, sizeof record->fields);
    record->arg_count = 0;
    record->unstored = 0;
    record->repaired = false;
    record->plan = NULL;
    record->path = NULL;
}

void sta_record_fini(struct sta_record *record)
{
    free(record->args);
    *record = (struct sta_record){0};
}

void sta_line_parser_init(struct sta_line_parser *parser, struct sta_tables *tables)
{
    memset(parser, 0, sizeof *parser);
    parser->tables = tables;
}

void sta_line_parser_fini(struct sta_line_parser *parser)
{
    sta_arena_fini(&parser->arena);
    free(parser->raw);
}

static void note_item(struct sta_line_layout *layout, const char *begin, const char *end,
                      const struct sta_json_value *value, enum sta_record_field field, size_t raw)
{
    bool nested = value->kind == STA_JSON_NESTED || value->kind == STA_JSON_DEEP;
    bool in_place = value->kind == STA_JSON_STRING ? value->text == begin + 1 : !nested;
    if (!in_place || layout->count == STA_LAYOUT_ITEMS) {
        layout->plain = false;
        return;
    }
    bool text = value->kind == STA_JSON_STRING;
    layout->items[layout->count++] = (struct sta_layout_item){.begin = begin + text,
                                                              .end = end - text,
                                                              .kind = value->kind,
                                                              .field = field,
                                                              .raw = (uint32_t)raw,
                                                              .hash = field == STA_FIELD_IGNORED};
}

/* "key" and the colon behind it. */
static bool parse_key(struct sta_json_text *text, const char **key, uint32_t *length)
{
    sta_json_skip_blanks(text);
    if (text->at == text->end)
        return sta_json_fail(text, "cut off inside an object");
    if (*text->at != '"')
        return sta_json_fail(text, "a key is no string");
    if (!sta_json_string(text, key, length))
        return false;
    sta_json_skip_blanks(text);
    if (text->at == text->end || *text->at != ':')
        return sta_json_fail(text, text->at == text->end ? "cut off after a key" : "no colon after a key");
    text->at++;
    sta_json_skip_blanks(text);
    return text->at < text->end || sta_json_fail(text, "cut off before a value");
}

/* Behind a member: true with *more when a comma follows, true without it at the closing brace. */
static bool parse_separator(struct sta_json_text *text, bool *more)
{
    sta_json_skip_blanks(text);
    if (text->at == text->end)
        return sta_json_fail(text, "cut off inside an object");
    *more = *text->at == ',';
    if (!*more && *text->at != '}')
        return sta_json_fail(text, "no comma between members");
    text->at++;
    return true;
}

/* Whether an object is empty; passes its opening brace, and the closing one when it is. */
static bool is_empty_object(struct sta_json_text *text)
{
    text->at++;
    sta_json_skip_blanks(text);
    bool empty = text->at < text->end && *text->at == '}';
    text->at += empty;
    return empty;
}

static bool parse_args(struct sta_line_parser *parser, struct sta_json_text *text)
{
    parser->raw_count = 0;
    bool more = !is_empty_object(text);
    while (more) {
        struct sta_raw_arg arg;
        if (!parse_key(text, &arg.key, &arg.key_length))
            return false;
        const char *begin = text->at;
        if (!sta_json_value(text, &arg.value))
            return false;
        note_item(&parser->layout, begin, text->at, &arg.value, STA_FIELD_ARGS, parser->raw_count);
        STA_GROW(parser->raw, parser->raw_capacity, parser->raw_count + 1);
        parser->raw[parser->raw_count++] = arg;
        if (!parse_separator(text, &more))
            return false;
    }
    return true;
}

static bool parse_member(struct sta_line_parser *parser, struct sta_json_text *text,
                         struct sta_record *record, unsigned *seen)
{
    const char *key;
    uint32_t length;
    struct sta_json_value value;
    if (!parse_key(text, &key, &length))
        return false;
    enum sta_record_field field = sta_record_field_of(key, length);
    if (field != STA_FIELD_IGNORED) {
        parser->layout.plain &= !(*seen >> field & 1);
        *seen |= 1u << field;
    }
    if (field == STA_FIELD_ARGS && *text->at == '{')
        return parse_args(parser, text);
    const char *begin = text->at;
    if (!sta_json_value(text, &value))
        return false;
    if (field == STA_FIELD_ARGS) {
        parser->raw_count = 0; /* no object: as if there were no args */
        parser->layout.plain = false;
        return true;
    }
    note_item(&parser->layout, begin, text->at, &value, field, 0);
    if (field < STA_FIELD_COUNT)
        record->fields[field] = value;
    return true;
}

static bool parse_object(struct sta_line_parser *parser, struct sta_json_text *text,
                         struct sta_record *record)
{
    unsigned seen = 0;
    bool more = !is_empty_object(text);
    while (more)
        if (!parse_member(parser, text, record, &seen) || !parse_separator(text, &more))
            return false;
    return true;
}

/* The event stays without the args that are nested too deep to keep. */
static void drop_deep(struct sta_record *record)
{
    for (size_t i = 0; i < record->arg_count; i++)
        if (record->args[i].value.kind == STA_JSON_DEEP) {
            record->args[i].value.kind = STA_JSON_NULL;
            record->unstored++;
        }
}

/* The raw args, each key once, by code. */
static void resolve_args(struct sta_line_parser *parser, struct sta_record *record)
{
    STA_GROW(record->args, record->arg_capacity, parser->raw_count + 1);
    parser->stamp++;
    for (size_t i = 0; i < parser->raw_count; i++) {
        const struct sta_raw_arg *raw = &parser->raw[i];
        uint32_t key = sta_tables_intern_key(parser->tables, raw->key, raw->key_length);
        if (key == STA_NO_CODE) {
            record->unstored++;
            parser->layout.plain = false;
        } else if (parser->stamps[key] == parser->stamp) {
            record->args[parser->seen[key]].value = raw->value;
            parser->layout.plain = false;
        } else {
            parser->stamps[key] = parser->stamp;
            parser->seen[key] = (uint32_t)record->arg_count;
            record->args[record->arg_count++] = (struct sta_record_arg){key, raw->value};
        }
    }
    drop_deep(record);
}

static void resolve_layout(struct sta_line_parser *parser, const struct sta_record *record)
{
    struct sta_line_layout *layout = &parser->layout;
    for (size_t i = 0; layout->plain && i < layout->count; i++)
        if (layout->items[i].field == STA_FIELD_ARGS) {
            const struct sta_raw_arg *raw = &parser->raw[layout->items[i].raw];
            layout->items[i].key = record->args[layout->items[i].raw].key;
            layout->items[i].hash = raw->key_length == 5 && memcmp(raw->key + 1, "hash", 4) == 0 &&
                                    (raw->key[0] == 'f' || raw->key[0] == 'h');
        }
}

const char *sta_line_parse(struct sta_line_parser *parser, const char *at, const char *end,
                           struct sta_record *record, const char **behind)
{
    struct sta_json_text text = {.at = at, .end = end, .arena = &parser->arena};
    if (parser->arena.head != NULL)
        sta_arena_fini(&parser->arena);
    sta_record_clear(record);
    parser->raw_count = 0;
    parser->layout.begin = at;
    parser->layout.count = 0;
    parser->layout.plain = true;
    if (!parse_object(parser, &text, record))
        return text.reason;
    resolve_args(parser, record);
    resolve_layout(parser, record);
    parser->layout.plain &= !text.repaired;
    parser->layout.end = text.at;
    record->repaired = text.repaired;
    *behind = text.at;
    return NULL;
}
