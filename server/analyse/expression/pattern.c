/* Regular expressions by PCRE2, so used that what Python's re has too means the same.
 *
 * Four spellings mean different things in the two and are rewritten before compiling: \Z (the very end in
 * Python), \v (one character), \uXXXX (unknown to PCRE2) and {,n} (a literal in older PCRE2).  Classes are
 * ASCII because UCP is off; the only line end is \n.  Without regard to case, letters beyond ASCII are folded
 * too, which Python does not do under re.ASCII.
 *
 * The match limit bounds the steps of one match, so that no pattern stalls the server; a stack that is too
 * small for the compiled code is no reason to fail, so such a text is matched again by the interpreter. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "analyse/expression/pattern.h"

#include <pcre2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"

#define MATCH_LIMIT 1000000
#define HEAP_LIMIT_KIB 20000
#define JIT_STACK_MOST (512 * 1024)
#define SPANS 512 /* more groups than a pattern of 1000 characters can have */

struct sta_pattern {
    pcre2_code *code;
    char *text; /* as given, for messages */
    unsigned groups;
};

struct sta_matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

/* Rewrites the escape at @at, whose letter is text.bytes[at + 1].  Return: bytes consumed. */
static size_t put_escape(struct sta_buffer *out, struct sta_text text, size_t at, bool in_class)
{
    const char *rest = text.bytes + at;
    size_t left = text.length - at;
    if (rest[1] == 'Z' && !in_class) {
        sta_put_text(out, "\\z");
        return 2;
    }
    if (rest[1] == 'v') {
        sta_put_text(out, "\\x0b");
        return 2;
    }
    if (rest[1] == 'u' && left >= 6 && sta_is_hex_digit(rest[2]) && sta_is_hex_digit(rest[3]) &&
        sta_is_hex_digit(rest[4]) && sta_is_hex_digit(rest[5])) {
        sta_put_format(out, "\\x{%.4s}", rest + 2);
        return 6;
    }
    sta_put(out, rest, 2);
    return 2;
}

/* Whether "{,digits}" stands at @at. */
static bool is_open_count(struct sta_text text, size_t at)
{
    if (text.length - at < 3 || text.bytes[at] != '{' || text.bytes[at + 1] != ',')
        return false;
    for (at += 2; at < text.length && sta_is_digit(text.bytes[at]);)
        at++;
    return at < text.length && text.bytes[at] == '}';
}

/* Copies \Q..\E as it is.  Return: bytes consumed. */
static size_t put_quoted(struct sta_buffer *out, struct sta_text text, size_t at)
{
    const char *end = memmem(text.bytes + at, text.length - at, "\\E", 2);
    size_t size = end ? (size_t)(end + 2 - text.bytes) - at : text.length - at;
    sta_put(out, text.bytes + at, size);
    return size;
}

static void put_for_pcre(struct sta_buffer *out, struct sta_text text)
{
    bool in_class = false;
    size_t class_start = 0;
    for (size_t at = 0; at < text.length;) {
        char c = text.bytes[at];
        if (c == '\\' && at + 1 < text.length) {
            at += text.bytes[at + 1] == 'Q' ? put_quoted(out, text, at) : put_escape(out, text, at, in_class);
            continue;
        }
        if (c == '[' && !in_class) {
            in_class = true;
            class_start = at + 1 + (at + 1 < text.length && text.bytes[at + 1] == '^');
        } else if (c == ']' && in_class && at > class_start) {
            in_class = false;
        }
        if (!in_class && is_open_count(text, at)) {
            sta_put_text(out, "{0,");
            at += 2;
            continue;
        }
        sta_put_char(out, c);
        at++;
    }
}

static pcre2_code *compile(const struct sta_buffer *text, uint32_t options, int *code)
{
    size_t offset;
    pcre2_compile_context *context;
    pcre2_code *compiled;
    while ((context = pcre2_compile_context_create(NULL)) == NULL)
        sta_memory_open_reserve(text->size);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    while ((compiled = pcre2_compile((PCRE2_SPTR)text->data, text->size, options, code, &offset, context)) ==
               NULL &&
           *code == PCRE2_ERROR_HEAP_FAILED)
        sta_memory_open_reserve(text->size);
    pcre2_compile_context_free(context);
    return compiled;
}

struct sta_pattern *sta_pattern_create(struct sta_text text, enum sta_anchoring anchoring, bool caseless,
                                       char *message, size_t size)
{
    static const uint32_t anchors[] = {0, PCRE2_ANCHORED, PCRE2_ANCHORED | PCRE2_ENDANCHORED};
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_ALT_CIRCUMFLEX |
                       PCRE2_MATCH_INVALID_UTF | anchors[anchoring] | (caseless ? PCRE2_CASELESS : 0);
    struct sta_buffer rewritten;
    sta_buffer_init(&rewritten);
    sta_put(&rewritten, "", 0);
    sta_buffer_reserve(&rewritten, 1);
    put_for_pcre(&rewritten, text);
    int code = 0;
    pcre2_code *compiled = compile(&rewritten, options, &code);
    sta_buffer_fini(&rewritten);
    if (compiled == NULL) {
        pcre2_get_error_message(code, (PCRE2_UCHAR *)message, size);
        return NULL;
    }
    struct sta_pattern *pattern = sta_alloc(sizeof *pattern);
    pattern->code = compiled;
    pattern->text = sta_strndup(text.bytes, text.length);
    uint32_t groups = 0;
    pcre2_pattern_info(compiled, PCRE2_INFO_CAPTURECOUNT, &groups);
    pattern->groups = groups;
    pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* where there is none, the interpreter matches */
    return pattern;
}

void sta_pattern_destroy(struct sta_pattern *pattern)
{
    pcre2_code_free(pattern->code);
    free(pattern->text);
    free(pattern);
}

unsigned sta_pattern_groups(const struct sta_pattern *pattern)
{
    return pattern->groups;
}

unsigned sta_pattern_group(const struct sta_pattern *pattern, const char *name, size_t length)
{
    char copy[64];
    if (length >= sizeof copy)
        return 0;
    memcpy(copy, name, length);
    copy[length] = '\0';
    int number = pcre2_substring_number_from_name(pattern->code, (PCRE2_SPTR)copy);
    return number > 0 ? (unsigned)number : 0;
}

struct sta_matcher *sta_matcher_create(void)
{
    struct sta_matcher *matcher = sta_alloc(sizeof *matcher);
    while ((matcher->data = pcre2_match_data_create(SPANS, NULL)) == NULL)
        sta_memory_open_reserve(sizeof *matcher);
    while ((matcher->context = pcre2_match_context_create(NULL)) == NULL)
        sta_memory_open_reserve(sizeof *matcher);
    matcher->stack = pcre2_jit_stack_create(32 * 1024, JIT_STACK_MOST, NULL); /* NULL: that of the thread */
    pcre2_set_match_limit(matcher->context, MATCH_LIMIT);
    pcre2_set_heap_limit(matcher->context, HEAP_LIMIT_KIB);
    pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
    return matcher;
}

void sta_matcher_destroy(struct sta_matcher *matcher)
{
    if (matcher == NULL)
        return;
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    pcre2_jit_stack_free(matcher->stack);
    free(matcher);
}

int sta_pattern_find(const struct sta_pattern *pattern, struct sta_matcher *matcher, struct sta_text text,
                     size_t start, bool not_empty_here, const size_t **spans, struct sta_error *err)
{
    uint32_t options = not_empty_here ? PCRE2_NOTEMPTY_ATSTART : 0;
    PCRE2_SPTR bytes = (PCRE2_SPTR)text.bytes;
    int rc = pcre2_match(pattern->code, bytes, text.length, start, options, matcher->data, matcher->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(pattern->code, bytes, text.length, start, options | PCRE2_NO_JIT, matcher->data,
                         matcher->context);
    if (rc > 0) {
        *spans = pcre2_get_ovector_pointer(matcher->data);
        return 1;
    }
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    return sta_fail(err, STA_ELIMIT,
                    "the pattern '%.200s' takes too many steps on a text of %u bytes (limit %d); write it so "
                    "that it backtracks less",
                    pattern->text, text.length, MATCH_LIMIT);
}
