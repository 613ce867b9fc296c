/* column_kernels_body.h - bodies of column_kernels.h; common/instruction_sets.h compiles them. */

TARGET static bool KERNEL(pick)(const int64_t *first, const int64_t *second, const uint8_t *keep,
                                uint32_t rows, int64_t *restrict out, uint8_t *restrict missing)
{
    uint8_t any = 0;
    for (uint32_t row = 0; row < rows; row++) {
        int64_t kept = (second[row] > 0 ? second[row] : 0) & -(int64_t)keep[row];
        int64_t value = first[row] > 0 ? first[row] : kept;
        out[row] = value;
        missing[row] = value == 0;
        any |= missing[row];
    }
    return any != 0;
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
    .pick = KERNEL(pick),
    .mark = KERNEL(mark),
};
