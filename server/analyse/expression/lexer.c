/* Text to tokens.  The whole text is read before any of it is parsed, so a character that fits nowhere is the
 * first mistake. */
#include "analyse/expression/lexer.h"

#include <string.h>

#include "analyse/expression/expression.h"
#include "common/memory.h"
#include "common/number.h"

struct lexer {
    const char *text, *at, *end;
    uint32_t position; /* of `at` */
    struct sta_token *tokens;
    size_t count, capacity;
};

static bool is_name_start(char c)
{
    return c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Bytes of the blank at @at, 0 if there is none.  The blanks beyond ASCII come with what is pasted from
 * pages. */
static size_t blank(const char *at, const char *end)
{
    static const char *const wide[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
                                       "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
    if (*at == ' ' || (*at >= '\t' && *at <= '\r') || (*at >= 0x1c && *at <= 0x1f))
        return 1;
    for (size_t i = 0; (unsigned char)*at >= 0x80 && i < STA_COUNT_OF(wide); i++) {
        size_t size = strlen(wide[i]);
        if ((size_t)(end - at) >= size && memcmp(at, wide[i], size) == 0)
            return size;
    }
    bool is_space = end - at >= 3 && memcmp(at, "\xe2\x80", 2) == 0 && (unsigned char)at[2] >= 0x80 &&
                    (unsigned char)at[2] <= 0x8a;
    return is_space ? 3 : 0;
}

static void advance(struct lexer *lexer, size_t bytes)
{
    lexer->position += (uint32_t)sta_utf8_count(lexer->at, bytes);
    lexer->at += bytes;
}

static void skip_blanks(struct lexer *lexer)
{
    size_t size;
    while (lexer->at < lexer->end && (size = blank(lexer->at, lexer->end)) > 0)
        advance(lexer, size);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && sta_is_digit(*at))
        at++;
    return at;
}

/* Bytes of the number at @at, 0 if there is none. */
static size_t number_length(const char *at, const char *end, bool *whole)
{
    const char *stop = skip_digits(at, end);
    *whole = true;
    if (stop < end && *stop == '.' && (stop > at || (stop + 1 < end && sta_is_digit(stop[1])))) {
        stop = skip_digits(stop + 1, end);
        *whole = false;
    }
    if (stop > at && stop < end && (*stop == 'e' || *stop == 'E')) {
        const char *digits = stop + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            digits++;
        const char *exponent = skip_digits(digits, end);
        if (exponent > digits) {
            stop = exponent;
            *whole = false;
        }
    }
    return (size_t)(stop - at);
}

/* Bytes of the string at @at with its quotes, 0 if there is none or it has no end. */
static size_t string_length(const char *at, const char *end)
{
    const char *open = at + (*at == 'r' || *at == 'R');
    if (open >= end || (*open != '"' && *open != '\''))
        return 0;
    for (const char *c = open + 1; c < end; c++) {
        if (*c == *open)
            return (size_t)(c + 1 - at);
        c += *c == '\\';
    }
    return 0;
}

static size_t name_length(const char *at, const char *end)
{
    const char *stop = at;
    while (stop < end && (is_name_start(*stop) || (stop > at && sta_is_digit(*stop))))
        stop++;
    return (size_t)(stop - at);
}

static size_t quoted_length(const char *at, const char *end)
{
    const char *close = *at == '`' && at + 1 < end ? memchr(at + 1, '`', (size_t)(end - at - 1)) : NULL;
    return close != NULL ? (size_t)(close + 1 - at) : 0;
}

/* Operators, those of two characters first; then what only separates, which has no help. */
static const struct sign {
    const char *name;
    struct sta_help help;
} signs[] = {
    {"**",
     {"a ** b", "a to the power of b, a number; binds tighter than a sign before it.", "2 ** 10", "1024.0"}},
    {"//", {"a // b", "The quotient rounded down; missing where b is 0.", "7 // 2", "3"}},
    {"==", {"a == b", "Whether both are equal; a missing value equals nothing.", "1 == 2", "false"}},
    {"!=", {"a != b", "Whether both differ; true where one is missing.", "1 != 2", "true"}},
    {"<=", {"a <= b", "Whether a is at most b.", "2 <= 2", "true"}},
    {">=", {"a >= b", "Whether a is at least b.", "1 >= 2", "false"}},
    {"<", {"a < b", "Whether a is less; a < b < c means a < b and b < c.", "1 < 2 < 3", "true"}},
    {">", {"a > b", "Whether a is greater.", "1 > 2", "false"}},
    {"+", {"a + b", "The sum; of texts, one behind the other.", "\"a\" + \"b\"", "\"ab\""}},
    {"-", {"a - b", "The difference; before a number, its negative.", "5 - 7", "-2"}},
    {"*", {"a * b", "The product.", "6 * 7", "42"}},
    {"/", {"a / b", "The quotient, a number; missing where b is 0.", "7 / 2", "3.5"}},
    {"%", {"a % b", "What remains of a // b, with the sign of b.", "7 % 4", "3"}},
    {"~", {"~a", "Whether the condition does not hold; binds tightly.", "~(1 > 2)", "true"}},
    {"&", {"a & b", "The same as and.", "1 < 2 & 2 < 3", "true"}},
    {"|", {"a | b", "The same as or.", "1 > 2 | 2 < 3", "true"}},
    {.name = "("},
    {.name = ")"},
    {.name = "["},
    {.name = "]"},
    {.name = ","},
    {.name = "."},
    {.name = "="},
};

bool sta_operator_word(size_t index, struct sta_language_word *word)
{
    if (index >= STA_COUNT_OF(signs) || signs[index].help.signature == NULL)
        return false;
    *word = (struct sta_language_word){.name = signs[index].name, .help = signs[index].help};
    return true;
}

static size_t sign_length(const char *at, const char *end)
{
    for (size_t i = 0; i < STA_COUNT_OF(signs); i++) {
        size_t length = strlen(signs[i].name);
        if ((size_t)(end - at) >= length && memcmp(at, signs[i].name, length) == 0)
            return length;
    }
    return 0;
}

static void add(struct lexer *lexer, enum sta_token_kind kind, size_t length, bool whole)
{
    STA_GROW(lexer->tokens, lexer->capacity, lexer->count + 1);
    lexer->tokens[lexer->count++] =
        (struct sta_token){kind, lexer->position, (uint32_t)length, lexer->at, whole};
    advance(lexer, length);
}

static int fail(struct lexer *lexer, struct sta_error *err)
{
    char c = *lexer->at;
    if (c == '"' || c == '\'')
        sta_fail(err, STA_EINPUT, "a string that does not end");
    else if (c == '@')
        sta_fail(err, STA_EINPUT, "variables (@name) are not available here; write the value");
    else if (c == '`')
        sta_fail(err, STA_EINPUT, "a quoted name that does not end; expected another `");
    else if ((unsigned char)c < 0x20 || c == 0x7f)
        sta_fail(err, STA_EINPUT, "unexpected control character %u", (unsigned char)c);
    else {
        const int size = (int)sta_utf8_prefix(lexer->at, (size_t)(lexer->end - lexer->at), 1);
        const char *advice = c == '!' ? "; write != or not" : c == '{' ? "; a list is written [a, b]" : "";
        sta_fail(err, STA_EINPUT, "unexpected character '%.*s'%s", size, lexer->at, advice);
    }
    return sta_at(err, "", lexer->position);
}

static int check_text(const char *text, size_t length, struct sta_error *err)
{
    size_t valid = sta_utf8_valid_prefix(text, length);
    if (valid < length) {
        sta_fail(err, STA_EINPUT, "the expression is not UTF-8");
        return sta_at(err, "", (int64_t)sta_utf8_count(text, valid));
    }
    size_t characters = sta_utf8_count(text, length);
    if (characters > sta_expression_limits.length) {
        sta_fail(err, STA_ELIMIT, "the expression has %zu characters; the limit is %u", characters,
                 sta_expression_limits.length);
        return sta_at(err, "", sta_expression_limits.length);
    }
    return 0;
}

/* One token; false if what stands there is none. */
static bool lex_one(struct lexer *lexer)
{
    size_t length;
    bool whole = false;
    if ((length = number_length(lexer->at, lexer->end, &whole)) > 0)
        add(lexer, STA_TOKEN_NUMBER, length, whole);
    else if ((length = string_length(lexer->at, lexer->end)) > 0)
        add(lexer, STA_TOKEN_STRING, length, false);
    else if ((length = quoted_length(lexer->at, lexer->end)) > 0)
        add(lexer, STA_TOKEN_QUOTED, length, false);
    else if ((length = name_length(lexer->at, lexer->end)) > 0)
        add(lexer, STA_TOKEN_NAME, length, false);
    else if ((length = sign_length(lexer->at, lexer->end)) > 0)
        add(lexer, STA_TOKEN_SIGN, length, false);
    return length > 0;
}

int sta_lex(const char *text, size_t length, struct sta_token **tokens, struct sta_error *err)
{
    *tokens = NULL;
    int rc = check_text(text, length, err);
    if (rc != 0)
        return rc;
    struct lexer lexer = {.text = text, .at = text, .end = text + length};
    for (skip_blanks(&lexer); lexer.at < lexer.end; skip_blanks(&lexer)) {
        if (!lex_one(&lexer)) {
            free(lexer.tokens);
            return fail(&lexer, err);
        }
    }
    add(&lexer, STA_TOKEN_END, 0, false);
    *tokens = lexer.tokens;
    return 0;
}

/* ---- what strings stand for */

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    size_t size = c < 0x10000 ? 3 : 4;
    out[0] = (char)(size == 3 ? 0xe0 | c >> 12 : 0xf0 | c >> 18);
    for (size_t i = 1; i < size; i++)
        out[i] = (char)(0x80 | (c >> (6 * (size - 1 - i)) & 0x3f));
    return size;
}

static bool read_hex(const char *at, const char *end, unsigned digits, uint32_t *value)
{
    *value = 0;
    if (end - at < (ptrdiff_t)digits)
        return false;
    for (unsigned i = 0; i < digits; i++) {
        if (!sta_is_hex_digit(at[i]))
            return false;
        *value = *value * 16 + (uint32_t)(sta_is_digit(at[i]) ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
    }
    return true;
}

/* \uXXXX at @at (behind the u).  Two surrogates are one character; one alone names none and becomes
 * U+FFFD. */
static size_t unicode_escape(const char *at, const char *end, uint32_t *value)
{
    uint32_t low;
    if (!read_hex(at, end, 4, value))
        return 0;
    if (*value < 0xd800 || *value > 0xdfff)
        return 4;
    if (*value < 0xdc00 && end - at >= 10 && at[4] == '\\' && at[5] == 'u' &&
        read_hex(at + 6, end, 4, &low) && low >= 0xdc00 && low <= 0xdfff) {
        *value = 0x10000 + ((*value - 0xd800) << 10) + (low - 0xdc00);
        return 10;
    }
    *value = 0xfffd;
    return 4;
}

/* The escape at @at (behind the backslash).  Return: bytes read, 0 if the backslash stands for itself. */
static size_t escape(const char *at, const char *end, uint32_t *value)
{
    static const char letters[] = "ntr\\'\"", meant[] = "\n\t\r\\'\"";
    size_t size;
    if (*at == 'u' && (size = unicode_escape(at + 1, end, value)) > 0)
        return 1 + size;
    if (*at == 'x' && read_hex(at + 1, end, 2, value))
        return 3;
    const char *letter = *at != '\0' ? strchr(letters, *at) : NULL;
    if (letter == NULL)
        return 0;
    *value = (uint32_t)meant[letter - letters];
    return 1;
}

size_t sta_token_unescape(const struct sta_token *token, char *out)
{
    bool raw = token->text[0] == 'r' || token->text[0] == 'R';
    const char *at = token->text + raw + 1;
    const char *end = token->text + token->length - 1;
    char *to = out;
    while (at < end) {
        uint32_t value;
        size_t size = *at == '\\' && !raw ? escape(at + 1, end, &value) : 0;
        if (size > 0) {
            to += put_utf8(to, value);
            at += 1 + size;
        } else {
            *to++ = *at++;
        }
    }
    return (size_t)(to - out);
}
