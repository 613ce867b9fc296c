/* Where events are: places by moment, row groups by number, and which of two goes first. */
#include "timeline/lane_index.h"

#include "common/memory.h"

/* To the places of the last block that begins before a moment: other blocks may not be loaded. */
static void narrow_to_block(const struct sta_lane_thread *thread, int64_t at, uint32_t *low, uint32_t *high)
{
    uint32_t first = 0, end = sta_lane_blocks(thread);
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (thread->firsts[middle].start < at)
            first = middle + 1;
        else
            end = middle;
    }
    *low = first > 0 ? (first - 1) * STA_ROW_GROUP_ROWS : 0;
    *high = STA_MIN(first * STA_ROW_GROUP_ROWS, thread->count);
}

uint32_t sta_lane_thread_find(const struct sta_lane_thread *thread, int64_t at)
{
    uint32_t low = 0, high = thread->count;
    if (thread->firsts != NULL)
        narrow_to_block(thread, at, &low, &high);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (thread->events[middle].start < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t sta_lane_thread_nth(const struct sta_lane_thread *thread, uint32_t place)
{
    const int64_t start = thread->events[place].start;
    if (place == 0 || thread->events[place - 1].start != start)
        return 0; /* nearly all */
    return place - sta_lane_thread_find(thread, start);
}

size_t sta_lane_index_group(const struct sta_lane_index *index, uint32_t number)
{
    size_t low = 0, high = sta_snapshot_row_group_count(index->snapshot);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (index->first_number[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct sta_row_group *sta_lane_index_block(const struct sta_lane_index *index, uint32_t number,
                                                 uint32_t *row)
{
    const size_t group = sta_lane_index_group(index, number);
    *row = number - index->first_number[group];
    return sta_snapshot_row_group(index->snapshot, group);
}

int sta_lane_index_order(const struct sta_lane_index *index, const struct sta_lane_event *a,
                         const struct sta_lane_event *b)
{
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    uint32_t x = index->chunk_ranks[a->number], y = index->chunk_ranks[b->number];
    if (x != y)
        return x < y ? -1 : 1;
    /* Rows of one source range lie in one segment, whose row groups are numbered in their order. */
    return a->number < b->number ? -1 : a->number > b->number;
}
