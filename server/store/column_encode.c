/* column_encode.c - a block's column to a payload: which rows have a value, of which kinds, and the values that are there. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/memory.h"
#include "store/column.h"

struct sta_column_encoder {
    struct sta_encoder *encoder;
    int64_t values[STA_BLOCK_ROWS];                        /* of the rows that have one */
    int64_t side[STA_BLOCK_ROWS];                          /* kinds or presence, as a stream */
    uint16_t name[STA_BLOCK_ROWS], thread[STA_BLOCK_ROWS]; /* keys of the rows that have a value */
    uint8_t named[STA_KEYS_MAX]; /* of each name: 1 its rows lack a value, 2 they have one, 3 both */
};

struct sta_column_encoder *sta_column_encoder_create(void)
{
    struct sta_column_encoder *encoder = sta_alloc(sizeof *encoder);
    encoder->encoder = sta_encoder_create();
    return encoder;
}

void sta_column_encoder_destroy(struct sta_column_encoder *encoder)
{
    if (encoder == NULL)
        return;
    sta_encoder_destroy(encoder->encoder);
    free(encoder);
}

/* ---- presence */

static bool presence_follows_name(struct sta_column_encoder *encoder, const struct sta_column_rows *rows,
                                  const struct sta_keys *name)
{
    if (name->index == NULL)
        return false;
    memset(encoder->named, 0, name->count);
    for (uint32_t i = 0; i < rows->count; i++)
        encoder->named[name->index[i]] |= rows->kinds[i] ? 2 : 1;
    for (uint32_t n = 0; n < name->count; n++)
        if (encoder->named[n] == 3)
            return false;
    return true;
}

static void put_named_bits(const struct sta_column_encoder *encoder, uint32_t count, struct sta_buffer *out)
{
    for (uint32_t at = 0; at < count; at += 8) {
        unsigned byte = 0;
        for (uint32_t n = at; n < STA_MIN(at + 8, count); n++)
            byte |= (unsigned)(encoder->named[n] == 2) << (n - at);
        sta_put_char(out, (char)byte);
    }
}

static uint32_t presence_bytes(const struct sta_column_rows *rows, int64_t *bytes)
{
    uint32_t count = (rows->count + 7) / 8;
    memset(bytes, 0, count * sizeof *bytes);
    for (uint32_t i = 0; i < rows->count; i++)
        bytes[i / 8] |= (int64_t)(rows->kinds[i] != 0) << (i % 8);
    return count;
}

static uint32_t presence_rows(const struct sta_column_rows *rows, int64_t *numbers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->kinds[i] != 0)
            numbers[count++] = i;
    return count;
}

/* Return: the flags of the keys that decoding needs. */
static unsigned put_presence(struct sta_column_encoder *encoder, struct sta_plan *plan,
                             const struct sta_column_rows *rows, uint32_t present,
                             const struct sta_keys *name, struct sta_buffer *out)
{
    if (present == rows->count) {
        sta_put_char(out, STA_PRESENCE_ALL);
        return 0;
    }
    if (presence_follows_name(encoder, rows, name)) {
        sta_put_char(out, STA_PRESENCE_BY_NAME);
        put_named_bits(encoder, name->count, out);
        return STA_ENTRY_NEEDS_NAME;
    }
    bool few = present < rows->count / 64;
    uint32_t count = few ? presence_rows(rows, encoder->side) : presence_bytes(rows, encoder->side);
    sta_put_char(out, few ? STA_PRESENCE_ROWS : STA_PRESENCE_BITS);
    return sta_encode_stream(encoder->encoder, plan, encoder->side, count, sta_range_of(encoder->side, count),
                             &(struct sta_both_keys){0}, out);
}

/* ---- values */

/* Moves the values that are there, and their keys, together.  Return: how many; *kinds: bits of the kinds seen. */
static uint32_t gather(struct sta_column_encoder *encoder, const struct sta_column_rows *rows,
                       const struct sta_both_keys *keys, unsigned *kinds)
{
    uint32_t count = 0;
    *kinds = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        encoder->values[count] = rows->values[i];
        *kinds |= 1U << rows->kinds[i];
        count += rows->kinds[i] != 0;
    }
    *kinds >>= 1;
    if (count == rows->count)
        return count;
    const struct {
        const uint16_t *from;
        uint16_t *to;
    } moves[] = {{keys->name.index, encoder->name}, {keys->thread.index, encoder->thread}};
    for (size_t k = 0; k < STA_COUNT_OF(moves); k++)
        for (uint32_t i = 0, n = 0; moves[k].from != NULL && i < rows->count && n < count; i++) {
            moves[k].to[n] = moves[k].from[i];
            n += rows->kinds[i] != 0;
        }
    return count;
}

static enum sta_column_kind kind_of(unsigned kinds)
{
    switch (kinds) {
    case 1U << STA_VALUE_INT:
        return STA_KIND_INT;
    case 1U << STA_VALUE_FLOAT:
        return STA_KIND_FLOAT;
    case 1U << STA_VALUE_BOOL:
        return STA_KIND_BOOL;
    case 1U << STA_VALUE_TEXT:
        return STA_KIND_CODE;
    default:
        return STA_KIND_MIXED;
    }
}

static void put_kinds(struct sta_column_encoder *encoder, struct sta_plan *plan,
                      const struct sta_column_rows *rows, struct sta_disk_entry *entry,
                      struct sta_buffer *out)
{
    uint32_t count = 0;
    entry->max = -1; /* largest text code, for the reader's check */
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->kinds[i] == 0)
            continue;
        encoder->side[count++] = rows->kinds[i] - 1;
        if (rows->kinds[i] - 1 == STA_VALUE_TEXT)
            entry->max = STA_MAX(entry->max, rows->values[i]);
    }
    sta_encode_stream(encoder->encoder, plan, encoder->side, count, sta_range_of(encoder->side, count),
                      &(struct sta_both_keys){0}, out);
}

static void list_codes(struct sta_column_encoder *encoder, const int64_t *values, uint32_t count,
                       struct sta_range range, struct sta_disk_entry *entry, struct sta_buffer *codes)
{
    const int64_t *distinct;
    uint32_t distinct_count;
    if (!sta_encoder_distinct(encoder->encoder, values, count, range, STA_LISTED_CODES, &distinct,
                              &distinct_count))
        return;
    entry->flags |= STA_ENTRY_LISTED;
    entry->code_count = (uint16_t)distinct_count;
    for (uint32_t i = 0; i < distinct_count; i++)
        sta_put_u32(codes, (uint32_t)distinct[i]);
}

/* Keys of all rows from those of the rows that have a value: the others share one more. */
static void spread_keys(const struct sta_column_rows *rows, uint32_t present, const struct sta_keys *keys,
                        uint16_t *index, uint32_t *count)
{
    *count = keys->count + (present < rows->count);
    for (uint32_t i = 0, n = 0; i < rows->count; i++)
        index[i] = rows->kinds == NULL || rows->kinds[i] ? keys->index[n++] : (uint16_t)keys->count;
}

bool sta_encode_column(struct sta_column_encoder *encoder, struct sta_column_plans *plans,
                       const struct sta_column_rows *rows, const struct sta_both_keys *keys,
                       uint16_t *made_index, uint32_t *made_count, struct sta_disk_entry *entry,
                       struct sta_buffer *codes, struct sta_buffer *out)
{
    unsigned kinds = 1U << STA_VALUE_INT;
    uint32_t present = rows->count;
    struct sta_both_keys present_keys = *keys;
    const int64_t *values = rows->values;
    size_t start = out->size;
    if (rows->kinds != NULL) {
        present = gather(encoder, rows, keys, &kinds);
        values = encoder->values;
    }
    if (present == 0)
        return false;
    if (present < rows->count) {
        present_keys.name.index = keys->name.index ? encoder->name : NULL;
        present_keys.thread.index = keys->thread.index ? encoder->thread : NULL;
    }
    *entry = (struct sta_disk_entry){.kind = (uint8_t)kind_of(kinds), .missing = rows->count - present};
    unsigned flags = put_presence(encoder, &plans->presence, rows, present, &keys->name, out);
    struct sta_range range = sta_range_of(values, present);
    if (entry->kind == STA_KIND_MIXED) {
        put_kinds(encoder, &plans->kinds, rows, entry, out);
    } else if (entry->kind != STA_KIND_FLOAT) {
        flags |= STA_ENTRY_BOUNDED;
        entry->min = range.min;
        entry->max = range.max;
    }
    if (entry->kind == STA_KIND_CODE)
        list_codes(encoder, values, present, range, entry, codes);
    struct sta_keys made = {0};
    if (made_index == NULL)
        flags |=
            sta_encode_stream(encoder->encoder, &plans->values, values, present, range, &present_keys, out);
    else if (sta_encode_key_stream(encoder->encoder, &plans->values, values, present, range, &made, out))
        spread_keys(rows, present, &made, made_index, made_count);
    entry->flags |= (uint8_t)flags;
    entry->payload_size = (uint32_t)(out->size - start);
    if (!out->failed)
        entry->payload_checksum = (uint32_t)XXH3_64bits(out->data + start, entry->payload_size);
    return true;
}
