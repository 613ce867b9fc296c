/* Values of a payload: every length is held against what is left of it before it is used. */
#include "decode/dasf/message.h"

/* How a value that begins with 0xc0 .. 0xdf goes on. */
struct head {
    uint8_t type;   /* enum sta_message_type; ABSENT: there is no such value */
    uint8_t number; /* bytes of a number: the value itself, or a count */
    uint8_t more;   /* bytes behind that, besides what the count says */
};

#define ABSENT STA_MESSAGE_ABSENT
#define OTHER STA_MESSAGE_OTHER
#define WHOLE STA_MESSAGE_WHOLE
#define SIGNED STA_MESSAGE_NEGATIVE
static const struct head heads[32] = {
    {STA_MESSAGE_NIL, 0, 0},
    {ABSENT, 0, 0},
    {STA_MESSAGE_BOOL, 0, 0},
    {STA_MESSAGE_BOOL, 0, 0},
    {OTHER, 1, 0},
    {OTHER, 2, 0},
    {OTHER, 4, 0},
    {OTHER, 1, 1},
    {OTHER, 2, 1},
    {OTHER, 4, 1},
    {STA_MESSAGE_FLOAT, 4, 0},
    {STA_MESSAGE_FLOAT, 8, 0},
    {WHOLE, 1, 0},
    {WHOLE, 2, 0},
    {WHOLE, 4, 0},
    {WHOLE, 8, 0},
    {SIGNED, 1, 0},
    {SIGNED, 2, 0},
    {SIGNED, 4, 0},
    {SIGNED, 8, 0},
    {OTHER, 0, 2},
    {OTHER, 0, 3},
    {OTHER, 0, 5},
    {OTHER, 0, 9},
    {OTHER, 0, 17},
    {STA_MESSAGE_TEXT, 1, 0},
    {STA_MESSAGE_TEXT, 2, 0},
    {STA_MESSAGE_TEXT, 4, 0},
    {STA_MESSAGE_ARRAY, 2, 0},
    {STA_MESSAGE_ARRAY, 4, 0},
    {STA_MESSAGE_MAP, 2, 0},
    {STA_MESSAGE_MAP, 4, 0},
};

static bool fail(struct sta_record_message *message, const char *reason)
{
    message->reason = reason;
    return false;
}

static uint64_t items_of(const struct sta_message_value *value)
{
    return value->type == STA_MESSAGE_MAP     ? 2 * (uint64_t)value->count
           : value->type == STA_MESSAGE_ARRAY ? value->count
                                              : 0;
}

/* Goes past bytes.  Return: NULL when there are not so many. */
static const char *take(struct sta_record_message *message, uint64_t size)
{
    const char *at = message->at;
    if ((uint64_t)(message->end - at) < size) {
        message->reason = "cut off inside a value";
        return NULL;
    }
    message->at += size;
    return at;
}

static uint64_t big_endian(const char *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

static double float_of(uint64_t bits, unsigned size)
{
    const uint32_t half = (uint32_t)bits;
    double number;
    float small;
    if (size == sizeof small) {
        memcpy(&small, &half, sizeof small);
        return (double)small;
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void set_signed(struct sta_message_value *value, uint64_t bits, unsigned size)
{
    const unsigned unused = 64 - 8 * size;
    const int64_t number = (int64_t)(bits << unused) >> unused;
    value->type = number < 0 ? STA_MESSAGE_NEGATIVE : STA_MESSAGE_WHOLE;
    value->negative = number;
}

/* A value whose header is more than a byte. */
static bool read_long(struct sta_record_message *message, struct sta_message_value *value, unsigned byte)
{
    const struct head *head = &heads[byte - 0xc0];
    const char *at = take(message, head->number);
    if (at == NULL)
        return false;
    const uint64_t number = big_endian(at, head->number);
    value->type = head->type;
    value->count = (uint32_t)number;
    switch (head->type) {
    case STA_MESSAGE_ABSENT:
        return fail(message, "not msgpack");
    case STA_MESSAGE_BOOL:
        value->whole = byte & 1;
        return true;
    case STA_MESSAGE_WHOLE:
        value->whole = number;
        return true;
    case STA_MESSAGE_NEGATIVE:
        set_signed(value, number, head->number);
        return true;
    case STA_MESSAGE_FLOAT:
        value->number = float_of(number, head->number);
        return true;
    case STA_MESSAGE_TEXT:
    case STA_MESSAGE_OTHER:
        value->bytes = take(message, number + head->more);
        return value->bytes != NULL;
    default:
        value->bytes = message->at;
        return true;
    }
}

static bool read_value(struct sta_record_message *message, struct sta_message_value *value)
{
    const char *at = take(message, 1);
    if (at == NULL)
        return false;
    const unsigned byte = (unsigned char)*at;
    if (byte >= 0xc0 && byte < 0xe0)
        return read_long(message, value, byte);
    if (byte >= 0xa0 && byte < 0xc0) {
        value->type = STA_MESSAGE_TEXT;
        value->count = byte & 0x1f;
        value->bytes = take(message, value->count);
        return value->bytes != NULL;
    }
    if (byte >= 0x80 && byte < 0xa0) {
        value->type = byte < 0x90 ? STA_MESSAGE_MAP : STA_MESSAGE_ARRAY;
        value->count = byte & 0x0f;
        value->bytes = message->at;
        return true;
    }
    set_signed(value, byte, 1);
    return true;
}

bool sta_message_next_any(struct sta_record_message *message, struct sta_message_value *value)
{
    if (!read_value(message, value))
        return false;
    if (++message->values > STA_MESSAGE_VALUES || items_of(value) > STA_MESSAGE_VALUES)
        return fail(message, "more than 1,048,576 values");
    return true;
}

bool sta_message_skip(struct sta_record_message *message, struct sta_message_value *value, unsigned depth)
{
    uint64_t left[STA_MESSAGE_DEPTH + 1];
    struct sta_message_value item = *value;
    unsigned level = depth;
    value->end = message->at;
    if (items_of(value) == 0)
        return true;
    for (;;) {
        const uint64_t items = items_of(&item);
        if (sta_message_nests(&item) && level == STA_MESSAGE_DEPTH)
            return fail(message, "nested deeper than 32");
        if (items > 0)
            left[++level] = items;
        while (level > depth && left[level] == 0)
            level--;
        if (level == depth)
            break;
        left[level]--;
        if (!sta_message_next(message, &item))
            return false;
    }
    value->end = message->at;
    return true;
}
