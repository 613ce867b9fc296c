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

static inline uint32_t not_digits(__m256i block)
{
    __m256i are_digits = _mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(9)), block);
    return ~(uint32_t)_mm256_movemask_epi8(are_digits);
}

static inline unsigned count_digits(const char *at)
{
    __m256i block = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)at), _mm256_set1_epi8('0'));
    return _tzcnt_u32(not_digits(block));
}

/* All digits at once, however many there are: they are moved to the vector's end, zeros before them, and then
 * added up as pairs, fours, eights. */
static inline unsigned digits(const char *at, uint64_t *value)
{
    static const int8_t to_the_end[48] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                          0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
    const __m128i pairs = _mm_set1_epi16(1 << 8 | 10);
    const __m128i fours = _mm_set1_epi32(1 << 16 | 100);
    const __m128i eights = _mm_set1_epi32(1 << 16 | 10000);
    __m256i whole = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)at), _mm256_set1_epi8('0'));
    unsigned count = _tzcnt_u32(not_digits(whole));
    __m128i block = _mm_shuffle_epi8(_mm256_castsi256_si128(whole),
                                     _mm_loadu_si128((const __m128i *)(to_the_end + count)));
    block = _mm_madd_epi16(_mm_maddubs_epi16(block, pairs), fours);
    block = _mm_madd_epi16(_mm_packus_epi32(block, block), eights);
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(block);
    *value = (both & UINT32_MAX) * 100000000 + (both >> 32);
    return count;
}

#include "decode/template_match.h"
