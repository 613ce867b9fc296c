/* kernels.c - see kernels.h. */
#include "store/kernels.h"

#include <string.h>
#include "common/dictionary.h"
#include "store/bitpack.h"

#define STA_PACK_WORD (STA_PACK_LANES * sizeof(uint64_t)) /* one word of every lane */

#define TARGET
#define KERNEL(name) portable_##name
#include "store/kernels_body.h"
#undef TARGET
#undef KERNEL

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))
#define KERNEL(name) avx2_##name
#include "store/kernels_body.h"
#undef TARGET
#undef KERNEL
#endif

const struct sta_kernels *sta_kernels(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return &avx2_kernels;
#endif
    return &portable_kernels;
}
