/* size_bins.h - metrics.md section 3: events by the size of what they moved (private to analyse). */
#ifndef STA_ANALYSE_VIEWS_SIZE_BINS_H
#define STA_ANALYSE_VIEWS_SIZE_BINS_H

#include <stdint.h>

#include "common/memory.h"

#define STA_SIZE_BINS 12

/* X(index, name of the column, limits for people) */
#define STA_SIZE_BIN_LIST(X)                                                                                 \
    X(0, "size_bin_0_4kib", "(0, 4 KiB]")                                                                    \
    X(1, "size_bin_4kib_16kib", "(4 KiB, 16 KiB]")                                                           \
    X(2, "size_bin_16kib_64kib", "(16 KiB, 64 KiB]")                                                         \
    X(3, "size_bin_64kib_256kib", "(64 KiB, 256 KiB]")                                                       \
    X(4, "size_bin_256kib_1mib", "(256 KiB, 1 MiB]")                                                         \
    X(5, "size_bin_1mib_4mib", "(1 MiB, 4 MiB]")                                                             \
    X(6, "size_bin_4mib_16mib", "(4 MiB, 16 MiB]")                                                           \
    X(7, "size_bin_16mib_64mib", "(16 MiB, 64 MiB]")                                                         \
    X(8, "size_bin_64mib_256mib", "(64 MiB, 256 MiB]")                                                       \
    X(9, "size_bin_256mib_1gib", "(256 MiB, 1 GiB]")                                                         \
    X(10, "size_bin_1gib_4gib", "(1 GiB, 4 GiB]")                                                            \
    X(11, "size_bin_4gib_plus", "(4 GiB, ..)")

extern const char *const sta_size_bin_names[STA_SIZE_BINS];

extern const uint8_t sta_size_bin_of_bit[64];

/** Bins closed on the right: (0, 4 KiB], (4 KiB, 16 KiB], ..; of a @size of 0 STA_SIZE_BINS.  Sizes follow
 * one another without a pattern, so there are no branches: the highest bit of size - 1 gives the bin. */
static inline unsigned sta_size_bin(int64_t size)
{
    return sta_size_bin_of_bit[63 ^ __builtin_clzll(((uint64_t)size - 1) | 1)];
}

#endif
