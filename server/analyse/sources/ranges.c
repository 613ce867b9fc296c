/* Cuts at the first times of row groups. */
#include "analyse/sources/ranges.h"

#include <stdlib.h>

#include "common/account.h"
#include "common/memory.h"

static int compare_starts(const void *a, const void *b)
{
    const struct sta_row_group *const *x = a, *const *y = b;
    return ((*x)->ts_min > (*y)->ts_min) - ((*x)->ts_min < (*y)->ts_min);
}

static void cut(const struct sta_row_group *const *row_groups, size_t row_group_count, uint64_t rows,
                unsigned count, struct sta_time_range *ranges)
{
    uint64_t before = 0;
    unsigned next = 1;
    ranges[0] = STA_ALL_TIME;
    for (size_t i = 0; i < row_group_count && next < count; before += row_groups[i++]->rows)
        for (; next < count && before * count >= rows * next; next++) {
            ranges[next] = (struct sta_time_range){row_groups[i]->ts_min, INT64_MAX};
            ranges[next - 1].to = row_groups[i]->ts_min;
        }
    for (; next < count; next++) /* the last row group is larger than a share */
        ranges[next] = (struct sta_time_range){INT64_MAX, INT64_MAX};
}

static uint64_t most_read(const struct sta_row_group *const *row_groups, size_t row_group_count,
                          unsigned count, const struct sta_time_range *ranges)
{
    uint64_t most = 0;
    for (unsigned r = 0; r < count; r++) {
        uint64_t rows = 0;
        for (size_t i = 0; i < row_group_count; i++)
            rows += sta_time_range_meets(&ranges[r], row_groups[i]) ? row_groups[i]->rows : 0;
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
    size_t row_group_count = sta_scan_choose(scan, &numbers);
    const struct sta_row_group **row_groups = sta_account_alloc(
        account, row_group_count + 1, sizeof *row_groups, "the row groups of a pass", &refused);
    for (size_t i = 0; row_groups != NULL && i < row_group_count; i++) {
        row_groups[i] = sta_snapshot_row_group(snapshot, numbers[i]);
        rows += row_groups[i]->rows;
    }
    free(numbers);
    if (row_groups == NULL)
        return false;
    qsort(row_groups, row_group_count, sizeof *row_groups, compare_starts);
    cut(row_groups, row_group_count, rows, count, ranges);
    const bool good = (double)most_read(row_groups, row_group_count, count, ranges) <= most * (double)rows;
    sta_account_free(account, row_groups);
    return good;
}

int sta_time_range_of(const struct sta_scan *scan, const struct sta_stripe *stripe,
                      struct sta_account *account, struct sta_time_range *range, struct sta_error *err)
{
    struct sta_time_range *all = sta_alloc_array(stripe->count, sizeof *all);
    const bool found = sta_time_ranges(scan, stripe->count, 1, account, all);
    *range = all[stripe->own];
    free(all);
    return found ? STA_OK : sta_fail(err, STA_EOUTDATED, "there is no memory for the list of row groups");
}
