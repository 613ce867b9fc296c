/* message.h - the payload of one record, read value by value where it lies.
 *
 * A value is what its header says; the items of a container are the values that follow.  msgpack-c reads the
 * same bytes, but makes a tree of objects of each payload first, which took longer than all that is done with
 * them, and its parser without a tree does not say where a container begins.  It is the reference in the unit
 * test and in the fuzz target: both accept the same payloads and find the same values in them. */
#ifndef STA_DECODE_DASF_MESSAGE_H
#define STA_DECODE_DASF_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STA_MESSAGE_VALUES ((uint32_t)1 << 20) /* of one payload, inner ones too */
#define STA_MESSAGE_DEPTH 32                   /* containers inside containers, as many as msgpack-c takes */

enum sta_message_type {
    STA_MESSAGE_ABSENT, /* never read: for members that are not there */
    STA_MESSAGE_NIL,
    STA_MESSAGE_BOOL,
    STA_MESSAGE_WHOLE, /* an integer from 0 on */
    STA_MESSAGE_NEGATIVE,
    STA_MESSAGE_FLOAT,
    STA_MESSAGE_TEXT,
    STA_MESSAGE_ARRAY,
    STA_MESSAGE_MAP,
    STA_MESSAGE_OTHER /* bytes and extensions */
};

struct sta_message_value {
    enum sta_message_type type;
    uint32_t count; /* bytes of a text, items of an array, pairs of a map */
    union {
        uint64_t whole; /* also BOOL: 0 or 1 */
        int64_t negative;
        double number;
        struct {
            const char *bytes; /* of a text or of a container's items; borrowed from the payload */
            const char *end;   /* of the items, once the container was skipped */
        };
    };
};

/* A walk over a payload. */
struct sta_record_message {
    const char *at, *end;
    uint32_t values;    /* read so far */
    const char *reason; /* why a call has failed; static */
};

/** sta_message_next of any value. */
bool sta_message_next_any(struct sta_record_message *message, struct sta_message_value *value);

/** Reads a value; of a container its header alone, so that its first item is next.  Return: false when it is
 * cut off, no msgpack, or one too many.  Most values are texts, integers from 0 on, doubles and small
 * containers: these need no call. */
static inline bool sta_message_next(struct sta_record_message *message, struct sta_message_value *value)
{
    const char *at = message->at;
    const size_t left = (size_t)(message->end - at);
    const unsigned byte = left >= 9 && message->values < STA_MESSAGE_VALUES ? (unsigned char)*at : 0xc1;
    if (byte < 0x80) {
        *value = (struct sta_message_value){.type = STA_MESSAGE_WHOLE, .whole = byte};
        message->at = at + 1;
    } else if (byte < 0xa0) {
        *value = (struct sta_message_value){
            byte < 0x90 ? STA_MESSAGE_MAP : STA_MESSAGE_ARRAY, byte & 0x0f, {.bytes = at + 1}};
        message->at = at + 1;
    } else if (byte < 0xc0 && left > (byte & 0x1f)) {
        *value = (struct sta_message_value){STA_MESSAGE_TEXT, byte & 0x1f, {.bytes = at + 1}};
        message->at = at + 1 + (byte & 0x1f);
    } else if (byte == 0xd9 && left - 2 >= (unsigned char)at[1]) {
        *value = (struct sta_message_value){STA_MESSAGE_TEXT, (unsigned char)at[1], {.bytes = at + 2}};
        message->at = at + 2 + (unsigned char)at[1];
    } else if (byte >= 0xcb && byte <= 0xcf) {
        uint64_t bits;
        memcpy(&bits, at + 1, sizeof bits);
        bits = __builtin_bswap64(bits);
        if (byte != 0xcb) {
            const unsigned size = 1u << (byte - 0xcc);
            *value = (struct sta_message_value){.type = STA_MESSAGE_WHOLE, .whole = bits >> (64 - 8 * size)};
            message->at = at + 1 + size;
            message->values++;
            return true;
        }
        value->type = STA_MESSAGE_FLOAT;
        memcpy(&value->number, &bits, sizeof bits);
        message->at = at + 9;
    } else {
        return sta_message_next_any(message, value);
    }
    message->values++;
    return true;
}

static inline bool sta_message_nests(const struct sta_message_value *value)
{
    return value->type == STA_MESSAGE_ARRAY || value->type == STA_MESSAGE_MAP;
}

/** Goes past the items of a container that was just read, and sets its end.  @depth: containers around it.
 * Return: as sta_message_next, and false when it is nested too deep. */
bool sta_message_skip(struct sta_record_message *message, struct sta_message_value *value, unsigned depth);

/** Reads a value, of a container all of it. */
static inline bool sta_message_read(struct sta_record_message *message, struct sta_message_value *value,
                                    unsigned depth)
{
    return sta_message_next(message, value) &&
           (!sta_message_nests(value) || sta_message_skip(message, value, depth));
}

/** Whether the value is this text. */
static inline bool sta_message_is(const struct sta_message_value *value, const char *text)
{
    const size_t length = strlen(text);
    return value->type == STA_MESSAGE_TEXT && value->count == length &&
           memcmp(value->bytes, text, length) == 0;
}

#endif
