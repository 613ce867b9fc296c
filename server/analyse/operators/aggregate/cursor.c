/* Walking through sorted tables, which lie in memory, and runs, which are read piece by piece. */
#include "analyse/operators/aggregate/cursor.h"

#include <stdlib.h>

#include "common/memory.h"

void sta_group_cursor_init_table(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                                 const struct sta_sorted_table *table, size_t begin, size_t end)
{
    *cursor = (struct sta_group_cursor){
        .order = order, .table = table, .taken = begin, .at_hand = end, .ends = true};
    if (order->shape->list_count > 0)
        cursor->lists = sta_alloc_array(order->shape->list_count, sizeof *cursor->lists);
}

void sta_group_cursor_init_run(struct sta_group_cursor *cursor, const struct sta_group_order *order,
                               const struct sta_group_run *run, size_t buffer)
{
    const struct sta_shape *shape = order->shape;
    *cursor = (struct sta_group_cursor){.order = order, .run = run};
    cursor->lists = sta_alloc_array(shape->list_count, sizeof *cursor->lists);
    cursor->words = sta_alloc_array(order->layout.words, sizeof *cursor->words);
    sta_stream_reader_init(&cursor->reader, run->spill, &run->records,
                           STA_MAX(buffer, sta_run_record_bytes(run)));
    for (size_t l = 0; l < shape->list_count; l++)
        sta_stream_reader_init(&cursor->lists[l].reader, run->spill, &run->lists[l], buffer);
}

void sta_group_cursor_fini(struct sta_group_cursor *cursor)
{
    if (cursor->order == NULL)
        return;
    for (size_t l = 0; cursor->lists != NULL && l < cursor->order->shape->list_count; l++)
        sta_stream_reader_fini(&cursor->lists[l].reader);
    sta_stream_reader_fini(&cursor->reader);
    free(cursor->lists);
    free(cursor->words);
    *cursor = (struct sta_group_cursor){0};
}

/* ---- groups of a run */

int sta_group_cursor_fill(struct sta_group_cursor *cursor, struct sta_error *err)
{
    if (cursor->table != NULL)
        return STA_OK;
    const size_t bytes = sta_run_record_bytes(cursor->run);
    struct sta_stream_reader *reader = &cursor->reader;
    reader->at += cursor->taken * bytes;
    cursor->taken = 0;
    /* Half of what fits is at hand, so that the runs of a merge go on about as far each time. */
    int rc = sta_stream_reader_fill(reader, STA_MAX(reader->capacity / 2, bytes), err);
    cursor->at_hand = (reader->used - reader->at) / bytes;
    cursor->ends = reader->piece == reader->stream->count;
    STA_ASSERT(rc != 0 || cursor->ends || cursor->at_hand > 0);
    return rc;
}

static const uint64_t *group_at(const struct sta_group_cursor *cursor, size_t place)
{
    return (const void *)(cursor->reader.bytes + cursor->reader.at +
                          place * sta_run_record_bytes(cursor->run));
}

const uint64_t *sta_group_cursor_run_words(struct sta_group_cursor *cursor, size_t place)
{
    if (cursor->run->ordered)
        return group_at(cursor, place);
    sta_group_order_words(cursor->order, &cursor->run->layout, group_at(cursor, place), 1, cursor->words);
    return cursor->words;
}

/* ---- going to a group */

static void go_in_table(struct sta_group_cursor *cursor, size_t place)
{
    const struct sta_sorted_table *table = cursor->table;
    cursor->record = sta_group_states(table->table, sta_sorted_group(table, place));
    for (size_t l = 0; l < cursor->order->shape->list_count; l++) {
        const struct sta_sorted_list *list = &table->lists[l];
        cursor->lists[l].words = list->words + list->offsets[place] * list->width;
        cursor->lists[l].count = list->offsets[place + 1] - list->offsets[place];
    }
}

static int go_in_run(struct sta_group_cursor *cursor, size_t place, struct sta_error *err)
{
    const struct sta_shape *shape = cursor->order->shape;
    int rc = STA_OK;
    cursor->record = (const uint8_t *)(group_at(cursor, place) + cursor->run->layout.words);
    const uint64_t *counts = (const void *)(cursor->record + shape->record);
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++) {
        while (rc == 0 && cursor->lists[l].later > 0)
            rc = sta_group_cursor_more(cursor, l, err);
        cursor->lists[l].count = 0;
        cursor->lists[l].later = counts[l];
        if (rc == 0 && counts[l] > 0)
            rc = sta_group_cursor_more(cursor, l, err);
    }
    return rc;
}

int sta_group_cursor_go(struct sta_group_cursor *cursor, size_t place, struct sta_error *err)
{
    if (cursor->table == NULL)
        return go_in_run(cursor, place, err);
    go_in_table(cursor, place);
    return STA_OK;
}

int sta_group_cursor_more(struct sta_group_cursor *cursor, size_t list, struct sta_error *err)
{
    struct sta_list_view *view = &cursor->lists[list];
    struct sta_stream_reader *reader = &view->reader;
    const struct sta_list_shape *shape = &cursor->order->shape->lists[list];
    const size_t entry = sta_list_width(shape) * sizeof(uint64_t);
    int rc = sta_stream_reader_fill(reader, entry, err);
    if (rc != 0)
        return rc;
    uint64_t *words = (void *)(reader->bytes + reader->at);
    view->words = words;
    view->count = STA_MIN((reader->used - reader->at) / entry, view->later);
    view->later -= view->count;
    reader->at += view->count * entry;
    for (size_t i = 0; shape->texts != NULL && i < view->count; i++)
        words[i] = sta_ranks_of(&cursor->order->list_ranks[list], words[i]);
    return STA_OK;
}
