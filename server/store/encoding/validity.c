/* validity.c - see validity.h.
 *
 * DESIGN: which rows have a value is hard to predict, so nothing branches on it.  With AVX2 four rows move at
 * a time: their four bits choose a shuffle that brings those that have a value to the front; what is stored
 * behind these, the next four overwrite.  The rows that do not fill a word of bits, and all on other
 * machines, move one by one. */
#include "store/encoding/validity.h"

#include <stdbool.h>
#include <string.h>

#define WORD_ROWS 32 /* of validity->bits */

#ifdef __x86_64__
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt")))

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

static bool by_words(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
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

static uint32_t has_value(const struct sta_validity *validity, uint32_t row)
{
    return validity->bits[row / WORD_ROWS] >> (row % WORD_ROWS) & 1;
}

void sta_validity_compact(const struct sta_validity *validity, const int64_t *values, int64_t *kept)
{
    uint32_t done = 0;
#ifdef __x86_64__
    if (by_words())
        done = keep_words(validity, values, &kept);
#endif
    for (uint32_t i = done; i < validity->rows; kept += has_value(validity, i++))
        *kept = values[i];
}

void sta_validity_compact_keys(const struct sta_validity *validity, const uint16_t *keys, uint16_t *kept)
{
    uint32_t done = 0;
#ifdef __x86_64__
    if (by_words())
        done = keep_key_words(validity, keys, &kept);
#endif
    for (uint32_t i = done; i < validity->rows; kept += has_value(validity, i++))
        *kept = keys[i];
}
