/* The end of a grouping: from the workers' tables and runs to the sink, in order.
 *
 * DESIGN.  Of a grouping that fits the memory tables are sorted, each by one thread.  Samples of all tables
 * cut the keys into ranges of about as many groups; each range is a task: a merge of the tables' parts of it,
 * finished to vectors.  Ranges are merged some at a time, in order; while one worker gives those to the sink,
 * the others merge the next.  Of one that has spilled all tables go to runs, and the runs are merged. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "analyse/operators/aggregate/aggregation.h"
#include "analyse/operators/radix.h"
#include "common/memory.h"

/* Gives a batch to the sink, so many rows at a time as a vector may have. */
static int emit_batch(struct sta_aggregation *grouping, const struct sta_group_batch *batch,
                      const struct sta_aggregation_output *sink, struct sta_error *err)
{
    size_t key_count = grouping->shape.key_count;
    struct sta_vector *vectors = sta_alloc_array(batch->column_count, sizeof *vectors);
    int rc = sta_account_failure(grouping->shape.texts, err);
    grouping->figures.groups += batch->rows;
    grouping->figures.too_large += batch->too_large;
    for (uint32_t first = 0; rc == 0 && first < batch->rows; first += STA_VECTOR_ROWS) {
        uint32_t rows = STA_MIN(batch->rows - first, (uint32_t)STA_VECTOR_ROWS);
        for (size_t c = 0; c < batch->column_count; c++)
            vectors[c] = sta_result_vector(&batch->columns[c], first);
        rc = sink->take(sink->self, vectors, vectors + key_count, rows, err);
    }
    free(vectors);
    return rc;
}

/* ---- tables: merged range by range on all cores */

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
    struct sta_group_table *const *unsorted;
    size_t table_count;
    struct sta_sorted_table *tables;
    struct task *tasks; /* and one more for where the last one ends */
    uint32_t *begins;   /* of all of them */
    size_t task_count, merged, emitted;
};

static int sort_table(void *context, unsigned worker, size_t table, struct sta_error *err)
{
    struct pipeline *line = context;
    return sta_sorted_table_init(&line->tables[table], line->unsorted[table], &line->grouping->order, err);
}

/* ---- tasks */

static size_t count_samples(const struct pipeline *line)
{
    size_t count = 0;
    for (size_t t = 0; t < line->table_count; t++)
        count += line->tables[t].count > 0 ? (line->tables[t].count - 1) / SAMPLE_STEP : 0;
    return count;
}

/* @count: of them; there is space for as many more.  NULL: there is no memory. */
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
    struct sta_group_merge merge;
    uint32_t groups = 0;
    sta_group_merge_init(&merge, &grouping->order, &grouping->budget, line->table_count);
    for (size_t t = 0; t < line->table_count; t++) {
        if (begins[t] == ends[t])
            continue;
        sta_group_cursor_init_table(&merge.cursors[merge.cursor_count++], &grouping->order, &line->tables[t],
                                    begins[t], ends[t]);
        groups += ends[t] - begins[t];
    }
    int rc = sta_group_batch_init(&line->tasks[number].batch, &grouping->results, &merge, groups, err);
    sta_group_merge_fini(&merge);
    return rc;
}

/* ---- giving out */

/* Merges some ranges, each as a task; @emits: the first task gives what was merged before to the sink. */
struct round {
    struct pipeline *line;
    bool emits;
};

static int emit(struct pipeline *line, struct sta_error *err)
{
    int rc = STA_OK;
    for (; rc == 0 && line->emitted < line->merged; line->emitted++) {
        struct sta_group_batch *batch = &line->tasks[line->emitted].batch;
        rc = emit_batch(line->grouping, batch, line->sink, err);
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
}

static int finish_tables(struct sta_aggregation *grouping, struct sta_group_table *const *tables,
                         size_t count, const struct sta_aggregation_output *sink, struct sta_error *err)
{
    struct pipeline line = {.grouping = grouping, .sink = sink, .unsorted = tables, .table_count = count};
    line.tables = sta_alloc_array(count, sizeof *line.tables);
    grouping->order.selects = true;
    int rc = sta_tasks_run(&grouping->budget, count, sort_table, &line, err);
    if (rc == 0)
        rc = cut_tasks(&line, err);
    if (rc == 0)
        rc = merge_all(&line, err);
    fini(&line);
    return rc;
}

/* ---- runs */

#define LEAST_BUFFER ((size_t)4 << 10) /* of a stream that is read */
#define MOST_BUFFER ((size_t)1 << 20)

/* Runs in the order in which they are to be merged; those that merging made come at the end. */
struct queue {
    struct sta_group_run **runs;
    size_t first, count, capacity;
};

static void push(struct queue *queue, struct sta_group_run *run)
{
    STA_GROW(queue->runs, queue->capacity, queue->count + 1);
    queue->runs[queue->count++] = run;
}

/* Moves the workers' runs into a queue. */
static void collect(struct sta_aggregation *grouping, struct queue *queue)
{
    for (unsigned t = 0; t < grouping->worker_count; t++) {
        struct sta_group_worker *worker = grouping->workers[t];
        for (size_t r = 0; r < worker->run_count; r++)
            push(queue, worker->runs[r]);
        worker->run_count = 0;
        grouping->figures.spilled += worker->spill != NULL ? sta_spill_size(worker->spill) : 0;
    }
}

/* ---- merging */

/* Takes @count runs from the front of the queue. */
static void begin_merge(struct sta_aggregation *grouping, struct queue *queue, size_t count,
                        struct sta_group_merge *merge)
{
    size_t streams = count * (1 + grouping->shape.list_count);
    size_t buffer =
        grouping->budget.memory / 4 / streams; /* as much again takes the order of groups at hand */
    buffer = STA_MIN(STA_MAX(buffer, LEAST_BUFFER), MOST_BUFFER) & ~(size_t)15;
    sta_group_merge_init(merge, &grouping->order, &grouping->budget, count);
    for (; merge->cursor_count < count; merge->cursor_count++)
        sta_group_cursor_init_run(&merge->cursors[merge->cursor_count], &grouping->order,
                                  queue->runs[queue->first + merge->cursor_count], buffer);
}

static void end_merge(struct queue *queue, size_t count, struct sta_group_merge *merge)
{
    sta_group_merge_fini(merge);
    for (size_t r = 0; r < count; r++)
        sta_run_destroy(queue->runs[queue->first++]);
}

static int write_list(struct sta_run_writer *writer, struct sta_group_merge *merge, size_t list,
                      struct sta_error *err)
{
    const struct sta_exact_terms *united = &merge->terms[list];
    const uint64_t *words;
    size_t count = 1;
    int rc = sta_run_writer_add_values(writer, merge->order, list, united->terms, united->count, err);
    while (rc == 0 && count > 0) {
        rc = sta_group_merge_piece(merge, list, &words, &count, err);
        if (rc == 0)
            rc = sta_run_writer_add_values(writer, merge->order, list, words, count, err);
    }
    return rc;
}

static int write_groups(struct sta_run_writer *writer, struct sta_group_merge *merge, struct sta_error *err)
{
    uint8_t *record = sta_alloc(merge->order->shape->record);
    int rc;
    while ((rc = sta_group_merge_next(merge, record, err)) == 0 && merge->words != NULL) {
        for (size_t l = 0; rc == 0 && l < merge->order->shape->list_count; l++)
            rc = write_list(writer, merge, l, err);
        if (rc == 0)
            rc = sta_run_writer_add_group(writer, merge->words, record, err);
        if (rc != 0)
            break;
    }
    free(record);
    return rc;
}

/* Makes one run of the first @count in the queue. */
static int merge_to_run(struct sta_aggregation *grouping, struct queue *queue, size_t count,
                        struct sta_spill *spill, struct sta_error *err)
{
    struct sta_group_run *run = NULL;
    struct sta_run_writer writer;
    struct sta_group_merge merge;
    begin_merge(grouping, queue, count, &merge);
    sta_run_writer_init(&writer, &grouping->shape, &grouping->order.layout, true, spill, LEAST_BUFFER);
    int rc = write_groups(&writer, &merge, err);
    if (rc == 0)
        rc = sta_run_writer_finish(&writer, &run, err);
    sta_run_writer_fini(&writer);
    end_merge(queue, count, &merge);
    if (rc == 0)
        push(queue, run);
    return rc;
}

static int merge_to_sink(struct sta_aggregation *grouping, struct queue *queue,
                         const struct sta_aggregation_output *sink, struct sta_error *err)
{
    size_t count = queue->count - queue->first;
    struct sta_group_merge merge;
    begin_merge(grouping, queue, count, &merge);
    int rc;
    uint32_t rows;
    do {
        struct sta_group_batch batch;
        rc = sta_group_batch_init(&batch, &grouping->results, &merge, STA_VECTOR_ROWS, err);
        rows = batch.rows;
        if (rc == 0)
            rc = emit_batch(grouping, &batch, sink, err);
        sta_group_batch_fini(&batch);
    } while (rc == 0 && rows == STA_VECTOR_ROWS);
    end_merge(queue, count, &merge);
    return rc;
}

/* Merged one group after another, in several rounds if they are too many for the memory. */
static int finish_runs(struct sta_aggregation *grouping, const struct sta_aggregation_output *sink,
                       struct sta_error *err)
{
    struct queue queue = {0};
    struct sta_spill *spill = NULL;
    int rc = STA_OK;
    size_t most = grouping->budget.memory / 2 / (LEAST_BUFFER * (1 + grouping->shape.list_count));
    most = STA_MAX(most, (size_t)2);
    collect(grouping, &queue);
    if (queue.count > most)
        rc = sta_spill_create(grouping->spill_folder, &spill, err);
    while (rc == 0 && queue.count - queue.first > most)
        rc = merge_to_run(grouping, &queue, most, spill, err);
    if (rc == 0)
        rc = merge_to_sink(grouping, &queue, sink, err);
    grouping->figures.spilled += spill != NULL ? sta_spill_size(spill) : 0;
    while (queue.first < queue.count)
        sta_run_destroy(queue.runs[queue.first++]);
    free(queue.runs);
    sta_spill_destroy(spill);
    return rc;
}

/* ---- all of it */

static void close_texts(struct sta_shape *shape)
{
    for (size_t k = 0; k < shape->key_count; k++)
        if (shape->key_texts[k] != NULL)
            sta_texts_close(shape->key_texts[k]);
    for (size_t a = 0; a < shape->argument_count; a++)
        if (shape->argument_texts[a] != NULL)
            sta_texts_close(shape->argument_texts[a]);
}

#define FEW_ENTRIES 2048 /* which one thread unites in less time than another takes to begin */

static bool has_few_entries(const struct sta_group_worker *worker)
{
    size_t count = worker->table.count;
    for (size_t l = 0; l < worker->shape->list_count; l++)
        count += worker->table.logs[l].count;
    return worker->sealed_count == 0 && count <= FEW_ENTRIES;
}

static bool count_up(struct sta_aggregation *grouping)
{
    bool spilled = false, few = true;
    for (unsigned w = 0; w < grouping->worker_count; w++) {
        const struct sta_group_worker *worker = grouping->workers[w];
        grouping->figures.rows += worker->rows;
        grouping->figures.memory += worker->memory;
        spilled = spilled || worker->run_count > 0;
        few = few && has_few_entries(worker);
    }
    grouping->budget.workers = few ? 1 : grouping->budget.workers;
    return spilled;
}

static int spill_worker(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct sta_aggregation *grouping = context;
    int rc = sta_group_worker_spill(grouping->workers[number], err);
    if (rc == 0)
        sta_group_worker_free_tables(grouping->workers[number]);
    return rc;
}

int sta_aggregation_finish(struct sta_aggregation *grouping, const struct sta_aggregation_output *sink,
                           struct sta_error *err)
{
    size_t count;
    const bool spilled = count_up(grouping);
    int rc = STA_OK;
    close_texts(&grouping->shape);
    if (grouping->shape.key_count == 0)
        rc = sta_group_worker_add_empty(grouping->workers[0], err);
    if (rc == 0 && spilled)
        rc = sta_tasks_run(&grouping->budget, grouping->worker_count, spill_worker, grouping, err);
    struct sta_group_table **tables = sta_group_tables(grouping, &count); /* none once they are spilled */
    if (rc == 0)
        rc = sta_group_make_order(grouping, tables, count, err);
    if (rc == 0)
        rc = sta_group_results_init(&grouping->results, &grouping->shape, &grouping->order, err);
    if (rc == 0)
        rc = spilled ? finish_runs(grouping, sink, err) : finish_tables(grouping, tables, count, sink, err);
    free(tables);
    return rc;
}
