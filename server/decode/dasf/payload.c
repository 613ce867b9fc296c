/* Members of a record: every key is held against the one that is expected there before it is read. */
#include "decode/dasf/payload.h"

#include <string.h>

#include "common/memory.h"
#include "decode/json_text.h"

#define KEPT_TEXT ((size_t)1 << 20) /* bytes of a buffer that are kept for the next record */

void sta_payload_reader_fini(struct sta_payload_reader *reader)
{
    sta_buffer_fini(&reader->pairs);
}

void sta_payload_clear_buffer(struct sta_buffer *buffer)
{
    sta_buffer_clear(buffer);
    if (buffer->capacity > KEPT_TEXT)
        sta_buffer_fini(buffer);
}

/* The last of repeated members counts. */
static struct sta_message_value *member_of(struct sta_payload *members, const struct sta_message_value *key)
{
#define X(member)                                                                                            \
    if (sta_message_is(key, #member))                                                                        \
        return &members->member;
    STA_MEMBER_LIST(X)
#undef X
    return NULL;
}

/* Halves that overlap: no call, and not a byte more than the key has. */
static inline bool same_packed(const char *a, const char *b, size_t size)
{
    uint64_t left[2], right[2];
    uint32_t few[2], other[2];
    if (size > 32)
        return memcmp(a, b, size) == 0;
    if (size >= 16)
        return memcmp(a, b, 16) == 0 && memcmp(a + size - 16, b + size - 16, 16) == 0;
    if (size < 4)
        return memcmp(a, b, size) == 0;
    if (size < 8) {
        memcpy(&few[0], a, 4), memcpy(&few[1], a + size - 4, 4);
        memcpy(&other[0], b, 4), memcpy(&other[1], b + size - 4, 4);
        return few[0] == other[0] && few[1] == other[1];
    }
    memcpy(&left[0], a, 8), memcpy(&left[1], a + size - 8, 8);
    memcpy(&right[0], b, 8), memcpy(&right[1], b + size - 8, 8);
    return left[0] == right[0] && left[1] == right[1];
}

/* Goes past bytes if they are the predicted ones, which are so many values. */
static inline bool skip_predicted(struct sta_record_message *in, const char *packed, size_t size,
                                  uint32_t values)
{
    if (size == 0 || (size_t)(in->end - in->at) < size || in->values + values > STA_MESSAGE_VALUES ||
        !same_packed(in->at, packed, size))
        return false;
    in->at += size;
    in->values += values;
    return true;
}

static bool read_pair(struct sta_record_message *in, struct sta_payload_key *predicted,
                      struct sta_payload_pair *pair)
{
    const bool known = predicted != NULL && skip_predicted(in, predicted->packed, predicted->size, 1);
    pair->known = known ? predicted : NULL;
    pair->code = known ? predicted->last.code : STA_NO_CODE;
    if (pair->code != STA_NO_CODE &&
        skip_predicted(in, predicted->last.packed, predicted->last.size, predicted->last.values))
        return true;
    pair->code = STA_NO_CODE;
    if (!known && !sta_message_read(in, &pair->key, 2))
        return false;
    const uint32_t before = in->values;
    pair->at = in->at;
    const bool good = sta_message_read(in, &pair->value, 2);
    pair->end = in->at;
    pair->values = in->values - before;
    return good;
}

/* Records of a kind have the same keys in the same order, nearly always. */
static bool read_pairs(struct sta_payload_reader *reader, struct sta_record_message *in,
                       struct sta_payload_key *predicted, const struct sta_message_value *args)
{
    const size_t most = STA_MIN((size_t)args->count, (size_t)(in->end - in->at) / 2); /* bytes of a pair */
    sta_payload_clear_buffer(&reader->pairs);
    struct sta_payload_pair *pair =
        (struct sta_payload_pair *)(void *)sta_buffer_reserve(&reader->pairs, most * sizeof *pair);
    for (uint32_t i = 0; i < args->count; i++, pair++) {
        if (i == most || pair == NULL) {
            in->reason = i == most ? "cut off inside a value" : "no memory for its values";
            return false;
        }
        if (!read_pair(in, predicted != NULL && i < STA_PREDICTED ? &predicted[i] : NULL, pair))
            return false;
    }
    return true;
}

bool sta_payload_came_twice(const struct sta_payload_pair *pair)
{
    struct sta_payload_text *last = &pair->known->last;
    const size_t size = (size_t)(pair->end - pair->at);
    if (size == last->size && same_packed(pair->at, last->packed, size))
        return true;
    last->size = size <= sizeof last->packed ? (uint32_t)size : 0;
    memcpy(last->packed, pair->at, last->size);
    last->values = pair->values;
    last->code = STA_NO_CODE;
    return false;
}

static enum sta_record_kind kind_of_name(const struct sta_message_value *name)
{
#define X(NAME, text, category)                                                                              \
    if (sta_message_is(name, text))                                                                          \
        return STA_KIND_##NAME;
    STA_RECORD_KINDS(X)
#undef X
    return STA_KIND_OTHER;
}

/* The keys that args of the record are likely to have; NULL: its name does not stand before them, or is of no
 * kind that is kept. */
static struct sta_payload_key *predicted_for(struct sta_payload_reader *reader,
                                             const struct sta_payload *members)
{
    const enum sta_record_kind kind = kind_of_name(&members->name);
    return kind != STA_KIND_OTHER ? reader->predicted[kind] : NULL;
}

static bool read_member(struct sta_payload_reader *reader, struct sta_record_message *in,
                        struct sta_payload *members)
{
    struct sta_message_value key, ignored;
    if (!sta_message_read(in, &key, 1))
        return false;
    struct sta_message_value *member = member_of(members, &key);
    struct sta_message_value *value = member != NULL ? member : &ignored;
    members->unknown += member == NULL;
    if (!sta_message_next(in, value))
        return false;
    if (member == &members->args && value->type == STA_MESSAGE_MAP)
        return read_pairs(reader, in, predicted_for(reader, members), value);
    return !sta_message_nests(value) || sta_message_skip(in, value, 1);
}

static void clear_members(struct sta_payload *members)
{
#define X(member) members->member.type = STA_MESSAGE_ABSENT;
    STA_MEMBER_LIST(X)
#undef X
    members->unknown = members->pair_count = 0;
}

const char *sta_payload_read(struct sta_payload_reader *reader, const char *bytes, size_t size,
                             struct sta_payload *members)
{
    struct sta_record_message in = {.at = bytes, .end = bytes + size};
    struct sta_message_value all;
    clear_members(members);
    bool good = sta_message_next(&in, &all);
    bool map = good && all.type == STA_MESSAGE_MAP;
    for (uint32_t i = 0; map && good && i < all.count; i++)
        good = read_member(reader, &in, members);
    if (good && all.type == STA_MESSAGE_ARRAY)
        good = sta_message_skip(&in, &all, 0);
    if (!good)
        return in.reason;
    if (in.at != in.end)
        return "bytes behind the object";
    if (members->args.type == STA_MESSAGE_MAP) {
        members->pairs = (const struct sta_payload_pair *)(const void *)reader->pairs.data;
        members->pair_count = members->args.count;
    }
    return map ? NULL : "not a map";
}

/* One of an unknown phase is none that an analysis reads. */
enum sta_record_kind sta_payload_kind(const struct sta_payload *members)
{
    static const char *const phases[] = {"X", "I", "B", "E"};
    bool known = false;
    for (size_t i = 0; i < STA_COUNT_OF(phases); i++)
        known |= sta_message_is(&members->phase, phases[i]);
    return known ? kind_of_name(&members->name) : STA_KIND_OTHER;
}

static enum sta_arg_role role_of(const struct sta_message_value *key)
{
    return sta_message_is(key, "key")            ? STA_ROLE_TASK
           : sta_message_is(key, "name")         ? STA_ROLE_FUNCTION
           : sta_message_is(key, "size")         ? STA_ROLE_SIZE
           : sta_message_is(key, "dependencies") ? STA_ROLE_LIST
           : sta_message_is(key, "dependents")   ? STA_ROLE_LIST
                                                 : STA_ROLE_NONE;
}

struct sta_payload_key sta_payload_look_up(struct sta_payload_reader *reader, struct sta_tables *tables,
                                           enum sta_record_kind kind, size_t place,
                                           const struct sta_message_value *key)
{
    struct sta_payload_key found = {.code = STA_NO_CODE, .last.code = STA_NO_CODE};
    if (key->type != STA_MESSAGE_TEXT || sta_utf8_valid_prefix(key->bytes, key->count) != key->count)
        return found;
    found.role = role_of(key);
    found.code = sta_tables_intern_key(tables, key->bytes, key->count);
    if (place < STA_PREDICTED && key->count < STA_PREDICTED_KEY) {
        found.packed[0] = (char)(0xa0 | key->count);
        memcpy(found.packed + 1, key->bytes, key->count);
        found.size = key->count + 1;
        reader->predicted[kind][place] = found;
    }
    return found;
}
