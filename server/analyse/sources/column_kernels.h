/* column_kernels.h - loops over the values of a row group, compiled for the instruction set of the machine
 * (private to columns).
 *
 * column_kernels_body.h holds them once; common/instruction_sets.h compiles them for each set and picks by
 * what the processor says. */
#ifndef STA_ANALYSE_SOURCES_COLUMN_KERNELS_H
#define STA_ANALYSE_SOURCES_COLUMN_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

struct sta_column_kernels {
    /** @first where it is positive (NULL: nowhere), else @second where that is positive (NULL:
     * nowhere) and to be kept (@keep: 1), else 0, which is marked as missing.
     * Return: whether any is. */
    bool (*pick)(const int64_t *first, const int64_t *second, const uint8_t *keep, uint32_t rows,
                 int64_t *out, uint8_t *missing);
    /** Marks the rows whose value is not positive or not to be kept, clears the marks of others.  Return:
     * whether there is such a row. */
    bool (*mark_unkept)(const int64_t *values, const uint8_t *keep, uint32_t rows, uint8_t *marks);
    /** Marks rows that have a certain value, clears the marks of others.  Return: whether there is such a
     * row. */
    bool (*mark)(const int64_t *values, uint32_t rows, int64_t value, uint8_t *marks);
    /** Integers as numbers, divided. */
    void (*divide)(const int64_t *values, uint32_t rows, double by, double *out);
    /** How many marks are 1, the others 0. */
    uint32_t (*count)(const uint8_t *marks, uint32_t rows);
    /** Numbers of the rows whose mark is 1, ascending, to @kept, which has space for all rows.  @ones: by the
     * bits of a byte, the places of those that are 1.  Return: how many. */
    uint32_t (*list)(const uint8_t *marks, uint32_t rows, const uint8_t (*ones)[8], uint32_t *kept);
};

const struct sta_column_kernels *sta_column_kernels(void);

#endif
