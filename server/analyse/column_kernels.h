/* column_kernels.h - loops over the values of a block, compiled for the instruction set of the machine (private to columns).
 *
 * column_kernels_body.h holds them once; column_kernels.c compiles it for any machine of the architecture and for AVX2, and picks
 * by what the processor says. */
#ifndef STA_ANALYSE_COLUMN_KERNELS_H
#define STA_ANALYSE_COLUMN_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

struct sta_column_kernels {
    /** Values that are positive, 0 for the others. */
    void (*positives)(const int64_t *values, uint32_t rows, int64_t *out);
    /** Sets values to 0 where @keep is 0 (else it is 1). */
    void (*mask)(const uint8_t *keep, uint32_t rows, int64_t *values);
    /** Puts values that are not 0 over others. */
    void (*put_over)(const int64_t *values, uint32_t rows, int64_t *out);
    /** Marks rows that have a certain value, clears the marks of others.  Return: whether there is such a row. */
    bool (*mark)(const int64_t *values, uint32_t rows, int64_t value, uint8_t *marks);
};

const struct sta_column_kernels *sta_column_kernels(void);

#endif
