/* The pass: which row groups, then window, filter, classes, accumulators. */
#include "analyse/sources/scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/sources/column_kernels.h"
#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "analyse/sources/predicates.h"
#include "common/memory.h"

struct sta_scan_visitor {
    const struct sta_scan *scan;
    struct sta_program *filter;
    const struct sta_predicates *predicates; /* that say all of the filter; NULL: they do not */
    struct sta_column_reader *reader;
    struct sta_classifier *classifier;
    struct sta_evaluator *evaluator;
    uint32_t *classes, *selected;
    uint8_t *marks; /* of predicates */
};

/* Rows of a row group: those with from <= ts < to. */
struct part {
    uint32_t row_group;
    int64_t from, to;
};

struct run {
    const struct sta_scan *scan;
    struct sta_predicates *predicates; /* of its filter */
    uint32_t *row_groups;              /* numbers of the row groups that may matter */
    size_t row_group_count;
    const struct part *parts;           /* of these, when rows are wanted in order of time */
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

static struct sta_predicates *predicates_of(const struct sta_scan *scan)
{
    struct sta_predicates *predicates = sta_predicates_create(scan->columns);
    for (size_t i = 0; scan->filter != NULL && i < scan->filter->predicate_count; i++)
        sta_predicates_add(predicates, &scan->filter->predicates[i], scan->filter->predicates[i].column);
    return predicates;
}

static size_t choose(const struct sta_scan *scan, struct sta_predicates *predicates, uint32_t **numbers)
{
    const struct sta_snapshot *snapshot = sta_columns_snapshot(scan->columns);
    size_t row_groups = sta_snapshot_row_group_count(snapshot), count = 0;
    *numbers = sta_alloc_array(row_groups + 1, sizeof **numbers);
    for (size_t i = 0; i < row_groups; i++)
        if (may_matter(scan, predicates, sta_snapshot_row_group(snapshot, i)))
            (*numbers)[count++] = (uint32_t)i;
    return count;
}

size_t sta_scan_choose(const struct sta_scan *scan, uint32_t **numbers)
{
    struct sta_predicates *predicates = predicates_of(scan);
    const size_t count = choose(scan, predicates, numbers);
    sta_predicates_destroy(predicates);
    return count;
}

/* ---- rows */

static int narrow_to_window(struct sta_scan_visitor *visitor, int64_t from, int64_t to,
                            struct sta_scan_rows *rows, struct sta_error *err)
{
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

static void keep(struct sta_scan_visitor *visitor, const uint8_t *holds, struct sta_scan_rows *rows)
{
    rows->count = sta_scan_keep(holds, rows->selected, rows->count, visitor->selected);
    rows->selected = visitor->selected;
}

/* The rows by tests of the values as they are kept.  *done: false when these do not say all, and nothing is
 * done. */
static int narrow_by_tests(struct sta_scan_visitor *visitor, struct sta_scan_rows *rows, bool *done,
                           struct sta_error *err)
{
    *done = false;
    if (visitor->predicates == NULL)
        return 0;
    memset(visitor->marks, 1, rows->row_group->rows);
    int rc = sta_predicates_test(visitor->predicates, visitor->reader, visitor->marks, done, err);
    if (rc == 0 && *done)
        keep(visitor, visitor->marks, rows);
    return rc;
}

static int narrow_to_filter(struct sta_scan_visitor *visitor, struct sta_scan_rows *rows,
                            struct sta_error *err)
{
    bool done;
    if (visitor->filter == NULL || rows->count == 0)
        return 0;
    int rc = narrow_by_tests(visitor, rows, &done, err);
    if (rc != 0 || done)
        return rc;
    struct sta_vector holds;
    rc = sta_program_run(visitor->filter, visitor->evaluator, rows->row_group->rows, sta_column_reader_get,
                         visitor->reader, &holds, err);
    if (rc == 0 && !holds.constant)
        keep(visitor, holds.bools, rows);
    else if (rc == 0 && !holds.bools[0])
        rows->count = 0;
    return rc;
}

#define FEW 256 /* rows that are classified in less time than the classes of a row group are copied */

/* Of most of a row group's rows: of all of them, where that serves later passes. */
static int classify(struct sta_scan_visitor *visitor, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_classes *classes = visitor->scan->classes;
    const uint32_t all = rows->row_group->rows;
    const bool whole = rows->selected == NULL || (rows->count > all / 2 && sta_classes_are_kept(classes));
    if ((whole || rows->count >= FEW) && sta_classes_kept(classes, rows->row_group, visitor->classes))
        return 0;
    int rc = sta_classifier_run(visitor->classifier, whole ? NULL : rows->selected, whole ? all : rows->count,
                                visitor->classes, err);
    if (rc == 0 && whole)
        sta_classes_put(classes, rows->row_group, visitor->classes);
    return rc;
}

/* Those rows of a row group that have from <= ts < to and pass the filter. */
static int visit_window(struct sta_scan_visitor *visitor, const struct sta_row_group *row_group, int64_t from,
                        int64_t to, struct sta_scan_rows *rows, struct sta_error *err)
{
    *rows =
        (struct sta_scan_rows){.reader = visitor->reader, .row_group = row_group, .count = row_group->rows};
    sta_column_reader_seek(visitor->reader, row_group);
    int rc = narrow_to_window(visitor, from, to, rows, err);
    if (rc == 0)
        rc = narrow_to_filter(visitor, rows, err);
    if (rc != 0 || rows->count == 0 || visitor->classifier == NULL)
        return rc;
    rows->classes = visitor->classes;
    return classify(visitor, rows, err);
}

int sta_scan_visit(struct sta_scan_visitor *visitor, const struct sta_row_group *row_group,
                   struct sta_scan_rows *rows, struct sta_error *err)
{
    return visit_window(visitor, row_group, visitor->scan->from, visitor->scan->to, rows, err);
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
    free(visitor->marks);
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

static const struct sta_row_group *row_group_of(const struct run *run, uint32_t number)
{
    return sta_snapshot_row_group(sta_columns_snapshot(run->scan->columns), number);
}

static int visit(struct run *run, unsigned worker, const struct part *part, struct sta_scan_rows *rows,
                 struct sta_error *err)
{
    const struct sta_scan *scan = run->scan;
    int rc = visit_window(run->visitors[worker], row_group_of(run, part->row_group), part->from, part->to,
                          rows, err);
    for (size_t i = 0; rc == 0 && rows->count > 0 && i < scan->accumulator_count; i++)
        rc = scan->accumulators[i].update(scan->accumulators[i].self, worker, rows, err);
    return rc;
}

static int visit_unordered(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct run *run = context;
    const struct part whole = {run->row_groups[number], run->scan->from, run->scan->to};
    struct sta_scan_rows rows;
    return visit(run, worker, &whole, &rows, err);
}

static int visit_ordered(void *context, unsigned worker, size_t number, const void **rows,
                         struct sta_error *err)
{
    struct run *run = context;
    int rc = visit(run, worker, &run->parts[number], &run->rows[worker], err);
    *rows = run->rows[worker].count > 0 ? &run->rows[worker] : NULL;
    return rc;
}

/* ---- rows in order of time
 *
 * Records of a row group are held until the last slice of time that it reaches into.  Where so many row
 * groups cover the same time that their records would take too much, each is visited part by part, which
 * costs a visit for each. */

#define LEAST_PART 256 /* rows */
#define MOST_CUTS (STA_ROW_GROUP_ROWS / LEAST_PART)
#define WAITING_SHARE 4 /* of the memory of the query: one in so many */
static const char PARTS[] = "the row groups of a pass";

/* A row group begins, or has ended, at a time. */
struct change {
    int64_t at, rows;
};

static int compare_changes(const void *a, const void *b, void *context)
{
    const struct change *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->rows < y->rows) - (x->rows > y->rows);
}

/* The rows of all row groups that cover the same time, where these are most. */
static int count_open_rows(const struct run *run, const struct sta_budget *budget, int64_t *most,
                           struct sta_error *err)
{
    struct change *changes =
        sta_account_alloc(budget->account, run->row_group_count * 2 + 1, sizeof *changes, PARTS, err);
    int64_t open = 0;
    *most = 0;
    if (changes == NULL)
        return err->status;
    for (size_t i = 0; i < run->row_group_count; i++) {
        const struct sta_row_group *row_group = row_group_of(run, run->row_groups[i]);
        changes[i * 2] = (struct change){row_group->ts_min, row_group->rows};
        changes[i * 2 + 1] = (struct change){row_group->ts_max, -(int64_t)row_group->rows};
    }
    int rc = sta_sort(budget, changes, run->row_group_count * 2, sizeof *changes, compare_changes, NULL, err);
    for (size_t i = 0; rc == 0 && i < run->row_group_count * 2; i++) {
        open += changes[i].rows;
        *most = STA_MAX(*most, open);
    }
    sta_account_free(budget->account, changes);
    return rc;
}

/* Into how many parts row groups are cut. */
static int choose_cuts(const struct run *run, const struct sta_budget *budget, size_t *cuts,
                       struct sta_error *err)
{
    size_t record = 0;
    int64_t rows;
    for (size_t i = 0; i < run->scan->ordered_count; i++)
        record += run->scan->ordered[i].record;
    int rc = count_open_rows(run, budget, &rows, err);
    const double bytes = rc == 0 ? (double)rows * (double)record : 0;
    const double most = (double)budget->memory / WAITING_SHARE;
    *cuts = bytes > most && most >= 1 ? STA_MIN((size_t)(bytes / most) + 1, MOST_CUTS) : 1;
    return rc;
}

struct cutting {
    struct part *parts;
    struct sta_ordered_row_group *row_groups; /* the same for the pass */
    size_t cuts, count;
};

/* Rows from @from to @last, unless the window leaves them out. */
static void add_part(const struct run *run, struct cutting *cutting, uint32_t number, int64_t from,
                     int64_t last)
{
    const int64_t to = run->scan->to;
    const struct sta_row_group *row_group = row_group_of(run, number);
    const bool ends = last == row_group->ts_max;
    if (last < run->scan->from || (from >= to && to != INT64_MAX))
        return;
    cutting->parts[cutting->count] =
        (struct part){number, STA_MAX(from, run->scan->from), ends ? to : STA_MIN(last + 1, to)};
    cutting->row_groups[cutting->count++] = (struct sta_ordered_row_group){
        from, last, (uint32_t)((row_group->rows + cutting->cuts - 1) / cutting->cuts)};
}

/* Cuts a row group into parts of about equal numbers of rows, which ascend in time; equal times stay
 * together. */
static int cut_row_group(const struct run *run, struct cutting *cutting, uint32_t number,
                         struct sta_error *err)
{
    const struct sta_row_group *row_group = row_group_of(run, number);
    struct sta_column_reader *reader = run->visitors[0]->reader;
    const struct sta_column_values *ts = NULL;
    int64_t from = row_group->ts_min;
    int rc = 0;
    if (cutting->cuts > 1) {
        sta_column_reader_seek(reader, row_group);
        rc = sta_column_reader_physical(reader, STA_COLUMN_TS, &ts, err);
    }
    for (size_t i = 1; rc == 0 && i < cutting->cuts; i++) {
        const int64_t next = ts->integers[i * row_group->rows / cutting->cuts];
        if (next > from && next <= row_group->ts_max) {
            add_part(run, cutting, number, from, next - 1);
            from = next;
        }
    }
    if (rc == 0)
        add_part(run, cutting, number, from, row_group->ts_max);
    return rc;
}

static int run_parts(struct run *run, const struct sta_ordered_row_group *row_groups, size_t count,
                     const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_scan *scan = run->scan;
    const struct sta_ordered_pass pass = {.row_groups = row_groups,
                                          .row_group_count = count,
                                          .read = visit_ordered,
                                          .context = run,
                                          .consumers = scan->ordered,
                                          .consumer_count = scan->ordered_count,
                                          .slice_rows =
                                              scan->slice_rows != 0 ? scan->slice_rows : STA_SLICE_ROWS};
    return sta_ordered_run(&pass, budget, err);
}

static int compare_starts(const void *a, const void *b, void *context)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int64_t from = row_group_of(context, x)->ts_min, other = row_group_of(context, y)->ts_min;
    return from != other ? (from > other) - (from < other) : (x > y) - (x < y);
}

/* Equal records are in the order in which their row groups begin, however these are cut. */
static int order_row_groups(struct run *run, const struct sta_budget *budget, struct sta_error *err)
{
    return sta_sort(budget, run->row_groups, run->row_group_count, sizeof *run->row_groups, compare_starts,
                    run, err);
}

static int run_ordered(struct run *run, const struct sta_budget *budget, struct sta_error *err)
{
    struct cutting cutting = {.cuts = 1};
    int rc = order_row_groups(run, budget, err);
    if (rc == 0)
        rc = choose_cuts(run, budget, &cutting.cuts, err);
    if (rc != 0)
        return rc;
    const size_t most = run->row_group_count * cutting.cuts + 1;
    cutting.parts = sta_account_alloc(budget->account, most, sizeof *cutting.parts, PARTS, err);
    cutting.row_groups = sta_account_alloc(budget->account, most, sizeof *cutting.row_groups, PARTS, err);
    if (cutting.parts == NULL || cutting.row_groups == NULL)
        rc = err->status;
    for (size_t i = 0; rc == 0 && i < run->row_group_count; i++) {
        rc = cut_row_group(run, &cutting, run->row_groups[i], err);
        if (rc == 0)
            rc = sta_budget_check(budget, err);
    }
    run->parts = cutting.parts;
    if (rc == 0)
        rc = run_parts(run, cutting.row_groups, cutting.count, budget, err);
    sta_account_free(budget->account, cutting.row_groups);
    sta_account_free(budget->account, cutting.parts);
    return rc;
}

static int run_row_groups(struct run *run, struct sta_program *filter, const struct sta_budget *budget,
                          struct sta_error *err)
{
    unsigned workers = sta_budget_workers(budget);
    run->rows = sta_alloc_array(workers, sizeof *run->rows);
    run->visitors = sta_alloc_array(workers, sizeof *run->visitors);
    for (unsigned i = 0; i < workers; i++) {
        run->visitors[i] = sta_scan_visitor_create(run->scan, filter, budget);
        if (filter != NULL && run->scan->filter->is_predicates) {
            run->visitors[i]->predicates = run->predicates;
            run->visitors[i]->marks = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint8_t));
        }
    }
    int rc = run->scan->ordered_count > 0
                 ? run_ordered(run, budget, err)
                 : sta_tasks_run(budget, run->row_group_count, visit_unordered, run, err);
    for (unsigned i = 0; i < workers; i++)
        sta_scan_visitor_destroy(run->visitors[i]);
    free(run->visitors);
    free(run->rows);
    return rc;
}

int sta_scan_run(const struct sta_scan *scan, const struct sta_budget *budget, struct sta_error *err)
{
    struct run run = {.scan = scan, .predicates = predicates_of(scan)};
    struct sta_program *filter = NULL;
    if (scan->filter != NULL) {
        filter = sta_program_create(scan->filter);
        sta_program_limit(filter, budget->memory / 4, budget->spill_folder);
    }
    uint32_t *numbers;
    run.row_group_count = choose(scan, run.predicates, &numbers);
    run.row_groups = numbers;
    int rc = run_row_groups(&run, filter, budget, err);
    free(numbers);
    sta_program_destroy(filter);
    sta_predicates_destroy(run.predicates);
    return rc;
}
