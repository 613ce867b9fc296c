/* bitpack.h - numbers of a fixed bit width, laid out so that eight of them unpack at once. */
#ifndef STA_STORE_BITPACK_H
#define STA_STORE_BITPACK_H

#include <stddef.h>
#include <stdint.h>

#define STA_PACK_LANES 8

/** Bytes that @count numbers of @width bits (0..64) take. */
size_t sta_pack_size(uint32_t count, unsigned width);
/** What sta_word_kernels.pack made, back.  @out: space for @count rounded up to whole STA_PACK_LANES; @in:
 * sta_pack_size bytes. */
void sta_unpack(const unsigned char *in, uint32_t count, unsigned width, uint64_t *out);
/** Bits that @value needs. */
static inline unsigned sta_bit_width(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}
/** Bytes that it takes as a varint. */
static inline size_t sta_varint_size(uint64_t value)
{
    return value ? (sta_bit_width(value) + 6) / 7 : 1;
}

#endif
