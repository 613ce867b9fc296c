/* kernels_body.h - bodies of kernels.h; common/instruction_sets.h compiles them. */

TARGET static void KERNEL(unpack)(const unsigned char *in, uint32_t per_lane, unsigned width, uint64_t *out)
{
    const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    for (uint32_t n = 0; n < per_lane; n++, out += STA_PACK_LANES) {
        const unsigned bit = n * width, shift = bit % 64;
        const unsigned char *word = in + bit / 64 * sizeof(sta_lanes);
        sta_lanes numbers, rest;
        memcpy(&numbers, word, sizeof numbers);
        numbers >>= shift;
        if (shift + width > 64) {
            memcpy(&rest, word + sizeof rest, sizeof rest);
            numbers |= rest << (64 - shift);
        }
        numbers &= mask;
        memcpy(out, &numbers, sizeof numbers);
    }
}

TARGET static bool KERNEL(offsets)(const int64_t *values, uint32_t count, uint64_t origin, uint32_t *offsets,
                                   uint32_t *min, uint32_t *max)
{
    uint64_t bits = 0;
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = (uint64_t)values[i] - origin;
        bits |= offset;
        offsets[i] = (uint32_t)offset;
        low = offsets[i] < low ? offsets[i] : low;
        high = offsets[i] > high ? offsets[i] : high;
    }
    *min = low;
    *max = high;
    return bits <= INT32_MAX;
}

TARGET static uint64_t KERNEL(bits_of)(const uint32_t *values, uint32_t count, uint32_t first)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= UINT64_C(1) << (values[i] - first);
    return bits;
}

TARGET static uint64_t KERNEL(bits_of_keys)(const uint16_t *keys, uint32_t count)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= UINT64_C(1) << keys[i];
    return bits;
}

TARGET static bool KERNEL(within)(const int64_t *values, uint32_t count, int64_t min, int64_t max)
{
    int64_t past = 0;
    for (uint32_t i = 0; i < count; i++)
        past |= (values[i] < min) | (values[i] > max);
    return past == 0;
}

TARGET static void KERNEL(scale)(int64_t *values, uint32_t count, unsigned shift, uint64_t base)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = (int64_t)(((uint64_t)values[i] << shift) + base);
}

TARGET static void KERNEL(join_bytes)(const unsigned char *bytes, size_t stride, uint32_t count,
                                      unsigned byte_count, uint64_t *words)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = bytes[i];
    for (unsigned p = 1; p < byte_count; p++)
        for (uint32_t i = 0; i < count; i++)
            words[i] |= (uint64_t)bytes[p * stride + i] << (8 * p);
}

TARGET static void KERNEL(narrow)(const int64_t *wide, uint32_t count, uint32_t *codes)
{
    for (uint32_t i = 0; i < count; i++)
        codes[i] = (uint32_t)wide[i];
}

TARGET static void KERNEL(narrow_keys)(const int64_t *wide, uint32_t count, uint16_t *keys)
{
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint16_t)wide[i];
}

TARGET static void KERNEL(keep_byte_ranges)(const uint8_t *bytes, uint32_t count,
                                            const struct sta_byte_range *ranges, unsigned range_count,
                                            uint8_t *restrict marks)
{
    uint32_t i = 0;
    for (; i + sizeof(sta_byte_vector) <= count; i += (uint32_t)sizeof(sta_byte_vector)) {
        sta_byte_vector here, kept, any = {0};
        memcpy(&here, bytes + i, sizeof here);
        memcpy(&kept, marks + i, sizeof kept);
        for (unsigned r = 0; r < range_count; r++)
            any |= (sta_byte_vector)(here - ranges[r].low <= ranges[r].more);
        kept &= any;
        memcpy(marks + i, &kept, sizeof kept);
    }
    for (; i < count; i++) {
        bool any = false;
        for (unsigned r = 0; r < range_count; r++)
            any |= (uint8_t)(bytes[i] - ranges[r].low) <= ranges[r].more;
        marks[i] &= any;
    }
}

#define WORD uint32_t
#define RESIDUAL int32_t
#define WORDS(name) KERNEL(words32_##name)
#include "store/encoding/kernels_words.h"
#undef WORD
#undef RESIDUAL
#undef WORDS

#define WORD uint64_t
#define RESIDUAL int64_t
#define WORDS(name) KERNEL(words64_##name)
#include "store/encoding/kernels_words.h"
#undef WORD
#undef RESIDUAL
#undef WORDS

static const struct sta_kernels KERNEL(kernels) = {
    .unpack = KERNEL(unpack),
    .offsets = KERNEL(offsets),
    .bits_of = KERNEL(bits_of),
    .bits_of_keys = KERNEL(bits_of_keys),
    .within = KERNEL(within),
    .scale = KERNEL(scale),
    .join_bytes = KERNEL(join_bytes),
    .narrow = KERNEL(narrow),
    .narrow_keys = KERNEL(narrow_keys),
    .keep_byte_ranges = KERNEL(keep_byte_ranges),
    .words32 = &KERNEL(words32_kernels),
    .words64 = &KERNEL(words64_kernels),
};
