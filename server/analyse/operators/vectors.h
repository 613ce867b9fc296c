/* vectors.h - small things that are done to vectors of any type (private to analyse). */
#ifndef STA_ANALYSE_OPERATORS_VECTORS_H
#define STA_ANALYSE_OPERATORS_VECTORS_H

#include <string.h>

#include "analyse/expression/expression.h"

/** The values of a vector from row @first on. */
struct sta_vector sta_vector_from(struct sta_vector vector, uint32_t first);
/** A vector of one missing value that stands for all rows. */
struct sta_vector sta_vector_nothing(enum sta_type type, const struct sta_dictionary *texts);

/* Memory for the values of a vector, of any type, and for which of them are missing. */
struct sta_vector_space {
    union {
        int64_t integers[STA_VECTOR_ROWS];
        double numbers[STA_VECTOR_ROWS];
        uint32_t codes[STA_VECTOR_ROWS];
    };
    uint8_t missing[STA_VECTOR_ROWS];
};

/** Integers side by side, none missing. */
static inline struct sta_vector sta_vector_of_integers(const int64_t *integers)
{
    return (struct sta_vector){.type = STA_TYPE_INT, .integers = integers};
}

static inline bool sta_vector_is_missing(const struct sta_vector *vector, uint32_t row)
{
    row = vector->constant ? 0 : row;
    if (sta_vector_is_codes(vector))
        return vector->codes[row] == STA_NO_CODE;
    return vector->type == STA_TYPE_NULL || (vector->missing != NULL && vector->missing[row]);
}

/* One value of a key, or of any other column. */
struct sta_key_value {
    uint64_t bits; /* of an integer, number or truth value, or the code of a text; 0: missing */
    bool missing;
};
static inline struct sta_key_value sta_vector_value(const struct sta_vector *vector, uint32_t row)
{
    struct sta_key_value value = {.missing = sta_vector_is_missing(vector, row)};
    const size_t width = sta_vector_width(vector->type);
    if (!value.missing)
        memcpy(&value.bits, (const char *)sta_vector_values(vector) + (vector->constant ? 0 : row) * width,
               width);
    return value;
}

/** The values of some rows, of @width (1, 4 or 8) bytes each, side by side.  @rows: NULL: 0 .. @count - 1. */
void sta_gather(const void *from, size_t width, const uint32_t *rows, uint32_t count, void *to);
/**
 * sta_vector_gather - the values of some rows, side by side
 * @rows: their numbers; NULL: 0 .. @count - 1
 * @values, @missing: space for @count of the vector's type; @missing is written for types that are no codes
 * Return: whether one of them is missing (codes: not looked at).
 */
bool sta_vector_gather(const struct sta_vector *vector, const uint32_t *rows, uint32_t count, void *values,
                       uint8_t *missing);
/** The same in memory of the caller's, as a vector. */
struct sta_vector sta_vector_gather_to(const struct sta_vector *vector, const uint32_t *rows, uint32_t count,
                                       struct sta_vector_space *space);
/** Puts the value of a row into row @at of a table's column of the same type; texts are those of the
 * vector. */
void sta_table_put(struct sta_table_column *column, size_t at, const struct sta_vector *vector, uint32_t row);

#endif
