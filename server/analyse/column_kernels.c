/* column_kernels.c - see column_kernels.h. */
#include "analyse/column_kernels.h"

#define TARGET
#define KERNEL(name) portable_##name
#include "analyse/column_kernels_body.h"
#undef TARGET
#undef KERNEL

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))
#define KERNEL(name) avx2_##name
#include "analyse/column_kernels_body.h"
#undef TARGET
#undef KERNEL
#endif

const struct sta_column_kernels *sta_column_kernels(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return &avx2_kernels;
#endif
    return &portable_kernels;
}
