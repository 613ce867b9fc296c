/* Values of a payload as values of a record.
 *
 * DESIGN.  Most texts stay in the payload.  The others go to a buffer that may move while it grows, so until
 * all are there a value holds the place of its text, plus 1, where an integer would be. */
#include "decode/dasf/values.h"

#include <math.h>
#include <string.h>

#include "common/number.h"
#include "decode/json_text.h"

/* What was appended from there on. */
static struct sta_json_value value_behind(const struct sta_value_texts *texts, size_t from,
                                          enum sta_json_kind kind)
{
    return (struct sta_json_value){
        .kind = kind, .length = (uint32_t)(texts->text.size - from), .integer = (int64_t)from + 1};
}

/* Appends a text, made valid UTF-8. */
static void put_repaired(struct sta_value_texts *texts, const char *bytes, size_t size)
{
    char *buffer = sta_buffer_reserve(&texts->text, 3 * size);
    if (buffer != NULL)
        texts->text.size += sta_utf8_repair(bytes, size, buffer);
    texts->repaired = true;
}

static struct sta_json_value value_of_text(struct sta_value_texts *texts,
                                           const struct sta_message_value *text)
{
    size_t from = texts->text.size;
    if (sta_utf8_valid_prefix(text->bytes, text->count) == text->count)
        return (struct sta_json_value){.kind = STA_JSON_STRING, .text = text->bytes, .length = text->count};
    put_repaired(texts, text->bytes, text->count);
    return value_behind(texts, from, STA_JSON_STRING);
}

static struct sta_json_value value_of_large(struct sta_value_texts *texts, uint64_t number)
{
    size_t from = texts->text.size;
    sta_put_uint(&texts->text, number);
    return value_behind(texts, from, STA_JSON_BIG);
}

/* ---- nested values, as compact JSON */

static void put_value(struct sta_value_texts *texts, struct sta_record_message *in,
                      struct sta_message_value *value);

static void put_text(struct sta_value_texts *texts, const struct sta_message_value *text)
{
    struct sta_buffer valid = {0};
    if (sta_utf8_valid_prefix(text->bytes, text->count) == text->count) {
        sta_put_json_string(&texts->text, text->bytes, text->count);
        return;
    }
    char *buffer = sta_buffer_reserve(&valid, 3 * (size_t)text->count);
    if (buffer != NULL)
        sta_put_json_string(&texts->text, buffer, sta_utf8_repair(text->bytes, text->count, buffer));
    sta_buffer_fini(&valid);
    texts->repaired = true;
}

/* The items of a container were read before, when it was skipped: they can be read again. */
static void put_array(struct sta_value_texts *texts, struct sta_record_message *in, uint32_t count)
{
    struct sta_message_value item;
    sta_put_char(&texts->text, '[');
    for (uint32_t i = 0; i < count && sta_message_next(in, &item); i++) {
        if (i > 0)
            sta_put_char(&texts->text, ',');
        put_value(texts, in, &item);
    }
    sta_put_char(&texts->text, ']');
}

/* JSON knows texts alone as keys: numbers are put in quotes. */
static void put_key(struct sta_value_texts *texts, struct sta_record_message *in,
                    struct sta_message_value *key)
{
    bool text = key->type == STA_MESSAGE_TEXT;
    bool nested = sta_message_nests(key);
    if (!text)
        sta_put_char(&texts->text, '"');
    if (!nested)
        put_value(texts, in, key);
    else
        (void)sta_message_skip(in, key, 0);
    if (!text)
        sta_put_char(&texts->text, '"');
}

static void put_map(struct sta_value_texts *texts, struct sta_record_message *in, uint32_t count)
{
    struct sta_message_value item;
    sta_put_char(&texts->text, '{');
    for (uint32_t i = 0; i < count && sta_message_next(in, &item); i++) {
        if (i > 0)
            sta_put_char(&texts->text, ',');
        put_key(texts, in, &item);
        sta_put_char(&texts->text, ':');
        if (sta_message_next(in, &item))
            put_value(texts, in, &item);
    }
    sta_put_char(&texts->text, '}');
}

static void put_value(struct sta_value_texts *texts, struct sta_record_message *in,
                      struct sta_message_value *value)
{
    switch (value->type) {
    case STA_MESSAGE_BOOL:
        sta_put_text(&texts->text, value->whole ? "true" : "false");
        break;
    case STA_MESSAGE_WHOLE:
        sta_put_uint(&texts->text, value->whole);
        break;
    case STA_MESSAGE_NEGATIVE:
        sta_put_int(&texts->text, value->negative);
        break;
    case STA_MESSAGE_FLOAT:
        sta_put_double(&texts->text, value->number);
        break;
    case STA_MESSAGE_TEXT:
        put_text(texts, value);
        break;
    case STA_MESSAGE_ARRAY:
        put_array(texts, in, value->count);
        break;
    case STA_MESSAGE_MAP:
        put_map(texts, in, value->count);
        break;
    default:
        sta_put_text(&texts->text, "null");
        break;
    }
}

static struct sta_json_value value_of_nested(struct sta_value_texts *texts,
                                             const struct sta_message_value *value)
{
    struct sta_record_message in = {.at = value->bytes, .end = value->end};
    struct sta_message_value nested = *value;
    size_t from = texts->text.size;
    put_value(texts, &in, &nested);
    return value_behind(texts, from, STA_JSON_NESTED);
}

/* ---- any value */

bool sta_number_of(const struct sta_message_value *value, double *number)
{
    switch (value->type) {
    case STA_MESSAGE_WHOLE:
        *number = (double)value->whole;
        return true;
    case STA_MESSAGE_NEGATIVE:
        *number = (double)value->negative;
        return true;
    case STA_MESSAGE_FLOAT:
        *number = value->number;
        return isfinite(*number);
    default:
        return false;
    }
}

void sta_value_of(struct sta_value_texts *texts, const struct sta_message_value *value,
                  struct sta_json_value *out)
{
    *out = (struct sta_json_value){.kind = STA_JSON_DEEP, .text = ""};
    switch (value->type) {
    case STA_MESSAGE_ABSENT:
    case STA_MESSAGE_NIL:
        out->kind = STA_JSON_ABSENT;
        break;
    case STA_MESSAGE_BOOL:
        out->kind = STA_JSON_BOOL;
        out->integer = (int64_t)value->whole;
        break;
    case STA_MESSAGE_WHOLE:
        if (value->whole > INT64_MAX)
            *out = value_of_large(texts, value->whole);
        else
            *out = (struct sta_json_value){.kind = STA_JSON_INT, .integer = (int64_t)value->whole};
        break;
    case STA_MESSAGE_NEGATIVE:
        *out = (struct sta_json_value){.kind = STA_JSON_INT, .integer = value->negative};
        break;
    case STA_MESSAGE_FLOAT:
        if (isfinite(value->number))
            *out = (struct sta_json_value){.kind = STA_JSON_DOUBLE, .number = value->number};
        break;
    case STA_MESSAGE_TEXT:
        *out = value_of_text(texts, value);
        break;
    case STA_MESSAGE_ARRAY:
    case STA_MESSAGE_MAP:
        *out = value_of_nested(texts, value);
        break;
    default:
        break;
    }
}

void sta_value_place(const struct sta_value_texts *texts, struct sta_json_value *value)
{
    bool text =
        value->kind == STA_JSON_STRING || value->kind == STA_JSON_NESTED || value->kind == STA_JSON_BIG;
    if (text && value->text == NULL)
        value->text = value->integer > 0 ? texts->text.data + (value->integer - 1) : "";
}
