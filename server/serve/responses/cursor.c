/* The token of the next page. */
#include "serve/responses/cursor.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define TOKEN_VERSION 1
#define CHECKSUM_SIZE 4
#define LONGEST 8192 /* characters */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *encode64(const unsigned char *bytes, size_t size)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        for (size_t digit = 0; digit <= (left < 3 ? left : 3); digit++)
            sta_put_char(&out, digits[group >> (18 - 6 * digit) & 63]);
    }
    return sta_buffer_take_text(&out);
}

/* False when a character is none of the digits, or bits are left over. */
static bool decode64(const char *text, struct sta_buffer *out)
{
    uint32_t bits = 0;
    unsigned count = 0;
    for (; *text; text++) {
        const char *digit = strchr(digits, *text);
        if (digit == NULL)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            sta_put_char(out, (char)(bits >> count));
            bits &= (1u << count) - 1;
        }
    }
    return count < 6 && bits == 0;
}

char *sta_cursor_encode(const struct sta_token_subject *subject, const void *position, size_t size)
{
    struct sta_buffer bytes;
    sta_buffer_init(&bytes);
    sta_put_char(&bytes, TOKEN_VERSION);
    sta_put_u64(&bytes, subject->request);
    sta_put_u64(&bytes, subject->data);
    sta_put(&bytes, position, size);
    sta_put_u32(&bytes, (uint32_t)XXH3_64bits(bytes.data, bytes.size));
    char *token = encode64((const unsigned char *)bytes.data, bytes.size);
    sta_buffer_fini(&bytes);
    return token;
}

static int fail_token(struct sta_error *err, int status, const char *text)
{
    return sta_fail_at(err, status, "/cursor", "%s", text);
}

static int check_bytes(const struct sta_buffer *bytes, const struct sta_token_subject *subject,
                       struct sta_buffer *position, struct sta_error *err)
{
    const unsigned char *start = (const unsigned char *)bytes->data,
                        *end = start + bytes->size - CHECKSUM_SIZE;
    struct sta_cursor body = {start + 1, end, false}, checksum = {end, end + CHECKSUM_SIZE, false};
    if (sta_get_u32(&checksum) != (uint32_t)XXH3_64bits(start, bytes->size - CHECKSUM_SIZE) ||
        *start != TOKEN_VERSION)
        return fail_token(err, STA_EINPUT, "cursor is no token that this daemon gave out");
    uint64_t request = sta_get_u64(&body), data = sta_get_u64(&body);
    if (body.failed || request != subject->request)
        return fail_token(err, STA_EINPUT,
                          "cursor belongs to another request; send it with the one that it came from");
    if (data != subject->data)
        return fail_token(
            err, STA_EOUTDATED,
            "The trace has changed since this cursor was given out; ask again from the first page");
    sta_put(position, body.at, (size_t)(end - body.at));
    return STA_OK;
}

int sta_cursor_decode(const char *token, const struct sta_token_subject *subject, struct sta_buffer *position,
                      struct sta_error *err)
{
    struct sta_buffer bytes;
    sta_buffer_init(&bytes);
    bool good = strlen(token) <= LONGEST && decode64(token, &bytes) && bytes.size > CHECKSUM_SIZE;
    int status = good ? check_bytes(&bytes, subject, position, err)
                      : fail_token(err, STA_EINPUT, "cursor is no token that this daemon gave out");
    sta_buffer_fini(&bytes);
    return status;
}
