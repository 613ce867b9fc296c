/* message_reference.h - a payload as our reader and as msgpack-c see it: for the unit test and the fuzz
 * target of records. */
#ifndef STA_TESTS_MESSAGE_REFERENCE_H
#define STA_TESTS_MESSAGE_REFERENCE_H

#include <msgpack.h>
#include <string.h>

#include "decode/dasf/message.h"

static inline bool same_value(const msgpack_object *object, struct sta_record_message *in);

static inline bool same_bytes(const char *a, const char *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static inline bool same_items(const msgpack_object *object, const struct sta_message_value *value,
                              struct sta_record_message *in)
{
    if (object->type == MSGPACK_OBJECT_ARRAY) {
        bool same = value->type == STA_MESSAGE_ARRAY && value->count == object->via.array.size;
        for (uint32_t i = 0; same && i < value->count; i++)
            same = same_value(&object->via.array.ptr[i], in);
        return same;
    }
    bool same = value->type == STA_MESSAGE_MAP && value->count == object->via.map.size;
    for (uint32_t i = 0; same && i < value->count; i++)
        same = same_value(&object->via.map.ptr[i].key, in) && same_value(&object->via.map.ptr[i].val, in);
    return same;
}

static inline bool same_value(const msgpack_object *object, struct sta_record_message *in)
{
    struct sta_message_value value;
    if (!sta_message_next(in, &value))
        return false;
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
        return value.type == STA_MESSAGE_NIL;
    case MSGPACK_OBJECT_BOOLEAN:
        return value.type == STA_MESSAGE_BOOL && value.whole == object->via.boolean;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return value.type == STA_MESSAGE_WHOLE && value.whole == object->via.u64;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return value.type == STA_MESSAGE_NEGATIVE && value.negative == object->via.i64;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return value.type == STA_MESSAGE_FLOAT &&
               memcmp(&value.number, &object->via.f64, sizeof value.number) == 0;
    case MSGPACK_OBJECT_STR:
        return value.type == STA_MESSAGE_TEXT && value.count == object->via.str.size &&
               same_bytes(value.bytes, object->via.str.ptr, value.count);
    case MSGPACK_OBJECT_ARRAY:
    case MSGPACK_OBJECT_MAP:
        return same_items(object, &value, in);
    default:
        return value.type == STA_MESSAGE_OTHER;
    }
}

/* Whether both accept the payload and find the same in it, or neither does.  Of a payload that is past our
 * limits, or that may make the library allocate by a count of 32 bits, it is not asked. */
static inline bool same_message(const char *bytes, size_t size)
{
    struct sta_record_message in = {.at = bytes, .end = bytes + size}, again = in;
    struct sta_message_value value;
    bool good = sta_message_read(&in, &value, 0) && in.at == in.end;
    bool limit = in.reason != NULL && (strstr(in.reason, "values") || strstr(in.reason, "deeper"));
    if (limit || (!good && size > 0 && (memchr(bytes, 0xdd, size) || memchr(bytes, 0xdf, size))))
        return true;
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t offset = 0;
    bool accepted =
        msgpack_unpack_next(&unpacked, bytes, size, &offset) == MSGPACK_UNPACK_SUCCESS && offset == size;
    bool same = accepted == good && (!good || same_value(&unpacked.data, &again));
    msgpack_unpacked_destroy(&unpacked);
    return same;
}

#endif
