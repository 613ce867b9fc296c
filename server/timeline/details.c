/* Levels that are read from the lane file. */
#include "timeline/details.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "timeline/lane_part.h"
#include "common/memory.h"

#define WHAT "a level of the timeline"
#define NONSENSE "the lane file's levels make no sense"

static int nonsense(struct sta_error *err)
{
    return sta_fail(err, STA_ECORRUPT, NONSENSE);
}

/* ---- the list */

int sta_lane_details_attach(struct sta_lane_index *index, struct sta_cursor *head, uint32_t *block,
                            struct sta_error *err)
{
    const uint64_t count = sta_get_varint(head), threads = index->tree.thread_count;
    if (head->failed || count > threads * 64)
        return nonsense(err);
    index->details = sta_account_calloc(index->account, count + 1, sizeof *index->details, WHAT, err);
    if (index->details == NULL)
        return err->status;
    for (uint64_t i = 0; i < count; i++) {
        struct sta_lane_detail *level = &index->details[i];
        const uint64_t thread = sta_get_varint(head), shift = sta_get_varint(head),
                       boxes = sta_get_varint(head);
        if (head->failed || thread >= threads || shift > 62 || boxes > index->threads[thread].count)
            return nonsense(err);
        level->thread = (uint32_t)thread;
        level->shift = (uint32_t)shift;
        level->count = (uint32_t)boxes;
        level->first_block = *block;
        *block += (level->count + STA_ROW_GROUP_ROWS - 1) / STA_ROW_GROUP_ROWS;
        if (i > 0 && level[-1].thread * UINT64_C(64) + level[-1].shift >= thread * 64 + shift)
            return nonsense(err);
        index->detail_count++;
    }
    return 0;
}

void sta_lane_details_fini(struct sta_lane_index *index)
{
    for (size_t i = 0; i < index->detail_count; i++)
        sta_account_free(index->account, index->details[i].boxes);
    sta_account_free(index->account, index->details);
}

struct sta_lane_detail *sta_lane_details_find(const struct sta_lane_index *index, uint32_t thread,
                                              int64_t resolution)
{
    const uint64_t key = thread * UINT64_C(64) + (uint64_t)__builtin_ctzll((uint64_t)resolution);
    size_t low = 0, high = index->detail_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->details[middle].thread * UINT64_C(64) + index->details[middle].shift < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->detail_count || index->details[low].thread != thread ||
        INT64_C(1) << index->details[low].shift != resolution ||
        atomic_load(&index->details[low].state) == STA_EXTENT_DAMAGED)
        return NULL;
    return &index->details[low];
}

/* ---- loading */

static bool is_sane(const struct sta_lane_index *index, const struct sta_lane_detail *level,
                    const struct sta_box *box, const struct sta_box *before, uint32_t name_count)
{
    const int64_t most = INT64_MAX / 4;
    return box->row < index->threads[level->thread].rows && box->start >= 0 && box->start < most &&
           box->dur >= 0 && box->dur < most && box->count >= 0 &&
           (box->name < name_count || box->name == STA_NO_CODE) && box->number < index->event_count &&
           (before == NULL || box->row > before->row ||
            (box->row == before->row && box->start >= before->start));
}

/* A level that is being loaded. */
struct loading {
    const struct sta_lane_index *index;
    struct sta_lane_detail *level;
    uint32_t name_count;
};

static bool take_rows(void *self, uint32_t first, uint32_t rows, int64_t *const *columns)
{
    const struct loading *loading = self;
    const struct sta_lane_detail *level = loading->level;
    for (uint32_t i = 0; i < rows; i++) {
        struct sta_box *box = &level->boxes[first + i], *before = first + i > 0 ? box - 1 : NULL;
        *box = (struct sta_box){
            .row = (uint32_t)columns[STA_DETAIL_ROW][i],
            .name = columns[STA_DETAIL_NAME][i] < 0 ? STA_NO_CODE : (uint32_t)columns[STA_DETAIL_NAME][i],
            .nth = (uint32_t)columns[STA_DETAIL_NTH][i],
            .start = columns[STA_DETAIL_START][i],
            .dur = columns[STA_DETAIL_DUR][i],
            .count = columns[STA_DETAIL_COUNT][i],
            .covered = columns[STA_DETAIL_COVERED][i],
        };
        box->number = (uint32_t)(columns[STA_DETAIL_NUMBER][i] + (before != NULL ? before->number : 0));
        box->at = (int64_t)((uint64_t)box->start + (uint64_t)columns[STA_DETAIL_AT][i]);
        if (!is_sane(loading->index, level, box, before, loading->name_count))
            return false;
    }
    return true;
}

static int load_level(void *self, struct sta_lane_index *index, struct sta_error *err)
{
    struct sta_lane_detail *level = self;
    const struct sta_dictionary *names = sta_tables_names(sta_snapshot_tables(index->snapshot));
    struct loading loading = {index, level, sta_dictionary_count(names)};
    const struct sta_lane_rows rows = {level->first_block, level->count, STA_DETAIL_COLUMNS,
                                       take_rows,          &loading,     NONSENSE};
    level->boxes =
        sta_account_alloc(index->account, (size_t)level->count + 1, sizeof *level->boxes, WHAT, err);
    int rc = level->boxes == NULL ? err->status : sta_lane_rows_read(index, &rows, err);
    if (rc != 0) {
        sta_account_free(index->account, level->boxes);
        level->boxes = NULL;
    }
    return rc;
}

/* ---- boxes */

/* The first box that is in a later row, or in this one and ends behind a moment or starts there. */
static size_t find_box(const struct sta_lane_detail *level, uint32_t row, int64_t moment)
{
    size_t low = 0, high = level->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct sta_box *box = &level->boxes[middle];
        if (box->row < row || (box->row == row && box->start + box->dur <= moment && box->start < moment))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int sta_lane_detail_put(struct sta_lane_index *index, struct sta_lane_detail *level,
                        const struct sta_grid *grid, const struct sta_budget *budget, struct sta_boxes *boxes,
                        struct sta_error *err)
{
    const struct sta_lane_part part = {&level->state, load_level, level, NONSENSE};
    int rc = sta_lane_part_need(index, &part, budget, err);
    for (uint32_t row = 0; rc == 0 && row < index->threads[level->thread].rows; row++)
        for (size_t i = find_box(level, row, grid->from); rc == 0 && i < level->count; i++) {
            if (level->boxes[i].row != row || level->boxes[i].start >= grid->to)
                break;
            rc = sta_boxes_add(boxes, &level->boxes[i], grid, budget, err);
        }
    return rc;
}
