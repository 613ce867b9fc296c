/* column_encode.c - a row group's column to a payload: which rows have a value, of which kinds, and the
 * values that are there. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/memory.h"
#include "store/encoding/column.h"
#include "store/encoding/distinct.h"
#include "store/encoding/kernels.h"
#include "store/encoding/validity.h"

struct sta_column_encoder {
    struct sta_encoder *encoder;
    struct sta_validity validity;
    int64_t values[STA_ROW_GROUP_ROWS];                            /* of the rows that have one */
    int64_t side[STA_ROW_GROUP_ROWS];                              /* kinds or validity, as a stream */
    uint32_t narrow[STA_ROW_GROUP_ROWS];                           /* of the stream in work */
    uint16_t name[STA_ROW_GROUP_ROWS], thread[STA_ROW_GROUP_ROWS]; /* keys of the rows that have a value */
    uint8_t named[STA_KEYS_MAX]; /* of each name: whether its rows have a value */
};

struct sta_column_encoder *sta_column_encoder_create(enum sta_effort effort)
{
    struct sta_column_encoder *encoder = sta_alloc(sizeof *encoder);
    encoder->encoder = sta_encoder_create(effort);
    return encoder;
}

void sta_column_encoder_destroy(struct sta_column_encoder *encoder)
{
    if (encoder == NULL)
        return;
    sta_encoder_destroy(encoder->encoder);
    free(encoder);
}

/* ---- validity */

/* Marks the names of the rows that have a value. */
static void mark_names(struct sta_column_encoder *encoder, const struct sta_keys *name)
{
    const uint32_t count = encoder->validity.count;
    if (name->count <= 64) {
        const uint64_t bits = sta_kernels()->bits_of_keys(name->index, count);
        for (uint32_t n = 0; n < name->count; n++)
            encoder->named[n] = bits >> n & 1;
        return;
    }
    memset(encoder->named, 0, name->count);
    for (uint32_t i = 0; i < count; i++)
        encoder->named[name->index[i]] = 1;
}

/* Whether all rows of a name have a value, or none.  @name: keys of the rows that have one. */
static bool validity_follows_name(struct sta_column_encoder *encoder, const struct sta_keys *name)
{
    const struct sta_validity *validity = &encoder->validity;
    uint32_t named_rows = 0;
    if (name->index == NULL)
        return false;
    mark_names(encoder, name);
    for (uint32_t n = 0; n < name->count; n++)
        named_rows += encoder->named[n] * name->rows[n];
    return named_rows == validity->count;
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

static uint32_t validity_bytes(const struct sta_validity *validity, int64_t *bytes)
{
    uint32_t count = (validity->rows + 7) / 8;
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = validity->bits[i / 4] >> (i % 4 * 8) & 0xff;
    return count;
}

static uint32_t validity_rows(const struct sta_validity *validity, int64_t *numbers)
{
    uint32_t count = 0;
    for (uint32_t w = 0; count < validity->count; w++)
        for (uint32_t bits = validity->bits[w]; bits != 0; bits &= bits - 1)
            numbers[count++] = w * 32 + (uint32_t)__builtin_ctz(bits);
    return count;
}

static unsigned put_side(struct sta_column_encoder *encoder, struct sta_encoding_plan *plan, uint32_t count,
                         struct sta_buffer *out)
{
    struct sta_values values = sta_values_of(encoder->side, count, encoder->narrow);
    return sta_encode_stream(encoder->encoder, plan, &values, &(struct sta_both_keys){0}, out);
}

/* @name: keys of the rows that have a value.  Return: the flags of the keys that decoding needs. */
static unsigned put_validity(struct sta_column_encoder *encoder, struct sta_encoding_plan *plan,
                             const struct sta_keys *name, struct sta_buffer *out)
{
    const struct sta_validity *validity = &encoder->validity;
    if (validity->count == validity->rows) {
        sta_put_char(out, STA_VALIDITY_ALL);
        return 0;
    }
    if (validity_follows_name(encoder, name)) {
        sta_put_char(out, STA_VALIDITY_BY_NAME);
        put_named_bits(encoder, name->count, out);
        return STA_COLUMN_CHUNK_NEEDS_NAME;
    }
    bool few = validity->count < validity->rows / 64;
    uint32_t count = few ? validity_rows(validity, encoder->side) : validity_bytes(validity, encoder->side);
    sta_put_char(out, few ? STA_VALIDITY_ROWS : STA_VALIDITY_BITS);
    return put_side(encoder, plan, count, out);
}

/* ---- values */

static void find_validity(struct sta_validity *validity, const struct sta_column_rows *rows)
{
    if (rows->kinds != NULL)
        sta_validity_find(validity, rows->kinds, rows->count);
    else
        validity->rows = validity->count = rows->count;
}

static enum sta_column_kind kind_of(const struct sta_validity *validity, const struct sta_column_rows *rows)
{
    static const enum sta_column_kind kinds[STA_VALUE_KINDS] = {[STA_VALUE_INT] = STA_KIND_INT,
                                                                [STA_VALUE_FLOAT] = STA_KIND_FLOAT,
                                                                [STA_VALUE_BOOL] = STA_KIND_BOOL,
                                                                [STA_VALUE_TEXT] = STA_KIND_CODE};
    if (rows->kinds == NULL)
        return STA_KIND_INT;
    return validity->kind != 0 ? kinds[validity->kind - 1] : STA_KIND_MIXED;
}

/* The keys of the rows that have a value: the name's, and what else the plan can use. */
static struct sta_both_keys keys_of_validity(struct sta_column_encoder *encoder,
                                             const struct sta_both_keys *keys, unsigned needs)
{
    struct sta_both_keys kept = *keys;
    if (encoder->validity.count == encoder->validity.rows)
        return kept;
    if (keys->name.index != NULL) {
        sta_validity_compact_keys(&encoder->validity, keys->name.index, encoder->name);
        kept.name.index = encoder->name;
    }
    kept.thread.index = NULL;
    if (keys->thread.index != NULL && needs & STA_COLUMN_CHUNK_NEEDS_THREAD) {
        sta_validity_compact_keys(&encoder->validity, keys->thread.index, encoder->thread);
        kept.thread.index = encoder->thread;
    }
    return kept;
}

static void put_kinds(struct sta_column_encoder *encoder, struct sta_encoding_plan *plan,
                      const struct sta_column_rows *rows, struct sta_disk_column_chunk *column_chunk,
                      struct sta_buffer *out)
{
    uint32_t count = 0;
    column_chunk->max = -1; /* largest text code, for the reader's check */
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->kinds[i] == 0)
            continue;
        encoder->side[count++] = rows->kinds[i] - 1;
        if (rows->kinds[i] - 1 == STA_VALUE_TEXT)
            column_chunk->max = STA_MAX(column_chunk->max, rows->values[i]);
    }
    put_side(encoder, plan, count, out);
}

/* @distinct: NULL when they are too many. */
static void list_codes(const struct sta_distinct *distinct, struct sta_disk_column_chunk *column_chunk,
                       struct sta_buffer *codes)
{
    if (distinct == NULL || distinct->count > STA_LISTED_CODES)
        return;
    column_chunk->flags |= STA_COLUMN_CHUNK_LISTED;
    column_chunk->code_count = (uint16_t)distinct->count;
    for (uint32_t i = 0; i < distinct->count; i++)
        sta_put_u32(codes, (uint32_t)distinct->values[i]);
}

/* Neighbours mostly have the same key: four counts of each, so that none waits for the one before. */
static void count_rows(struct sta_made_keys *made, const uint16_t *index, uint32_t rows)
{
    uint16_t counts[4][STA_KEYS_MAX];
    for (unsigned c = 0; c < 4; c++)
        memset(counts[c], 0, made->count * sizeof *counts[c]);
    for (uint32_t i = 0; i < rows; i++)
        counts[i % 4][index[i]]++;
    for (uint32_t key = 0; key < made->count; key++)
        made->rows[key] = (uint16_t)(counts[0][key] + counts[1][key] + counts[2][key] + counts[3][key]);
}

/* Keys of all rows from the places of those that have a value: the others share one more. */
static void spread_keys(const struct sta_column_rows *rows, uint32_t validity,
                        const struct sta_distinct *distinct, uint16_t *index, struct sta_made_keys *made)
{
    made->count = distinct->count + (validity < rows->count);
    if (validity == rows->count)
        memcpy(index, distinct->index, rows->count * sizeof *index);
    else
        for (uint32_t i = 0, n = 0; i < rows->count; i++)
            index[i] = rows->kinds[i] ? distinct->index[n++] : (uint16_t)distinct->count;
    count_rows(made, index, rows->count);
}

static void put_keys(struct sta_column_encoder *encoder, struct sta_encoding_plan *plan,
                     const struct sta_values *values, const struct sta_column_rows *rows,
                     uint16_t *made_index, struct sta_made_keys *made,
                     struct sta_disk_column_chunk *column_chunk, struct sta_buffer *codes,
                     struct sta_buffer *out)
{
    const struct sta_distinct *distinct = sta_encode_key_stream(encoder->encoder, plan, values, out);
    list_codes(distinct, column_chunk, codes);
    if (distinct != NULL)
        spread_keys(rows, values->count, distinct, made_index, made);
}

/* Return: the flags of the keys that decoding needs. */
static unsigned put_values(struct sta_column_encoder *encoder, struct sta_encoding_plan *plan,
                           const struct sta_values *values, const struct sta_both_keys *keys,
                           struct sta_disk_column_chunk *column_chunk, struct sta_buffer *codes,
                           struct sta_buffer *out)
{
    if (column_chunk->kind == STA_KIND_CODE)
        list_codes(sta_encoder_distinct(encoder->encoder, values, STA_LISTED_CODES), column_chunk, codes);
    return sta_encode_stream(encoder->encoder, plan, values, keys, out);
}

bool sta_encode_column(struct sta_column_encoder *encoder, struct sta_column_plans *plans,
                       const struct sta_column_rows *rows, const struct sta_both_keys *keys,
                       uint16_t *made_index, struct sta_made_keys *made,
                       struct sta_disk_column_chunk *column_chunk, struct sta_buffer *codes,
                       struct sta_buffer *out)
{
    size_t start = out->size;
    if (made != NULL)
        made->count = 0;
    find_validity(&encoder->validity, rows);
    uint32_t validity = encoder->validity.count;
    if (validity == 0)
        return false;
    if (validity < rows->count)
        sta_validity_compact(&encoder->validity, rows->values, encoder->values);
    struct sta_both_keys validity_keys = keys_of_validity(encoder, keys, sta_plan_needs(&plans->values));
    *column_chunk = (struct sta_disk_column_chunk){.kind = (uint8_t)kind_of(&encoder->validity, rows),
                                                   .missing = rows->count - validity};
    unsigned flags = put_validity(encoder, &plans->validity, &validity_keys.name, out);
    if (column_chunk->kind == STA_KIND_MIXED)
        put_kinds(encoder, &plans->kinds, rows, column_chunk, out);
    struct sta_values values =
        sta_values_of(validity < rows->count ? encoder->values : rows->values, validity, encoder->narrow);
    if (column_chunk->kind != STA_KIND_MIXED && column_chunk->kind != STA_KIND_FLOAT) {
        flags |= STA_COLUMN_CHUNK_BOUNDED;
        column_chunk->min = values.range.min;
        column_chunk->max = values.range.max;
    }
    if (made_index == NULL)
        flags |= put_values(encoder, &plans->values, &values, &validity_keys, column_chunk, codes, out);
    else
        put_keys(encoder, &plans->values, &values, rows, made_index, made, column_chunk, codes, out);
    column_chunk->flags |= (uint8_t)flags;
    column_chunk->payload_size = (uint32_t)(out->size - start);
    if (!out->failed)
        column_chunk->payload_checksum = (uint32_t)XXH3_64bits(out->data + start, column_chunk->payload_size);
    return true;
}
