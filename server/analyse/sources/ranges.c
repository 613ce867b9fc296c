/* Cuts at the first times of row groups. */
#include "analyse/sources/ranges.h"

#include <stdlib.h>

#include "common/account.h"
#include "common/memory.h"

static int compare_starts(const void *a, const void *b)
{
    const struct sta_block *const *x = a, *const *y = b;
    return ((*x)->ts_min > (*y)->ts_min) - ((*x)->ts_min < (*y)->ts_min);
}

static void cut(const struct sta_block *const *blocks, size_t block_count, uint64_t rows, unsigned count,
                struct sta_time_range *ranges)
{
    uint64_t before = 0;
    unsigned next = 1;
    ranges[0] = STA_ALL_TIME;
    for (size_t i = 0; i < block_count && next < count; before += blocks[i++]->rows)
        for (; next < count && before * count >= rows * next; next++) {
            ranges[next] = (struct sta_time_range){blocks[i]->ts_min, INT64_MAX};
            ranges[next - 1].to = blocks[i]->ts_min;
        }
    for (; next < count; next++) /* the last row group is larger than a share */
        ranges[next] = (struct sta_time_range){INT64_MAX, INT64_MAX};
}

static uint64_t most_read(const struct sta_block *const *blocks, size_t block_count, unsigned count,
                          const struct sta_time_range *ranges)
{
    uint64_t most = 0;
    for (unsigned r = 0; r < count; r++) {
        uint64_t rows = 0;
        for (size_t i = 0; i < block_count; i++)
            rows += sta_time_range_meets(&ranges[r], blocks[i]) ? blocks[i]->rows : 0;
        most = STA_MAX(most, rows);
    }
    return most;
}

bool sta_time_ranges(const struct sta_scan *scan, unsigned count, double most, struct sta_account *account,
                     struct sta_time_range *ranges)
{
    const struct sta_snapshot *snapshot = sta_columns_snapshot(scan->columns);
    struct sta_error refused = STA_ERROR_INIT;
    uint64_t rows = 0;
    uint32_t *numbers;
    size_t block_count = sta_scan_choose(scan, &numbers);
    const struct sta_block **blocks =
        sta_account_alloc(account, block_count + 1, sizeof *blocks, "the row groups of a pass", &refused);
    for (size_t i = 0; blocks != NULL && i < block_count; i++) {
        blocks[i] = sta_snapshot_block(snapshot, numbers[i]);
        rows += blocks[i]->rows;
    }
    free(numbers);
    if (blocks == NULL)
        return false;
    qsort(blocks, block_count, sizeof *blocks, compare_starts);
    cut(blocks, block_count, rows, count, ranges);
    const bool good = (double)most_read(blocks, block_count, count, ranges) <= most * (double)rows;
    sta_account_free(account, blocks);
    return good;
}
