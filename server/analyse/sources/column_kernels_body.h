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

/* Eight rows at a time and without branches, since which rows are marked is hard to predict: what is written
 * behind those of the eight is overwritten by the next ones. */
TARGET static uint32_t KERNEL(list)(const uint8_t *marks, uint32_t rows, const uint8_t (*ones)[8],
                                    uint32_t *restrict kept)
{
    uint32_t *to = kept, row = 0;
    for (; row + 8 <= rows; row += 8) {
        uint64_t word;
        memcpy(&word, marks + row, sizeof word);
        const unsigned bits = (unsigned)(word * UINT64_C(0x0102040810204080) >> 56);
        sta_eight_bytes places;
        memcpy(&places, ones[bits], sizeof places);
        const sta_eight_rows rows_here = __builtin_convertvector(places, sta_eight_rows) + row;
        memcpy(to, &rows_here, sizeof rows_here);
        to += __builtin_popcount(bits);
    }
    for (; row < rows; row++) {
        *to = row;
        to += marks[row];
    }
    return (uint32_t)(to - kept);
}

static const struct sta_column_kernels KERNEL(kernels) = {
    .pick = KERNEL(pick),
    .mark = KERNEL(mark),
    .list = KERNEL(list),
};
