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
    uint8_t named[STA_KEYS_MAX];                           /* of each name: whether its rows have a value */
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
        encoder->named[name->index[i]] = rows->kinds[i] != 0;
    unsigned differs = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        differs |= encoder->named[name->index[i]] ^ (rows->kinds[i] != 0);
    return differs == 0;
}

static void put_named_bits(const struct sta_column_encoder *encoder, uint32_t count, struct sta_buffer *out)
{
    for (uint32_t at = 0; at < count; at += 8) {
        unsigned byte = 0;
        for (uint32_t n = at; n < STA_MIN(at + 8, count); n++)
            byte |= (unsigned)encoder->named[n] << (n - at);
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

/* Return: how many rows have a value; *kind: of which kind they are. */
static uint32_t count_present(const struct sta_column_rows *rows, enum sta_column_kind *kind)
{
    static const enum sta_column_kind kinds[STA_VALUE_KINDS] = {[STA_VALUE_INT] = STA_KIND_INT,
                                                                [STA_VALUE_FLOAT] = STA_KIND_FLOAT,
                                                                [STA_VALUE_BOOL] = STA_KIND_BOOL,
                                                                [STA_VALUE_TEXT] = STA_KIND_CODE};
    uint8_t largest = 0, differs = 0;
    uint32_t count = 0;
    *kind = STA_KIND_INT;
    if (rows->kinds == NULL)
        return rows->count;
    for (uint32_t i = 0; i < rows->count; i++)
        largest = STA_MAX(largest, rows->kinds[i]);
    for (uint32_t i = 0; i < rows->count; i++) {
        differs |= (rows->kinds[i] != largest) & (rows->kinds[i] != 0);
        count += rows->kinds[i] != 0;
    }
    if (largest != 0)
        *kind = differs ? STA_KIND_MIXED : kinds[largest - 1];
    return count;
}

/* Without branches: which rows have a value is hard to predict. */
static void move_values(struct sta_column_encoder *encoder, const struct sta_column_rows *rows)
{
    for (uint32_t i = 0, n = 0; i < rows->count; i++) {
        encoder->values[n] = rows->values[i];
        n += rows->kinds[i] != 0;
    }
}

static struct sta_keys move_keys(const struct sta_column_rows *rows, const struct sta_keys *keys,
                                 uint16_t *moved)
{
    if (keys->index == NULL)
        return *keys;
    for (uint32_t i = 0, n = 0; i < rows->count; i++) {
        moved[n] = keys->index[i];
        n += rows->kinds[i] != 0;
    }
    return (struct sta_keys){moved, keys->count};
}

/* The keys of the rows that have a value, as far as the plan can use them. */
static struct sta_both_keys keys_of_present(struct sta_column_encoder *encoder,
                                            const struct sta_column_rows *rows, uint32_t present,
                                            const struct sta_both_keys *keys, unsigned needs)
{
    struct sta_both_keys moved = {0};
    if (present == rows->count)
        return *keys;
    if (needs & STA_ENTRY_NEEDS_NAME)
        moved.name = move_keys(rows, &keys->name, encoder->name);
    if (needs & STA_ENTRY_NEEDS_THREAD)
        moved.thread = move_keys(rows, &keys->thread, encoder->thread);
    return moved;
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
    enum sta_column_kind kind;
    uint32_t present = count_present(rows, &kind);
    const int64_t *values = rows->values;
    size_t start = out->size;
    if (present == 0)
        return false;
    if (present < rows->count) {
        move_values(encoder, rows);
        values = encoder->values;
    }
    struct sta_both_keys present_keys =
        keys_of_present(encoder, rows, present, keys, sta_plan_needs(&plans->values));
    *entry = (struct sta_disk_entry){.kind = (uint8_t)kind, .missing = rows->count - present};
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
