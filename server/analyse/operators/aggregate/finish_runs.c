/* The end of a grouping that has spilled: all tables go to runs, and the runs are merged. */
#include <stdlib.h>

#include "analyse/exec/tasks.h"
#include "analyse/operators/aggregate/aggregation.h"
#include "common/memory.h"

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

/* ---- tables to runs */

static int spill_worker(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct sta_aggregation *grouping = context;
    int rc = sta_group_worker_spill(grouping->workers[number], err);
    if (rc == 0)
        sta_group_worker_free_tables(grouping->workers[number]);
    return rc;
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
                        struct sta_group_cursor *cursors, struct sta_group_merge *merge)
{
    size_t streams = count * (1 + grouping->shape.list_count);
    size_t buffer =
        grouping->budget.memory / 4 / streams; /* as much again takes the order of groups at hand */
    buffer = STA_MIN(STA_MAX(buffer, LEAST_BUFFER), MOST_BUFFER) & ~(size_t)15;
    for (size_t r = 0; r < count; r++)
        sta_group_cursor_init_run(&cursors[r], &grouping->order, queue->runs[queue->first + r], buffer);
    sta_group_merge_init(merge, &grouping->order, &grouping->budget, cursors, count);
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
    struct sta_group_cursor *cursors = sta_alloc_array(count, sizeof *cursors);
    begin_merge(grouping, queue, count, cursors, &merge);
    sta_run_writer_init(&writer, &grouping->shape, &grouping->order.layout, true, spill, LEAST_BUFFER);
    int rc = write_groups(&writer, &merge, err);
    if (rc == 0)
        rc = sta_run_writer_finish(&writer, &run, err);
    sta_run_writer_fini(&writer);
    end_merge(queue, count, &merge);
    free(cursors);
    if (rc == 0)
        push(queue, run);
    return rc;
}

static int merge_to_sink(struct sta_aggregation *grouping, struct queue *queue,
                         const struct sta_aggregation_output *sink, struct sta_error *err)
{
    size_t count = queue->count - queue->first;
    struct sta_group_merge merge;
    struct sta_group_cursor *cursors = sta_alloc_array(count, sizeof *cursors);
    begin_merge(grouping, queue, count, cursors, &merge);
    int rc;
    uint32_t rows;
    do {
        struct sta_group_batch batch;
        rc = sta_group_batch_init(&batch, &grouping->results, &merge, STA_VECTOR_ROWS, err);
        rows = batch.rows;
        if (rc == 0)
            rc = sta_group_finish_emit(grouping, &batch, sink, err);
        sta_group_batch_fini(&batch);
    } while (rc == 0 && rows == STA_VECTOR_ROWS);
    end_merge(queue, count, &merge);
    free(cursors);
    return rc;
}

int sta_group_finish_runs(struct sta_aggregation *grouping, const struct sta_aggregation_output *sink,
                          struct sta_error *err)
{
    struct queue queue = {0};
    struct sta_spill *spill = NULL;
    int rc = sta_tasks_run(&grouping->budget, grouping->worker_count, spill_worker, grouping, err);
    if (rc == 0)
        rc = sta_group_make_order(grouping, NULL, 0, err);
    collect(grouping, &queue);
    if (rc == 0)
        rc = sta_group_results_init(&grouping->results, &grouping->shape, &grouping->order, err);
    size_t most = grouping->budget.memory / 2 / (LEAST_BUFFER * (1 + grouping->shape.list_count));
    most = STA_MAX(most, (size_t)2);
    if (rc == 0 && queue.count > most)
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
