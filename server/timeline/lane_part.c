/* Parts of the lane file: their rows, and loading each once. */
#include "timeline/lane_part.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "common/memory.h"

#define LOOK_NS 1000000 /* between two looks at what another thread loads */

int sta_lane_rows_read(const struct sta_lane_index *index, const struct sta_lane_rows *rows,
                       struct sta_error *err)
{
    int64_t **columns = sta_alloc_array(rows->columns, sizeof *columns);
    int64_t *buffer = sta_alloc_array((size_t)rows->columns * STA_ROW_GROUP_ROWS, sizeof *buffer);
    int rc = 0;
    for (unsigned c = 0; c < rows->columns; c++)
        columns[c] = buffer + (size_t)c * STA_ROW_GROUP_ROWS;
    for (uint32_t first = 0, block = rows->first_block; first < rows->count && rc == 0; block++) {
        const uint32_t count = STA_MIN(rows->count - first, STA_ROW_GROUP_ROWS);
        if (sta_lane_file_rows(index->file, block) != count)
            rc = sta_fail(err, STA_ECORRUPT, "%s", rows->nonsense);
        if (rc == 0)
            rc = sta_lane_file_read(index->file, block, rows->columns, columns, err);
        if (rc == 0 && !rows->take(rows->self, first, count, columns))
            rc = sta_fail(err, STA_ECORRUPT, "%s", rows->nonsense);
        first += count;
    }
    free(buffer);
    free(columns);
    return rc;
}

static int load(struct sta_lane_index *index, const struct sta_lane_part *part, struct sta_error *err)
{
    int rc = part->load(part->self, index, err);
    if (rc == STA_ECORRUPT)
        sta_lane_file_quarantine(index->file, err);
    atomic_store(part->state, rc == 0              ? STA_EXTENT_LOADED
                              : rc == STA_ECORRUPT ? STA_EXTENT_DAMAGED
                                                   : STA_EXTENT_ABSENT);
    return rc;
}

int sta_lane_part_need(struct sta_lane_index *index, const struct sta_lane_part *part,
                       const struct sta_budget *budget, struct sta_error *err)
{
    int rc = 0;
    while (rc == 0) {
        int state = STA_EXTENT_ABSENT;
        if (atomic_compare_exchange_strong(part->state, &state, STA_EXTENT_LOADING))
            return load(index, part, err);
        if (state == STA_EXTENT_LOADED)
            return 0;
        if (state == STA_EXTENT_DAMAGED)
            return sta_fail(err, STA_ECORRUPT, "%s", part->nonsense);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        rc = sta_budget_check(budget, err);
    }
    return rc;
}
