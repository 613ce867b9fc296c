/* instruction_sets.h - compiles a text of loops for any machine of the architecture, AVX2 and AVX-512.
 *
 * The includer defines STA_LOOPS, the text's path in quotes.  The text writes TARGET before each function
 * that has loops and KERNEL(name) for each name, and ends with a table KERNEL(kernels).  Behind the include,
 * STA_BEST_KERNELS is the address of the table that is made for this processor. */
#define TARGET
#define KERNEL(name) portable_##name
#include STA_LOOPS
#undef TARGET
#undef KERNEL

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))
#define KERNEL(name) avx2_##name
#include STA_LOOPS
#undef TARGET
#undef KERNEL
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define KERNEL(name) avx512_##name
#include STA_LOOPS
#undef TARGET
#undef KERNEL
#define STA_HAVE_AVX512                                                                                      \
    (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&                             \
     __builtin_cpu_supports("avx512vl"))
#define STA_BEST_KERNELS                                                                                     \
    (STA_HAVE_AVX512 ? &avx512_kernels : __builtin_cpu_supports("avx2") ? &avx2_kernels : &portable_kernels)
#else
#define STA_BEST_KERNELS (&portable_kernels)
#endif
