/* vector.h - values of one column for some rows, as the analysis passes them on. */
#ifndef STA_COMMON_VECTOR_H
#define STA_COMMON_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include "common/dictionary.h"
#include "common/table.h"

#define STA_VECTOR_ROWS 16384 /* most rows of a vector: those of a row group */

/* Values of one column or expression for the rows of a batch. */
struct sta_vector {
    enum sta_type type; /* BOOL INT FLOAT TEXT; LIST: codes of JSON texts */
    bool constant;      /* one value, in [0], stands for all rows */
    const int64_t *integers;
    const double *numbers;
    const uint8_t *bools;               /* 0 or 1 */
    const uint32_t *codes;              /* TEXT; STA_NO_CODE where missing */
    const struct sta_dictionary *texts; /* TEXT: of the codes */
    const uint8_t *missing;             /* 1 where missing; NULL: none is.  Not for TEXT */
};

#endif
