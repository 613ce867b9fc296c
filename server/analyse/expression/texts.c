/* Functions of one text.  Each runs once per distinct text of a column, not once per row.
 *
 * The functions lower and upper change ASCII letters; what compares without case (the column cat, and
 * patterns) knows all letters of Unicode. */
#include "analyse/expression/texts.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "common/lower_case.h"
#include "common/number.h"

#define LONGEST_TEXT (16 << 20) /* bytes, as of the lines of a trace */

#define TEXT_FUNCTION(name)                                                                                  \
    void sta_text_##name(const struct sta_text_call *call, struct sta_text text,                             \
                         struct sta_text_scratch *scratch, struct sta_text_result *result,                   \
                         struct sta_error *err)

bool sta_comparison_holds(enum sta_comparison_operator comparison, int order)
{
    switch (comparison) {
    case STA_EQUAL:
        return order == 0;
    case STA_DIFFER:
        return order != 0;
    case STA_LESS:
        return order < 0;
    case STA_LESS_EQUAL:
        return order <= 0;
    case STA_GREATER:
        return order > 0;
    case STA_GREATER_EQUAL:
        break;
    }
    return order >= 0;
}

static char lower_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static char upper_letter(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c & ~0x20) : c;
}

static struct sta_text in_buffer(const struct sta_buffer *buffer)
{
    return (struct sta_text){buffer->size > 0 ? buffer->data : "", (uint32_t)buffer->size};
}

static struct sta_text map_letters(struct sta_text text, char (*map)(char), struct sta_buffer *buffer)
{
    sta_buffer_clear(buffer);
    char *out = sta_buffer_reserve(buffer, text.length + 1);
    if (out == NULL)
        return in_buffer(buffer); /* the failure is seen where the function was applied */
    for (uint32_t i = 0; i < text.length; i++)
        out[i] = map(text.bytes[i]);
    buffer->size = text.length;
    return in_buffer(buffer);
}

struct sta_text sta_text_fold(struct sta_text text, struct sta_buffer *buffer)
{
    sta_buffer_clear(buffer);
    char *out = sta_buffer_reserve(buffer, STA_LOWER_CASE_CAPACITY((size_t)text.length) + 1);
    if (out != NULL)
        buffer->size = sta_lower_case(text.bytes, text.length, out);
    return in_buffer(buffer); /* a failure is seen where the function was applied */
}

/* The text as the call compares it; its constants are folded already. */
static struct sta_text folded(const struct sta_text_call *call, struct sta_text text,
                              struct sta_text_scratch *scratch)
{
    return call->caseless ? sta_text_fold(text, &scratch->buffer) : text;
}

/* ---- tests */

/* Whether a text begins with the call's constant.  Most texts differ from it early. */
static bool begins_with_first(const struct sta_text_call *call, struct sta_text text)
{
    if (text.length < call->first.length)
        return false;
    if (!call->caseless)
        return memcmp(text.bytes, call->first.bytes, call->first.length) == 0;
    for (uint32_t i = 0; i < call->first.length; i++)
        if (lower_letter(text.bytes[i]) != call->first.bytes[i])
            return false;
    return true;
}

TEXT_FUNCTION(compare)
{
    if (call->comparison == STA_EQUAL || call->comparison == STA_DIFFER) {
        bool equal = text.length == call->first.length && begins_with_first(call, text);
        result->holds = equal == (call->comparison == STA_EQUAL);
        return;
    }
    int order = sta_text_order(folded(call, text, scratch), call->first);
    result->holds = sta_comparison_holds(call->comparison, order);
}

TEXT_FUNCTION(in)
{
    struct sta_text wanted = folded(call, text, scratch);
    result->holds = sta_dictionary_find(call->set, wanted.bytes, wanted.length) != STA_NO_CODE;
}

TEXT_FUNCTION(contains)
{
    struct sta_text in = folded(call, text, scratch);
    result->holds = memmem(in.bytes, in.length, call->first.bytes, call->first.length) != NULL;
}

TEXT_FUNCTION(startswith)
{
    result->holds = begins_with_first(call, text);
}

TEXT_FUNCTION(endswith)
{
    struct sta_text in = folded(call, text, scratch);
    uint32_t length = call->first.length;
    result->holds =
        in.length >= length && memcmp(in.bytes + in.length - length, call->first.bytes, length) == 0;
}

static struct sta_matcher *matcher_of(struct sta_text_scratch *scratch)
{
    if (scratch->matcher == NULL)
        scratch->matcher = sta_matcher_create();
    return scratch->matcher;
}

TEXT_FUNCTION(matches)
{
    const size_t *spans;
    int found = sta_pattern_find(call->pattern, matcher_of(scratch), text, 0, false, &spans, err);
    result->holds = found > 0;
    result->failure = STA_MIN(found, 0);
}

/* ---- numbers */

TEXT_FUNCTION(len)
{
    result->integer = (int64_t)sta_utf8_count(text.bytes, text.length);
}

/* Matches one after the other.  Behind an empty match the next may start at the same place if it is not
 * empty, as in Python. */
static int next_match(const struct sta_text_call *call, struct sta_text text,
                      struct sta_text_scratch *scratch, size_t *from, bool *empty, const size_t **spans,
                      struct sta_error *err)
{
    int found = sta_pattern_find(call->pattern, matcher_of(scratch), text, *from, *empty, spans, err);
    if (found > 0) {
        *empty = (*spans)[0] >= (*spans)[1];
        *from = STA_MAX((*spans)[1], *from);
    }
    return found;
}

TEXT_FUNCTION(count)
{
    const size_t *spans;
    size_t from = 0;
    bool empty = false;
    int found;
    result->integer = 0;
    while ((found = next_match(call, text, scratch, &from, &empty, &spans, err)) > 0)
        result->integer++;
    result->failure = found;
}

static size_t skip_digits(struct sta_text text, size_t at)
{
    while (at < text.length && sta_is_digit(text.bytes[at]))
        at++;
    return at;
}

/* [+-]?[0-9]+, leading zeros allowed */
TEXT_FUNCTION(to_int)
{
    size_t at = text.length > 0 && (text.bytes[0] == '+' || text.bytes[0] == '-');
    bool negative = at > 0 && text.bytes[0] == '-';
    result->missing = text.length == at || skip_digits(text, at) != text.length;
    result->integer = 0;
    for (; at < text.length && !result->missing; at++) {
        int digit = text.bytes[at] - '0';
        result->missing =
            __builtin_mul_overflow(result->integer, 10, &result->integer) ||
            __builtin_add_overflow(result->integer, negative ? -digit : digit, &result->integer);
    }
}

/* [+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)? */
static bool is_number(struct sta_text text)
{
    size_t start = text.length > 0 && (text.bytes[0] == '+' || text.bytes[0] == '-');
    size_t at = skip_digits(text, start);
    size_t digits = at - start;
    if (at < text.length && text.bytes[at] == '.') {
        size_t end = skip_digits(text, at + 1);
        digits += end - at - 1;
        at = end;
    }
    if (digits > 0 && at < text.length && (text.bytes[at] | 0x20) == 'e') {
        at++;
        at += at < text.length && (text.bytes[at] == '+' || text.bytes[at] == '-');
        size_t end = skip_digits(text, at);
        if (end == at)
            return false;
        at = end;
    }
    return digits > 0 && at == text.length;
}

TEXT_FUNCTION(to_float)
{
    result->missing = !is_number(text);
    if (result->missing)
        return;
    sta_buffer_clear(&scratch->buffer);
    sta_put(&scratch->buffer, text.bytes, text.length);
    sta_put_char(&scratch->buffer, '\0');
    if (scratch->buffer.failed)
        return;
    result->number = strtod(scratch->buffer.data, NULL);
    result->missing = !isfinite(result->number);
}

/* ---- texts */

TEXT_FUNCTION(lower)
{
    result->text = map_letters(text, lower_letter, &scratch->buffer);
}

TEXT_FUNCTION(upper)
{
    result->text = map_letters(text, upper_letter, &scratch->buffer);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

TEXT_FUNCTION(strip)
{
    while (text.length > 0 && is_blank(text.bytes[0])) {
        text.bytes++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.bytes[text.length - 1]))
        text.length--;
    result->text = text;
}

/* Bytes up to and with the last slash, 0 when there is none. */
static uint32_t through_slash(struct sta_text text)
{
    while (text.length > 0 && text.bytes[text.length - 1] != '/')
        text.length--;
    return text.length;
}

TEXT_FUNCTION(basename)
{
    uint32_t start = through_slash(text);
    result->text = (struct sta_text){text.bytes + start, text.length - start};
}

TEXT_FUNCTION(dirname)
{
    uint32_t end = through_slash(text);
    result->text = (struct sta_text){text.bytes, end > 1 ? end - 1 : end};
}

/* The piece up to the next separator; @text then begins behind that, its bytes NULL after the last piece. */
static struct sta_text cut_piece(struct sta_text *text, struct sta_text separator)
{
    const char *next = memmem(text->bytes, text->length, separator.bytes, separator.length);
    struct sta_text piece = *text;
    if (next == NULL) {
        text->bytes = NULL;
        return piece;
    }
    piece.length = (uint32_t)(next - text->bytes);
    text->bytes = next + separator.length;
    text->length -= piece.length + separator.length;
    return piece;
}

TEXT_FUNCTION(part)
{
    int64_t wanted = call->from;
    if (wanted < 0) {
        struct sta_text rest = text;
        while (rest.bytes != NULL) {
            cut_piece(&rest, call->first);
            wanted++;
        }
    }
    result->missing = wanted < 0;
    for (; !result->missing && wanted >= 0; wanted--) {
        result->missing = text.bytes == NULL;
        if (!result->missing)
            result->text = cut_piece(&text, call->first);
    }
}

static int64_t from_start(int64_t index, int64_t length)
{
    return index < 0 ? STA_MAX(index + length, 0) : STA_MIN(index, length);
}

TEXT_FUNCTION(slice)
{
    int64_t length = (int64_t)sta_utf8_count(text.bytes, text.length);
    int64_t from = from_start(call->from, length);
    int64_t to = call->has_to ? from_start(call->to, length) : length;
    size_t start = sta_utf8_prefix(text.bytes, text.length, (size_t)from);
    size_t end = to > from ? sta_utf8_prefix(text.bytes, text.length, (size_t)to) : start;
    result->text = (struct sta_text){text.bytes + start, (uint32_t)(end - start)};
}

TEXT_FUNCTION(replace)
{
    const size_t *spans;
    struct sta_buffer *out = &scratch->buffer;
    size_t from = 0, copied = 0;
    bool empty = false;
    int found;
    sta_buffer_clear(out);
    while ((found = next_match(call, text, scratch, &from, &empty, &spans, err)) > 0) {
        sta_put(out, text.bytes + copied, spans[0] - copied);
        if (call->replacement != NULL)
            sta_replacement_put(call->replacement, text, spans, out);
        else
            sta_put(out, call->second.bytes, call->second.length);
        copied = spans[1];
    }
    sta_put(out, text.bytes + copied, text.length - copied);
    result->text = in_buffer(out);
    result->failure = found;
}

/* An empty pattern stands before every character and at the end. */
static void weave(struct sta_text text, struct sta_text by, struct sta_buffer *out)
{
    for (uint32_t i = 0; i < text.length; i++) {
        if (((unsigned char)text.bytes[i] & 0xc0) != 0x80)
            sta_put(out, by.bytes, by.length);
        sta_put_char(out, text.bytes[i]);
    }
    sta_put(out, by.bytes, by.length);
}

TEXT_FUNCTION(replace_literal)
{
    struct sta_buffer *out = &scratch->buffer;
    sta_buffer_clear(out);
    if (call->first.length == 0) {
        weave(text, call->second, out);
    } else {
        while (text.bytes != NULL) {
            struct sta_text piece = cut_piece(&text, call->first);
            sta_put(out, piece.bytes, piece.length);
            if (text.bytes != NULL)
                sta_put(out, call->second.bytes, call->second.length);
        }
    }
    result->text = in_buffer(out);
}

TEXT_FUNCTION(extract)
{
    const size_t *spans;
    int found = sta_pattern_find(call->pattern, matcher_of(scratch), text, 0, false, &spans, err);
    result->missing = found <= 0;
    result->failure = STA_MIN(found, 0);
    if (found <= 0)
        return;
    const size_t *span = spans + (sta_pattern_groups(call->pattern) > 0 ? 2 : 0);
    result->missing = span[0] == STA_UNSET;
    if (!result->missing)
        result->text =
            (struct sta_text){text.bytes + span[0], (uint32_t)(STA_MAX(span[1], span[0]) - span[0])};
}

static void join(struct sta_text a, struct sta_text b, struct sta_buffer *out, struct sta_text_result *result)
{
    sta_buffer_clear(out);
    sta_put(out, a.bytes, a.length);
    sta_put(out, b.bytes, b.length);
    result->text = in_buffer(out);
}

TEXT_FUNCTION(append)
{
    join(text, call->first, &scratch->buffer, result);
}

TEXT_FUNCTION(prepend)
{
    join(call->first, text, &scratch->buffer, result);
}

/* Moves a text from one dictionary to another. */
TEXT_FUNCTION(same)
{
    result->text = text;
}

int sta_text_apply(const struct sta_text_call *call, struct sta_text text, struct sta_text_scratch *scratch,
                   struct sta_text_result *result, struct sta_error *err)
{
    call->apply(call, text, scratch, result, err);
    if (result->failure != 0 || !scratch->buffer.failed)
        return result->failure;
    sta_buffer_clear(&scratch->buffer);
    return sta_fail(err, STA_ELIMIT, "a text grew beyond %d bytes", LONGEST_TEXT);
}

void sta_text_scratch_init(struct sta_text_scratch *scratch)
{
    scratch->matcher = NULL;
    sta_buffer_init(&scratch->buffer);
    scratch->buffer.limit = LONGEST_TEXT;
}

void sta_text_scratch_fini(struct sta_text_scratch *scratch)
{
    sta_buffer_fini(&scratch->buffer);
    sta_matcher_destroy(scratch->matcher);
}
