/* column_kernels.c - see column_kernels.h. */
#include "analyse/column_kernels.h"

#define STA_LOOPS "analyse/column_kernels_body.h"
#include "common/instruction_sets.h"

const struct sta_column_kernels *sta_column_kernels(void)
{
    return STA_BEST_KERNELS;
}
