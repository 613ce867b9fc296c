/* column_kernels_body.h - bodies of column_kernels.h; common/instruction_sets.h compiles them. */

TARGET static bool KERNEL(pick)(const int64_t *first, const int64_t *second, const uint8_t *keep,
                                uint32_t rows, int64_t *restrict out, uint8_t *restrict missing)
{
    uint8_t any = 0;
    if (second == NULL)
        memset(out, 0, rows * sizeof *out);
    for (uint32_t row = 0; second != NULL && row < rows; row++)
        out[row] = (second[row] > 0 ? second[row] : 0) & -(int64_t)keep[row];
    for (uint32_t row = 0; first != NULL && row < rows; row++)
        out[row] = first[row] > 0 ? first[row] : out[row];
    for (uint32_t row = 0; row < rows; row++) {
        missing[row] = out[row] == 0;
        any |= missing[row];
    }
    return any != 0;
}

TARGET static bool KERNEL(mark_unkept)(const int64_t *values, const uint8_t *keep, uint32_t rows,
                                       uint8_t *restrict marks)
{
    uint8_t any = 0;
    for (uint32_t row = 0; row < rows; row++) {
        marks[row] = keep[row] ^ 1;
        marks[row] |= values[row] <= 0;
        any |= marks[row];
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

TARGET static void KERNEL(divide)(const int64_t *values, uint32_t rows, double by, double *restrict out)
{
    const bool small = sta_whole_are_small(values, rows, 0);
    for (uint32_t row = 0; small && row < rows; row++)
        out[row] = sta_whole_number(values[row]) / by;
    for (uint32_t row = 0; !small && row < rows; row++)
        out[row] = (double)values[row] / by;
}

TARGET static uint32_t KERNEL(count)(const uint8_t *marks, uint32_t rows)
{
    uint32_t count = 0, row = 0;
    while (row + sizeof(sta_byte_vector) <= rows) { /* as many at a time as bytes can count */
        sta_byte_vector counts = {0}, here;
        for (unsigned n = 0; n < UINT8_MAX && row + sizeof here <= rows; n++, row += (uint32_t)sizeof here) {
            memcpy(&here, marks + row, sizeof here);
            counts += here;
        }
        for (unsigned b = 0; b < sizeof counts; b++)
            count += counts[b];
    }
    for (; row < rows; row++)
        count += marks[row];
    return count;
}

TARGET static inline void KERNEL(put_eight)(uint32_t *to, unsigned bits, uint32_t row,
                                            const uint8_t (*ones)[8])
{
    sta_eight_bytes places;
    memcpy(&places, ones[bits], sizeof places);
    const sta_eight_rows rows_here = __builtin_convertvector(places, sta_eight_rows) + row;
    memcpy(to, &rows_here, sizeof rows_here);
}

/* Eight rows at a time and without branches, since which rows are marked is hard to predict: what is written
 * behind those of the eight is overwritten by the next ones.  Where the next ones begin is known for four
 * times eight rows together, so that none waits for the one before; where none of them is marked, nothing is
 * written. */
TARGET static uint32_t KERNEL(list)(const uint8_t *marks, uint32_t rows, const uint8_t (*ones)[8],
                                    uint32_t *restrict kept)
{
    uint32_t *to = kept, row = 0;
    for (; row + 32 <= rows; row += 32) {
        uint64_t words[4];
        memcpy(words, marks + row, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3]) == 0)
            continue;
        unsigned bits[4], counts[4];
        for (unsigned w = 0; w < 4; w++) {
            bits[w] = (unsigned)(words[w] * UINT64_C(0x0102040810204080) >> 56);
            counts[w] = (unsigned)__builtin_popcount(bits[w]);
        }
        KERNEL(put_eight)(to, bits[0], row, ones);
        KERNEL(put_eight)(to + counts[0], bits[1], row + 8, ones);
        KERNEL(put_eight)(to + counts[0] + counts[1], bits[2], row + 16, ones);
        to += counts[0] + counts[1] + counts[2];
        KERNEL(put_eight)(to, bits[3], row + 24, ones);
        to += counts[3];
    }
    for (; row < rows; row++) {
        *to = row;
        to += marks[row];
    }
    return (uint32_t)(to - kept);
}

static const struct sta_column_kernels KERNEL(kernels) = {
    .pick = KERNEL(pick),
    .mark_unkept = KERNEL(mark_unkept),
    .mark = KERNEL(mark),
    .divide = KERNEL(divide),
    .count = KERNEL(count),
    .list = KERNEL(list),
};
