/* Groups of several sources as one, and inside each group the values of its lists.
 *
 * DESIGN.  Sorting the keys of all sources once more is quicker than comparing them one with another.  Of
 * runs only some groups are in memory: those up to the least of the last ones of each run are sorted, then
 * the runs read on. */
#include "analyse/operators/aggregate/merge.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate/functions.h"
#include "common/memory.h"

#define WORK_PER_CHECK 8192
#define AHEAD 16 /* entries between asking for a record and looking at it */

void sta_group_merge_init(struct sta_group_merge *merge, const struct sta_group_order *order,
                          const struct sta_budget *budget, size_t most)
{
    *merge = (struct sta_group_merge){.order = order, .budget = budget};
    merge->cursors = sta_alloc_array(most, sizeof *merge->cursors);
    merge->together = sta_alloc_array(most, sizeof *merge->together);
    merge->terms = sta_alloc_array(order->shape->list_count, sizeof *merge->terms);
    merge->piece = sta_alloc_array(STA_MERGE_PIECE * 2, sizeof *merge->piece);
    merge->bound = sta_alloc_array(order->layout.words, sizeof *merge->bound);
}

void sta_group_merge_fini(struct sta_group_merge *merge)
{
    if (merge->order == NULL)
        return;
    for (size_t c = 0; c < merge->cursor_count; c++)
        sta_group_cursor_fini(&merge->cursors[c]);
    for (size_t l = 0; l < merge->order->shape->list_count; l++)
        sta_exact_terms_fini(&merge->terms[l]);
    free(merge->cursors);
    free(merge->terms);
    sta_free(merge->entries);
    free(merge->bound);
    free(merge->together);
    free(merge->piece);
    *merge = (struct sta_group_merge){0};
}

/* ---- groups */

static int check(struct sta_group_merge *merge, struct sta_error *err)
{
    if (++merge->work < WORK_PER_CHECK)
        return STA_OK;
    merge->work = 0;
    return sta_budget_check(merge->budget, err);
}

static void unite(struct sta_group_merge *merge, uint8_t *record, const uint8_t *other)
{
    const struct sta_shape *shape = merge->order->shape;
    struct sta_exact_terms none = {0};
    for (size_t f = 0; f < shape->call_count; f++) {
        const struct sta_agg_call *call = &shape->calls[f];
        call->function->merge(call, record + call->offset, other + call->offset,
                              call->list == STA_NO_LIST ? &none : &merge->terms[call->list]);
    }
}

/* A cursor whose group belongs to the present one. */
static void join(struct sta_group_merge *merge, uint32_t cursor, uint8_t *record)
{
    const uint8_t *other = merge->cursors[cursor].record;
    if (merge->together_count == 0)
        memcpy(record, other, merge->order->shape->record);
    else
        unite(merge, record, other);
    merge->together[merge->together_count++] = cursor;
}

static const uint64_t *entry_at(const struct sta_group_merge *merge, size_t entry)
{
    return &merge->entries[entry * (merge->order->layout.words + 1)];
}

STA_PREFETCHES prefetch(const struct sta_group_merge *merge, size_t entry)
{
    const unsigned width = merge->order->layout.words;
    if (entry >= merge->entry_count)
        return;
    uint64_t item = entry_at(merge, entry)[width];
    const struct sta_sorted_table *table = merge->cursors[item >> 32].table;
    if (table != NULL)
        sta_group_prefetch(table->table, sta_sorted_group(table, (uint32_t)item));
}

/* ---- groups at hand */

/* Return: false when all groups of all runs are at hand. */
static bool find_bound(struct sta_group_merge *merge)
{
    const unsigned width = merge->order->layout.words;
    bool any = false;
    for (size_t c = 0; c < merge->cursor_count; c++) {
        struct sta_group_cursor *cursor = &merge->cursors[c];
        if (cursor->ends)
            continue;
        const uint64_t *last = sta_group_cursor_words(cursor, cursor->at_hand - 1);
        if (!any || sta_record_compare(last, merge->bound, width) < 0)
            memcpy(merge->bound, last, width * sizeof *last);
        any = true;
    }
    return any;
}

/* Entries of the groups of a cursor up to the bound. */
static void add_entries(struct sta_group_merge *merge, uint64_t number, bool bounded)
{
    const unsigned width = merge->order->layout.words;
    struct sta_group_cursor *cursor = &merge->cursors[number];
    uint64_t *entry = merge->entries + merge->entry_count * (width + 1);
    size_t place = cursor->taken;
    for (; place < cursor->at_hand; place++) {
        const uint64_t *words = sta_group_cursor_words(cursor, place);
        if (bounded && sta_record_compare(words, merge->bound, width) > 0)
            break;
        for (unsigned w = 0; w < width; w++)
            *entry++ = words[w];
        *entry++ = number << 32 | place;
    }
    merge->entry_count += place - cursor->taken;
    cursor->taken = place;
}

static int read_on(struct sta_group_merge *merge, struct sta_error *err)
{
    const unsigned step = merge->order->layout.words + 1;
    size_t count = 0;
    int rc = sta_budget_check(merge->budget, err);
    for (size_t c = 0; rc == 0 && c < merge->cursor_count; c++) {
        rc = sta_group_cursor_fill(&merge->cursors[c], err);
        count += merge->cursors[c].at_hand - merge->cursors[c].taken;
    }
    if (rc == 0 && count > merge->most_entries) {
        sta_free(merge->entries);
        merge->entries = sta_try_alloc_array(2 * count, step * sizeof *merge->entries);
        merge->most_entries = merge->entries != NULL ? count : 0;
        rc = merge->entries != NULL ? STA_OK : sta_radix_failed(STA_ENOMEM, "groups", count, err);
    }
    merge->entry = merge->entry_count = 0;
    if (rc != 0 || count == 0)
        return rc;
    const bool bounded = find_bound(merge);
    for (size_t c = 0; c < merge->cursor_count; c++)
        add_entries(merge, c, bounded);
    if (merge->cursor_count == 1)
        return STA_OK;
    rc = sta_radix_sort(merge->entries, merge->entries + merge->most_entries * step, merge->entry_count, step,
                        false, merge->budget->cancel);
    return sta_radix_failed(rc, "groups", merge->entry_count, err);
}

int sta_group_merge_next(struct sta_group_merge *merge, uint8_t *record, struct sta_error *err)
{
    const unsigned width = merge->order->layout.words;
    merge->words = NULL;
    merge->together_count = 0;
    for (size_t l = 0; l < merge->order->shape->list_count; l++)
        merge->terms[l].count = 0;
    int rc = check(merge, err);
    if (rc == 0 && merge->entry == merge->entry_count)
        rc = read_on(merge, err);
    if (rc != 0 || merge->entry == merge->entry_count)
        return rc;
    merge->words = entry_at(merge, merge->entry);
    do {
        uint64_t item = entry_at(merge, merge->entry)[width];
        rc = sta_group_cursor_go(&merge->cursors[item >> 32], (uint32_t)item, err);
        if (rc == 0)
            join(merge, (uint32_t)(item >> 32), record);
        prefetch(merge, merge->entry++ + AHEAD);
    } while (rc == 0 && merge->entry < merge->entry_count &&
             sta_record_compare(entry_at(merge, merge->entry), merge->words, width) == 0);
    return rc;
}

/* ---- lists */

uint64_t sta_group_merge_count(const struct sta_group_merge *merge, size_t list)
{
    uint64_t count = 0;
    for (size_t i = 0; i < merge->together_count; i++) {
        const struct sta_list_view *view = &merge->cursors[merge->together[i]].lists[list];
        count += view->count + view->later;
    }
    return count;
}

static int refill(struct sta_group_merge *merge, uint32_t cursor, size_t list, struct sta_error *err)
{
    struct sta_list_view *view = &merge->cursors[cursor].lists[list];
    return view->count == 0 && view->later > 0 ? sta_group_cursor_more(&merge->cursors[cursor], list, err)
                                               : STA_OK;
}

/* The cursor with the least word of a list, whose words are at hand; NULL at the end. */
static struct sta_list_view *least(struct sta_group_merge *merge, size_t list, struct sta_list_view **second)
{
    struct sta_list_view *best = NULL;
    *second = NULL;
    for (size_t i = 0; i < merge->together_count; i++) {
        struct sta_list_view *view = &merge->cursors[merge->together[i]].lists[list];
        if (view->count == 0)
            continue;
        if (best == NULL || view->words[0] < best->words[0]) {
            *second = best;
            best = view;
        } else if (*second == NULL || view->words[0] < (*second)->words[0]) {
            *second = view;
        }
    }
    return best;
}

/* Takes entries of the least list as long as none of another is less, up to @most.  Equal first words may
 * come in any order: who reads spans or terms does not mind. */
static size_t take_run(struct sta_list_view *from, const struct sta_list_view *second, unsigned width,
                       uint64_t *to, size_t most)
{
    size_t count = 0;
    uint64_t limit = second != NULL ? second->words[0] : UINT64_MAX;
    while (count < most && count < from->count && from->words[count * width] <= limit)
        count++;
    memcpy(to, from->words, count * width * sizeof *to);
    from->words += count * width;
    from->count -= count;
    return count;
}

static int merge_pieces(struct sta_group_merge *merge, size_t list, const uint64_t **words, size_t *count,
                        struct sta_error *err)
{
    const unsigned width = sta_list_width(&merge->order->shape->lists[list]);
    *words = merge->piece;
    *count = 0;
    while (*count < STA_MERGE_PIECE) {
        struct sta_list_view *second;
        int rc = STA_OK;
        for (size_t i = 0; rc == 0 && i < merge->together_count; i++)
            rc = refill(merge, merge->together[i], list, err);
        if (rc != 0)
            return rc;
        struct sta_list_view *from = least(merge, list, &second);
        if (from == NULL)
            return STA_OK;
        *count += take_run(from, second, width, merge->piece + *count * width, STA_MERGE_PIECE - *count);
    }
    return STA_OK;
}

int sta_group_merge_piece(struct sta_group_merge *merge, size_t list, const uint64_t **words, size_t *count,
                          struct sta_error *err)
{
    int rc = check(merge, err);
    if (rc != 0 || merge->together_count > 1)
        return rc != 0 ? rc : merge_pieces(merge, list, words, count, err);
    struct sta_list_view *view = &merge->cursors[merge->together[0]].lists[list];
    rc = refill(merge, merge->together[0], list, err);
    *words = view->words;
    *count = view->count;
    view->count = 0;
    return rc;
}
