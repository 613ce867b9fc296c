/* Strict JSON: strings with their escapes, numbers, literals, and nested values re-written compactly. */
#include "decode/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/number.h"
#include "decode/bytes.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

bool sta_json_fail(struct sta_json_text *text, const char *reason)
{
    if (text->reason == NULL)
        text->reason = reason;
    return false;
}

void sta_json_skip_blanks(struct sta_json_text *text)
{
    while (text->at < text->end &&
           (*text->at == ' ' || *text->at == '\t' || *text->at == '\r' || *text->at == '\n'))
        text->at++;
}

/* ---- strings */

static bool hex4(struct sta_json_text *text, unsigned *unit)
{
    *unit = 0;
    if (text->end - text->at < 4)
        return sta_json_fail(text, "cut off inside a string");
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)*text->at++;
        unsigned lower = c | 0x20u;
        if (c >= '0' && c <= '9')
            *unit = *unit * 16 + (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            *unit = *unit * 16 + (lower - 'a' + 10);
        else
            return sta_json_fail(text, "bad escape");
    }
    return true;
}

static char *put_code_point(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* After "\u": a code point, from one unit or a pair; half a pair becomes U+FFFD. */
static bool unicode_escape(struct sta_json_text *text, unsigned *code)
{
    unsigned low;
    if (!hex4(text, code))
        return false;
    if (*code < 0xd800 || *code > 0xdfff)
        return true;
    bool pair = *code < 0xdc00 && text->end - text->at >= 6 && text->at[0] == '\\' && text->at[1] == 'u';
    if (pair) {
        const char *before = text->at;
        text->at += 2;
        if (!hex4(text, &low))
            return false;
        if (low >= 0xdc00 && low <= 0xdfff) {
            *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
            return true;
        }
        text->at = before;
    }
    *code = 0xfffd;
    text->repaired = true;
    return true;
}

/* After a backslash.  Writes at most 4 bytes. */
static char *escape(struct sta_json_text *text, char *out)
{
    static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    unsigned code;
    if (text->at == text->end)
        return sta_json_fail(text, "cut off inside a string"), NULL;
    char c = *text->at++;
    for (const char *pair = plain; *pair != '\0'; pair += 2) {
        if (*pair == c) {
            *out++ = pair[1];
            return out;
        }
    }
    if (c != 'u')
        return sta_json_fail(text, "bad escape"), NULL;
    return unicode_escape(text, &code) ? put_code_point(out, code) : NULL;
}

/* How many bytes at a place that is not valid UTF-8 become one U+FFFD: the longest part that could have begun
 * a character. */
static size_t invalid_part(const unsigned char *at, size_t left)
{
    unsigned lead = at[0];
    size_t length = lead >= 0xf0 && lead <= 0xf4  ? 4
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                                                  : 1;
    unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    size_t size = 1;
    while (size < length && size < left && at[size] >= (size == 1 ? low : 0x80) &&
           at[size] <= (size == 1 ? high : 0xbf))
        size++;
    return size;
}

/* A run of bytes that are not ASCII. */
static char *not_ascii(struct sta_json_text *text, char *out)
{
    const char *run = text->at;
    while (run < text->end && (unsigned char)*run >= 0x80)
        run++;
    while (text->at < run) {
        size_t valid = sta_utf8_valid_prefix(text->at, (size_t)(run - text->at));
        memcpy(out, text->at, valid);
        out += valid;
        text->at += valid;
        if (text->at == run)
            break;
        memcpy(out, REPLACEMENT, 3);
        out += 3;
        text->at += invalid_part((const unsigned char *)text->at, (size_t)(run - text->at));
        text->repaired = true;
    }
    return out;
}

size_t sta_utf8_repair(const char *bytes, size_t size, char *out)
{
    struct sta_json_text text = {.at = bytes, .end = bytes + size};
    char *at = out;
    while (text.at < text.end) {
        if ((unsigned char)*text.at < 0x80)
            *at++ = *text.at++;
        else
            at = not_ascii(&text, at);
    }
    return (size_t)(at - out);
}

/* The rest of a string that holds something else than plain ASCII; @plain bytes of it have been passed.  A
 * byte gives at most three. */
static bool decode_string(struct sta_json_text *text, const char *begin, const char **content,
                          uint32_t *length)
{
    const struct sta_byte_kernels *kernels = sta_byte_kernels();
    const char *quote = memchr(text->at, '"', (size_t)(text->end - text->at));
    while (quote != NULL && quote[-1] == '\\')
        quote = memchr(quote + 1, '"', (size_t)(text->end - quote - 1));
    size_t most = (size_t)((quote ? quote : text->end) - begin);
    /* An escaped backslash before the closing quote makes the prediction too long, never too short. */
    char *out = sta_arena_alloc(text->arena, most * 3 + 8, 1);
    const char *first = out;
    const char *plain = begin;
    for (;;) {
        const char *stop = kernels->string_end(plain, text->end);
        memcpy(out, plain, (size_t)(stop - plain));
        out += stop - plain;
        text->at = stop;
        if (stop == text->end)
            return sta_json_fail(text, "cut off inside a string");
        unsigned char c = (unsigned char)*stop;
        if (c == '"')
            break;
        if (c == '\\') {
            text->at++;
            out = escape(text, out);
            if (out == NULL)
                return false;
        } else if (c < 0x20) {
            *out++ = *text->at++;
            text->repaired = true;
        } else {
            out = not_ascii(text, out);
        }
        plain = text->at;
    }
    text->at++;
    *content = first;
    *length = (uint32_t)(out - first);
    return true;
}

bool sta_json_string(struct sta_json_text *text, const char **content, uint32_t *length)
{
    const char *begin = text->at + 1;
    const char *stop = sta_byte_kernels()->string_end(begin, text->end);
    text->at = stop;
    if (stop == text->end)
        return sta_json_fail(text, "cut off inside a string");
    if (*stop != '"')
        return decode_string(text, begin, content, length);
    text->at = stop + 1;
    *content = begin;
    *length = (uint32_t)(stop - begin);
    return true;
}

/* ---- scalars */

bool sta_json_is_integer(const char *number, size_t length)
{
    size_t first = length > 0 && number[0] == '-' ? 1 : 0;
    bool digits = length > first && (number[first] != '0' || length == first + 1);
    for (size_t i = first; i < length && digits; i++)
        digits = number[i] >= '0' && number[i] <= '9';
    return digits;
}

bool sta_json_classify_number(const char *number, size_t length, struct sta_json_value *value)
{
    double unused = 0;
    value->text = number;
    value->length = (uint32_t)length;
    value->kind = STA_JSON_INT;
    if (sta_parse_int(number, length, &value->integer))
        return true;
    value->kind = sta_json_is_integer(number, length) ? STA_JSON_BIG : STA_JSON_NUMBER;
    return value->kind == STA_JSON_BIG || sta_parse_double(number, length, &unused) || isinf(unused);
}

static bool number(struct sta_json_text *text, struct sta_json_value *value)
{
    const char *begin = text->at;
    while (text->at < text->end &&
           (strchr("+-.eE", *text->at) != NULL ? *text->at != '\0' : *text->at >= '0' && *text->at <= '9'))
        text->at++;
    if (sta_json_classify_number(begin, (size_t)(text->at - begin), value))
        return true;
    return sta_json_fail(text, text->at == text->end ? "cut off inside a number" : "bad number");
}

static bool literal(struct sta_json_text *text, const char *word, enum sta_json_kind kind, int64_t integer,
                    struct sta_json_value *value)
{
    size_t length = strlen(word);
    size_t left = (size_t)(text->end - text->at);
    if (left < length && memcmp(text->at, word, left) == 0)
        return sta_json_fail(text, "cut off inside a word");
    if (left < length || memcmp(text->at, word, length) != 0)
        return sta_json_fail(text, "unexpected character");
    *value =
        (struct sta_json_value){.kind = kind, .integer = integer, .text = word, .length = (uint32_t)length};
    text->at += length;
    return true;
}

static bool scalar(struct sta_json_text *text, struct sta_json_value *value)
{
    switch (*text->at) {
    case '"':
        value->kind = STA_JSON_STRING;
        return sta_json_string(text, &value->text, &value->length);
    case 't':
        return literal(text, "true", STA_JSON_BOOL, 1, value);
    case 'f':
        return literal(text, "false", STA_JSON_BOOL, 0, value);
    case 'n':
        return literal(text, "null", STA_JSON_NULL, 0, value);
    case '-':
    case '0' ... '9':
        return number(text, value);
    default:
        return sta_json_fail(text, "unexpected character");
    }
}

/* ---- nested values, without recursion */

static void put_scalar(struct sta_buffer *out, const struct sta_json_value *value)
{
    double number;
    if (value->kind == STA_JSON_STRING)
        sta_put_json_string(out, value->text, value->length);
    else if (value->kind == STA_JSON_NUMBER && sta_parse_double(value->text, value->length, &number))
        sta_put_double(out, number);
    else if (value->kind == STA_JSON_INT)
        sta_put_int(out, value->integer);
    else
        sta_put(out, value->text, value->length);
}

/* The containers that are open, outermost first: of which a buffer holds those past STA_JSON_DEPTH. */
struct nesting {
    bool object[STA_JSON_DEPTH];
    struct sta_buffer deeper;
    size_t depth;
    bool deep; /* went past STA_JSON_DEPTH: what has been re-written is of no use */
};

static void open_container(struct sta_json_text *text, struct nesting *nesting, struct sta_buffer *out)
{
    bool object = *text->at == '{';
    if (nesting->depth < STA_JSON_DEPTH) {
        nesting->object[nesting->depth] = object;
    } else {
        sta_put_char(&nesting->deeper, (char)object);
        nesting->deep = true;
    }
    nesting->depth++;
    sta_put_char(out, *text->at++);
}

static bool is_in_object(const struct nesting *nesting)
{
    return nesting->depth <= STA_JSON_DEPTH ? nesting->object[nesting->depth - 1]
                                            : nesting->deeper.data[nesting->deeper.size - 1] != 0;
}

static void close_container(struct nesting *nesting)
{
    if (nesting->depth-- > STA_JSON_DEPTH)
        nesting->deeper.size--;
}

static bool key_and_colon(struct sta_json_text *text, struct sta_buffer *out)
{
    struct sta_json_value key = {.kind = STA_JSON_STRING};
    sta_json_skip_blanks(text);
    if (text->at == text->end)
        return sta_json_fail(text, "cut off inside an object");
    if (*text->at != '"')
        return sta_json_fail(text, "a key is no string");
    if (!sta_json_string(text, &key.text, &key.length))
        return false;
    put_scalar(out, &key);
    sta_json_skip_blanks(text);
    if (text->at == text->end || *text->at != ':')
        return sta_json_fail(text, text->at == text->end ? "cut off after a key" : "no colon after a key");
    sta_put_char(out, *text->at++);
    return true;
}

/* After a value: closes what ends here.  Return: whether another value follows, or all is closed; false on a
 * fault. */
static bool after_value(struct sta_json_text *text, struct nesting *nesting, struct sta_buffer *out)
{
    while (nesting->depth > 0) {
        sta_json_skip_blanks(text);
        if (text->at == text->end)
            return sta_json_fail(text, "cut off inside a nested value");
        bool object = is_in_object(nesting);
        char c = *text->at;
        if (c != ',' && c != (object ? '}' : ']'))
            return sta_json_fail(text, "no comma between values");
        sta_put_char(out, *text->at++);
        if (c == ',')
            return !object || key_and_colon(text, out);
        close_container(nesting);
    }
    return true;
}

/* An empty container closes at once; of an object the first key is read. */
static bool begin_container(struct sta_json_text *text, struct nesting *nesting, struct sta_buffer *out,
                            bool *closed)
{
    open_container(text, nesting, out);
    if (nesting->deeper.failed)
        return sta_json_fail(text, "too large a nested value");
    bool object = is_in_object(nesting);
    sta_json_skip_blanks(text);
    *closed = text->at < text->end && *text->at == (object ? '}' : ']');
    if (!*closed)
        return !object || key_and_colon(text, out);
    sta_put_char(out, *text->at++);
    close_container(nesting);
    return true;
}

static bool rewrite(struct sta_json_text *text, struct nesting *nesting, struct sta_buffer *out)
{
    struct sta_json_value value;
    do {
        sta_json_skip_blanks(text);
        if (text->at == text->end)
            return sta_json_fail(text, "cut off inside a nested value");
        bool ended = true;
        if (*text->at == '{' || *text->at == '[') {
            if (!begin_container(text, nesting, out, &ended))
                return false;
        } else if (scalar(text, &value)) {
            put_scalar(out, &value);
        } else {
            return false;
        }
        if (ended && !after_value(text, nesting, out))
            return false;
    } while (nesting->depth > 0);
    return true;
}

static bool nested(struct sta_json_text *text, struct sta_json_value *value)
{
    struct sta_buffer out = {0};
    struct nesting nesting;
    nesting.deeper = (struct sta_buffer){0};
    nesting.depth = 0;
    nesting.deep = false;
    bool good = rewrite(text, &nesting, &out) && !out.failed;
    if (good && nesting.deep)
        *value = (struct sta_json_value){.kind = STA_JSON_DEEP, .text = ""};
    else if (good)
        *value = (struct sta_json_value){.kind = STA_JSON_NESTED,
                                         .text = sta_arena_copy(text->arena, out.data, out.size),
                                         .length = (uint32_t)out.size};
    sta_buffer_fini(&nesting.deeper);
    sta_buffer_fini(&out);
    return good || sta_json_fail(text, "too large a nested value");
}

bool sta_json_value(struct sta_json_text *text, struct sta_json_value *value)
{
    sta_json_skip_blanks(text);
    if (text->at == text->end)
        return sta_json_fail(text, "cut off before a value");
    return *text->at == '{' || *text->at == '[' ? nested(text, value) : scalar(text, value);
}

const char *sta_json_as_text(const struct sta_json_value *value, uint32_t *length,
                             char buffer[STA_DOUBLE_TEXT])
{
    double number;
    *length = value->length;
    switch (value->kind) {
    case STA_JSON_ABSENT:
    case STA_JSON_NULL:
    case STA_JSON_DEEP:
        return NULL;
    case STA_JSON_INT: /* as written: there is one way to write an integer, but for minus zero */
        if (value->text != NULL && value->integer != 0)
            return value->text;
        *length = (uint32_t)sta_format_int(value->integer, buffer);
        return buffer;
    case STA_JSON_NUMBER:
        if (!sta_parse_double(value->text, value->length, &number))
            return value->text;
        *length = (uint32_t)sta_format_double(number, buffer);
        return buffer;
    case STA_JSON_DOUBLE:
        *length = (uint32_t)sta_format_double(value->number, buffer);
        return buffer;
    default:
        return value->text;
    }
}
