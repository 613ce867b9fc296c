/* The match with AVX2; compiled with it and called only where the processor has it. */
#include <immintrin.h>

#include "decode/template_trie.h"

#define STA_TEMPLATE_MATCH sta_template_match_avx2

static inline uint32_t equal_bytes(const char *a, const char *b)
{
    __m256i left = _mm256_loadu_si256((const __m256i *)a);
    __m256i right = _mm256_loadu_si256((const __m256i *)b);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(left, right));
}

/* What is past the first vector: the last one ends with the fragment. */
static inline bool has_rest(const struct sta_template_node *node, const char *at)
{
    size_t last = node->length - 32u;
    bool same = equal_bytes(at + last, node->fragment + last) == UINT32_MAX;
    for (size_t i = 32; same && i < last; i += 32)
        same = equal_bytes(at + i, node->fragment + i) == UINT32_MAX;
    return same;
}

static inline bool has_fragment(const struct sta_template_node *node, const char *at)
{
    return (~equal_bytes(at, node->fragment) & node->mask) == 0 && (node->length <= 32 || has_rest(node, at));
}

static inline bool has_piece(const struct sta_template_step *step, const char *at)
{
    return (~equal_bytes(at, step->fragment) & step->mask) == 0;
}

/* Which of 32 bytes are within their bounds. */
static inline __m256i within(const uint8_t *least, const uint8_t *more, const char *at)
{
    const __m256i above =
        _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)at), _mm256_load_si256((const __m256i *)least));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(above, _mm256_load_si256((const __m256i *)more)), above);
}

static inline bool is_within(const struct sta_byte_bounds *bounds, const char *at)
{
    const __m256i both = _mm256_and_si256(within(bounds->least, bounds->more, at),
                                          within(bounds->least + 32, bounds->more + 32, at + 32));
    return (uint32_t)_mm256_movemask_epi8(both) == UINT32_MAX;
}

/* As signed bytes, control characters and all that is not ASCII are below 0x20: one comparison finds both. */
static inline const char *string_stop(const char *at)
{
    const __m256i quote = _mm256_set1_epi8('"');
    const __m256i backslash = _mm256_set1_epi8('\\');
    const __m256i blank = _mm256_set1_epi8(0x20);
    for (;; at += 32) {
        __m256i block = _mm256_loadu_si256((const __m256i *)at);
        __m256i stops = _mm256_or_si256(
            _mm256_or_si256(_mm256_cmpeq_epi8(block, quote), _mm256_cmpeq_epi8(block, backslash)),
            _mm256_cmpgt_epi8(blank, block));
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(stops);
        if (mask != 0)
            return at + __builtin_ctz(mask);
    }
}

static inline __m256i digit_values(const struct sta_digit_tables *tables, const char *at)
{
    return _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)at),
                           _mm256_load_si256((const __m256i *)tables->zeros));
}

static inline size_t leading_digits(const struct sta_digit_tables *tables, __m256i values)
{
    __m256i most = _mm256_min_epu8(values, _mm256_load_si256((const __m256i *)tables->nines));
    return _tzcnt_u32(~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(most, values)));
}

static inline size_t count_digits(const struct sta_digit_tables *tables, const char *at)
{
    return leading_digits(tables, digit_values(tables, at));
}

/* All digits at once, however many there are: they are moved to the vector's end, zeros before them, and then
 * added up as pairs, fours, eights. */
static inline uint64_t add_up(const struct sta_digit_tables *tables, __m128i values, size_t count)
{
    const __m128i pairs = _mm_set1_epi16(1 << 8 | 10);
    const __m128i fours = _mm_set1_epi32(1 << 16 | 100);
    const __m128i eights = _mm_set1_epi32(1 << 16 | 10000);
    __m128i block = _mm_shuffle_epi8(values, _mm_loadu_si128((const __m128i *)(tables->to_the_end + count)));
    block = _mm_madd_epi16(_mm_maddubs_epi16(block, pairs), fours);
    block = _mm_madd_epi16(_mm_packus_epi32(block, block), eights);
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(block);
    return (both & UINT32_MAX) * 100000000 + (both >> 32);
}

static inline size_t digits(const struct sta_digit_tables *tables, const char *at, uint64_t *value)
{
    __m256i whole = digit_values(tables, at);
    size_t count = leading_digits(tables, whole);
    *value = add_up(tables, _mm256_castsi256_si128(whole), count);
    return count;
}

static inline uint64_t number(const struct sta_digit_tables *tables, const char *at, size_t length)
{
    const __m128i values =
        _mm_sub_epi8(_mm_loadu_si128((const __m128i *)at), _mm_load_si128((const __m128i *)tables->zeros));
    return add_up(tables, values, length);
}

#include "decode/template_match.h"
