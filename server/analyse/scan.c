/* The pass: which blocks, then window, filter, classes, accumulators. */
#include "analyse/scan.h"

#include <stdlib.h>

#include "analyse/budget.h"
#include "analyse/skipping.h"
#include "common/memory.h"

struct sta_scan_visitor {
    const struct sta_scan *scan;
    struct sta_program *filter;
    struct sta_column_reader *reader;
    struct sta_classifier *classifier;
    struct sta_evaluator *evaluator;
    uint32_t *classes, *selected;
};

struct run {
    const struct sta_scan *scan;
    const uint32_t *blocks; /* numbers of the blocks that may matter */
    struct sta_scan_visitor **visitors;
};

/* ---- blocks */

static bool may_matter(const struct sta_scan *scan, struct sta_skipping *skipping,
                       const struct sta_block *block)
{
    if (block->rows == 0 || block->ts_max < scan->from ||
        (block->ts_min >= scan->to && scan->to != INT64_MAX))
        return false;
    return !sta_skipping_rules_out(skipping, block) &&
           (scan->skip == NULL || !scan->skip(scan->skip_context, block));
}

size_t sta_scan_choose(const struct sta_scan *scan, uint32_t **numbers)
{
    const struct sta_snapshot *snapshot = sta_columns_snapshot(scan->columns);
    size_t blocks = sta_snapshot_block_count(snapshot), count = 0, demand_count = 0;
    struct sta_skipping *skipping = sta_skipping_create(scan->columns);
    const struct sta_demand *demands =
        scan->filter != NULL ? sta_expression_demands(scan->filter, &demand_count) : NULL;
    for (size_t i = 0; i < demand_count; i++)
        sta_skipping_demand(skipping, &demands[i], demands[i].column);
    *numbers = sta_alloc_array(blocks + 1, sizeof **numbers);
    for (size_t i = 0; i < blocks; i++)
        if (may_matter(scan, skipping, sta_snapshot_block(snapshot, i)))
            (*numbers)[count++] = (uint32_t)i;
    sta_skipping_destroy(skipping);
    return count;
}

/* ---- rows */

static int narrow_to_window(struct sta_scan_visitor *visitor, struct sta_scan_rows *rows,
                            struct sta_error *err)
{
    const int64_t from = visitor->scan->from, to = visitor->scan->to;
    const struct sta_block *block = rows->block;
    if (block->ts_min >= from && (block->ts_max < to || to == INT64_MAX))
        return 0;
    const struct sta_column_values *ts;
    int rc = sta_column_reader_physical(visitor->reader, STA_COLUMN_TS, &ts, err);
    if (rc != 0)
        return rc;
    rows->count = 0;
    rows->selected = visitor->selected;
    for (uint32_t row = 0; row < block->rows; row++) {
        int64_t at = ts->integers[row];
        visitor->selected[rows->count] = row;
        rows->count += at >= from && (at < to || to == INT64_MAX);
    }
    return 0;
}

static uint32_t keep_of_all(const uint8_t *holds, uint32_t count, uint32_t *restrict kept)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < count; row++) {
        kept[n] = row;
        n += holds[row] != 0;
    }
    return n;
}

uint32_t sta_scan_keep(const uint8_t *holds, const uint32_t *selected, uint32_t count, uint32_t *kept)
{
    uint32_t n = 0;
    if (selected == NULL)
        return keep_of_all(holds, count, kept);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = selected[i];
        kept[n] = row;
        n += holds[row] != 0;
    }
    return n;
}

static int narrow_to_filter(struct sta_scan_visitor *visitor, struct sta_scan_rows *rows,
                            struct sta_error *err)
{
    if (visitor->filter == NULL || rows->count == 0)
        return 0;
    struct sta_vector holds;
    int rc = sta_program_run(visitor->filter, visitor->evaluator, rows->block->rows, sta_column_reader_get,
                             visitor->reader, &holds, err);
    if (rc != 0)
        return rc;
    if (holds.constant) {
        rows->count = holds.bools[0] ? rows->count : 0;
        return 0;
    }
    rows->count = sta_scan_keep(holds.bools, rows->selected, rows->count, visitor->selected);
    rows->selected = visitor->selected;
    return 0;
}

int sta_scan_visit(struct sta_scan_visitor *visitor, const struct sta_block *block,
                   struct sta_scan_rows *rows, struct sta_error *err)
{
    *rows = (struct sta_scan_rows){.reader = visitor->reader, .block = block, .count = block->rows};
    sta_column_reader_seek(visitor->reader, block);
    int rc = narrow_to_window(visitor, rows, err);
    if (rc == 0)
        rc = narrow_to_filter(visitor, rows, err);
    if (rc != 0 || rows->count == 0 || visitor->classifier == NULL)
        return rc;
    rows->classes = visitor->classes;
    return sta_classifier_run(visitor->classifier, visitor->classes, err);
}

struct sta_scan_visitor *sta_scan_visitor_create(const struct sta_scan *scan, struct sta_program *filter,
                                                 const struct sta_budget *budget)
{
    struct sta_scan_visitor *visitor = sta_alloc(sizeof *visitor);
    visitor->scan = scan;
    visitor->filter = filter;
    visitor->reader = sta_column_reader_create(scan->columns);
    visitor->classifier =
        scan->classes != NULL ? sta_classifier_create(scan->classes, visitor->reader) : NULL;
    if (filter != NULL) {
        visitor->evaluator = sta_evaluator_create();
        sta_evaluator_watch(visitor->evaluator, budget->cancel, budget->memory);
    }
    visitor->classes = sta_alloc_array(STA_BLOCK_ROWS, sizeof *visitor->classes);
    visitor->selected = sta_alloc_array(STA_BLOCK_ROWS, sizeof *visitor->selected);
    return visitor;
}

void sta_scan_visitor_destroy(struct sta_scan_visitor *visitor)
{
    if (visitor == NULL)
        return;
    free(visitor->selected);
    free(visitor->classes);
    sta_evaluator_destroy(visitor->evaluator);
    sta_classifier_destroy(visitor->classifier);
    sta_column_reader_destroy(visitor->reader);
    free(visitor);
}

struct sta_column_reader *sta_scan_visitor_reader(struct sta_scan_visitor *visitor)
{
    return visitor->reader;
}

/* ---- the pass over all of them */

static int read_block(void *context, unsigned worker, size_t block, struct sta_block_spans *spans,
                      struct sta_error *err)
{
    const struct run *run = context;
    const struct sta_scan *scan = run->scan;
    struct sta_scan_rows rows;
    int rc = sta_scan_visit(run->visitors[worker],
                            sta_snapshot_block(sta_columns_snapshot(scan->columns), run->blocks[block]),
                            &rows, err);
    if (rows.count == 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < scan->accumulator_count; i++)
        rc = scan->accumulators[i].update(scan->accumulators[i].self, worker, &rows, err);
    if (rc == 0 && scan->ordered != NULL)
        rc = scan->ordered->spans(scan->ordered->self, worker, &rows, spans, err);
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

static int run_blocks(struct run *run, size_t block_count, struct sta_program *filter,
                      const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_snapshot *snapshot = sta_columns_snapshot(run->scan->columns);
    unsigned workers = sta_budget_workers(budget);
    struct sta_timeline_work work = {.read = read_block, .context = run};
    if (run->scan->ordered != NULL) {
        work.prepare = prepare;
        work.carry = carry;
        work.measure = measure;
        work.parcel_row = run->scan->ordered->parcel_row;
    }
    struct sta_timeline_block *blocks = sta_alloc_array(block_count + 1, sizeof *blocks);
    for (size_t i = 0; i < block_count; i++) {
        const struct sta_block *block = sta_snapshot_block(snapshot, run->blocks[i]);
        blocks[i] = (struct sta_timeline_block){block->ts_min, block->ts_max, block->rows};
    }
    run->visitors = sta_alloc_array(workers, sizeof *run->visitors);
    for (unsigned i = 0; i < workers; i++)
        run->visitors[i] = sta_scan_visitor_create(run->scan, filter, budget);
    size_t slice_rows = run->scan->slice_rows != 0 ? run->scan->slice_rows : STA_SLICE_ROWS;
    int rc = sta_timeline_run(blocks, block_count, &work, slice_rows, budget, err);
    for (unsigned i = 0; i < workers; i++)
        sta_scan_visitor_destroy(run->visitors[i]);
    free(run->visitors);
    free(blocks);
    return rc;
}

int sta_scan_run(const struct sta_scan *scan, const struct sta_budget *budget, struct sta_error *err)
{
    struct run run = {.scan = scan};
    struct sta_program *filter = NULL;
    if (scan->filter != NULL) {
        int rc = sta_program_create(scan->filter, &filter, err);
        if (rc != 0)
            return rc;
    }
    uint32_t *numbers;
    size_t count = sta_scan_choose(scan, &numbers);
    run.blocks = numbers;
    int rc = run_blocks(&run, count, filter, budget, err);
    free(numbers);
    sta_program_destroy(filter);
    return rc;
}
