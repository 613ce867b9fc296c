/* bitpack.c - see bitpack.h.
 *
 * DESIGN: lane l holds the numbers l, l + 8, l + 16, .. as one stream of bits, and the lanes' 64-bit words
 * are interleaved.  So eight neighbours sit at the same bit of eight neighbouring words: they are one vector
 * that is shifted by one common count, with any instruction set, and no width needs code of its own. */
#include "store/encoding/bitpack.h"

#include <string.h>
#include "store/encoding/kernels.h"

#define WORD_BYTES (STA_PACK_LANES * sizeof(uint64_t)) /* one word of every lane */

size_t sta_pack_size(uint32_t count, unsigned width)
{
    size_t numbers = (count + STA_PACK_LANES - 1) / STA_PACK_LANES; /* per lane */
    return (numbers * width + 63) / 64 * WORD_BYTES;
}

void sta_unpack(const unsigned char *in, uint32_t count, unsigned width, uint64_t *out)
{
    uint32_t per_lane = (count + STA_PACK_LANES - 1) / STA_PACK_LANES;
    if (width == 0)
        memset(out, 0, per_lane * WORD_BYTES);
    else
        sta_kernels()->unpack(in, per_lane, width, out);
}
