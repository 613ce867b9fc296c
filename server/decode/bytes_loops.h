/* bytes_loops.h - counting newlines; common/instruction_sets.h compiles it. */

/* Each of a vector's counts counts up to 255. */
TARGET static size_t KERNEL(count)(const char *bytes, size_t size)
{
    size_t count = 0, i = 0;
    while (i + sizeof(sta_bytes) <= size) {
        const size_t end = STA_MIN(size - (sizeof(sta_bytes) - 1), i + 255 * sizeof(sta_bytes));
        sta_bytes block, counts = {0};
#pragma GCC unroll 8
        for (; i < end; i += sizeof block) {
            memcpy(&block, bytes + i, sizeof block);
            counts -= (sta_bytes)(block == '\n');
        }
        for (size_t l = 0; l < sizeof counts; l++)
            count += counts[l];
    }
    for (; i < size; i++)
        count += bytes[i] == '\n';
    return count;
}

static const struct newline_kernels KERNEL(kernels) = {KERNEL(count)};
