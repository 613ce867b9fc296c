/* kernels.c - see kernels.h. */
#include "store/encoding/kernels.h"

#include <string.h>
#include "common/dictionary.h"
#include "store/encoding/bitpack.h"

/* A word of every lane.  As a type, since compilers do not make vectors of loops over lanes. */
typedef uint64_t sta_lanes __attribute__((vector_size(STA_PACK_LANES * sizeof(uint64_t))));
typedef uint8_t sta_byte_vector __attribute__((vector_size(32)));

#define STA_LOOPS "store/encoding/kernels_body.h"
#include "common/instruction_sets.h"

const struct sta_kernels *sta_kernels(void)
{
    return STA_BEST_KERNELS;
}
