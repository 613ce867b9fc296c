/* decode_stream.c - streams to integers.
 *
 * Everything read is checked; sums wrap as unsigned numbers do, so that no damage is undefined behaviour.  The caller checks
 * the values against the range that the directory gives. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "common/memory.h"
#include "store/bitpack.h"
#include "store/codec.h"
#include "store/kernels.h"

#define FRAMES (STA_BLOCK_ROWS / STA_PACK_FRAME)

struct sta_decoder {
    ZSTD_DCtx *zstd;
    unsigned char planes[STA_BLOCK_ROWS * 8];
    int64_t table[STA_KEYS_MAX];
    uint64_t words[STA_BLOCK_ROWS]; /* of key streams */
};

struct head {
    enum sta_transform transform;
    enum sta_layout layout;
    unsigned planes, shift;
    uint64_t base, start;
    uint32_t table_count;
};

struct sta_decoder *sta_decoder_create(void)
{
    struct sta_decoder *decoder = sta_alloc(sizeof *decoder);
    decoder->zstd = ZSTD_createDCtx();
    STA_ASSERT(decoder->zstd != NULL);
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
    *head = (struct head){.transform = bytes[0], .layout = bytes[1], .planes = bytes[2], .shift = bytes[3]};
    head->base = sta_get_u64(in);
    if (head->transform == STA_TRANSFORM_DELTA)
        head->start = sta_get_u64(in);
    if (head->transform == STA_TRANSFORM_DICTIONARY || head->transform == STA_TRANSFORM_BY_NAME ||
        head->transform == STA_TRANSFORM_BY_THREAD)
        return get_table(decoder, in, head);
    return !in->failed;
}

/* ---- layouts: bytes to words */

static bool get_frames(struct sta_cursor *in, uint32_t count, uint64_t *words)
{
    uint8_t width[FRAMES];
    uint64_t min[FRAMES];
    uint32_t frames = (count + STA_PACK_FRAME - 1) / STA_PACK_FRAME;
    for (uint32_t f = 0; f < frames; f++) {
        const unsigned char *byte = sta_get_bytes(in, 1);
        min[f] = sta_get_varint(in);
        if (in->failed || *byte > 64)
            return false;
        width[f] = *byte;
    }
    for (uint32_t f = 0; f < frames; f++) {
        uint32_t part = STA_MIN(count - f * STA_PACK_FRAME, (uint32_t)STA_PACK_FRAME);
        uint64_t *frame = words + (size_t)f * STA_PACK_FRAME;
        const unsigned char *packed = sta_get_bytes(in, sta_pack_size(part, width[f]));
        if (packed == NULL)
            return false;
        sta_unpack(packed, part, width[f], frame);
        if (min[f] != 0)
            sta_kernels()->scale((int64_t *)frame, part, 0, min[f]);
    }
    return true;
}

static bool get_words(struct sta_decoder *decoder, struct sta_cursor *in, const struct head *head,
                      uint32_t count, uint64_t *words)
{
    size_t size = (size_t)head->planes * count, stored;
    const unsigned char *planes;
    if (head->layout == STA_LAYOUT_PACKED)
        return get_frames(in, count, words);
    if (head->layout == STA_LAYOUT_ZSTD) {
        const char *compressed = sta_get_block(in, &stored);
        if (compressed == NULL ||
            ZSTD_decompressDCtx(decoder->zstd, decoder->planes, size, compressed, stored) != size)
            return false;
        planes = decoder->planes;
    } else {
        planes = sta_get_bytes(in, size);
        if (planes == NULL)
            return false;
    }
    sta_kernels()->join_planes(planes, count, head->planes, words);
    return true;
}

/* ---- transforms: terms to values, in place */

static bool look_up(const int64_t *table, uint32_t table_count, uint32_t count, int64_t *values)
{
    if (!sta_kernels()->within(values, count, 0, (int64_t)table_count - 1))
        return false;
    for (uint32_t i = 0; i < count; i++)
        values[i] = table[values[i]];
    return true;
}

static void add_up(uint64_t start, uint32_t count, int64_t *values)
{
    uint64_t sum = start;
    values[0] = (int64_t)sum;
    for (uint32_t i = 1; i < count; i++) {
        sum += (uint64_t)values[i];
        values[i] = (int64_t)sum;
    }
}

static bool add_up_by_thread(struct sta_decoder *decoder, const struct sta_keys *thread, uint32_t table_count,
                             uint32_t count, int64_t *values)
{
    if (thread->index == NULL || thread->count != table_count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t *last = &decoder->table[thread->index[i]];
        *last = (int64_t)((uint64_t)*last + (uint64_t)values[i]);
        values[i] = *last;
    }
    return true;
}

static bool look_up_names(const struct sta_decoder *decoder, const struct sta_keys *name,
                          uint32_t table_count, uint32_t count, int64_t *values)
{
    if (name->index == NULL || name->count != table_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        values[i] = decoder->table[name->index[i]];
    return true;
}

bool sta_decode_stream(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                       const struct sta_both_keys *keys, int64_t *values)
{
    struct head head;
    STA_ASSERT(count > 0 && count <= STA_BLOCK_ROWS);
    if (!get_head(decoder, in, &head))
        return false;
    if (head.transform == STA_TRANSFORM_CONSTANT) {
        for (uint32_t i = 0; i < count; i++)
            values[i] = (int64_t)head.base;
        return true;
    }
    if (head.transform == STA_TRANSFORM_BY_NAME)
        return look_up_names(decoder, &keys->name, head.table_count, count, values);
    if (!get_words(decoder, in, &head, count, (uint64_t *)values))
        return false;
    if (head.base != 0 || head.shift != 0)
        sta_kernels()->scale(values, count, head.shift, head.base);
    if (head.transform == STA_TRANSFORM_DICTIONARY)
        return look_up(decoder->table, head.table_count, count, values);
    if (head.transform == STA_TRANSFORM_BY_THREAD)
        return add_up_by_thread(decoder, &keys->thread, head.table_count, count, values);
    if (head.transform == STA_TRANSFORM_DELTA)
        add_up(head.start, count, values);
    return true;
}

bool sta_decode_key_stream(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                           uint16_t *index, uint32_t *key_count)
{
    struct head head;
    if (!get_head(decoder, in, &head))
        return false;
    if (head.transform == STA_TRANSFORM_CONSTANT) {
        memset(index, 0, count * sizeof *index);
        *key_count = 1;
        return true;
    }
    if (head.transform != STA_TRANSFORM_DICTIONARY || head.table_count > STA_KEYS_LIMIT ||
        !get_words(decoder, in, &head, count, decoder->words))
        return false;
    int64_t *places = (int64_t *)decoder->words;
    sta_kernels()->scale(places, count, head.shift, head.base);
    if (!sta_kernels()->within(places, count, 0, (int64_t)head.table_count - 1))
        return false;
    for (uint32_t i = 0; i < count; i++)
        index[i] = (uint16_t)places[i];
    *key_count = head.table_count;
    return true;
}
