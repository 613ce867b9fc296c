/* bitpack.c - see bitpack.h.
 *
 * DESIGN: lane l holds the numbers l, l + 8, l + 16, .. as one stream of bits, and the lanes' 64-bit words are interleaved.  So
 * eight neighbours sit at the same bit of eight neighbouring words: the compiler turns the inner loops into vector shifts
 * by one common count, at any instruction set, and no width needs code of its own. */
#include "store/bitpack.h"

#include <string.h>
#include "store/kernels.h"

#define WORD_BYTES (STA_PACK_LANES * sizeof(uint64_t)) /* one word of every lane */

size_t sta_pack_size(uint32_t count, unsigned width)
{
    size_t numbers = (count + STA_PACK_LANES - 1) / STA_PACK_LANES; /* per lane */
    return (numbers * width + 63) / 64 * WORD_BYTES;
}

static uint64_t load(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static void merge(unsigned char *at, uint64_t bits)
{
    bits |= load(at);
    memcpy(at, &bits, sizeof bits);
}

void sta_pack(const uint64_t *in, uint32_t count, unsigned width, unsigned char *out)
{
    memset(out, 0, sta_pack_size(count, width));
    if (width == 0)
        return;
    uint32_t numbers = (count + STA_PACK_LANES - 1) / STA_PACK_LANES;
    for (uint32_t n = 0; n < numbers; n++, in += STA_PACK_LANES) {
        unsigned bit = n * width, shift = bit % 64;
        unsigned char *word = out + bit / 64 * WORD_BYTES;
        for (unsigned l = 0; l < STA_PACK_LANES; l++)
            merge(word + 8 * l, in[l] << shift);
        if (shift + width <= 64)
            continue;
        for (unsigned l = 0; l < STA_PACK_LANES; l++)
            merge(word + WORD_BYTES + 8 * l, in[l] >> (64 - shift));
    }
}

void sta_unpack(const unsigned char *in, uint32_t count, unsigned width, uint64_t *out)
{
    uint32_t per_lane = (count + STA_PACK_LANES - 1) / STA_PACK_LANES;
    if (width == 0)
        memset(out, 0, per_lane * WORD_BYTES);
    else
        sta_kernels()->unpack(in, per_lane, width, out);
}
