/* Small things that are done to vectors of any type. */
#include "analyse/operators/vectors.h"

#include <string.h>

struct sta_vector sta_vector_from(struct sta_vector vector, uint32_t first)
{
    if (vector.constant)
        return vector;
    const char *values = sta_vector_values(&vector);
    sta_vector_point(&vector, values + first * sta_vector_width(vector.type));
    vector.missing = vector.missing != NULL ? vector.missing + first : NULL;
    return vector;
}

struct sta_vector sta_vector_nothing(enum sta_type type, const struct sta_dictionary *texts)
{
    static const int64_t zero;
    static const uint32_t no_code = STA_NO_CODE;
    static const uint8_t one = 1;
    struct sta_vector vector = {.type = type, .constant = true};
    const bool codes = sta_vector_is_codes(&vector);
    sta_vector_point(&vector, codes ? (const void *)&no_code : &zero);
    vector.missing = codes ? NULL : &one;
    vector.texts = codes ? texts : NULL;
    return vector;
}

/* ---- gathering: a loop for each width */

#define GATHER(type, from, to)                                                                               \
    do {                                                                                                     \
        const type *source_ = (from);                                                                        \
        type *target_ = (to);                                                                                \
        for (uint32_t i_ = 0; i_ < count; i_++)                                                              \
            target_[i_] = source_[rows[i_]];                                                                 \
    } while (0)

void sta_gather(const void *from, size_t width, const uint32_t *rows, uint32_t count, void *to)
{
    if (rows == NULL)
        memcpy(to, from, count * width);
    else if (width == 8)
        GATHER(uint64_t, from, to);
    else if (width == 4)
        GATHER(uint32_t, from, to);
    else
        GATHER(uint8_t, from, to);
}

static void repeat_value(const void *from, size_t width, uint32_t count, void *to)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)to + i * width, from, width);
}

bool sta_vector_gather(const struct sta_vector *vector, const uint32_t *rows, uint32_t count, void *values,
                       uint8_t *missing)
{
    size_t width = sta_vector_width(vector->type);
    if (vector->constant)
        repeat_value(sta_vector_values(vector), width, count, values);
    else
        sta_gather(sta_vector_values(vector), width, rows, count, values);
    if (sta_vector_is_codes(vector))
        return false;
    if (vector->missing == NULL)
        memset(missing, 0, count);
    else if (vector->constant)
        memset(missing, vector->missing[0], count);
    else
        sta_gather(vector->missing, 1, rows, count, missing);
    return vector->missing != NULL && memchr(missing, 1, count) != NULL;
}

struct sta_vector sta_vector_gather_to(const struct sta_vector *vector, const uint32_t *rows, uint32_t count,
                                       struct sta_vector_space *space)
{
    struct sta_vector gathered = {.type = vector->type, .texts = vector->texts};
    const bool missing = sta_vector_gather(vector, rows, count, space->integers, space->missing);
    sta_vector_point(&gathered, space->integers);
    gathered.missing = missing ? space->missing : NULL;
    return gathered;
}

/* ---- tables */

void sta_table_put(struct sta_table_column *column, size_t at, const struct sta_vector *vector, uint32_t row)
{
    if (sta_vector_is_missing(vector, row))
        return;
    column->missing[at] = 0;
    switch (vector->type) {
    case STA_TYPE_INT:
        column->integers[at] = vector->integers[row];
        break;
    case STA_TYPE_FLOAT:
        column->numbers[at] = vector->numbers[row];
        break;
    case STA_TYPE_BOOL:
        column->integers[at] = vector->bools[row];
        break;
    default:
        column->texts[at] = sta_dictionary_text(vector->texts, vector->codes[row]);
    }
}
