/* Decoding of a payload: its counts are checked, then the library reads it. */
#include "decode/dasf/message.h"

#include "common/error.h"

#define ZONE_BYTES 16384

void sta_message_init(struct sta_message *message)
{
    message->zone = msgpack_zone_new(ZONE_BYTES);
    STA_ASSERT(message->zone != NULL); /* small and bounded, as with sta_alloc */
}

void sta_message_fini(struct sta_message *message)
{
    msgpack_zone_free(message->zone);
}

/* ---- counts and depth */

static uint64_t big_endian(const unsigned char *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

/* How the value that begins with a byte goes on. */
struct head {
    uint8_t length_bytes; /* of the count behind the byte */
    uint8_t fixed;        /* bytes behind that, besides what the count says */
    uint8_t each;         /* 0: the count is of bytes; 1: of items; 2: of pairs */
};

/* For 0xc0 .. 0xdf. */
static const struct head heads[32] = {
    [0x04] = {1, 0, 0},  [0x05] = {2, 0, 0}, [0x06] = {4, 0, 0}, /* bin */
    [0x07] = {1, 1, 0},  [0x08] = {2, 1, 0}, [0x09] = {4, 1, 0}, /* ext: and its type */
    [0x0a] = {0, 4, 0},  [0x0b] = {0, 8, 0},                     /* float */
    [0x0c] = {0, 1, 0},  [0x0d] = {0, 2, 0}, [0x0e] = {0, 4, 0}, [0x0f] = {0, 8, 0},
    [0x10] = {0, 1, 0},  [0x11] = {0, 2, 0}, [0x12] = {0, 4, 0}, [0x13] = {0, 8, 0},
    [0x14] = {0, 2, 0},  [0x15] = {0, 3, 0}, [0x16] = {0, 5, 0}, [0x17] = {0, 9, 0},
    [0x18] = {0, 17, 0}, [0x19] = {1, 0, 0}, [0x1a] = {2, 0, 0}, [0x1b] = {4, 0, 0}, /* text */
    [0x1c] = {2, 0, 1},  [0x1d] = {4, 0, 1},                                         /* array */
    [0x1e] = {2, 0, 2},  [0x1f] = {4, 0, 2},                                         /* map */
};

/* Goes past one value, but not past what a container holds: *items says how many values that are.  Return:
 * false when it is cut off. */
static bool skip_value(const unsigned char **at, const unsigned char *end, uint64_t *items)
{
    unsigned byte = *(*at)++;
    uint64_t bytes = 0;
    *items = 0;
    if (byte >= 0xa0 && byte < 0xc0) {
        bytes = byte & 0x1f;
    } else if (byte >= 0x80 && byte < 0xa0) {
        *items = (uint64_t)(byte & 0x0f) << (byte < 0x90);
    } else if (byte >= 0xc0 && byte < 0xe0) {
        const struct head *head = &heads[byte - 0xc0];
        if (end - *at < head->length_bytes)
            return false;
        uint64_t count = big_endian(*at, head->length_bytes);
        *at += head->length_bytes;
        bytes = head->fixed + (head->each == 0 ? count : 0);
        *items = head->each * count;
    }
    if ((uint64_t)(end - *at) < bytes)
        return false;
    *at += bytes;
    return true;
}

/* Return: NULL, or why the library shall not see it. */
static const char *check(const unsigned char *at, const unsigned char *end)
{
    uint64_t left[STA_MESSAGE_DEPTH + 1] = {1}, values = 0, items;
    unsigned depth = 0;
    for (;;) {
        while (left[depth] == 0 && depth > 0)
            depth--;
        if (left[depth]-- == 0)
            return at == end ? NULL : "bytes behind the object";
        if (at == end || !skip_value(&at, end, &items))
            return "cut off inside a value";
        if (++values > STA_MESSAGE_VALUES || items > STA_MESSAGE_VALUES)
            return "more than 1,048,576 values";
        if (items > 0 && ++depth > STA_MESSAGE_DEPTH)
            return "nested deeper than 32";
        if (items > 0)
            left[depth] = items;
    }
}

const char *sta_message_read(struct sta_message *message, const char *bytes, size_t size)
{
    const unsigned char *begin = (const unsigned char *)bytes;
    size_t offset = 0;
    const char *reason = check(begin, begin + size);
    if (reason != NULL)
        return reason;
    msgpack_zone_clear(message->zone);
    int result = msgpack_unpack(bytes, size, &offset, message->zone, &message->object);
    if (result == MSGPACK_UNPACK_NOMEM_ERROR)
        return "no memory for its values";
    return result == MSGPACK_UNPACK_SUCCESS ? NULL : "not msgpack";
}
