/* merge.c - see merge.h.
 *
 * DESIGN: the time is cut into slices of about as many rows as a new segment should have; a slice takes of
 * each row group the rows that lie in it, which are next to each other, sorts them and encodes them column by
 * column.  So memory is bounded by the slice, whatever is merged, and a row group is decoded once for each
 * slice that it overlaps.  No time is in two slices, so that ties are settled within one. */
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/memory.h"
#include "store/versions/merge_private.h"

#define SAMPLE_STEP 64 /* one row of so many tells where slices end */

const struct sta_segment *sta_merge_segment(const struct sta_merging *merging,
                                            const struct sta_merge_group *group)
{
    return &merging->options->base->segments[group->segment].segment;
}

int64_t sta_merge_factor(const struct sta_merging *merging, const struct sta_merge_group *group)
{
    return merging->ticks_per_us / sta_merge_segment(merging, group)->header.ticks_per_us;
}

int sta_merge_read(struct sta_merging *merging, const struct sta_merge_group *group, uint32_t column)
{
    const struct sta_snapshot *base = merging->options->base;
    int status = sta_segment_read(sta_merge_segment(merging, group), group->row_group, column,
                                  &merging->values, merging->err);
    if (status == STA_ECORRUPT)
        sta_snapshot_note_damage(base, STA_FILE_SEGMENT, base->segments[group->segment].named.file,
                                 merging->err);
    return status;
}

int sta_merge_read_times(struct sta_merging *merging, const struct sta_merge_group *group)
{
    int status = sta_merge_read(merging, group, STA_COLUMN_TS);
    const int64_t factor = sta_merge_factor(merging, group);
    const uint32_t rows = sta_merge_segment(merging, group)->row_groups[group->row_group].rows;
    for (uint32_t i = 0; status == STA_OK && factor != 1 && i < rows; i++)
        merging->values.integers[i] *= factor;
    return status;
}

int sta_merge_step(const struct sta_merging *merging)
{
    return merging->options->step(merging->options->context, merging->merged, merging->err);
}

/* ---- what is merged */

static int list_groups(struct sta_merging *merging)
{
    const struct sta_merge *options = merging->options;
    size_t count = 0;
    merging->ticks_per_us = 1;
    for (uint32_t s = options->first; s < options->first + options->count; s++) {
        const struct sta_disk_header *header = &options->base->segments[s].segment.header;
        merging->ticks_per_us = STA_MAX(merging->ticks_per_us, (int64_t)header->ticks_per_us);
        count += header->row_group_count;
    }
    merging->groups =
        sta_account_alloc(options->account, count, sizeof *merging->groups, STA_MERGE_WHAT, merging->err);
    if (merging->groups == NULL)
        return merging->err->status;
    for (uint32_t s = options->first; s < options->first + options->count; s++) {
        const struct sta_open_segment *open = &options->base->segments[s];
        const int64_t factor = merging->ticks_per_us / open->segment.header.ticks_per_us;
        for (uint32_t b = 0; b < open->segment.header.row_group_count; b++)
            merging->groups[merging->group_count++] =
                (struct sta_merge_group){s, b, open->segment.row_groups[b].ts_min * factor,
                                         open->segment.row_groups[b].ts_max * factor};
    }
    return STA_OK;
}

/* ---- slices */

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int take_samples(struct sta_merging *merging, int64_t *samples, size_t *count)
{
    uint64_t next = 0, first = 0; /* rows of all row groups, one behind the other */
    int status = STA_OK;
    for (size_t g = 0; g < merging->group_count && status == STA_OK; g++) {
        const struct sta_merge_group *group = &merging->groups[g];
        const uint32_t rows = sta_merge_segment(merging, group)->row_groups[group->row_group].rows;
        if (next < first + rows) {
            status = sta_merge_read_times(merging, group);
            if (status == STA_OK)
                status = sta_merge_step(merging);
        }
        for (; status == STA_OK && next < first + rows; next += SAMPLE_STEP)
            samples[(*count)++] = merging->values.integers[next - first];
        first += rows;
    }
    return status;
}

/* Cuts so that slices have about as many rows as wanted. */
static int cut_slices(struct sta_merging *merging, uint64_t rows)
{
    struct sta_account *account = merging->options->account;
    const size_t buffer = rows / SAMPLE_STEP + 1, each = STA_MAX(merging->options->rows / SAMPLE_STEP, 1U);
    size_t count = 0;
    int64_t *samples = sta_account_alloc(account, buffer, sizeof *samples, STA_MERGE_WHAT, merging->err);
    if (samples == NULL)
        return merging->err->status;
    int status = rows > merging->options->rows ? take_samples(merging, samples, &count) : STA_OK;
    qsort(samples, count, sizeof *samples, by_value);
    for (size_t at = each; at + each / 2 < count && status == STA_OK; at += each)
        if (merging->bound_count == 0 || samples[at] > samples[merging->bound_count - 1])
            samples[merging->bound_count++] = samples[at]; /* behind what is read next */
    merging->bounds = samples;
    return status;
}

/* First row at or behind a time. */
static uint32_t find_row(const int64_t *times, uint32_t rows, int64_t time)
{
    uint32_t low = 0, high = rows;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Takes the rows first .. end - 1 of the row group whose times were just read, but those that leave. */
static int take_rows(struct sta_merging *merging, const struct sta_merge_group *group, uint32_t first,
                     uint32_t end)
{
    struct sta_merge_part part = {.group = group, .first = merging->rows};
    const uint32_t *ranks = merging->chunks.of_segment[group->segment - merging->options->first];
    if (end - first > UINT32_MAX / 2 - merging->rows)
        return sta_fail(merging->err, STA_ELIMIT, "too many events of one time to merge them");
    int status = STA_ACCOUNT_GROW(merging->options->account, merging->taken, merging->row_capacity,
                                  merging->rows + (end - first), STA_MERGE_WHAT, merging->err);
    if (status != STA_OK)
        return status;
    struct sta_merge_row *taken = merging->taken + merging->rows;
    for (uint32_t i = first; i < end; i++)
        taken[i - first].ts = merging->values.integers[i];
    status = sta_merge_read(merging, group, STA_COLUMN_CHUNK);
    for (uint32_t i = first; i < end && status == STA_OK; i++) {
        const uint32_t chunk = ranks[merging->values.codes[i]];
        if (chunk != STA_NO_CODE)
            merging->taken[merging->rows++] = (struct sta_merge_row){taken[i - first].ts, chunk, (uint16_t)i};
    }
    part.count = merging->rows - part.first;
    if (part.count == 0 || status != STA_OK)
        return status;
    STA_GROW(merging->parts, merging->part_capacity, merging->part_count + 1);
    merging->parts[merging->part_count++] = part;
    return STA_OK;
}

static int gather_group(struct sta_merging *merging, const struct sta_merge_group *group, const int64_t *from,
                        const int64_t *to)
{
    int status = sta_merge_read_times(merging, group);
    if (status != STA_OK)
        return status;
    const uint32_t rows = sta_merge_segment(merging, group)->row_groups[group->row_group].rows;
    const int64_t *times = merging->values.integers;
    const uint32_t first = from != NULL ? find_row(times, rows, *from) : 0,
                   end = to != NULL ? find_row(times, rows, *to) : rows;
    if (end > first)
        status = take_rows(merging, group, first, end);
    return status == STA_OK ? sta_merge_step(merging) : status;
}

/* The rows from a time on up to another; NULL: from the first, to the last. */
static int gather_rows(struct sta_merging *merging, const int64_t *from, const int64_t *to)
{
    int status = STA_OK;
    merging->rows = 0;
    merging->part_count = 0;
    for (size_t g = 0; g < merging->group_count && status == STA_OK; g++) {
        const struct sta_merge_group *group = &merging->groups[g];
        if ((from == NULL || group->ts_max >= *from) && (to == NULL || group->ts_min < *to))
            status = gather_group(merging, group, from, to);
    }
    return status;
}

/* ---- all of it */

static int merge_slice(struct sta_merging *merging, const int64_t *from, const int64_t *to)
{
    const struct sta_buffer *bytes;
    int status = gather_rows(merging, from, to);
    if (status != STA_OK || merging->rows == 0)
        return status;
    status = sta_merge_encode(merging, &bytes);
    if (status == STA_OK)
        status = merging->options->take(merging->options->context, bytes, merging->rows, merging->err);
    merging->merged += merging->rows;
    return status;
}

/* Space for what does not grow with the slice. */
static int reserve(struct sta_merging *merging)
{
    struct sta_account *account = merging->options->account;
    const uint32_t keys = sta_dictionary_count(sta_tables_keys(merging->options->base->tables));
    merging->own_chunks = sta_account_alloc(account, (size_t)merging->chunks.count + 1,
                                            sizeof *merging->own_chunks, STA_MERGE_WHAT, merging->err);
    merging->own_number = sta_account_alloc(account, (size_t)merging->chunks.count + 1,
                                            sizeof *merging->own_number, STA_MERGE_WHAT, merging->err);
    merging->has_key = sta_alloc_array((size_t)keys + 1, sizeof *merging->has_key);
    merging->keys = sta_alloc_array((size_t)keys + 1, sizeof *merging->keys);
    merging->values.integers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t));
    merging->values.numbers = (double *)merging->values.integers;
    merging->values.codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint32_t));
    merging->values.kinds = sta_alloc_array(STA_ROW_GROUP_ROWS, 1);
    merging->values.missing = sta_alloc_array(STA_ROW_GROUP_ROWS, 1);
    merging->builder = sta_builder_create(STA_EFFORT_THOROUGH, merging->options->account);
    return merging->own_chunks != NULL && merging->own_number != NULL ? STA_OK : merging->err->status;
}

static void merging_fini(struct sta_merging *merging)
{
    struct sta_account *account = merging->options->account;
    sta_account_free(account, merging->groups);
    sta_account_free(account, merging->bounds);
    sta_account_free(account, merging->taken);
    sta_account_free(account, merging->own_chunks);
    sta_account_free(account, merging->own_number);
    sta_merge_chunks_fini(&merging->chunks, account);
    sta_account_release(account, merging->charged);
    sta_row_order_fini(&merging->order);
    sta_builder_destroy(merging->builder);
    free(merging->parts);
    free(merging->has_key);
    free(merging->keys);
    free(merging->values.integers);
    free(merging->values.codes);
    free(merging->values.kinds);
    free(merging->values.missing);
}

static int merge_all(struct sta_merging *merging)
{
    const struct sta_merge *options = merging->options;
    uint64_t rows = 0;
    for (uint32_t s = options->first; s < options->first + options->count; s++)
        rows += options->base->segments[s].segment.header.rows;
    int status = list_groups(merging);
    if (status == STA_OK)
        status = sta_merge_chunks_init(&merging->chunks, options, merging->err);
    if (status == STA_OK)
        status = reserve(merging);
    if (status == STA_OK)
        status = cut_slices(merging, rows);
    for (size_t s = 0; s <= merging->bound_count && status == STA_OK; s++)
        status = merge_slice(merging, s > 0 ? &merging->bounds[s - 1] : NULL,
                             s < merging->bound_count ? &merging->bounds[s] : NULL);
    return status;
}

int sta_merge_run(const struct sta_merge *merge, struct sta_error *err)
{
    struct sta_merging merging = {.options = merge, .err = err};
    int status = merge_all(&merging);
    merging_fini(&merging);
    return status;
}
