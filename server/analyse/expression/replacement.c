/* What goes in the place of a match, in Python's notation: \1 .. \99, \g<0>, \g<name>, \\ and the escapes of
 * control characters; a backslash before anything that is no letter or digit stays. */
#include "analyse/expression/pattern.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"

#define LITERAL UINT32_MAX

struct piece {
    uint32_t group; /* or LITERAL */
    char *bytes;
    size_t length;
};

struct sta_replacement {
    struct piece *pieces;
    size_t count, capacity;
};

struct reader {
    struct sta_replacement *replacement;
    const struct sta_pattern *pattern;
    struct sta_text text;
    size_t at;
    char *message;
    size_t size;
};

static void add_literal(struct sta_replacement *replacement, const char *bytes, size_t length)
{
    STA_GROW(replacement->pieces, replacement->capacity, replacement->count + 1);
    replacement->pieces[replacement->count++] = (struct piece){LITERAL, sta_strndup(bytes, length), length};
}

static bool add_group(struct reader *reader, unsigned group)
{
    struct sta_replacement *replacement = reader->replacement;
    if (group > sta_pattern_groups(reader->pattern)) {
        snprintf(reader->message, reader->size, "the replacement uses group %u, but the pattern has %u",
                 group, sta_pattern_groups(reader->pattern));
        return false;
    }
    STA_GROW(replacement->pieces, replacement->capacity, replacement->count + 1);
    replacement->pieces[replacement->count++] = (struct piece){.group = group};
    return true;
}

/* One or two digits. */
static bool read_number(struct reader *reader)
{
    unsigned group = (unsigned)(reader->text.bytes[reader->at++] - '0');
    if (reader->at < reader->text.length && sta_is_digit(reader->text.bytes[reader->at]))
        group = group * 10 + (unsigned)(reader->text.bytes[reader->at++] - '0');
    return add_group(reader, group);
}

/* g<number> or g<name> */
static bool read_named(struct reader *reader)
{
    const char *name = reader->text.bytes + reader->at + 2;
    const char *end = reader->text.bytes + reader->text.length;
    const char *close = name < end && name[-1] == '<' ? memchr(name, '>', (size_t)(end - name)) : NULL;
    if (close == NULL || close == name) {
        snprintf(reader->message, reader->size, "the replacement has a \\g without <number> or <name>");
        return false;
    }
    size_t length = (size_t)(close - name);
    unsigned group = 0;
    bool numeric = length <= 3;
    for (size_t i = 0; i < length; i++) {
        numeric = numeric && sta_is_digit(name[i]);
        group = group * 10 + (unsigned)(name[i] - '0');
    }
    if (!numeric && (group = sta_pattern_group(reader->pattern, name, length)) == 0) {
        snprintf(reader->message, reader->size,
                 "the replacement uses group '%.*s', which the pattern has not", (int)STA_MIN(length, 40),
                 name);
        return false;
    }
    reader->at += length + 3;
    return add_group(reader, group);
}

static bool read_escape(struct reader *reader)
{
    static const char letters[] = "abfnrtv\\", meant[] = "\a\b\f\n\r\t\v\\";
    char c = reader->text.bytes[reader->at];
    const char *known = c != '\0' ? strchr(letters, c) : NULL;
    if (c >= '1' && c <= '9')
        return read_number(reader);
    if (c == 'g')
        return read_named(reader);
    if (known != NULL) {
        add_literal(reader->replacement, &meant[known - letters], 1);
        reader->at++;
        return true;
    }
    if (sta_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
        snprintf(reader->message, reader->size,
                 "the replacement has an unknown escape \\%c; write \\\\ for a backslash", c);
        return false;
    }
    add_literal(reader->replacement, "\\", 1);
    return true;
}

struct sta_replacement *sta_replacement_create(struct sta_text text, const struct sta_pattern *pattern,
                                               char *message, size_t size)
{
    struct sta_replacement *replacement = sta_alloc(sizeof *replacement);
    struct reader reader = {replacement, pattern, text, 0, message, size};
    while (reader.at < text.length) {
        const char *from = text.bytes + reader.at;
        const char *slash = memchr(from, '\\', text.length - reader.at);
        size_t literal = slash != NULL ? (size_t)(slash - from) : text.length - reader.at;
        if (literal > 0)
            add_literal(replacement, from, literal);
        reader.at += literal;
        if (slash == NULL)
            break;
        reader.at++;
        if (reader.at == text.length) {
            snprintf(message, size, "the replacement ends in a backslash");
        } else if (read_escape(&reader)) {
            continue;
        }
        sta_replacement_destroy(replacement);
        return NULL;
    }
    return replacement;
}

void sta_replacement_destroy(struct sta_replacement *replacement)
{
    for (size_t i = 0; i < replacement->count; i++)
        free(replacement->pieces[i].bytes);
    free(replacement->pieces);
    free(replacement);
}

void sta_replacement_put(const struct sta_replacement *replacement, struct sta_text text, const size_t *spans,
                         struct sta_buffer *out)
{
    for (size_t i = 0; i < replacement->count; i++) {
        const struct piece *piece = &replacement->pieces[i];
        if (piece->group == LITERAL) {
            sta_put(out, piece->bytes, piece->length);
            continue;
        }
        size_t start = spans[2 * piece->group], end = spans[2 * piece->group + 1];
        if (start != STA_UNSET)
            sta_put(out, text.bytes + start, end - start);
    }
}
