/* decode_stream.c - streams to integers.
 *
 * DESIGN: a frame of residuals is brought through all steps before the next one is looked at, so that it
 * stays in the first level of cache.  Everything read is checked; sums wrap as unsigned numbers do, so that
 * no damage is undefined behaviour.  The caller checks the values against the range that the directory gives,
 * unless what a stream says of its values is enough. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "common/memory.h"
#include "store/encoding/bitpack.h"
#include "store/encoding/codec.h"
#include "store/encoding/kernels.h"

#define FRAMES (STA_ROW_GROUP_ROWS / STA_PACK_FRAME)

struct head {
    enum sta_transform transform;
    enum sta_layout layout;
    unsigned byte_count, shift;
    uint64_t base, start;
    uint32_t table_count;
};

struct sta_decoder {
    ZSTD_DCtx *zstd;
    unsigned char buffer[STA_ROW_GROUP_ROWS * 8]; /* byte streams that were compressed */
    int64_t table[STA_KEYS_MAX];
    /* The stream being read. */
    struct head head;
    struct sta_cursor *in;
    struct sta_both_keys keys;
    uint32_t count, at;                /* values in all; decoded so far */
    const unsigned char *byte_streams; /* NULL: packed */
    uint8_t width[FRAMES];
    uint32_t exceptions[FRAMES];
    uint64_t min[FRAMES];
    uint64_t sum; /* DELTA */
};

struct sta_decoder *sta_decoder_create(void)
{
    struct sta_decoder *decoder = sta_alloc(sizeof *decoder);
    while ((decoder->zstd = ZSTD_createDCtx()) == NULL)
        sta_memory_open_reserve(sizeof *decoder);
    return decoder;
}

void sta_decoder_destroy(struct sta_decoder *decoder)
{
    if (decoder == NULL)
        return;
    ZSTD_freeDCtx(decoder->zstd);
    free(decoder);
}

static bool get_table(struct sta_decoder *decoder, struct sta_cursor *in, struct head *head)
{
    uint64_t count = sta_get_varint(in), value = 0;
    if (count == 0 || count > STA_KEYS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t difference = sta_get_varint(in);
        value += difference >> 1 ^ (0 - (difference & 1));
        decoder->table[i] = (int64_t)value;
    }
    head->table_count = (uint32_t)count;
    return !in->failed;
}

static bool get_head(struct sta_decoder *decoder, struct sta_cursor *in, struct head *head)
{
    const unsigned char *bytes = sta_get_bytes(in, 4);
    if (bytes == NULL || bytes[0] >= STA_TRANSFORMS || bytes[1] >= STA_LAYOUTS || bytes[2] < 1 ||
        bytes[2] > 8 || bytes[3] > 63)
        return false;
    *head =
        (struct head){.transform = bytes[0], .layout = bytes[1], .byte_count = bytes[2], .shift = bytes[3]};
    head->base = sta_get_u64(in);
    if (head->transform == STA_TRANSFORM_DELTA)
        head->start = sta_get_u64(in);
    if (head->transform == STA_TRANSFORM_DICTIONARY || head->transform == STA_TRANSFORM_BY_NAME ||
        head->transform == STA_TRANSFORM_BY_THREAD)
        return get_table(decoder, in, head);
    return !in->failed;
}

/* ---- layouts: bytes to words */

static bool open_frames(struct sta_decoder *decoder)
{
    uint32_t frames = (decoder->count + STA_PACK_FRAME - 1) / STA_PACK_FRAME;
    decoder->byte_streams = NULL;
    for (uint32_t f = 0; f < frames; f++) {
        const unsigned char *width = sta_get_bytes(decoder->in, 1);
        decoder->min[f] = sta_get_varint(decoder->in);
        const uint64_t exceptions =
            decoder->head.layout == STA_LAYOUT_PATCHED ? sta_get_varint(decoder->in) : 0;
        if (decoder->in->failed || *width > 64 || exceptions > STA_PACK_FRAME)
            return false;
        decoder->width[f] = *width;
        decoder->exceptions[f] = (uint32_t)exceptions;
    }
    return true;
}

static bool open_byte_split(struct sta_decoder *decoder)
{
    size_t size = (size_t)decoder->head.byte_count * decoder->count, stored;
    decoder->byte_streams = decoder->buffer;
    if (decoder->head.layout == STA_LAYOUT_ZSTD) {
        const char *compressed = sta_get_block(decoder->in, &stored);
        return compressed != NULL &&
               ZSTD_decompressDCtx(decoder->zstd, decoder->buffer, size, compressed, stored) == size;
    }
    decoder->byte_streams = sta_get_bytes(decoder->in, size);
    return decoder->byte_streams != NULL;
}

/* What the exceptions of a frame have above its width. */
static bool patch_frame(struct sta_decoder *decoder, uint32_t f, uint32_t part, uint64_t *words)
{
    for (uint32_t e = 0; e < decoder->exceptions[f]; e++) {
        const unsigned char *place = sta_get_bytes(decoder->in, sizeof(uint16_t));
        const uint64_t above = sta_get_varint(decoder->in);
        const uint32_t at = place != NULL ? place[0] | (uint32_t)place[1] << 8 : UINT32_MAX;
        if (decoder->in->failed || at >= part || decoder->width[f] > 63)
            return false;
        words[at] |= above << decoder->width[f];
    }
    return true;
}

static bool unpack_frame(struct sta_decoder *decoder, uint32_t part, uint64_t *words)
{
    uint32_t f = decoder->at / STA_PACK_FRAME;
    const unsigned char *packed = sta_get_bytes(decoder->in, sta_pack_size(part, decoder->width[f]));
    if (packed == NULL)
        return false;
    sta_unpack(packed, part, decoder->width[f], words);
    if (!patch_frame(decoder, f, part, words))
        return false;
    if (decoder->min[f] != 0)
        sta_kernels()->scale((int64_t *)words, part, 0, decoder->min[f]);
    return true;
}

/* The residuals of the next @part values. */
static bool next_residuals(struct sta_decoder *decoder, uint32_t part, int64_t *residuals)
{
    const struct head *head = &decoder->head;
    if (decoder->byte_streams != NULL)
        sta_kernels()->join_bytes(decoder->byte_streams + decoder->at, decoder->count, part, head->byte_count,
                                  (uint64_t *)residuals);
    else if (!unpack_frame(decoder, part, (uint64_t *)residuals))
        return false;
    if (head->base != 0 || head->shift != 0)
        sta_kernels()->scale(residuals, part, head->shift, head->base);
    return true;
}

/* ---- transforms: residuals to values, in place */

static bool look_up(const struct sta_decoder *decoder, uint32_t part, int64_t *values)
{
    if (!sta_kernels()->within(values, part, 0, (int64_t)decoder->head.table_count - 1))
        return false;
    for (uint32_t i = 0; i < part; i++)
        values[i] = decoder->table[values[i]];
    return true;
}

static void add_up(struct sta_decoder *decoder, uint32_t part, int64_t *values)
{
    uint64_t sum = decoder->sum;
    if (decoder->at == 0)
        values[0] = 0;
    for (uint32_t i = 0; i < part; i++) {
        sum += (uint64_t)values[i];
        values[i] = (int64_t)sum;
    }
    decoder->sum = sum;
}

static void add_up_by_thread(struct sta_decoder *decoder, uint32_t part, int64_t *values)
{
    const uint16_t *thread = decoder->keys.thread.index + decoder->at;
    for (uint32_t i = 0; i < part; i++) {
        int64_t *last = &decoder->table[thread[i]];
        *last = (int64_t)((uint64_t)*last + (uint64_t)values[i]);
        values[i] = *last;
    }
}

static void look_up_names(const struct sta_decoder *decoder, uint32_t part, int64_t *values)
{
    const uint16_t *name = decoder->keys.name.index + decoder->at;
    for (uint32_t i = 0; i < part; i++)
        values[i] = decoder->table[name[i]];
}

/* ---- streams */

/* Whether the stream's table is one of the keys that are there. */
static bool fits(const struct sta_keys *keys, uint32_t table_count)
{
    return keys->index != NULL && keys->count == table_count;
}

/* What all values lie in by the table, if they come from one. */
static struct sta_range range_of_stream(const struct sta_decoder *decoder)
{
    struct sta_range range = {INT64_MIN, INT64_MAX};
    const struct head *head = &decoder->head;
    if (head->transform == STA_TRANSFORM_CONSTANT)
        range.min = range.max = (int64_t)head->base;
    else if (head->transform == STA_TRANSFORM_DICTIONARY || head->transform == STA_TRANSFORM_BY_NAME)
        sta_kernels()->words64->residual_range(decoder->table, head->table_count, &range.min, &range.max);
    return range;
}

bool sta_stream_open(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                     const struct sta_both_keys *keys, struct sta_range *range)
{
    struct head *head = &decoder->head;
    STA_ASSERT(count > 0 && count <= STA_ROW_GROUP_ROWS);
    if (!get_head(decoder, in, head))
        return false;
    decoder->in = in;
    decoder->keys = *keys;
    decoder->count = count;
    decoder->at = 0;
    decoder->sum = head->start;
    *range = range_of_stream(decoder);
    if (head->transform == STA_TRANSFORM_CONSTANT)
        return true;
    if (head->transform == STA_TRANSFORM_BY_NAME)
        return fits(&keys->name, head->table_count);
    if (head->transform == STA_TRANSFORM_BY_THREAD && !fits(&keys->thread, head->table_count))
        return false;
    return head->layout == STA_LAYOUT_PACKED || head->layout == STA_LAYOUT_PATCHED ? open_frames(decoder)
                                                                                   : open_byte_split(decoder);
}

bool sta_stream_next(struct sta_decoder *decoder, uint32_t part, int64_t *values)
{
    const struct head *head = &decoder->head;
    bool residuals = head->transform != STA_TRANSFORM_CONSTANT && head->transform != STA_TRANSFORM_BY_NAME;
    bool good = !residuals || next_residuals(decoder, part, values);
    if (!good)
        return false;
    if (head->transform == STA_TRANSFORM_CONSTANT)
        for (uint32_t i = 0; i < part; i++)
            values[i] = (int64_t)head->base;
    else if (head->transform == STA_TRANSFORM_BY_NAME)
        look_up_names(decoder, part, values);
    else if (head->transform == STA_TRANSFORM_DICTIONARY)
        good = look_up(decoder, part, values);
    else if (head->transform == STA_TRANSFORM_BY_THREAD)
        add_up_by_thread(decoder, part, values);
    else if (head->transform == STA_TRANSFORM_DELTA)
        add_up(decoder, part, values);
    decoder->at += part;
    return good;
}

bool sta_decode_stream(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                       const struct sta_both_keys *keys, int64_t *values)
{
    struct sta_range range;
    bool good = sta_stream_open(decoder, in, count, keys, &range);
    for (uint32_t at = 0; good && at < count; at += STA_PACK_FRAME)
        good = sta_stream_next(decoder, STA_MIN(count - at, (uint32_t)STA_PACK_FRAME), values + at);
    return good;
}

bool sta_decode_key_stream(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                           uint16_t *index, int64_t *values, uint32_t *key_count)
{
    const struct head *head = &decoder->head;
    struct sta_range range;
    int64_t places[STA_PACK_FRAME];
    if (!sta_stream_open(decoder, in, count, &(struct sta_both_keys){0}, &range))
        return false;
    if (head->transform == STA_TRANSFORM_CONSTANT) {
        memset(index, 0, count * sizeof *index);
        values[0] = range.min;
        *key_count = 1;
        return true;
    }
    if (head->transform != STA_TRANSFORM_DICTIONARY || head->table_count > STA_KEYS_LIMIT)
        return false;
    for (uint32_t part; decoder->at < count; decoder->at += part) {
        part = STA_MIN(count - decoder->at, (uint32_t)STA_PACK_FRAME);
        if (!next_residuals(decoder, part, places) ||
            !sta_kernels()->within(places, part, 0, (int64_t)head->table_count - 1))
            return false;
        sta_kernels()->narrow_keys(places, part, index);
        index += part;
    }
    memcpy(values, decoder->table, head->table_count * sizeof *values);
    *key_count = head->table_count;
    return true;
}
