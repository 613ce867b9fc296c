/* Counter records as bytes, and back. */
#include "common/counters.h"

#include <string.h>

void sta_counter_put(struct sta_buffer *out, const struct sta_counter_record *record, int64_t last_ns)
{
    sta_put_signed(out, (int64_t)((uint64_t)record->ns - (uint64_t)last_ns));
    sta_put_signed(out, record->pid);
    sta_put_block(out, record->host.bytes, record->host.length);
    sta_put_block(out, record->name.bytes, record->name.length);
    sta_put_varint(out, record->values);
}

void sta_counter_put_value(struct sta_buffer *out, uint32_t key, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sta_put_varint(out, key);
    sta_put_u64(out, bits);
}

void sta_counters_put_chunk(struct sta_buffer *out, const char *path, const void *records, size_t size)
{
    sta_put_block(out, path, strlen(path));
    sta_put_block(out, records, size);
}

/* ---- reading */

static struct sta_text get_text(struct sta_cursor *in)
{
    size_t length;
    const char *bytes = sta_get_block(in, &length);
    in->failed = in->failed || bytes == NULL || length >= UINT32_MAX;
    return in->failed ? (struct sta_text){"", 0} : (struct sta_text){bytes, (uint32_t)length};
}

bool sta_counters_get_chunk(struct sta_cursor *in, struct sta_text *path, struct sta_cursor *records)
{
    if (in->failed || in->at == in->end)
        return false;
    *path = get_text(in);
    size_t size = 0;
    const char *bytes = sta_get_block(in, &size);
    in->failed = in->failed || bytes == NULL;
    if (!in->failed)
        *records = (struct sta_cursor){.at = (const unsigned char *)bytes,
                                       .end = (const unsigned char *)bytes + size};
    return !in->failed;
}

bool sta_counter_get(struct sta_cursor *in, struct sta_counter_record *record)
{
    if (in->failed || in->at == in->end)
        return false;
    record->ns = (int64_t)((uint64_t)record->ns + (uint64_t)sta_get_signed(in));
    record->pid = sta_get_signed(in);
    record->host = get_text(in);
    record->name = get_text(in);
    record->values = sta_get_varint(in);
    return !in->failed;
}

void sta_counter_get_value(struct sta_cursor *in, uint32_t *key, double *value)
{
    const uint64_t code = sta_get_varint(in), bits = sta_get_u64(in);
    in->failed = in->failed || code >= STA_NO_CODE;
    *key = in->failed ? STA_NO_CODE : (uint32_t)code;
    memcpy(value, &bits, sizeof *value);
}
