/* Growing bytes with a sticky failure, and the cursor that reads them back. */
#include "common/buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"
#include "common/number.h"

#define SMALL ((size_t)64 << 10)

void sta_buffer_init(struct sta_buffer *buffer)
{
    *buffer = (struct sta_buffer){0};
}

void sta_buffer_fini(struct sta_buffer *buffer)
{
    sta_account_release(buffer->account, buffer->capacity);
    free(buffer->data);
    *buffer = (struct sta_buffer){0};
}

void sta_buffer_clear(struct sta_buffer *buffer)
{
    buffer->size = 0;
    buffer->failed = false;
}

/* What is small always succeeds, since a refusal and its cause must be said too. */
static bool charge(struct sta_buffer *buffer, size_t capacity)
{
    struct sta_error ignored = STA_ERROR_INIT;
    const size_t more = capacity - buffer->capacity;
    if (capacity > SMALL)
        return sta_account_charge(buffer->account, more, "a response", &ignored) == STA_OK;
    sta_account_overdraw(buffer->account, more);
    return true;
}

static bool grow(struct sta_buffer *buffer, size_t need)
{
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity < need)
        capacity *= 2;
    if (!charge(buffer, capacity))
        return false;
    char *data = sta_try_realloc(buffer->data, capacity);
    if (data == NULL) {
        sta_account_release(buffer->account, capacity - buffer->capacity);
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

char *sta_buffer_reserve(struct sta_buffer *buffer, size_t size)
{
    if (buffer->failed)
        return NULL;
    size_t need = buffer->size + size;
    bool fits = need >= size && (buffer->limit == 0 || need <= buffer->limit);
    if (!fits || ((need > buffer->capacity || buffer->data == NULL) && !grow(buffer, need))) {
        buffer->failed = true;
        return NULL;
    }
    return buffer->data + buffer->size;
}

void sta_put(struct sta_buffer *buffer, const void *bytes, size_t size)
{
    char *space = size > 0 ? sta_buffer_reserve(buffer, size) : NULL;
    if (space == NULL)
        return;
    memcpy(space, bytes, size);
    buffer->size += size;
}

void sta_put_char(struct sta_buffer *buffer, char c)
{
    sta_put(buffer, &c, 1);
}

void sta_put_text(struct sta_buffer *buffer, const char *text)
{
    sta_put(buffer, text, strlen(text));
}

void sta_put_format(struct sta_buffer *buffer, const char *format, ...)
{
    char stack[512];
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(stack, sizeof stack, format, args);
    if (length >= 0 && (size_t)length < sizeof stack) {
        sta_put(buffer, stack, (size_t)length);
    } else if (length >= 0) {
        char *space = sta_buffer_reserve(buffer, (size_t)length + 1);
        if (space != NULL) {
            vsnprintf(space, (size_t)length + 1, format, again);
            buffer->size += (size_t)length;
        }
    } else {
        buffer->failed = true;
    }
    va_end(again);
    va_end(args);
}

void sta_put_int(struct sta_buffer *buffer, int64_t value)
{
    char text[STA_DOUBLE_TEXT];
    sta_put(buffer, text, sta_format_int(value, text));
}

void sta_put_uint(struct sta_buffer *buffer, uint64_t value)
{
    if (value <= INT64_MAX)
        sta_put_int(buffer, (int64_t)value);
    else
        sta_put_wide(buffer, value);
}

void sta_put_wide(struct sta_buffer *buffer, __int128 value)
{
    char digits[44];
    size_t at = sizeof digits;
    unsigned __int128 rest = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    do
        digits[--at] = (char)('0' + (int)(rest % 10));
    while ((rest /= 10) != 0);
    if (value < 0)
        digits[--at] = '-';
    sta_put(buffer, digits + at, sizeof digits - at);
}

void sta_put_double(struct sta_buffer *buffer, double value)
{
    char text[STA_DOUBLE_TEXT];
    if (isfinite(value))
        sta_put(buffer, text, sta_format_double(value, text));
    else
        sta_put_text(buffer, "null");
}

static void put_json_escape(struct sta_buffer *buffer, unsigned char c)
{
    static const char short_escapes[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    for (const char *pair = short_escapes; *pair != '\0'; pair += 2) {
        if ((unsigned char)pair[0] == c) {
            sta_put(buffer, (const char[]){'\\', pair[1]}, 2);
            return;
        }
    }
    sta_put_format(buffer, "\\u%04x", c);
}

/* Whether no character of the text needs an escape.  One loop without a way out is one that the compiler
 * makes of vectors. */
static bool is_plain(const char *text, size_t length)
{
    unsigned special = 0;
    for (size_t i = 0; i < length; i++)
        special |= (unsigned)((unsigned char)text[i] < 0x20) | (text[i] == '"') | (text[i] == '\\');
    return special == 0;
}

static void put_plain_string(struct sta_buffer *buffer, const char *text, size_t length)
{
    char *space = sta_buffer_reserve(buffer, length + 2);
    if (space == NULL)
        return;
    space[0] = '"';
    if (length > 0)
        memcpy(space + 1, text, length);
    space[length + 1] = '"';
    buffer->size += length + 2;
}

void sta_put_json_string(struct sta_buffer *buffer, const char *text, size_t length)
{
    size_t plain = 0;
    if (is_plain(text, length)) {
        put_plain_string(buffer, text, length);
        return;
    }
    sta_put_char(buffer, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        sta_put(buffer, text + plain, i - plain);
        put_json_escape(buffer, c);
        plain = i + 1;
    }
    sta_put(buffer, text + plain, length - plain);
    sta_put_char(buffer, '"');
}

void sta_put_csv_text(struct sta_buffer *buffer, const char *text, size_t length)
{
    bool quote = false;
    for (size_t i = 0; i < length && !quote; i++)
        quote = text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    if (!quote) {
        sta_put(buffer, text, length);
        return;
    }
    sta_put_char(buffer, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            sta_put_char(buffer, '"');
        sta_put_char(buffer, text[i]);
    }
    sta_put_char(buffer, '"');
}

void sta_put_u32(struct sta_buffer *buffer, uint32_t value)
{
    unsigned char bytes[4];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    sta_put(buffer, bytes, sizeof bytes);
}

void sta_put_u64(struct sta_buffer *buffer, uint64_t value)
{
    sta_put_u32(buffer, (uint32_t)value);
    sta_put_u32(buffer, (uint32_t)(value >> 32));
}

#define VARINT_MOST 10 /* bytes */

static size_t write_varint(char *at, uint64_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        at[size++] = (char)(value | 0x80);
    at[size++] = (char)value;
    return size;
}

void sta_put_varint(struct sta_buffer *buffer, uint64_t value)
{
    char bytes[VARINT_MOST];
    sta_put(buffer, bytes, write_varint(bytes, value));
}

void sta_put_signed(struct sta_buffer *buffer, int64_t value)
{
    sta_put_varint(buffer, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void sta_put_block(struct sta_buffer *buffer, const void *bytes, size_t size)
{
    char head[VARINT_MOST];
    const size_t head_size = write_varint(head, size);
    char *space = size < SIZE_MAX - VARINT_MOST ? sta_buffer_reserve(buffer, head_size + size) : NULL;
    if (space == NULL)
        return;
    memcpy(space, head, head_size);
    if (size > 0)
        memcpy(space + head_size, bytes, size);
    buffer->size += head_size + size;
}

char *sta_buffer_take_text(struct sta_buffer *buffer)
{
    sta_put_char(buffer, '\0');
    char *text = buffer->failed ? NULL : buffer->data;
    if (text == NULL)
        free(buffer->data);
    sta_account_release(buffer->account, buffer->capacity);
    *buffer = (struct sta_buffer){.limit = buffer->limit, .account = buffer->account};
    return text;
}

char *sta_join_names(const void *items, size_t size, size_t count)
{
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t i = 0; i < count; i++) {
        const char *const *name = (const void *)((const char *)items + i * size);
        sta_put_format(&names, "%s%s", i > 0 ? ", " : "", *name);
    }
    char *text = sta_buffer_take_text(&names);
    return text != NULL ? text : sta_strdup("");
}

void sta_buffer_trim(struct sta_buffer *buffer)
{
    char *data =
        buffer->size > 0 && buffer->size < buffer->capacity ? realloc(buffer->data, buffer->size) : NULL;
    if (data == NULL)
        return;
    sta_account_release(buffer->account, buffer->capacity - buffer->size);
    buffer->data = data;
    buffer->capacity = buffer->size;
}

char *sta_buffer_take(struct sta_buffer *buffer)
{
    char *data = buffer->data;
    *buffer = (struct sta_buffer){.limit = buffer->limit, .account = buffer->account};
    return data;
}

const void *sta_get_bytes(struct sta_cursor *cursor, size_t size)
{
    if (cursor->failed || (size_t)(cursor->end - cursor->at) < size) {
        cursor->failed = true;
        return NULL;
    }
    const void *bytes = cursor->at;
    cursor->at += size;
    return bytes;
}

static uint64_t get_little_endian(struct sta_cursor *cursor, unsigned size)
{
    const unsigned char *bytes = sta_get_bytes(cursor, size);
    uint64_t value = 0;
    for (unsigned i = 0; bytes != NULL && i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint32_t sta_get_u32(struct sta_cursor *cursor)
{
    return (uint32_t)get_little_endian(cursor, 4);
}

uint64_t sta_get_u64(struct sta_cursor *cursor)
{
    return get_little_endian(cursor, 8);
}

uint64_t sta_get_varint(struct sta_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const unsigned char *byte = sta_get_bytes(cursor, 1);
        if (byte == NULL)
            return 0;
        value |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte < 0x80)
            return value;
    }
    cursor->failed = true;
    return 0;
}

int64_t sta_get_signed(struct sta_cursor *cursor)
{
    const uint64_t bits = sta_get_varint(cursor);
    return (int64_t)(bits >> 1 ^ (0 - (bits & 1)));
}

const char *sta_get_block(struct sta_cursor *cursor, size_t *size)
{
    *size = sta_get_varint(cursor);
    const char *bytes = sta_get_bytes(cursor, *size);
    if (bytes == NULL)
        *size = 0;
    return bytes;
}
