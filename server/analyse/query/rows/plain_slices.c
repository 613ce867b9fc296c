/* Plain rows in event order, a slice of time after the other.
 *
 * DESIGN.  Row groups overlap in time, as files were written side by side.  A slice is as long as about so
 * many rows last, by the statistics of the row groups; every row group that reaches into it is read by some
 * worker, which takes the rows of the slice out, in order as they lie; then what was taken is sorted.  Slices
 * start small, for the first page, and grow to what memory allows, so that a row group is seldom read twice.
 * A slice that turns out too large is tried again shorter. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analyse/operators/radix.h"
#include "analyse/query/rows/plain_private.h"
#include "common/memory.h"

#define FIRST_ROWS 4096u    /* that the first slice aims at, at least */
#define PARTS_PER_WORKER 8u /* that keep all of them busy */

struct slice {
    struct sta_plain_reader *reader;
    const struct sta_pipeline_part *parts; /* of the trace */
    size_t part_count;
    int64_t from, to;
    struct sta_column_tests window;           /* of its rows */
    const struct sta_pipeline_part **touched; /* parts that reach into it */
    size_t touched_count;
    _Atomic size_t rows;
    _Atomic bool too_many;
};

static const struct sta_row_group *row_group_of(const struct sta_plain_reader *reader,
                                                const struct sta_pipeline_part *part)
{
    return sta_snapshot_row_group(reader->plain->pipeline->events->traces[part->trace].snapshot,
                                  part->row_group);
}

/* The parts of a trace follow each other. */
static void find_parts(const struct sta_plain_reader *reader, struct slice *slice)
{
    const struct sta_pipeline *pipeline = reader->plain->pipeline;
    size_t first = 0;
    while (first < pipeline->part_count && pipeline->parts[first].trace < reader->trace)
        first++;
    slice->parts = pipeline->parts + first;
    while (first + slice->part_count < pipeline->part_count &&
           slice->parts[slice->part_count].trace == reader->trace)
        slice->part_count++;
}

/* ---- how long a slice is */

/* Rows of a row group before @to, as if they lay evenly. */
static double rows_before(const struct sta_row_group *row_group, int64_t to)
{
    if (to <= row_group->ts_min)
        return 0;
    if (to > row_group->ts_max)
        return row_group->rows;
    return row_group->rows * ((double)to - (double)row_group->ts_min) /
           ((double)row_group->ts_max - (double)row_group->ts_min + 1);
}

static double rows_between(const struct slice *slice, int64_t from, int64_t to)
{
    double rows = 0;
    for (size_t i = 0; i < slice->part_count; i++) {
        const struct sta_row_group *row_group = row_group_of(slice->reader, &slice->parts[i]);
        if (row_group->ts_max >= from)
            rows += rows_before(row_group, to) - rows_before(row_group, from);
    }
    return rows;
}

/* The first and last tick of rows at or behind @from; *low > *high when there are none. */
static void find_reach(const struct slice *slice, int64_t from, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (size_t i = 0; i < slice->part_count; i++) {
        const struct sta_row_group *row_group = row_group_of(slice->reader, &slice->parts[i]);
        if (row_group->ts_max < from)
            continue;
        *low = STA_MIN(*low, STA_MAX(row_group->ts_min, from));
        *high = STA_MAX(*high, row_group->ts_max);
    }
}

/* Sets from and to for about @target rows; false when no row group is left. */
static bool choose_slice(struct slice *slice, double target)
{
    int64_t low, high;
    find_reach(slice, slice->reader->from, &low, &high);
    if (low > high)
        return false;
    slice->from = low;
    int64_t short_of = low, enough = high + 1; /* times are far from the ends of their range */
    if (rows_between(slice, low, enough) > target * 1.25)
        while (enough - short_of > 1) {
            int64_t middle = short_of + (enough - short_of) / 2;
            if (rows_between(slice, low, middle) < target)
                short_of = middle;
            else
                enough = middle;
        }
    slice->to = enough;
    return true;
}

/* ---- taking rows out */

static int take_part(void *self, unsigned worker, struct sta_pipeline_state *state, size_t number,
                     struct sta_error *err)
{
    struct slice *slice = self;
    struct sta_plain_reader *reader = slice->reader;
    state->required = &slice->window;
    int rc = sta_pipeline_state_load(state, *slice->touched[number], err);
    if (rc != 0 || state->count == 0)
        return rc;
    size_t rows = atomic_fetch_add(&slice->rows, state->count) + state->count;
    if (rows > reader->most_rows * 2) {
        if (slice->to - slice->from > 1) {
            atomic_store(&slice->too_many, true);
            return 0;
        }
        rc = sta_budget_memory(&reader->budget, (double)rows * (double)reader->plain->shown.row_bytes,
                               "events of one moment", err);
        if (rc != 0)
            return rc;
    }
    return sta_row_batch_take(&reader->batches[number], &reader->plain->shown, state, true, err);
}

static int take_slice(struct slice *slice, struct sta_error *err)
{
    struct sta_plain_reader *reader = slice->reader;
    slice->touched_count = 0;
    for (size_t i = 0; i < slice->part_count; i++) {
        const struct sta_row_group *row_group = row_group_of(reader, &slice->parts[i]);
        if (row_group->ts_max >= slice->from && row_group->ts_min < slice->to)
            slice->touched[slice->touched_count++] = &slice->parts[i];
    }
    slice->window = (struct sta_column_tests){
        .count = 1,
        .tests = {{.column = STA_COLUMN_TS, .test = {.low = slice->from, .high = slice->to - 1}}}};
    sta_plain_begin_batches(reader, slice->touched_count);
    atomic_store(&slice->rows, 0);
    atomic_store(&slice->too_many, false);
    struct sta_pipeline_work work = {slice, slice->touched_count, take_part};
    return sta_pipeline_work(reader->plain->pipeline, &work, &reader->budget, err);
}

/* Whether longer slices are worth their memory: row groups are shared with the slices around, or too few for
 * all workers. */
static bool reads_too_much(const struct slice *slice)
{
    const struct sta_plain_reader *reader = slice->reader;
    size_t read = 0;
    for (size_t i = 0; i < slice->touched_count; i++)
        read += row_group_of(reader, slice->touched[i])->rows;
    return slice->touched_count < PARTS_PER_WORKER * sta_budget_workers(&reader->budget) ||
           (double)read > 1.125 * rows_between(slice, slice->from, slice->to);
}

/* ---- bringing them in order */

#define RECORD_WORDS 3u /* at, place, batch and row */

/* Records of the rows behind the last one that was given out.  Return: how many. */
static size_t record_rows(const struct sta_plain_reader *reader, uint64_t *records)
{
    const bool resumes = reader->started && reader->key[0] == reader->trace;
    size_t count = 0;
    for (size_t p = 0; p < reader->batch_count; p++) {
        const struct sta_row_batch *batch = &reader->batches[p];
        for (uint32_t row = 0; row < batch->rows; row++) {
            uint64_t *record = records + count * RECORD_WORDS;
            record[0] = sta_order_integer(batch->at[row]);
            record[1] = batch->place[row];
            record[2] = (uint64_t)p << 32 | row;
            count += !resumes || sta_record_compare(record, reader->key + 1, 2) > 0;
        }
    }
    return count;
}

/* Row groups that hardly overlap in time, as after a compaction, give their rows in order already. */
static bool lie_in_order(const uint64_t *records, size_t count)
{
    size_t i = 1;
    while (i < count &&
           sta_record_compare(records + (i - 1) * RECORD_WORDS, records + i * RECORD_WORDS, 2) <= 0)
        i++;
    return i >= count;
}

static int sort(const struct sta_plain_reader *reader, uint64_t *records, size_t count)
{
    uint64_t *scratch = sta_try_alloc_array(count, RECORD_WORDS * sizeof *scratch);
    int rc = scratch != NULL
                 ? sta_radix_sort(records, scratch, count, RECORD_WORDS, false, reader->budget.cancel)
                 : STA_ENOMEM;
    sta_free(scratch);
    return rc;
}

static int order_rows(struct sta_plain_reader *reader, struct sta_error *err)
{
    size_t count = 1; /* the record behind the last one is written to */
    for (size_t p = 0; p < reader->batch_count; p++)
        count += reader->batches[p].rows;
    uint64_t *records = sta_try_alloc_array(count, RECORD_WORDS * sizeof *records);
    int rc = records != NULL ? STA_OK : STA_ENOMEM;
    if (rc == 0)
        count = record_rows(reader, records);
    if (rc == 0 && !lie_in_order(records, count))
        rc = sort(reader, records, count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const uint64_t item = records[i * RECORD_WORDS + 2];
        sta_plain_add_row(reader, (uint32_t)(item >> 32), (uint32_t)item);
    }
    sta_free(records);
    return sta_radix_failed(rc, "rows", count, err);
}

/* ---- slice by slice */

/* The next slice of the present trace that has rows.  Without one there are no batches. */
static int next_of_trace(struct sta_plain_reader *reader, struct slice *slice, struct sta_error *err)
{
    double share = 1; /* of the target: less after a slice that was too large */
    while (choose_slice(slice, (double)reader->target * share)) {
        int rc = take_slice(slice, err);
        if (rc != 0)
            return rc;
        if (slice->too_many) {
            share /= 4;
            continue;
        }
        rc = order_rows(reader, err);
        if (rc != 0)
            return rc;
        reader->from = slice->to;
        if (reads_too_much(slice))
            reader->target = STA_MIN(reader->target * 4, reader->most_rows);
        if (reader->row_count > 0)
            return 0;
    }
    sta_plain_begin_batches(reader, 0);
    return 0;
}

static void start(struct sta_plain_reader *reader, size_t most)
{
    reader->target = STA_MIN(STA_MAX(most * 2, (size_t)FIRST_ROWS), reader->most_rows);
    if (!reader->started || reader->from != INT64_MIN)
        return;
    reader->trace = (uint32_t)reader->key[0];
    reader->from = (int64_t)(reader->key[1] ^ UINT64_C(1) << 63);
}

int sta_plain_next_slice(struct sta_plain_reader *reader, size_t most, struct sta_error *err)
{
    if (reader->target == 0) {
        int rc = reader->skip > 0 ? sta_plain_seek(reader, err) : STA_OK;
        if (rc != 0)
            return rc;
        start(reader, most);
    }
    for (; reader->trace < reader->plain->pipeline->events->trace_count; reader->trace++) {
        struct slice slice = {.reader = reader};
        find_parts(reader, &slice);
        slice.touched = sta_alloc_array(slice.part_count + 1, sizeof(struct sta_pipeline_part *));
        int rc = next_of_trace(reader, &slice, err);
        free(slice.touched);
        if (rc != 0 || reader->row_count > 0)
            return rc;
        reader->from = INT64_MIN;
    }
    return 0;
}
