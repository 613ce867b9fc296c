/* merge_rows.c - the rows of a slice that were taken: their order, and their columns for the new segment. */
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/memory.h"
#include "store/versions/merge_private.h"

/* Working memory of a row besides what is taken. */
#define ROW_BYTES (sizeof(int64_t) + sizeof(uint32_t) + 2 * sizeof(uint64_t) + STA_BUILDER_ROW_BYTES)

/* ---- order */

static int reserve_order(struct sta_merging *merging)
{
    if (merging->rows <= merging->order.capacity)
        return STA_OK;
    const size_t bytes = merging->rows * ROW_BYTES;
    sta_row_order_fini(&merging->order);
    sta_account_release(merging->options->account, merging->charged);
    merging->charged = 0;
    int status = sta_account_charge(merging->options->account, bytes, STA_MERGE_WHAT, merging->err);
    if (status != STA_OK)
        return status;
    merging->charged = bytes;
    if (!sta_row_order_reserve(&merging->order, merging->rows))
        return sta_fail(merging->err, STA_ENOMEM, "no memory to sort %u events", merging->rows);
    return STA_OK;
}

/* A row among others of its time. */
struct tied {
    uint32_t chunk, row;
};

static int by_chunk(const void *a, const void *b)
{
    const struct tied *x = a, *y = b;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Puts rows of equal times, which have the positions from @first on, in the order of their chunks. */
static void break_tie_of(struct sta_merging *merging, struct tied *ties, uint32_t first, uint32_t count)
{
    bool ordered = true;
    for (uint32_t i = 1; i < count; i++)
        ordered &= ties[i - 1].chunk <= ties[i].chunk;
    if (ordered)
        return;
    qsort(ties, count, sizeof *ties, by_chunk);
    for (uint32_t i = 0; i < count; i++)
        merging->order.position[ties[i].row] = first + i;
}

/* Sets every row's position in the order of (time, chunk, place). */
static int order_rows(struct sta_merging *merging)
{
    int status = reserve_order(merging);
    if (status != STA_OK)
        return status;
    const uint32_t rows = merging->rows;
    for (uint32_t i = 0; i < rows; i++)
        merging->order.keys[i] = merging->taken[i].ts;
    sta_row_order_sort(&merging->order, rows);
    struct tied *at =
        sta_account_alloc(merging->options->account, rows, sizeof *at, STA_MERGE_WHAT, merging->err);
    if (at == NULL)
        return merging->err->status;
    for (uint32_t i = 0; i < rows; i++)
        at[merging->order.position[i]] = (struct tied){merging->taken[i].chunk, i};
    for (uint32_t first = 0, end; first < rows; first = end) {
        for (end = first + 1;
             end < rows && merging->taken[at[end].row].ts == merging->taken[at[first].row].ts;)
            end++;
        break_tie_of(merging, at + first, first, end - first);
    }
    sta_account_free(merging->options->account, at);
    return STA_OK;
}

/* ---- columns */

/* The chunks and args keys that rows of the slice may have. */
static void list_own(struct sta_merging *merging)
{
    memset(merging->own_number, 0xff, merging->chunks.count * sizeof *merging->own_number);
    for (uint32_t i = 0; i < merging->rows; i++)
        merging->own_number[merging->chunks.item_of[merging->taken[i].chunk]] = 0;
    merging->own_count = 0;
    for (uint32_t c = 0; c < merging->chunks.count; c++) {
        if (merging->own_number[c] == STA_NO_CODE)
            continue;
        merging->own_number[c] = merging->own_count;
        merging->own_chunks[merging->own_count++] = merging->chunks.items[c];
    }
    const uint32_t limit = sta_dictionary_count(sta_tables_keys(merging->options->base->tables));
    memset(merging->has_key, 0, limit);
    for (size_t p = 0; p < merging->part_count; p++) {
        const struct sta_segment *segment = sta_merge_segment(merging, merging->parts[p].group);
        const struct sta_disk_row_group *row_group = &segment->row_groups[merging->parts[p].group->row_group];
        for (uint32_t e = 0; e < row_group->column_chunk_count; e++)
            if (segment->column_chunks[row_group->first_column_chunk + e].column >= STA_COLUMN_ARGS)
                merging->has_key[segment->column_chunks[row_group->first_column_chunk + e].column -
                                 STA_COLUMN_ARGS] = 1;
    }
    merging->key_count = 0;
    for (uint32_t key = 0; key < limit; key++)
        if (merging->has_key[key])
            merging->keys[merging->key_count++] = key;
}

static void scatter_chunks(const struct sta_merging *merging, const struct sta_builder_column *to)
{
    memset(to->kinds, 1 + STA_VALUE_TEXT, merging->rows);
    for (uint32_t i = 0; i < merging->rows; i++)
        to->values[merging->order.position[i]] =
            merging->own_number[merging->chunks.item_of[merging->taken[i].chunk]];
}

static void scatter_codes(const struct sta_merging *merging, const struct sta_merge_part *part,
                          const struct sta_builder_column *to)
{
    const bool absent = merging->values.kind == STA_KIND_ABSENT;
    for (uint32_t i = part->first; i < part->first + part->count; i++) {
        const uint32_t code = absent ? STA_NO_CODE : merging->values.codes[merging->taken[i].from];
        to->values[merging->order.position[i]] = code;
        to->kinds[merging->order.position[i]] = code == STA_NO_CODE ? 0 : 1 + STA_VALUE_TEXT;
    }
}

static void scatter_times(const struct sta_merging *merging, const struct sta_merge_part *part,
                          const struct sta_builder_column *to)
{
    const int64_t factor = sta_merge_factor(merging, part->group);
    for (uint32_t i = part->first; i < part->first + part->count; i++)
        to->values[merging->order.position[i]] = merging->values.integers[merging->taken[i].from] * factor;
}

/* Kind of the value of a row, 0 when it has none. */
static unsigned kind_of(const struct sta_column_values *values, uint32_t row)
{
    static const uint8_t kinds[] = {[STA_KIND_INT] = 1 + STA_VALUE_INT,
                                    [STA_KIND_FLOAT] = 1 + STA_VALUE_FLOAT,
                                    [STA_KIND_BOOL] = 1 + STA_VALUE_BOOL,
                                    [STA_KIND_CODE] = 1 + STA_VALUE_TEXT};
    if (values->kind == STA_KIND_CODE)
        return values->codes[row] != STA_NO_CODE ? 1 + STA_VALUE_TEXT : 0;
    if (values->any_missing && values->missing[row])
        return 0;
    return values->kind == STA_KIND_MIXED ? 1U + values->kinds[row] : kinds[values->kind];
}

/* Return: the kinds that occur, as bits. */
static unsigned scatter_args(const struct sta_merging *merging, const struct sta_merge_part *part,
                             const struct sta_builder_column *to)
{
    unsigned kinds = 0;
    const struct sta_column_values *values = &merging->values;
    if (values->kind == STA_KIND_ABSENT)
        return 0;
    for (uint32_t i = part->first; i < part->first + part->count; i++) {
        const uint32_t row = merging->taken[i].from, at = merging->order.position[i];
        const unsigned kind = kind_of(values, row);
        if (kind == 0)
            continue;
        to->values[at] = values->kind == STA_KIND_CODE ? (int64_t)values->codes[row] : values->integers[row];
        to->kinds[at] = (uint8_t)kind;
        to->row_groups[at / STA_ROW_GROUP_ROWS] = 1;
        kinds |= 1U << (kind - 1);
    }
    return kinds;
}

static int put_column(void *context, uint32_t column, const struct sta_builder_column *to,
                      struct sta_error *err)
{
    struct sta_merging *merging = context;
    if (column == STA_COLUMN_CHUNK) {
        scatter_chunks(merging, to);
        return sta_merge_step(merging);
    }
    int status = STA_OK;
    unsigned kinds = 0;
    for (size_t p = 0; p < merging->part_count && status == STA_OK; p++) {
        const struct sta_merge_part *part = &merging->parts[p];
        status = sta_merge_read(merging, part->group, column);
        if (status != STA_OK)
            break;
        if (column >= STA_COLUMN_ARGS)
            kinds |= scatter_args(merging, part, to);
        else if (column == STA_COLUMN_TS || column == STA_COLUMN_DUR)
            scatter_times(merging, part, to);
        else
            scatter_codes(merging, part, to);
    }
    if (column >= STA_COLUMN_ARGS && merging->options->tables != NULL)
        sta_tables_note_kinds(merging->options->tables, column - STA_COLUMN_ARGS, kinds);
    return status == STA_OK ? sta_merge_step(merging) : status;
}

int sta_merge_encode(struct sta_merging *merging, const struct sta_buffer **bytes)
{
    int status = order_rows(merging);
    if (status != STA_OK)
        return status;
    list_own(merging);
    const struct sta_builder_rows rows = {.count = merging->rows,
                                          .ticks_per_us = (uint32_t)merging->ticks_per_us,
                                          .chunks = merging->own_chunks,
                                          .chunk_count = merging->own_count,
                                          .keys = merging->keys,
                                          .key_count = merging->key_count,
                                          .put = put_column,
                                          .context = merging};
    return sta_builder_encode(merging->builder, &rows, bytes, merging->err);
}
