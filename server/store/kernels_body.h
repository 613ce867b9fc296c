/* kernels_body.h - bodies of kernels.h, included once per instruction set with KERNEL(name) and TARGET defined. */

static inline uint64_t KERNEL(load)(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

TARGET static void KERNEL(unpack)(const unsigned char *in, uint32_t per_lane, unsigned width, uint64_t *out)
{
    uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    for (uint32_t n = 0; n < per_lane; n++, out += STA_PACK_LANES) {
        unsigned bit = n * width, shift = bit % 64;
        const unsigned char *word = in + bit / 64 * STA_PACK_WORD;
        if (shift + width <= 64) {
            for (unsigned l = 0; l < STA_PACK_LANES; l++)
                out[l] = KERNEL(load)(word + 8 * l) >> shift & mask;
        } else {
            for (unsigned l = 0; l < STA_PACK_LANES; l++)
                out[l] = (KERNEL(load)(word + 8 * l) >> shift | KERNEL(load)(word + STA_PACK_WORD + 8 * l)
                                                                    << (64 - shift)) &
                         mask;
        }
    }
}

/* Lanes that run side by side, so that the compiler makes one vector of them. */
#define DEFINE_RANGE(name, type)                                                                             \
    TARGET static void KERNEL(name)(const type *values, uint32_t count, type *min, type *max)                \
    {                                                                                                        \
        type low[RANGE_LANES], high[RANGE_LANES];                                                            \
        uint32_t whole = count - count % RANGE_LANES;                                                        \
        for (unsigned l = 0; l < RANGE_LANES; l++)                                                           \
            low[l] = high[l] = values[0];                                                                    \
        for (uint32_t i = 0; i < whole; i += RANGE_LANES)                                                    \
            for (unsigned l = 0; l < RANGE_LANES; l++) {                                                     \
                low[l] = values[i + l] < low[l] ? values[i + l] : low[l];                                    \
                high[l] = values[i + l] > high[l] ? values[i + l] : high[l];                                 \
            }                                                                                                \
        for (uint32_t i = whole; i < count; i++) {                                                           \
            low[0] = values[i] < low[0] ? values[i] : low[0];                                                \
            high[0] = values[i] > high[0] ? values[i] : high[0];                                             \
        }                                                                                                    \
        *min = low[0];                                                                                       \
        *max = high[0];                                                                                      \
        for (unsigned l = 1; l < RANGE_LANES; l++) {                                                         \
            *min = low[l] < *min ? low[l] : *min;                                                            \
            *max = high[l] > *max ? high[l] : *max;                                                          \
        }                                                                                                    \
    }

DEFINE_RANGE(range, int64_t)
DEFINE_RANGE(range_unsigned, uint64_t)
#undef DEFINE_RANGE

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

TARGET static uint64_t KERNEL(subtract)(const int64_t *terms, uint32_t count, uint64_t base, uint64_t *words)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++) {
        words[i] = (uint64_t)terms[i] - base;
        bits |= words[i];
    }
    return bits;
}

TARGET static void KERNEL(split_planes)(const uint64_t *words, uint32_t count, unsigned planes,
                                        unsigned char *bytes)
{
    for (unsigned p = 0; p < planes; p++, bytes += count)
        for (uint32_t i = 0; i < count; i++)
            bytes[i] = (unsigned char)(words[i] >> (8 * p));
}

TARGET static void KERNEL(join_planes)(const unsigned char *bytes, size_t stride, uint32_t count,
                                       unsigned planes, uint64_t *words)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = bytes[i];
    for (unsigned p = 1; p < planes; p++)
        for (uint32_t i = 0; i < count; i++)
            words[i] |= (uint64_t)bytes[p * stride + i] << (8 * p);
}

TARGET static void KERNEL(narrow)(const int64_t *wide, uint32_t count, uint32_t *codes)
{
    for (uint32_t i = 0; i < count; i++)
        codes[i] = (uint32_t)wide[i];
}

#define DEFINE_NARROW(bits)                                                                                  \
    TARGET static void KERNEL(shrink_##bits)(const int64_t *values, const uint8_t *missing, uint32_t count,  \
                                             uint64_t base, void *out)                                       \
    {                                                                                                        \
        uint##bits##_t *restrict to = out;                                                                   \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            to[i] = (uint##bits##_t)((uint64_t)values[i] - base);                                            \
        for (uint32_t i = 0; missing != NULL && i < count; i++)                                              \
            to[i] = missing[i] ? 0 : to[i];                                                                  \
    }                                                                                                        \
    TARGET static void KERNEL(shrink_codes_##bits)(const uint32_t *codes, uint32_t count, uint32_t base,     \
                                                   void *out)                                                \
    {                                                                                                        \
        uint##bits##_t *restrict to = out;                                                                   \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            to[i] = (uint##bits##_t)(codes[i] == STA_NO_CODE ? 0 : codes[i] - base);                         \
    }                                                                                                        \
    TARGET static void KERNEL(widen_##bits)(const void *in, uint32_t count, uint64_t base,                   \
                                            int64_t *restrict values)                                        \
    {                                                                                                        \
        const uint##bits##_t *from = in;                                                                     \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            values[i] = (int64_t)(from[i] + base);                                                           \
    }                                                                                                        \
    TARGET static void KERNEL(widen_some_##bits)(const void *in, uint32_t count, uint64_t base,              \
                                                 int64_t *restrict values, uint8_t *restrict missing)        \
    {                                                                                                        \
        const uint##bits##_t *from = in;                                                                     \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            values[i] = (int64_t)(from[i] == 0 ? 0 : from[i] + base);                                        \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            missing[i] = from[i] == 0;                                                                       \
    }                                                                                                        \
    TARGET static void KERNEL(widen_codes_##bits)(const void *in, uint32_t count, uint32_t base,             \
                                                  uint32_t *restrict codes)                                  \
    {                                                                                                        \
        const uint##bits##_t *from = in;                                                                     \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            codes[i] = from[i] + base;                                                                       \
    }                                                                                                        \
    TARGET static void KERNEL(widen_some_codes_##bits)(const void *in, uint32_t count, uint32_t base,        \
                                                       uint32_t *restrict codes)                             \
    {                                                                                                        \
        const uint##bits##_t *from = in;                                                                     \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            codes[i] = from[i] == 0 ? STA_NO_CODE : from[i] + base;                                          \
    }

DEFINE_NARROW(8)
DEFINE_NARROW(16)
DEFINE_NARROW(32)
#undef DEFINE_NARROW

#define NARROW(bits)                                                                                         \
    {                                                                                                        \
        KERNEL(shrink_##bits), KERNEL(shrink_codes_##bits), KERNEL(widen_##bits), KERNEL(widen_some_##bits), \
            KERNEL(widen_codes_##bits), KERNEL(widen_some_codes_##bits)                                      \
    }

static const struct sta_kernels KERNEL(kernels) = {
    .unpack = KERNEL(unpack),
    .range = KERNEL(range),
    .range_unsigned = KERNEL(range_unsigned),
    .within = KERNEL(within),
    .scale = KERNEL(scale),
    .subtract = KERNEL(subtract),
    .split_planes = KERNEL(split_planes),
    .join_planes = KERNEL(join_planes),
    .narrow = KERNEL(narrow),
    .narrow_to = {NARROW(8), NARROW(16), NARROW(32)},
};
#undef NARROW
