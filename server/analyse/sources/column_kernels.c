/* column_kernels.c - see column_kernels.h. */
#include "analyse/sources/column_kernels.h"

#include <string.h>

#include "common/whole.h"

typedef uint8_t sta_byte_vector __attribute__((vector_size(32)));
typedef uint8_t sta_eight_bytes __attribute__((vector_size(8)));
typedef uint32_t sta_eight_rows __attribute__((vector_size(32)));

#define STA_LOOPS "analyse/sources/column_kernels_body.h"
#include "common/instruction_sets.h"

const struct sta_column_kernels *sta_column_kernels(void)
{
    return STA_BEST_KERNELS;
}
