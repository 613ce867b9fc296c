/* frames.c - see frames.h.
 *
 * DESIGN: one large word would widen all of its frame, and differences of times are small but for a few.  So
 * a width is chosen that most words of a frame fit, and what the others have above it follows the frame.  The
 * widths are tried from the full one down, each by counting, until too many words would be exceptions: these
 * take more bytes than a bit saves, and time when they are read. */
#include "store/encoding/frames.h"

#include <string.h>

#include "common/memory.h"
#include "store/encoding/bitpack.h"
#include "store/encoding/kernels.h"

#define EXCEPTIONS(count) ((count) / 8)         /* at most, of so many words */
#define EXCEPTION_BYTES (sizeof(uint16_t) + 10) /* at most */

static const struct sta_word_kernels *kernels_of(const struct sta_words *words)
{
    return words->wide ? sta_kernels()->words64 : sta_kernels()->words32;
}

static const void *words_at(const struct sta_words *words, uint32_t at)
{
    return words->wide ? (const void *)((const uint64_t *)words->words + at)
                       : (const void *)((const uint32_t *)words->words + at);
}

static uint64_t word_at(const struct sta_words *words, uint32_t at)
{
    return words->wide ? ((const uint64_t *)words->words)[at] : ((const uint32_t *)words->words)[at];
}

static uint32_t count_of_frame(const struct sta_words *words, uint32_t at)
{
    return STA_MIN(words->count - at, (uint32_t)STA_PACK_FRAME);
}

/* Return: bytes of the frame's words. */
static size_t choose_width(struct sta_frames *frames, uint32_t f, const struct sta_words *words, uint32_t at,
                           uint64_t range)
{
    const uint32_t count = count_of_frame(words, at);
    unsigned width = sta_bit_width(range);
    size_t best = sta_pack_size(count, width);
    frames->frames[f].width = (uint8_t)width;
    frames->frames[f].exceptions = 0;
    while (width-- > 0) {
        const uint32_t above = kernels_of(words)->count_above(
            words_at(words, at), count, frames->frames[f].min, (UINT64_C(1) << width) - 1);
        if (above > EXCEPTIONS(count))
            break;
        const size_t each = sizeof(uint16_t) + sta_varint_size(range >> width);
        const size_t size = sta_pack_size(count, width) + above * each;
        if (size >= best)
            continue;
        best = size;
        frames->frames[f].width = (uint8_t)width;
        frames->frames[f].exceptions = (uint16_t)above;
    }
    return best;
}

size_t sta_frames_choose(struct sta_frames *frames, const struct sta_words *words)
{
    size_t size = 0;
    frames->patched = false;
    for (uint32_t at = 0, f = 0; at < words->count; at += STA_PACK_FRAME, f++) {
        uint64_t min, max;
        kernels_of(words)->range(words_at(words, at), count_of_frame(words, at), &min, &max);
        frames->frames[f].min = min;
        size += 1 + sta_varint_size(min) + choose_width(frames, f, words, at, max - min);
        frames->patched |= frames->frames[f].exceptions > 0;
    }
    for (uint32_t at = 0, f = 0; frames->patched && at < words->count; at += STA_PACK_FRAME, f++)
        size += sta_varint_size(frames->frames[f].exceptions);
    return size;
}

static char *put_varint(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

/* The place of each exception in its frame, and what it has above the width. */
static void put_exceptions(const struct sta_words *words, uint32_t at, uint64_t min, unsigned width,
                           struct sta_buffer *out)
{
    uint16_t places[STA_PACK_FRAME];
    char bytes[EXCEPTIONS(STA_PACK_FRAME) * EXCEPTION_BYTES], *end = bytes;
    const uint32_t exceptions = kernels_of(words)->find_above(words_at(words, at), count_of_frame(words, at),
                                                              min, (UINT64_C(1) << width) - 1, places);
    for (uint32_t e = 0; e < exceptions; e++) {
        memcpy(end, &places[e], sizeof places[e]);
        end = put_varint(end + sizeof places[e], (word_at(words, at + places[e]) - min) >> width);
    }
    sta_put(out, bytes, (size_t)(end - bytes));
}

void sta_frames_put(const struct sta_frames *frames, const struct sta_words *words, struct sta_buffer *out)
{
    for (uint32_t at = 0, f = 0; at < words->count; at += STA_PACK_FRAME, f++) {
        sta_put_char(out, (char)frames->frames[f].width);
        sta_put_varint(out, frames->frames[f].min);
        if (frames->patched)
            sta_put_varint(out, frames->frames[f].exceptions);
    }
    for (uint32_t at = 0, f = 0; at < words->count; at += STA_PACK_FRAME, f++) {
        const unsigned width = frames->frames[f].width;
        const size_t size = sta_pack_size(count_of_frame(words, at), width);
        char *buffer = sta_buffer_reserve(out, size);
        if (buffer == NULL)
            return;
        if (width > 0)
            kernels_of(words)->pack(words_at(words, at), count_of_frame(words, at), frames->frames[f].min,
                                    width, (unsigned char *)buffer);
        out->size += size;
        if (frames->frames[f].exceptions > 0)
            put_exceptions(words, at, frames->frames[f].min, width, out);
    }
}
