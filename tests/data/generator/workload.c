/* workload.c - what a benchmark does: ranks that compute in steps, and their readers that fetch samples
 * meanwhile.
 *
 * DESIGN  Each rank has its own clock and lives in windows: one step, one checkpoint, the start. All calls of
 * the rank and its readers that matter for overlap lie within the window in which they begin, so busy and
 * exposed time can be summed window by window (rank_note, close_window) in little memory. A step's window:
 * the readers fetch what is needed at once while the rank waits (loop.iter), then the rank computes while
 * they fetch ahead. With --overlap F, F of the samples (evenly) are fetched wholly during compute and the
 * others wholly before; without it samples straddle the border as they do in life.
 *
 * The number of events is kept by budget: epochs end when their part is spent, and what a whole step no
 * longer fits is filled with storage calls. */
#include "rank.h"
#include <stdlib.h>
#include <string.h>

unsigned workload_outputs(const struct options *options)
{
    return options->output_files ? options->output_files : options->ranks * (1 + options->workers);
}

unsigned workload_tasks(const struct options *options)
{
    return options->output_files ? options->output_files : options->ranks;
}

static enum dialect dialect_of(const struct options *options, unsigned rank)
{
    if (options->dialect == DIALECT_MIXED)
        return rank % 3 == 1 ? DIALECT_PLAIN : DIALECT_HASHED;
    return options->dialect;
}

static void init_process(struct rank *rank, unsigned index, struct output *output, struct fault_plan *plan)
{
    const struct options *options = rank->options;
    struct process *process = &rank->processes[index];
    int64_t os_id = 1028567 + (int64_t)rank->number * (options->workers + 1) + index;
    enum dialect dialect = dialect_of(options, rank->number);
    *process = (struct process){.options = options,
                                .output = output,
                                .plan = plan,
                                .totals = rank->totals,
                                .rank = rank,
                                .dialect = dialect,
                                .hexadecimal = options->dialect == DIALECT_MIXED && rank->number % 3 == 2,
                                .host = rank->number * options->hosts / options->ranks,
                                .pid = dialect == DIALECT_PLAIN ? (int64_t)rank->number : os_id,
                                .tid = os_id,
                                .random = {mix64(options->seed ^ mix64((uint64_t)os_id))}};
    rank->totals->threads++;
    rank->totals->processes += dialect == DIALECT_HASHED || index == 0;
    process_init(process);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        abort();
    return memory;
}

static void rank_init(struct rank *rank, const struct options *options, unsigned number,
                      struct totals *totals)
{
    *rank = (struct rank){.options = options,
                          .shape = &shape_layers[options->shape],
                          .totals = totals,
                          .number = number,
                          .count = 1 + options->workers,
                          .budget =
                              options->events / options->ranks + (number < options->events % options->ranks),
                          .random = {mix64(options->seed + UINT64_C(0x51ed270b) * number)}};
    rank->now = START_TIME + (int64_t)random_below(&rank->random, 3000);
    rank->processes = allocate(rank->count, sizeof *rank->processes);
    rank->cursors = allocate(rank->count, sizeof *rank->cursors);
    rank->hidden = allocate(rank->count, sizeof *rank->hidden);
}

static void rank_fini(struct rank *rank)
{
    for (unsigned i = 0; i < rank->shape->count; i++) {
        struct layer_totals *layer = &rank->totals->layers[i];
        layer->exposed_group_sum += rank->exposed[i];
        if (rank->exposed[i] > layer->exposed_group_max)
            layer->exposed_group_max = rank->exposed[i];
        intervals_fini(&rank->layers[i]);
    }
    for (unsigned i = 0; i < rank->count; i++)
        process_fini(&rank->processes[i]);
    free(rank->processes);
    free(rank->cursors);
    free(rank->hidden);
}

struct sink {
    struct output *output;
    struct fault_plan plan;
};

static void sink_open(struct sink *sink, const struct options *options, unsigned index, struct totals *totals)
{
    unsigned count = workload_outputs(options);
    sink->output = output_open(options, index, count);
    fault_plan_init(&sink->plan, options, index, count, options->events / count);
    memcpy(output_reserve(sink->output, 2), "[", 1);
    output_end_line(sink->output, output_reserve(sink->output, 2) + 1);
    totals->framing++;
}

static void sink_close(struct sink *sink, const struct options *options, bool last, struct process *process)
{
    bool whole = !(last && options->truncate);
    fault_plan_run(&sink->plan, process, true);
    if (whole) {
        process_line(process, "]", 1);
        process->totals->framing++;
    }
    output_close(sink->output, whole, process->totals);
}

/* The rank that is behind goes next, so that a file's lines come roughly in order of time. */
static void run_ranks(struct rank *ranks, unsigned count)
{
    for (unsigned left = count; left;) {
        struct rank *next = NULL;
        for (unsigned i = 0; i < count; i++)
            if (!ranks[i].done && (!next || ranks[i].now < next->now))
                next = &ranks[i];
        next->done = !rank_advance(next);
        left -= next->done;
    }
}

void workload_run(const struct options *options, unsigned task, struct totals *totals)
{
    unsigned tasks = workload_tasks(options), outputs = workload_outputs(options);
    unsigned rank_count = (options->ranks - task + tasks - 1) / tasks, sink_count = outputs / tasks;
    struct rank *ranks = allocate(rank_count, sizeof *ranks);
    struct sink *sinks = allocate(sink_count, sizeof *sinks);
    for (unsigned i = 0; i < sink_count; i++)
        sink_open(&sinks[i], options, task * sink_count + i, totals);
    for (unsigned r = 0; r < rank_count; r++) {
        rank_init(&ranks[r], options, task + r * tasks, totals);
        for (unsigned p = 0; p < ranks[r].count; p++)
            init_process(&ranks[r], p, sinks[p % sink_count].output, &sinks[p % sink_count].plan);
        rank_begin(&ranks[r]);
    }
    run_ranks(ranks, rank_count);
    for (unsigned i = 0; i < sink_count; i++)
        sink_close(&sinks[i], options, task * sink_count + i == outputs - 1, &ranks[0].processes[i]);
    for (unsigned r = 0; r < rank_count; r++)
        rank_fini(&ranks[r]);
    free(ranks);
    free(sinks);
}
