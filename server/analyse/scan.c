/* The pass: which blocks, then window, filter, classes, accumulators. */
#include "analyse/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "common/memory.h"

struct worker {
    struct sta_column_reader *reader;
    struct sta_classifier *classifier;
    struct sta_evaluator *evaluator;
    uint32_t *classes, *selected;
};

struct run {
    const struct sta_scan *scan;
    struct sta_program *filter;
    const uint32_t *blocks; /* numbers of the blocks that may matter */
    struct worker *workers;
};

/* ---- blocks */

static bool outside_range(const struct sta_demand *demand, double low, double high)
{
    return low > demand->high || high < demand->low;
}

/* Whether no row of the block can satisfy a demand on a column of time. */
static bool rules_out(const struct sta_demand *demand, const struct sta_block *block, double ticks_per_us)
{
    double ts_min = (double)block->ts_min / ticks_per_us;
    double ts_max = (double)block->ts_max / ticks_per_us;
    double te_max = (double)block->te_max / ticks_per_us;
    if (demand->kind != STA_DEMAND_RANGE)
        return false;
    switch (demand->column) {
    case STA_LOGICAL_ts:
        return outside_range(demand, ts_min - 1, ts_max + 1);
    case STA_LOGICAL_te:
        return outside_range(demand, -INFINITY, te_max + 1);
    case STA_LOGICAL_time_start:
        return outside_range(demand, (ts_min - 1) / 1e6, (ts_max + 1) / 1e6);
    case STA_LOGICAL_time_end:
        return outside_range(demand, -INFINITY, (te_max + 1) / 1e6);
    default:
        return false;
    }
}

static bool may_matter(const struct sta_scan *scan, const struct sta_block *block, double ticks_per_us)
{
    if (block->rows == 0 || block->ts_max < scan->from ||
        (block->ts_min >= scan->to && scan->to != INT64_MAX))
        return false;
    size_t count = 0;
    const struct sta_demand *demands =
        scan->filter != NULL ? sta_expression_demands(scan->filter, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (rules_out(&demands[i], block, ticks_per_us))
            return false;
    return scan->skip == NULL || !scan->skip(scan->skip_context, block);
}

static size_t choose_blocks(const struct sta_scan *scan, struct sta_timeline_block *blocks, uint32_t *numbers)
{
    const struct sta_snapshot *snapshot = sta_columns_snapshot(scan->columns);
    double ticks_per_us = (double)sta_snapshot_info(snapshot)->ticks_per_us;
    size_t count = 0;
    for (size_t i = 0; i < sta_snapshot_block_count(snapshot); i++) {
        const struct sta_block *block = sta_snapshot_block(snapshot, i);
        if (!may_matter(scan, block, ticks_per_us))
            continue;
        blocks[count] = (struct sta_timeline_block){block->ts_min, block->ts_max, block->rows};
        numbers[count++] = (uint32_t)i;
    }
    return count;
}

/* ---- rows */

static int narrow_to_window(const struct sta_scan *scan, struct worker *worker, struct sta_scan_rows *rows,
                            struct sta_error *err)
{
    const struct sta_block *block = rows->block;
    if (block->ts_min >= scan->from && (block->ts_max < scan->to || scan->to == INT64_MAX))
        return 0;
    const struct sta_column_values *ts;
    int rc = sta_column_reader_physical(worker->reader, STA_COLUMN_TS, &ts, err);
    if (rc != 0)
        return rc;
    rows->count = 0;
    rows->selected = worker->selected;
    for (uint32_t row = 0; row < block->rows; row++) {
        int64_t at = ts->integers[row];
        worker->selected[rows->count] = row;
        rows->count += at >= scan->from && at < scan->to;
    }
    return 0;
}

static int narrow_to_filter(const struct run *run, struct worker *worker, struct sta_scan_rows *rows,
                            struct sta_error *err)
{
    if (run->filter == NULL || rows->count == 0)
        return 0;
    struct sta_vector holds;
    int rc = sta_program_run(run->filter, worker->evaluator, rows->block->rows, sta_column_reader_get,
                             worker->reader, &holds, err);
    if (rc != 0)
        return rc;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i);
        worker->selected[kept] = row;
        kept += holds.bools[holds.constant ? 0 : row] != 0;
    }
    rows->selected = worker->selected;
    rows->count = kept;
    return 0;
}

static int select_rows(const struct run *run, struct worker *worker, struct sta_scan_rows *rows,
                       struct sta_error *err)
{
    int rc = narrow_to_window(run->scan, worker, rows, err);
    if (rc == 0)
        rc = narrow_to_filter(run, worker, rows, err);
    if (rc != 0 || rows->count == 0 || worker->classifier == NULL)
        return rc;
    rows->classes = worker->classes;
    return sta_classifier_run(worker->classifier, worker->classes, err);
}

static int read_block(void *context, unsigned number, size_t block, struct sta_span *spans, uint32_t *count,
                      struct sta_error *err)
{
    const struct run *run = context;
    const struct sta_scan *scan = run->scan;
    struct worker *worker = &run->workers[number];
    struct sta_scan_rows rows = {.reader = worker->reader};
    rows.block = sta_snapshot_block(sta_columns_snapshot(scan->columns), run->blocks[block]);
    rows.count = rows.block->rows;
    sta_column_reader_seek(worker->reader, rows.block);
    *count = 0;
    int rc = select_rows(run, worker, &rows, err);
    if (rows.count == 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < scan->accumulator_count; i++)
        rc = scan->accumulators[i].update(scan->accumulators[i].self, number, &rows, err);
    if (rc == 0 && scan->ordered != NULL)
        rc = scan->ordered->spans(scan->ordered->self, number, &rows, spans, count, err);
    return rc;
}

/* ---- slices: handed on to the ordered accumulator */

static void prepare(void *context, unsigned worker, const struct sta_slice *slice)
{
    const struct sta_ordered_accumulator *ordered = ((const struct run *)context)->scan->ordered;
    ordered->prepare(ordered->self, worker, slice);
}

static void carry(void *context, unsigned worker, const struct sta_slice *slice)
{
    const struct sta_ordered_accumulator *ordered = ((const struct run *)context)->scan->ordered;
    ordered->carry(ordered->self, worker, slice);
}

static void measure(void *context, unsigned worker, const struct sta_slice *slice)
{
    const struct sta_ordered_accumulator *ordered = ((const struct run *)context)->scan->ordered;
    ordered->measure(ordered->self, worker, slice);
}

/* ---- start and end */

static void worker_init(struct worker *worker, const struct sta_scan *scan)
{
    worker->reader = sta_column_reader_create(scan->columns);
    worker->classifier = scan->classes != NULL ? sta_classifier_create(scan->classes, worker->reader) : NULL;
    worker->evaluator = scan->filter != NULL ? sta_evaluator_create() : NULL;
    worker->classes = sta_alloc_array(STA_BLOCK_ROWS, sizeof *worker->classes);
    worker->selected = sta_alloc_array(STA_BLOCK_ROWS, sizeof *worker->selected);
}

static void worker_fini(struct worker *worker)
{
    free(worker->selected);
    free(worker->classes);
    if (worker->evaluator != NULL)
        sta_evaluator_destroy(worker->evaluator);
    sta_classifier_destroy(worker->classifier);
    sta_column_reader_destroy(worker->reader);
}

static int run_blocks(struct run *run, const struct sta_timeline_block *blocks, size_t block_count,
                      const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_timeline_work work = {.read = read_block, .context = run};
    if (run->scan->ordered != NULL) {
        work.prepare = prepare;
        work.carry = carry;
        work.measure = measure;
    }
    run->workers = sta_alloc_array(sta_budget_workers(budget), sizeof *run->workers);
    for (unsigned i = 0; i < sta_budget_workers(budget); i++)
        worker_init(&run->workers[i], run->scan);
    int rc = sta_timeline_run(blocks, block_count, &work, STA_SLICE_ROWS, budget, err);
    for (unsigned i = 0; i < sta_budget_workers(budget); i++)
        worker_fini(&run->workers[i]);
    free(run->workers);
    return rc;
}

int sta_scan_run(const struct sta_scan *scan, const struct sta_budget *budget, struct sta_error *err)
{
    struct run run = {.scan = scan};
    if (scan->filter != NULL) {
        int rc = sta_program_create(scan->filter, &run.filter, err);
        if (rc != 0)
            return rc;
    }
    size_t most = sta_snapshot_block_count(sta_columns_snapshot(scan->columns)) + 1;
    struct sta_timeline_block *blocks = sta_alloc_array(most, sizeof *blocks);
    uint32_t *numbers = sta_alloc_array(most, sizeof *numbers);
    size_t count = choose_blocks(scan, blocks, numbers);
    run.blocks = numbers;
    int rc = run_blocks(&run, blocks, count, budget, err);
    free(numbers);
    free(blocks);
    if (run.filter != NULL)
        sta_program_destroy(run.filter);
    return rc;
}
