/* kernels_words.h - the kernels of an encoder, included by kernels_body.h for words of each size, with WORD,
 * RESIDUAL (the same signed) and WORDS(name) defined. */

#define DEFINE_RANGE(name, number, widest)                                                                   \
    TARGET static void WORDS(name)(const void *numbers, uint32_t count, widest *min, widest *max)            \
    {                                                                                                        \
        const number *at = numbers;                                                                          \
        number low = at[0], high = at[0];                                                                    \
        for (uint32_t i = 0; i < count; i++) {                                                               \
            low = at[i] < low ? at[i] : low;                                                                 \
            high = at[i] > high ? at[i] : high;                                                              \
        }                                                                                                    \
        *min = low;                                                                                          \
        *max = high;                                                                                         \
    }

DEFINE_RANGE(residual_range, RESIDUAL, int64_t)
DEFINE_RANGE(range, WORD, uint64_t)
#undef DEFINE_RANGE

TARGET static uint64_t WORDS(subtract)(const void *residuals, uint32_t count, int64_t base, void *words)
{
    const WORD *from = residuals;
    WORD *to = words, bits = 0, less = (WORD)base;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i] - less;
        bits |= to[i];
    }
    return bits;
}

TARGET static void WORDS(shift)(void *words, uint32_t count, unsigned shift)
{
    WORD *at = words;
    for (uint32_t i = 0; i < count; i++)
        at[i] >>= shift;
}

TARGET static void WORDS(split_bytes)(const void *words, uint32_t count, unsigned byte_count,
                                      unsigned char *bytes)
{
    const WORD *at = words;
    for (unsigned p = 0; p < byte_count; p++, bytes += count)
        for (uint32_t i = 0; i < count; i++)
            bytes[i] = (unsigned char)(at[i] >> (8 * p));
}

TARGET static uint32_t WORDS(count_above)(const void *words, uint32_t count, uint64_t base, uint64_t limit)
{
    const WORD *at = words, less = (WORD)base, most = (WORD)limit;
    WORD above = 0;
    for (uint32_t i = 0; i < count; i++)
        above += (WORD)(at[i] - less) > most;
    return (uint32_t)above;
}

TARGET static uint32_t WORDS(find_above)(const void *words, uint32_t count, uint64_t base, uint64_t limit,
                                         uint16_t *places)
{
    const WORD *at = words, less = (WORD)base, most = (WORD)limit;
    uint32_t above = 0;
    for (uint32_t i = 0; i < count; i++) {
        places[above] = (uint16_t)i;
        above += (WORD)(at[i] - less) > most;
    }
    return above;
}

/* *numbers: one of every lane; 0 where there is none any more. */
TARGET static inline void WORDS(next_numbers)(const WORD *at, uint32_t count, WORD less, sta_lanes *numbers)
{
    typedef WORD words __attribute__((vector_size(STA_PACK_LANES * sizeof(WORD))));
    words next = (words){0} + less;
    if (count >= STA_PACK_LANES)
        memcpy(&next, at, sizeof next);
    else
        memcpy(&next, at, count * sizeof(WORD));
    *numbers = __builtin_convertvector(next - less, sta_lanes);
}

/* One number of every lane at a time: they fill a 64-bit word of each lane at once. */
TARGET static void WORDS(pack)(const void *words, uint32_t count, uint64_t base, unsigned width,
                               unsigned char *out)
{
    const WORD *at = words;
    const uint64_t mask = UINT64_MAX >> (64 - width);
    sta_lanes full = {0};
    unsigned filled = 0; /* bits of each lane's word */
    for (uint32_t i = 0; i < count; i += STA_PACK_LANES) {
        sta_lanes numbers;
        WORDS(next_numbers)(at + i, count - i, (WORD)base, &numbers);
        numbers &= mask;
        full |= numbers << filled;
        filled += width;
        if (filled < 64)
            continue;
        memcpy(out, &full, sizeof full);
        out += sizeof full;
        filled -= 64;
        full = filled ? numbers >> (width - filled) : (sta_lanes){0};
    }
    if (filled > 0)
        memcpy(out, &full, sizeof full);
}

static const struct sta_word_kernels WORDS(kernels) = {
    .residual_range = WORDS(residual_range),
    .range = WORDS(range),
    .subtract = WORDS(subtract),
    .shift = WORDS(shift),
    .split_bytes = WORDS(split_bytes),
    .count_above = WORDS(count_above),
    .find_above = WORDS(find_above),
    .pack = WORDS(pack),
};
