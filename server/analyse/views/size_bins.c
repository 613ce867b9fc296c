/* Names of the size bins. */
#include "analyse/views/size_bins.h"

const char *const sta_size_bin_names[STA_SIZE_BINS] = {
#define X(index, name, limits) [index] = name,
    STA_SIZE_BIN_LIST(X)
#undef X
};

const uint8_t sta_size_bin_of_bit[64] = {
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  1,  1,  2,  2,
    3,  3,  4,  4,  5,  5,  6,  6,  7,  7,  8,  8,  9,  9,  10, 10,
    11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
    11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, STA_SIZE_BINS /* 0 - 1 */
};
