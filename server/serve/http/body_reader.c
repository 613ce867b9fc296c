/* The body of a request, cut out of what comes in. */
#include "serve/http/body_reader.h"

#include <string.h>

#include "common/memory.h"

#define LINE_LIMIT 1024    /* bytes of the line before a chunk, with extensions that nobody reads */
#define TRAILER_LIMIT 8192 /* bytes of all trailer fields */
#define SIZE_DIGITS 15

void sta_body_reader_init(struct sta_body_reader *reader, const struct sta_head *head)
{
    *reader = (struct sta_body_reader){.part = head->chunked ? STA_BODY_CHUNK_SIZE : STA_BODY_DATA,
                                       .left = head->content_length};
}

static enum sta_body_state fail(struct sta_error *err, const char *detail)
{
    sta_fail(err, STA_EINPUT, "The chunked body %s", detail);
    return STA_BODY_BAD;
}

/* Takes a line that ends in CR LF, without any other control character.  *length: without its end. */
static enum sta_body_state take_line(const char *in, size_t size, size_t *length, struct sta_error *err)
{
    size_t end = 0;
    while (end < size && ((unsigned char)in[end] >= ' ' || in[end] == '\t'))
        end++;
    if (end > LINE_LIMIT)
        return fail(err, "has a line that is too long");
    if (end == size || (in[end] == '\r' && end + 1 == size))
        return STA_BODY_MORE;
    if (in[end] != '\r' || in[end + 1] != '\n')
        return fail(err, "has a control character where a line should end");
    *length = end;
    return STA_BODY_WHOLE;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_size(const char *line, size_t length, uint64_t *value)
{
    size_t digits = 0;
    *value = 0;
    while (digits < length && hex_digit(line[digits]) >= 0)
        *value = *value << 4 | (uint64_t)hex_digit(line[digits++]);
    return digits > 0 && digits <= SIZE_DIGITS && (digits == length || line[digits] == ';');
}

static enum sta_body_state read_size(struct sta_body_reader *reader, const char *in, size_t size,
                                     size_t *taken, struct sta_error *err)
{
    size_t length;
    enum sta_body_state state = take_line(in, size, &length, err);
    if (state != STA_BODY_WHOLE)
        return state;
    if (!parse_size(in, length, &reader->left))
        return fail(err, "has a chunk whose size is not a hexadecimal number");
    *taken += length + 2;
    reader->part = reader->left > 0 ? STA_BODY_CHUNK_DATA : STA_BODY_TRAILER;
    return STA_BODY_WHOLE;
}

static enum sta_body_state read_chunk_end(struct sta_body_reader *reader, const char *in, size_t size,
                                          size_t *taken, struct sta_error *err)
{
    if ((size > 0 && in[0] != '\r') || (size > 1 && in[1] != '\n'))
        return fail(err, "has a chunk that is longer than its size");
    if (size < 2)
        return STA_BODY_MORE;
    *taken += 2;
    reader->part = STA_BODY_CHUNK_SIZE;
    return STA_BODY_WHOLE;
}

/* Trailer fields are read away.  *ended: that was the empty line behind them. */
static enum sta_body_state read_trailer(struct sta_body_reader *reader, const char *in, size_t size,
                                        size_t *taken, bool *ended, struct sta_error *err)
{
    size_t length;
    enum sta_body_state state = take_line(in, size, &length, err);
    if (state != STA_BODY_WHOLE)
        return state;
    *taken += length + 2;
    reader->trailers += length + 2;
    *ended = length == 0;
    return reader->trailers > TRAILER_LIMIT ? fail(err, "has too many trailer fields") : STA_BODY_WHOLE;
}

static void take_data(struct sta_body_reader *reader, const char *in, size_t size, size_t *taken,
                      struct sta_buffer *body)
{
    size_t part = (size_t)STA_MIN((uint64_t)size, reader->left);
    sta_put(body, in, part);
    *taken += part;
    reader->left -= part;
}

enum sta_body_state sta_body_read_input(struct sta_body_reader *reader, const char *in, size_t size,
                                        size_t *taken, struct sta_buffer *body, struct sta_error *err)
{
    enum sta_body_state state = STA_BODY_WHOLE;
    bool ended = false;
    *taken = 0;
    while (state == STA_BODY_WHOLE && !ended) {
        const char *at = in + *taken;
        size_t rest = size - *taken;
        switch (reader->part) {
        case STA_BODY_CHUNK_SIZE:
            state = read_size(reader, at, rest, taken, err);
            break;
        case STA_BODY_CHUNK_END:
            state = read_chunk_end(reader, at, rest, taken, err);
            break;
        case STA_BODY_TRAILER:
            state = read_trailer(reader, at, rest, taken, &ended, err);
            break;
        case STA_BODY_DATA:
        case STA_BODY_CHUNK_DATA:
            take_data(reader, at, rest, taken, body);
            if (reader->left > 0)
                return STA_BODY_MORE;
            ended = reader->part == STA_BODY_DATA;
            reader->part = reader->part == STA_BODY_CHUNK_DATA ? STA_BODY_CHUNK_END : reader->part;
            break;
        }
    }
    return state;
}
