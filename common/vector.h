/* vector.h - values of one column for some rows, as the analysis passes them on. */
#ifndef STA_COMMON_VECTOR_H
#define STA_COMMON_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/dictionary.h"
#include "common/table.h"

#define STA_VECTOR_ROWS 16384 /* most rows of a vector: those of a row group */
#define STA_MINIBATCH_ROWS                                                                                   \
    1024u /* rows worked on at a time, so that what one step writes is near when the next reads it */

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

static inline bool sta_vector_is_codes(const struct sta_vector *vector)
{
    return vector->type == STA_TYPE_TEXT || vector->type == STA_TYPE_LIST;
}

/** Bytes of a value: 8, codes 4, conditions 1. */
static inline size_t sta_vector_width(enum sta_type type)
{
    if (type == STA_TYPE_INT || type == STA_TYPE_FLOAT)
        return sizeof(int64_t);
    return type == STA_TYPE_TEXT || type == STA_TYPE_LIST ? sizeof(uint32_t) : sizeof(uint8_t);
}

/** The values, of whatever type they are. */
static inline const void *sta_vector_values(const struct sta_vector *vector)
{
    if (vector->type == STA_TYPE_INT)
        return vector->integers;
    if (vector->type == STA_TYPE_FLOAT)
        return vector->numbers;
    return sta_vector_is_codes(vector) ? (const void *)vector->codes : vector->bools;
}

/** Points the vector at values of its type. */
static inline void sta_vector_point(struct sta_vector *vector, const void *values)
{
    if (vector->type == STA_TYPE_INT)
        vector->integers = values;
    else if (vector->type == STA_TYPE_FLOAT)
        vector->numbers = values;
    else if (sta_vector_is_codes(vector))
        vector->codes = values;
    else
        vector->bools = values;
}

#endif
