/* The loops over raw bytes: portable, SSE2, AVX2; chosen once, at run time. */
#include "decode/bytes.h"

#include <stdatomic.h>
#include <stdbool.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static bool ends_string(unsigned char c)
{
    return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

static size_t count_newlines_portable(const char *bytes, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\n';
    return count;
}

static const char *blanks_end_portable(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
        at++;
    return at;
}

static const char *string_end_portable(const char *at, const char *end)
{
    while (at < end && !ends_string((unsigned char)*at))
        at++;
    return at;
}

static const struct sta_byte_kernels portable = {"portable", count_newlines_portable, blanks_end_portable,
                                                 string_end_portable};

#if defined(__x86_64__)

static size_t count_newlines_sse2(const char *bytes, size_t size)
{
    const __m128i newline = _mm_set1_epi8('\n');
    size_t count = 0;
    size_t i = 0;
    for (; i + 16 <= size; i += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(bytes + i));
        count += (size_t)__builtin_popcount((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, newline)));
    }
    return count + count_newlines_portable(bytes + i, size - i);
}

static const char *blanks_end_sse2(const char *at, const char *end)
{
    const __m128i blank = _mm_set1_epi8(' ');
    const __m128i tab = _mm_set1_epi8('\t');
    const __m128i width = _mm_set1_epi8('\r' - '\t');
    for (; at + 16 <= end; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)at);
        __m128i above = _mm_sub_epi8(block, tab);
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(above, width), above);
        unsigned blanks = (unsigned)_mm_movemask_epi8(_mm_or_si128(control, _mm_cmpeq_epi8(block, blank)));
        if (blanks != 0xffff)
            return at + __builtin_ctz(~blanks);
    }
    return blanks_end_portable(at, end);
}

/* As signed bytes, control characters and all that is not ASCII are below 0x20: one comparison finds both. */
static const char *string_end_sse2(const char *at, const char *end)
{
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i blank = _mm_set1_epi8(0x20);
    for (; at < end; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)at);
        __m128i stops =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)),
                         _mm_cmplt_epi8(block, blank));
        unsigned mask = (unsigned)_mm_movemask_epi8(stops);
        if (mask != 0) {
            at += __builtin_ctz(mask);
            break;
        }
    }
    return at < end ? at : end;
}

static const struct sta_byte_kernels sse2 = {"sse2", count_newlines_sse2, blanks_end_sse2, string_end_sse2};

__attribute__((target("avx2,popcnt"))) static size_t count_newlines_avx2(const char *bytes, size_t size)
{
    const __m256i newline = _mm256_set1_epi8('\n');
    size_t count = 0;
    size_t i = 0;
    for (; i + 32 <= size; i += 32) {
        __m256i block = _mm256_loadu_si256((const __m256i *)(bytes + i));
        count +=
            (size_t)__builtin_popcount((unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, newline)));
    }
    return count + count_newlines_portable(bytes + i, size - i);
}

__attribute__((target("avx2"))) static const char *string_end_avx2(const char *at, const char *end)
{
    const __m256i quote = _mm256_set1_epi8('"');
    const __m256i backslash = _mm256_set1_epi8('\\');
    const __m256i blank = _mm256_set1_epi8(0x20);
    for (; at < end; at += 32) {
        __m256i block = _mm256_loadu_si256((const __m256i *)at);
        __m256i stops = _mm256_or_si256(
            _mm256_or_si256(_mm256_cmpeq_epi8(block, quote), _mm256_cmpeq_epi8(block, backslash)),
            _mm256_cmpgt_epi8(blank, block));
        unsigned mask = (unsigned)_mm256_movemask_epi8(stops);
        if (mask != 0) {
            at += __builtin_ctz(mask);
            break;
        }
    }
    return at < end ? at : end;
}

static const struct sta_byte_kernels avx2 = {"avx2", count_newlines_avx2, blanks_end_sse2, string_end_avx2};

const struct sta_byte_kernels *const *sta_byte_kernels_all(void)
{
    static const struct sta_byte_kernels *const with_avx2[] = {&portable, &sse2, &avx2, NULL};
    static const struct sta_byte_kernels *const without[] = {&portable, &sse2, NULL};
    return __builtin_cpu_supports("avx2") ? with_avx2 : without;
}

#else

const struct sta_byte_kernels *const *sta_byte_kernels_all(void)
{
    static const struct sta_byte_kernels *const all[] = {&portable, NULL};
    return all;
}

#endif

const struct sta_byte_kernels *sta_byte_kernels(void)
{
    const struct sta_byte_kernels *const *all = sta_byte_kernels_all();
    while (all[1] != NULL)
        all++;
    return all[0];
}
