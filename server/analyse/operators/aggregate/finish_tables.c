/* The end of a grouping that fits the memory.
 *
 * DESIGN.  Tables are sorted, each by one thread.  Samples of all tables cut the keys into ranges of about as
 * many groups; each range is a task: a merge of the tables' parts of it, finished to vectors.  Ranges are
 * merged some at a time, in order; while one worker gives those to the sink, the others merge the next. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "analyse/operators/aggregate/aggregation.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

#define SAMPLE_STEP 512u  /* groups of a table from sample to sample */
#define TASK_SAMPLES 4u   /* samples in the range of a task */
#define TASKS_AT_ONCE 16u /* per worker */

struct task {
    uint32_t *begins; /* by table: the first place; the last is where the next task begins */
    struct sta_group_batch batch;
};

struct pipeline {
    struct sta_aggregation *grouping;
    const struct sta_aggregation_output *sink;
    struct sta_group_table **unsorted;
    size_t table_count;
    struct sta_sorted_table *tables;
    struct task *tasks; /* and one more for where the last one ends */
    uint32_t *begins;   /* of all of them */
    size_t task_count, merged, emitted;
};

/* ---- sorting */

static int sort_table(void *context, unsigned worker, size_t table, struct sta_error *err)
{
    struct pipeline *line = context;
    return sta_sorted_table_init(&line->tables[table], line->unsorted[table], &line->grouping->order, err);
}

static int sort_all(struct pipeline *line, struct sta_error *err)
{
    struct sta_aggregation *grouping = line->grouping;
    line->unsorted = sta_group_tables(grouping, &line->table_count);
    line->tables = sta_alloc_array(line->table_count, sizeof *line->tables);
    int rc = sta_group_make_order(grouping, line->unsorted, line->table_count, err);
    grouping->order.selects = true;
    return rc == 0 ? sta_tasks_run(&grouping->budget, line->table_count, sort_table, line, err) : rc;
}

/* ---- tasks */

static size_t count_samples(const struct pipeline *line)
{
    size_t count = 0;
    for (size_t t = 0; t < line->table_count; t++)
        count += line->tables[t].count > 0 ? (line->tables[t].count - 1) / SAMPLE_STEP : 0;
    return count;
}

/* @count: of them; there is room for as many more.  NULL: there is no memory. */
static uint64_t *gather_samples(const struct pipeline *line, size_t count, struct sta_error *err)
{
    const unsigned width = line->grouping->order.layout.words;
    uint64_t *samples = sta_account_alloc(line->grouping->budget.account, 2 * count + 1,
                                          width * sizeof *samples, "samples of groups", err);
    uint64_t *at = samples;
    for (size_t t = 0; samples != NULL && t < line->table_count; t++)
        for (uint32_t p = SAMPLE_STEP; p < line->tables[t].count; p += SAMPLE_STEP, at += width)
            memcpy(at, sta_sorted_words(&line->tables[t], p), width * sizeof *at);
    return samples;
}

static int alloc_tasks(struct pipeline *line, size_t count, struct sta_error *err)
{
    struct sta_account *account = line->grouping->budget.account;
    line->begins =
        sta_account_calloc(account, (count + 1) * line->table_count + 1, sizeof *line->begins, "groups", err);
    if (line->begins != NULL)
        line->tasks = sta_account_calloc(account, count + 1, sizeof *line->tasks, "groups", err);
    return line->tasks != NULL ? STA_OK : err->status;
}

static void begin_task(struct pipeline *line, size_t number, const uint64_t *samples)
{
    const unsigned width = line->grouping->order.layout.words;
    uint32_t *begins = line->tasks[number].begins = line->begins + number * line->table_count;
    for (size_t t = 0; t < line->table_count; t++) {
        const struct sta_sorted_table *table = &line->tables[t];
        if (number == line->task_count)
            begins[t] = table->count;
        else if (number > 0)
            begins[t] = (uint32_t)sta_records_before(table->entries, table->count, table->words + 1,
                                                     samples + (number * TASK_SAMPLES - 1) * width, width);
    }
}

static int cut_tasks(struct pipeline *line, struct sta_error *err)
{
    const unsigned width = line->grouping->order.layout.words;
    const size_t count = count_samples(line);
    uint64_t *samples = gather_samples(line, count, err);
    int rc = samples == NULL ? err->status
                             : sta_radix_failed(sta_radix_sort(samples, samples + count * width, count, width,
                                                               false, line->grouping->budget.cancel),
                                                "groups", count, err);
    line->task_count = count / TASK_SAMPLES + 1;
    if (rc == 0)
        rc = alloc_tasks(line, line->task_count, err);
    for (size_t n = 0; rc == STA_OK && n <= line->task_count; n++)
        begin_task(line, n, samples);
    sta_account_free(line->grouping->budget.account, samples);
    return rc;
}

static int merge_range(struct pipeline *line, size_t number, struct sta_error *err)
{
    struct sta_aggregation *grouping = line->grouping;
    const uint32_t *begins = line->tasks[number].begins, *ends = line->tasks[number + 1].begins;
    struct sta_group_cursor *cursors = sta_alloc_array(line->table_count, sizeof *cursors);
    struct sta_group_merge merge;
    size_t cursor_count = 0;
    uint32_t groups = 0;
    for (size_t t = 0; t < line->table_count; t++) {
        if (begins[t] == ends[t])
            continue;
        sta_group_cursor_init_table(&cursors[cursor_count++], &grouping->order, &line->tables[t], begins[t],
                                    ends[t]);
        groups += ends[t] - begins[t];
    }
    sta_group_merge_init(&merge, &grouping->order, &grouping->budget, cursors, cursor_count);
    int rc = sta_group_batch_init(&line->tasks[number].batch, &grouping->results, &merge, groups, err);
    sta_group_merge_fini(&merge);
    free(cursors);
    return rc;
}

/* ---- giving out */

/* Some ranges are merged, as a task each; @emits: another task, the first, gives what was merged before to
 * the sink. */
struct round {
    struct pipeline *line;
    bool emits;
};

static int emit(struct pipeline *line, struct sta_error *err)
{
    int rc = STA_OK;
    for (; rc == 0 && line->emitted < line->merged; line->emitted++) {
        struct sta_group_batch *batch = &line->tasks[line->emitted].batch;
        rc = sta_group_finish_emit(line->grouping, batch, line->sink, err);
        sta_group_batch_fini(batch);
    }
    return rc;
}

static int take_step(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    const struct round *round = context;
    if (round->emits && number == 0)
        return emit(round->line, err);
    return merge_range(round->line, round->line->merged + number - round->emits, err);
}

static int merge_all(struct pipeline *line, struct sta_error *err)
{
    const struct sta_aggregation *grouping = line->grouping;
    int rc = STA_OK;
    while (rc == 0 && line->emitted < line->task_count) {
        const size_t now =
            STA_MIN((size_t)TASKS_AT_ONCE * grouping->worker_count, line->task_count - line->merged);
        struct round round = {line, line->emitted < line->merged};
        rc = sta_tasks_run(&grouping->budget, now + round.emits, take_step, &round, err);
        line->merged += now;
    }
    return rc;
}

static void fini(struct pipeline *line)
{
    for (size_t t = 0; t < line->table_count; t++)
        sta_sorted_table_fini(&line->tables[t]);
    for (size_t n = 0; line->tasks != NULL && n <= line->task_count; n++)
        sta_group_batch_fini(&line->tasks[n].batch);
    sta_account_free(line->grouping->budget.account, line->tasks);
    sta_account_free(line->grouping->budget.account, line->begins);
    free(line->tables);
    free(line->unsorted);
}

int sta_group_finish_tables(struct sta_aggregation *grouping, const struct sta_aggregation_output *sink,
                            struct sta_error *err)
{
    struct pipeline line = {.grouping = grouping, .sink = sink};
    int rc = sort_all(&line, err);
    if (rc == 0)
        rc = sta_group_results_init(&grouping->results, &grouping->shape, &grouping->order, err);
    if (rc == 0)
        rc = cut_tasks(&line, err);
    if (rc == 0)
        rc = merge_all(&line, err);
    fini(&line);
    return rc;
}
