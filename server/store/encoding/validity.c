/* validity.c - see validity.h.
 *
 * DESIGN: which rows have a value is hard to predict, so nothing branches on it.  With AVX2 four rows move at
 * a time: their four bits choose a shuffle that brings those that have a value to the front; what is stored
 * behind these, the next four overwrite.  AVX-512 has an instruction for that, which moves 32 keys; of values
 * it moves eight, which is no faster, since these are waited for.  Values are spread likewise, by the shuffle
 * that undoes it.  The rows that do not fill a word of bits, and all on other machines, move one by one. */
#include "store/encoding/validity.h"

#include <stdbool.h>
#include <string.h>

#define WORD_ROWS 32 /* of validity->bits */
#define FEW_KEYS 128 /* as many have a bit in a vector */

#ifdef __x86_64__
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt")))
#define AVX512 __attribute__((target("avx512bw,avx512vbmi2,popcnt")))

/* By the bits of four rows: the halves of the values that stay, from the front on. */
#define V(row) (2 * (row)), (2 * (row) + 1)
static const uint8_t halves[16][8] = {
    {0},
    {V(0)},
    {V(1)},
    {V(0), V(1)},
    {V(2)},
    {V(0), V(2)},
    {V(1), V(2)},
    {V(0), V(1), V(2)},
    {V(3)},
    {V(0), V(3)},
    {V(1), V(3)},
    {V(0), V(1), V(3)},
    {V(2), V(3)},
    {V(0), V(2), V(3)},
    {V(1), V(2), V(3)},
    {V(0), V(1), V(2), V(3)},
};
#undef V

/* The halves of the kept values that go to four rows; -1: the row has none. */
#define V(kept) (2 * (kept)), (2 * (kept) + 1)
#define NONE -1, -1
static const int8_t halves_of_rows[16][8] = {
    {NONE, NONE, NONE, NONE}, {V(0), NONE, NONE, NONE}, {NONE, V(0), NONE, NONE}, {V(0), V(1), NONE, NONE},
    {NONE, NONE, V(0), NONE}, {V(0), NONE, V(1), NONE}, {NONE, V(0), V(1), NONE}, {V(0), V(1), V(2), NONE},
    {NONE, NONE, NONE, V(0)}, {V(0), NONE, NONE, V(1)}, {NONE, V(0), NONE, V(1)}, {V(0), V(1), NONE, V(2)},
    {NONE, NONE, V(0), V(1)}, {V(0), NONE, V(1), V(2)}, {NONE, V(0), V(1), V(2)}, {V(0), V(1), V(2), V(3)},
};
#undef NONE
#undef V

/* All of these do whole words.  Return: rows done. */

AVX2 static uint32_t find_words(struct sta_validity *validity, const uint8_t *kinds, uint8_t largest,
                                uint32_t *others)
{
    uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    const __m256i none = _mm256_setzero_si256(), most = _mm256_set1_epi8((char)largest);
    for (uint32_t i = 0; i < done; i += WORD_ROWS) {
        __m256i row_kinds = _mm256_loadu_si256((const __m256i *)(kinds + i));
        uint32_t missing = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(row_kinds, none));
        uint32_t usual = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(row_kinds, most));
        validity->bits[i / WORD_ROWS] = ~missing;
        validity->count += (uint32_t)_mm_popcnt_u32(~missing);
        *others |= ~(missing | usual);
    }
    return done;
}

/* @has: a bit per key, of at most FEW_KEYS. */
AVX2 static uint32_t key_words(struct sta_validity *validity, const uint8_t has[FEW_KEYS / 8],
                               const uint16_t *keys)
{
    const uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    const __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)has));
    const __m256i bit_of_key = _mm256_set1_epi64x((long long)0x8040201008040201);
    for (uint32_t i = 0; i < done; i += WORD_ROWS) {
        const __m256i first = _mm256_loadu_si256((const __m256i *)(keys + i)),
                      second = _mm256_loadu_si256((const __m256i *)(keys + i + WORD_ROWS / 2));
        const __m256i key = _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8);
        const __m256i place = _mm256_and_si256(_mm256_srli_epi16(key, 3), _mm256_set1_epi8(FEW_KEYS / 8 - 1));
        const __m256i bit = _mm256_shuffle_epi8(bit_of_key, _mm256_and_si256(key, _mm256_set1_epi8(7)));
        const __m256i byte = _mm256_shuffle_epi8(bytes, place);
        validity->bits[i / WORD_ROWS] =
            (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit));
    }
    return done;
}

AVX2 static uint32_t keep_words(const struct sta_validity *validity, const int64_t *values, int64_t **kept)
{
    uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    for (uint32_t w = 0; w < done / WORD_ROWS; w++)
        for (uint32_t bits = validity->bits[w], g = 0; g < WORD_ROWS / 4; g++, bits >>= 4, values += 4) {
            __m256i four = _mm256_loadu_si256((const __m256i *)values);
            __m128i order = _mm_loadl_epi64((const __m128i *)halves[bits & 15]);
            four = _mm256_permutevar8x32_epi32(four, _mm256_cvtepu8_epi32(order));
            _mm256_storeu_si256((__m256i *)*kept, four);
            *kept += _mm_popcnt_u32(bits & 15);
        }
    return done;
}

AVX2 static uint32_t keep_key_words(const struct sta_validity *validity, const uint16_t *keys,
                                    uint16_t **kept)
{
    uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    for (uint32_t w = 0; w < done / WORD_ROWS; w++)
        for (uint32_t bits = validity->bits[w], g = 0; g < WORD_ROWS / 4; g++, bits >>= 4, keys += 4) {
            __m128i four = _mm_loadl_epi64((const __m128i *)keys);
            __m128i order = _mm_loadl_epi64((const __m128i *)halves[bits & 15]);
            _mm_storel_epi64((__m128i *)*kept, _mm_shuffle_epi8(four, order));
            *kept += _mm_popcnt_u32(bits & 15);
        }
    return done;
}

AVX512 static uint32_t compress_key_words(const struct sta_validity *validity, const uint16_t *keys,
                                          uint16_t **kept)
{
    const uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    for (uint32_t w = 0; w < done / WORD_ROWS; w++, keys += WORD_ROWS) {
        const __m512i row_keys = _mm512_loadu_si512(keys);
        _mm512_storeu_si512(*kept, _mm512_maskz_compress_epi16(validity->bits[w], row_keys));
        *kept += _mm_popcnt_u32(validity->bits[w]);
    }
    return done;
}

/* Four rows of which the bits are these: their values; of those without, no bit of *has. */
AVX2 static inline __m256i spread_four(const int64_t *kept, uint32_t bits, __m256i *has)
{
    const __m256i order = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)halves_of_rows[bits]));
    *has = _mm256_cmpgt_epi32(order, _mm256_set1_epi32(-1));
    return _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)kept), order);
}

AVX2 static uint32_t spread_words(const struct sta_validity *validity, const int64_t **kept, int64_t *values)
{
    uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    for (uint32_t w = 0; w < done / WORD_ROWS; w++)
        for (uint32_t bits = validity->bits[w], g = 0; g < WORD_ROWS / 4; g++, bits >>= 4, values += 4) {
            __m256i has, four = spread_four(*kept, bits & 15, &has);
            _mm256_storeu_si256((__m256i *)values, _mm256_and_si256(four, has));
            *kept += _mm_popcnt_u32(bits & 15);
        }
    return done;
}

AVX2 static uint32_t spread_code_words(const struct sta_validity *validity, const int64_t **kept,
                                       uint32_t *codes)
{
    const uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    const __m256i lower_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6), ones = _mm256_set1_epi32(-1);
    for (uint32_t w = 0; w < done / WORD_ROWS; w++)
        for (uint32_t bits = validity->bits[w], g = 0; g < WORD_ROWS / 4; g++, bits >>= 4, codes += 4) {
            __m256i has, four = spread_four(*kept, bits & 15, &has);
            four = _mm256_or_si256(four, _mm256_xor_si256(has, ones)); /* all ones is STA_NO_CODE */
            four = _mm256_permutevar8x32_epi32(four, lower_halves);
            _mm_storeu_si128((__m128i *)codes, _mm256_castsi256_si128(four));
            *kept += _mm_popcnt_u32(bits & 15);
        }
    return done;
}

AVX2 static uint32_t missing_words(const struct sta_validity *validity, uint8_t *missing)
{
    const uint32_t done = validity->rows / WORD_ROWS * WORD_ROWS;
    const __m256i bytes = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    for (uint32_t w = 0; w < done / WORD_ROWS; w++) {
        __m256i word = _mm256_shuffle_epi8(_mm256_set1_epi32((int)validity->bits[w]), bytes);
        __m256i has = _mm256_cmpeq_epi8(_mm256_and_si256(word, bit), bit);
        _mm256_storeu_si256((__m256i *)(missing + w * WORD_ROWS),
                            _mm256_andnot_si256(has, _mm256_set1_epi8(1)));
    }
    return done;
}

static bool by_words(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}

static bool compresses(void)
{
    return by_words() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

static uint8_t largest_of(const uint8_t *kinds, uint32_t rows)
{
    uint8_t largest = 0;
    for (uint32_t i = 0; i < rows; i++)
        largest = kinds[i] > largest ? kinds[i] : largest;
    return largest;
}

void sta_validity_find(struct sta_validity *validity, const uint8_t *kinds, uint32_t rows)
{
    uint8_t largest = largest_of(kinds, rows);
    uint32_t others = 0, done = 0;
    validity->rows = rows;
    validity->count = 0;
    memset(validity->bits, 0, sizeof validity->bits);
#ifdef __x86_64__
    if (by_words())
        done = find_words(validity, kinds, largest, &others);
#endif
    for (uint32_t i = done; i < rows; i++) {
        uint32_t has = kinds[i] != 0;
        validity->bits[i / WORD_ROWS] |= has << (i % WORD_ROWS);
        validity->count += has;
        others |= has & (kinds[i] != largest);
    }
    validity->kind = others ? 0 : largest;
}

void sta_validity_by_key(struct sta_validity *validity, const uint8_t *has, uint32_t count,
                         const uint16_t *keys)
{
    uint32_t done = 0;
#ifdef __x86_64__
    uint8_t few[FEW_KEYS / 8] = {0};
    if (count <= FEW_KEYS && by_words()) {
        memcpy(few, has, (count + 7) / 8);
        done = key_words(validity, few, keys);
    }
#endif
    for (uint32_t i = done; i < validity->rows; i++)
        validity->bits[i / WORD_ROWS] |= (uint32_t)(has[keys[i] / 8] >> (keys[i] % 8) & 1) << (i % WORD_ROWS);
}

void sta_validity_compact(const struct sta_validity *validity, const int64_t *values, int64_t *kept)
{
    uint32_t done = 0;
#ifdef __x86_64__
    if (by_words())
        done = keep_words(validity, values, &kept);
#endif
    for (uint32_t i = done; i < validity->rows; kept += sta_validity_has(validity, i++))
        *kept = values[i];
}

void sta_validity_compact_keys(const struct sta_validity *validity, const uint16_t *keys, uint16_t *kept)
{
    uint32_t done = 0;
#ifdef __x86_64__
    if (compresses())
        done = compress_key_words(validity, keys, &kept);
    else if (by_words())
        done = keep_key_words(validity, keys, &kept);
#endif
    for (uint32_t i = done; i < validity->rows; kept += sta_validity_has(validity, i++))
        *kept = keys[i];
}

void sta_validity_spread(const struct sta_validity *validity, const int64_t *kept, int64_t *values)
{
    uint32_t done = 0;
#ifdef __x86_64__
    if (by_words())
        done = spread_words(validity, &kept, values);
#endif
    for (uint32_t i = done; i < validity->rows; kept += sta_validity_has(validity, i++))
        values[i] = *kept & -(int64_t)sta_validity_has(validity, i);
}

void sta_validity_spread_codes(const struct sta_validity *validity, const int64_t *kept, uint32_t *codes)
{
    uint32_t done = 0;
#ifdef __x86_64__
    if (by_words())
        done = spread_code_words(validity, &kept, codes);
#endif
    for (uint32_t i = done; i < validity->rows; kept += sta_validity_has(validity, i++))
        codes[i] = sta_validity_has(validity, i) ? (uint32_t)*kept : STA_NO_CODE;
}

void sta_validity_missing(const struct sta_validity *validity, uint8_t *missing)
{
    uint32_t done = 0;
#ifdef __x86_64__
    if (by_words())
        done = missing_words(validity, missing);
#endif
    for (uint32_t i = done; i < validity->rows; i++)
        missing[i] = !sta_validity_has(validity, i);
}
