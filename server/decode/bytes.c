/* The loops over raw bytes: portable, and with SSE2, which every x86-64 has; those that all bytes of a trace
 * go through with more than that. */
#include "decode/bytes.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "common/memory.h"

struct newline_kernels {
    size_t (*count)(const char *bytes, size_t size);
};
typedef uint8_t sta_bytes __attribute__((vector_size(32)));

#define STA_LOOPS "decode/bytes_loops.h"
#include "common/instruction_sets.h"

size_t sta_count_newlines(const char *bytes, size_t size)
{
    return STA_BEST_KERNELS->count(bytes, size);
}

static bool ends_string(unsigned char c)
{
    return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
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

static const struct sta_byte_kernels portable = {"portable", blanks_end_portable, string_end_portable};

#if defined(__x86_64__)

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

static const struct sta_byte_kernels sse2 = {"sse2", blanks_end_sse2, string_end_sse2};

#endif

const struct sta_byte_kernels *const *sta_byte_kernels_all(void)
{
    static const struct sta_byte_kernels *const all[] = {
        &portable,
#if defined(__x86_64__)
        &sse2,
#endif
        NULL
    };
    return all;
}

const struct sta_byte_kernels *sta_byte_kernels(void)
{
    const struct sta_byte_kernels *const *all = sta_byte_kernels_all();
    while (all[1] != NULL)
        all++;
    return all[0];
}
