/* Names of the size bins. */
#include "analyse/views/size_bins.h"

const char *const sta_size_bin_names[STA_SIZE_BINS] = {
#define X(index, name, limits) [index] = name,
    STA_SIZE_BIN_LIST(X)
#undef X
};
