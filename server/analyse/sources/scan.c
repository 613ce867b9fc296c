/* The pass: which row groups, then window, filter, classes, accumulators. */
#include "analyse/sources/scan.h"

#include <pthread.h>
#include <stdlib.h>

#include "analyse/sources/column_kernels.h"
#include "analyse/exec/budget.h"
#include "analyse/exec/tasks.h"
#include "analyse/sources/predicates.h"
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
    const uint32_t *row_groups;         /* numbers of the row groups that may matter */
    struct sta_scan_visitor **visitors; /* by worker, as is .. */
    struct sta_scan_rows *rows;         /* .. what consumers in order of time are shown */
};

/* ---- row groups */

static bool may_matter(const struct sta_scan *scan, struct sta_predicates *predicates,
                       const struct sta_row_group *row_group)
{
    if (row_group->rows == 0 || row_group->ts_max < scan->from ||
        (row_group->ts_min >= scan->to && scan->to != INT64_MAX))
        return false;
    return !sta_predicates_rule_out(predicates, row_group) &&
           (scan->skip == NULL || !scan->skip(scan->skip_context, row_group));
}

size_t sta_scan_choose(const struct sta_scan *scan, uint32_t **numbers)
{
    const struct sta_snapshot *snapshot = sta_columns_snapshot(scan->columns);
    size_t row_groups = sta_snapshot_row_group_count(snapshot), count = 0, conjunct_count = 0;
    struct sta_predicates *predicates = sta_predicates_create(scan->columns);
    const struct sta_predicate *conjuncts =
        scan->filter != NULL ? sta_expression_predicates(scan->filter, &conjunct_count) : NULL;
    for (size_t i = 0; i < conjunct_count; i++)
        sta_predicates_add(predicates, &conjuncts[i], conjuncts[i].column);
    *numbers = sta_alloc_array(row_groups + 1, sizeof **numbers);
    for (size_t i = 0; i < row_groups; i++)
        if (may_matter(scan, predicates, sta_snapshot_row_group(snapshot, i)))
            (*numbers)[count++] = (uint32_t)i;
    sta_predicates_destroy(predicates);
    return count;
}

/* ---- rows */

static int narrow_to_window(struct sta_scan_visitor *visitor, struct sta_scan_rows *rows,
                            struct sta_error *err)
{
    const int64_t from = visitor->scan->from, to = visitor->scan->to;
    const struct sta_row_group *row_group = rows->row_group;
    if (row_group->ts_min >= from && (row_group->ts_max < to || to == INT64_MAX))
        return 0;
    const struct sta_column_values *ts;
    int rc = sta_column_reader_physical(visitor->reader, STA_COLUMN_TS, &ts, err);
    if (rc != 0)
        return rc;
    rows->count = 0;
    rows->selected = visitor->selected;
    for (uint32_t row = 0; row < row_group->rows; row++) {
        int64_t at = ts->integers[row];
        visitor->selected[rows->count] = row;
        rows->count += at >= from && (at < to || to == INT64_MAX);
    }
    return 0;
}

static uint8_t ones_of_byte[256][8]; /* the places of its bits that are 1 */
static pthread_once_t ones_once = PTHREAD_ONCE_INIT;

static void find_ones(void)
{
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned bit = 0, n = 0; bit < 8; bit++)
            if (byte >> bit & 1)
                ones_of_byte[byte][n++] = (uint8_t)bit;
}

uint32_t sta_scan_keep(const uint8_t *holds, const uint32_t *selected, uint32_t count, uint32_t *kept)
{
    uint32_t n = 0;
    if (selected == NULL) {
        pthread_once(&ones_once, find_ones);
        return sta_column_kernels()->list(holds, count, ones_of_byte, kept);
    }
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
    int rc = sta_program_run(visitor->filter, visitor->evaluator, rows->row_group->rows,
                             sta_column_reader_get, visitor->reader, &holds, err);
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

static int classify(struct sta_scan_visitor *visitor, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_classes *classes = visitor->scan->classes;
    const bool whole = rows->selected == NULL;
    if (whole && sta_classes_kept(classes, rows->row_group, visitor->classes))
        return 0;
    int rc = sta_classifier_run(visitor->classifier, rows->selected, rows->count, visitor->classes, err);
    if (rc == 0 && whole)
        sta_classes_put(classes, rows->row_group, visitor->classes);
    return rc;
}

int sta_scan_visit(struct sta_scan_visitor *visitor, const struct sta_row_group *row_group,
                   struct sta_scan_rows *rows, struct sta_error *err)
{
    *rows =
        (struct sta_scan_rows){.reader = visitor->reader, .row_group = row_group, .count = row_group->rows};
    sta_column_reader_seek(visitor->reader, row_group);
    int rc = narrow_to_window(visitor, rows, err);
    if (rc == 0)
        rc = narrow_to_filter(visitor, rows, err);
    if (rc != 0 || rows->count == 0 || visitor->classifier == NULL)
        return rc;
    rows->classes = visitor->classes;
    return classify(visitor, rows, err);
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
        sta_evaluator_watch(visitor->evaluator, budget->cancel);
    }
    visitor->classes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *visitor->classes);
    visitor->selected = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *visitor->selected);
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

static int visit(struct run *run, unsigned worker, size_t row_group, struct sta_scan_rows *rows,
                 struct sta_error *err)
{
    const struct sta_scan *scan = run->scan;
    int rc = sta_scan_visit(
        run->visitors[worker],
        sta_snapshot_row_group(sta_columns_snapshot(scan->columns), run->row_groups[row_group]), rows, err);
    for (size_t i = 0; rc == 0 && rows->count > 0 && i < scan->accumulator_count; i++)
        rc = scan->accumulators[i].update(scan->accumulators[i].self, worker, rows, err);
    return rc;
}

static int visit_unordered(void *context, unsigned worker, size_t row_group, struct sta_error *err)
{
    struct sta_scan_rows rows;
    return visit(context, worker, row_group, &rows, err);
}

static int visit_ordered(void *context, unsigned worker, size_t row_group, const void **rows,
                         struct sta_error *err)
{
    struct run *run = context;
    int rc = visit(run, worker, row_group, &run->rows[worker], err);
    *rows = run->rows[worker].count > 0 ? &run->rows[worker] : NULL;
    return rc;
}

static int run_ordered(struct run *run, size_t row_group_count, const struct sta_budget *budget,
                       struct sta_error *err)
{
    const struct sta_scan *scan = run->scan;
    struct sta_ordered_row_group *row_groups = sta_account_alloc(
        budget->account, row_group_count + 1, sizeof *row_groups, "the row groups of a pass", err);
    if (row_groups == NULL)
        return err->status;
    for (size_t i = 0; i < row_group_count; i++) {
        const struct sta_row_group *row_group =
            sta_snapshot_row_group(sta_columns_snapshot(scan->columns), run->row_groups[i]);
        row_groups[i] = (struct sta_ordered_row_group){row_group->ts_min, row_group->ts_max, row_group->rows};
    }
    struct sta_ordered_pass pass = {.row_groups = row_groups,
                                    .row_group_count = row_group_count,
                                    .read = visit_ordered,
                                    .context = run,
                                    .consumers = scan->ordered,
                                    .consumer_count = scan->ordered_count,
                                    .slice_rows = scan->slice_rows != 0 ? scan->slice_rows : STA_SLICE_ROWS};
    int rc = sta_ordered_run(&pass, budget, err);
    sta_account_free(budget->account, row_groups);
    return rc;
}

static int run_row_groups(struct run *run, size_t row_group_count, struct sta_program *filter,
                          const struct sta_budget *budget, struct sta_error *err)
{
    unsigned workers = sta_budget_workers(budget);
    run->rows = sta_alloc_array(workers, sizeof *run->rows);
    run->visitors = sta_alloc_array(workers, sizeof *run->visitors);
    for (unsigned i = 0; i < workers; i++)
        run->visitors[i] = sta_scan_visitor_create(run->scan, filter, budget);
    int rc = run->scan->ordered_count > 0 ? run_ordered(run, row_group_count, budget, err)
                                          : sta_tasks_run(budget, row_group_count, visit_unordered, run, err);
    for (unsigned i = 0; i < workers; i++)
        sta_scan_visitor_destroy(run->visitors[i]);
    free(run->visitors);
    free(run->rows);
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
        sta_program_limit(filter, budget->memory / 4, budget->spill_folder);
    }
    uint32_t *numbers;
    size_t count = sta_scan_choose(scan, &numbers);
    run.row_groups = numbers;
    int rc = run_row_groups(&run, count, filter, budget, err);
    free(numbers);
    sta_program_destroy(filter);
    return rc;
}
