/* narrow_body.h - bodies of narrow.h; common/instruction_sets.h compiles them. */

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
    }                                                                                                        \
    TARGET static void KERNEL(keep_range_##bits)(const void *in, uint32_t count, uint32_t low,               \
                                                 uint32_t span, uint8_t *restrict marks)                     \
    {                                                                                                        \
        const uint##bits##_t *from = in, least = (uint##bits##_t)low, most = (uint##bits##_t)span;           \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            marks[i] &= (uint##bits##_t)(from[i] - least) <= most;                                           \
    }                                                                                                        \
    TARGET static void KERNEL(keep_codes_##bits)(const void *in, uint32_t count, const uint8_t *table,       \
                                                 uint8_t of_none, uint8_t *restrict marks)                   \
    {                                                                                                        \
        const uint##bits##_t *from = in;                                                                     \
        for (uint32_t i = 0; i < count; i++)                                                                 \
            marks[i] &= from[i] == 0 ? of_none : table[from[i]];                                             \
    }

DEFINE_NARROW(8)
DEFINE_NARROW(16)
DEFINE_NARROW(32)
#undef DEFINE_NARROW

/* Rows without a value are left out: their value is as good as the least or the greatest. */
TARGET static void KERNEL(range)(const int64_t *values, const uint8_t *missing, uint32_t count, int64_t *min,
                                 int64_t *max)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 0; missing == NULL && i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    for (uint32_t i = 0; missing != NULL && i < count; i++) {
        least = !missing[i] && values[i] < least ? values[i] : least;
        most = !missing[i] && values[i] > most ? values[i] : most;
    }
    *min = least;
    *max = most;
}

TARGET static bool KERNEL(range_codes)(const uint32_t *codes, uint32_t count, uint32_t *min, uint32_t *max)
{
    uint32_t least = UINT32_MAX, most = 0, any = 0;
    for (uint32_t i = 0; i < count; i++) {
        least = codes[i] < least ? codes[i] : least;
        most = codes[i] + 1 > most ? codes[i] + 1 : most;
        any |= codes[i] == STA_NO_CODE;
    }
    *min = least;
    *max = most - 1;
    return any != 0;
}

#define NARROW(bits)                                                                                         \
    {                                                                                                        \
        KERNEL(shrink_##bits), KERNEL(shrink_codes_##bits), KERNEL(widen_##bits), KERNEL(widen_some_##bits), \
            KERNEL(widen_codes_##bits), KERNEL(widen_some_codes_##bits), KERNEL(keep_range_##bits),          \
            KERNEL(keep_codes_##bits)                                                                        \
    }

static const struct all_kernels KERNEL(kernels) = {
    .to = {NARROW(8), NARROW(16), NARROW(32)},
    .range = KERNEL(range),
    .range_codes = KERNEL(range_codes),
};
#undef NARROW
