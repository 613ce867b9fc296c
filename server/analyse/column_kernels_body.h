/* column_kernels_body.h - bodies of column_kernels.h, included once per instruction set with KERNEL(name) and TARGET defined. */

TARGET static void KERNEL(positives)(const int64_t *values, uint32_t rows, int64_t *restrict out)
{
    for (uint32_t row = 0; row < rows; row++)
        out[row] = values[row] > 0 ? values[row] : 0;
}

TARGET static void KERNEL(mask)(const uint8_t *keep, uint32_t rows, int64_t *restrict values)
{
    for (uint32_t row = 0; row < rows; row++)
        values[row] &= -(int64_t)keep[row];
}

TARGET static void KERNEL(put_over)(const int64_t *values, uint32_t rows, int64_t *restrict out)
{
    for (uint32_t row = 0; row < rows; row++)
        out[row] = values[row] != 0 ? values[row] : out[row];
}

TARGET static bool KERNEL(mark)(const int64_t *values, uint32_t rows, int64_t value, uint8_t *restrict marks)
{
    uint8_t any = 0;
    for (uint32_t row = 0; row < rows; row++) {
        marks[row] = values[row] == value;
        any |= marks[row];
    }
    return any != 0;
}

static const struct sta_column_kernels KERNEL(kernels) = {
    .positives = KERNEL(positives),
    .mask = KERNEL(mask),
    .put_over = KERNEL(put_over),
    .mark = KERNEL(mark),
};
