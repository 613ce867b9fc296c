/* kernels.h - the loops that touch every value, compiled for the instruction set of the machine.
 *
 * kernels_body.h holds them once; kernels.c compiles it for any machine of the architecture and for AVX2, and picks by
 * what the processor says. */
#ifndef STA_STORE_KERNELS_H
#define STA_STORE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sta_kernels {
    /** Numbers of @width bits, packed as bitpack.h says. */
    void (*unpack)(const unsigned char *in, uint32_t per_lane, unsigned width, uint64_t *out);
    /** Smallest and largest of at least one value. */
    void (*range)(const int64_t *values, uint32_t count, int64_t *min, int64_t *max);
    void (*range_unsigned)(const uint64_t *values, uint32_t count, uint64_t *min, uint64_t *max);
    /** Whether all lie in min .. max. */
    bool (*within)(const int64_t *values, uint32_t count, int64_t min, int64_t max);
    /** value = (value << shift) + base, wrapping. */
    void (*scale)(int64_t *values, uint32_t count, unsigned shift, uint64_t base);
    /** words = terms - base, wrapping.  Return: all bits that any of them has. */
    uint64_t (*subtract)(const int64_t *terms, uint32_t count, uint64_t base, uint64_t *words);
    /** First bytes of all words, then second bytes, ..: and back, @stride bytes from one to the next. */
    void (*split_planes)(const uint64_t *words, uint32_t count, unsigned planes, unsigned char *bytes);
    void (*join_planes)(const unsigned char *bytes, size_t stride, uint32_t count, unsigned planes,
                        uint64_t *words);
    /** Low halves. */
    void (*narrow)(const int64_t *wide, uint32_t count, uint32_t *codes);
};

const struct sta_kernels *sta_kernels(void);

#endif
