/* kernels.h - the loops that touch every value, compiled for the instruction set of the machine.
 *
 * kernels_body.h holds them once; common/instruction_sets.h compiles them for each set and picks by what the
 * processor says. */
#ifndef STA_STORE_KERNELS_H
#define STA_STORE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes low .. low + more. */
struct sta_byte_range {
    uint8_t low, more;
};

/* On words of 32 bits, or of 64. */
struct sta_word_kernels {
    /** Smallest and largest of at least one: signed, and not. */
    void (*residual_range)(const void *residuals, uint32_t count, int64_t *min, int64_t *max);
    void (*range)(const void *words, uint32_t count, uint64_t *min, uint64_t *max);
    /** words = residuals - base, wrapping.  Return: all bits that any of them has. */
    uint64_t (*subtract)(const void *residuals, uint32_t count, int64_t base, void *words);
    void (*shift)(void *words, uint32_t count, unsigned shift);
    /** First bytes of all words, then second bytes, .. */
    void (*split_bytes)(const void *words, uint32_t count, unsigned byte_count, unsigned char *bytes);
    /** How many words - base, wrapping, are larger than the limit. */
    uint32_t (*count_above)(const void *words, uint32_t count, uint64_t base, uint64_t limit);
    /** Their places, in order; space for all. */
    uint32_t (*find_above)(const void *words, uint32_t count, uint64_t base, uint64_t limit,
                           uint16_t *places);
    /** The low @width bits (1..64) of word - base each, packed as bitpack.h says. */
    void (*pack)(const void *words, uint32_t count, uint64_t base, unsigned width, unsigned char *out);
};

struct sta_kernels {
    /** Numbers of @width bits, packed as bitpack.h says. */
    void (*unpack)(const unsigned char *in, uint32_t per_lane, unsigned width, uint64_t *out);
    /** offset = value - origin, and their smallest and largest.  Return: false when some is not below
     * 2^31. */
    bool (*offsets)(const int64_t *values, uint32_t count, uint64_t origin, uint32_t *offsets, uint32_t *min,
                    uint32_t *max);
    /** Bits by value - first, which is below 64. */
    uint64_t (*bits_of)(const uint32_t *values, uint32_t count, uint32_t first);
    uint64_t (*bits_of_keys)(const uint16_t *keys, uint32_t count);
    /** Whether all lie in min .. max. */
    bool (*within)(const int64_t *values, uint32_t count, int64_t min, int64_t max);
    /** value = (value << shift) + base, wrapping. */
    void (*scale)(int64_t *values, uint32_t count, unsigned shift, uint64_t base);
    /** Words from their first bytes, then second bytes, .., @stride bytes from one to the next. */
    void (*join_bytes)(const unsigned char *bytes, size_t stride, uint32_t count, unsigned byte_count,
                       uint64_t *words);
    /** Low halves; low quarters. */
    void (*narrow)(const int64_t *wide, uint32_t count, uint32_t *codes);
    void (*narrow_keys)(const int64_t *wide, uint32_t count, uint16_t *keys);
    /** Clears the marks of rows whose byte lies in none of the ranges. */
    void (*keep_byte_ranges)(const uint8_t *bytes, uint32_t count, const struct sta_byte_range *ranges,
                             unsigned range_count, uint8_t *marks);
    const struct sta_word_kernels *words32, *words64;
};

const struct sta_kernels *sta_kernels(void);

#endif
