/* workload.c - what a benchmark does: ranks that compute in steps, and their readers that fetch samples meanwhile.
 *
 * DESIGN  Each rank has its own clock and lives in windows: one step, one checkpoint, the start. All calls of the rank and its readers
 * that matter for overlap lie within the window in which they begin, so busy and exposed time can be summed window by window
 * (rank_note, close_window) in little memory. A step's window: the readers fetch what is needed at once while the rank waits
 * (loop.iter), then the rank computes while they fetch ahead. With --overlap F, F of the samples (evenly) are fetched wholly during
 * compute and the others wholly before; without it samples straddle the border as they do in life.
 *
 * The number of events is kept by budget: epochs end when their part is spent, and what a whole step no longer fits is filled with
 * storage calls. */
#include "generator.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 4 /* of a reader in a step */, PREADS_MOST = 14, TENSORS = 6, COMPUTE_TIME = 1361000 };

struct rank {
    const struct options *options;
    const struct shape_layers *shape;
    struct totals *totals;
    struct process *processes; /* the main one, then its readers */
    unsigned number, count;
    struct random random;
    int64_t now, latest;      /* the rank's clock; the latest end of its readers' start */
    uint64_t budget, written; /* events */
    unsigned epoch, step, samples_made, checkpoints;
    bool in_epoch, done;
    uint64_t run_id, epoch_id;
    int64_t run_ts, epoch_ts;
    int64_t *cursors; /* of a step: each reader's clock, and what it has yet to fetch */
    unsigned *hidden;
    struct intervals layers[LAYERS_LIMIT]; /* of the current window */
    int64_t exposed[LAYERS_LIMIT];
};

void rank_note(struct rank *rank, uint32_t layers, int64_t ts, int64_t dur)
{
    for (; layers; layers &= layers - 1)
        intervals_add(&rank->layers[__builtin_ctz(layers)], ts, ts + dur);
}

static void close_window(struct rank *rank)
{
    struct intervals *compute = &rank->layers[rank->shape->compute];
    intervals_unite(compute);
    for (unsigned i = 0; i < rank->shape->count; i++) {
        struct intervals *set = &rank->layers[i];
        intervals_unite(set);
        rank->totals->layers[i].busy_group_sum += intervals_measure(set);
        rank->exposed[i] += intervals_measure_minus(set, compute);
    }
    for (unsigned i = 0; i < rank->shape->count; i++)
        rank->layers[i].count = 0;
}

/* ---- writing calls */

static struct call call_at(struct process *process, enum kind kind, int64_t ts)
{
    return (struct call){.kind = kind, .ts = ts, .id = process->next_id++};
}

static void finish(struct process *process, struct call *call, int64_t end, uint64_t parent, int level)
{
    call->dur = end - call->ts;
    call->args[ARG_PARENT] = (int64_t)parent;
    call->args[ARG_LEVEL] = level;
    process_call(process, call);
    process->rank->written++;
    fault_plan_run(process->plan, process, false);
}

/* A call without children: begins at *@now, moves it on. */
static void simple(struct process *process, struct call call, int64_t *now, int64_t typical, uint64_t parent,
                   int level)
{
    call.ts = *now;
    call.id = process->next_id++;
    *now += random_duration(&process->random, typical);
    finish(process, &call, *now, parent, level);
    *now += 2 + (int64_t)random_below(&process->random, 12);
}

static void get_uri(struct process *process, int64_t *now, uint64_t parent, int level)
{
    simple(process, (struct call){.kind = KIND_GET_URI}, now, 8, parent, level);
}

/* ---- one sample */

struct sample {
    uint64_t file;
    int64_t image, size;
    unsigned step, epoch, reads;
    int level;
};

static void set_sample_args(struct call *call, const struct sample *sample, int64_t image_size)
{
    call->args[ARG_IMAGE] = sample->image;
    call->args[ARG_IMAGE_SIZE] = image_size;
    call->args[ARG_STEP] = sample->step;
    call->args[ARG_EPOCH] = sample->epoch;
}

static struct call file_call(enum kind kind, uint64_t file, int64_t fd)
{
    struct call call = {.kind = kind, .file = file};
    call.args[ARG_FD] = fd;
    return call;
}

static void open_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    bool plain = process->dialect == DIALECT_PLAIN;
    struct call call = file_call(plain ? KIND_OPEN64 : KIND_OPEN, sample->file, 19);
    call.args[ARG_RET] = 19;
    call.args[ARG_FLAGS] = plain ? 524288 : 0;
    simple(process, call, now, 556, parent, sample->level + 2);
    simple(process, file_call(plain ? KIND_FXSTAT64 : KIND_FXSTAT, sample->file, 19), now, 180, parent,
           sample->level + 2);
    if (!plain)
        simple(process, file_call(KIND_LXSTAT, sample->file, 19), now, 38, parent, sample->level + 2);
}

/* Small reads of headers and the index, then the bulk in one or more. */
static void read_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    static const int64_t heads[] = {8, 8, 16, 96, 512, 328, 272, 512, 2048, 120, 544, 1024};
    bool plain = process->dialect == DIALECT_PLAIN;
    int64_t offset = 0, bulk = sample->reads > 9 ? 3 : 1;
    for (unsigned i = 0; i < sample->reads; i++) {
        int64_t after = (int64_t)(sample->reads - i);
        int64_t size = after > bulk ? heads[i % 12] : (sample->size - offset) / after;
        struct call call = file_call(plain ? KIND_READ : KIND_PREAD, sample->file, 19);
        if (plain) {
            struct call seek = file_call(KIND_LSEEK64, sample->file, 19);
            seek.args[ARG_RET] = seek.args[ARG_OFFSET] = offset;
            simple(process, seek, now, 3, parent, sample->level + 2);
        }
        call.args[ARG_RET] = call.args[ARG_COUNT] = size;
        call.args[ARG_OFFSET] = offset;
        simple(process, call, now, size < 4096 ? 24 : size / 1500 + 40, parent, sample->level + 2);
        offset += size;
    }
}

static void close_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    simple(process, file_call(KIND_CLOSE, sample->file, 19), now, 680, parent, sample->level + 2);
}

static void dlio_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    int level = sample->level;
    struct call item = call_at(process, KIND_GETITEM, *now);
    struct call index =
        call_at(process, KIND_READ_INDEX, *now += 80 + (int64_t)random_below(&process->random, 60));
    struct call open =
        call_at(process, KIND_READER_OPEN, *now += 90 + (int64_t)random_below(&process->random, 70));
    open_sample(process, sample, now, open.id);
    set_sample_args(&open, sample, 25);
    finish(process, &open, *now, index.id, level + 2);
    struct call get = call_at(process, KIND_GET_SAMPLE, *now += 60);
    read_sample(process, sample, now, get.id);
    set_sample_args(&get, sample, sample->size);
    finish(process, &get, *now, index.id, level + 2);
    *now += 15;
    struct call preprocess = {.kind = KIND_PREPROCESS};
    set_sample_args(&preprocess, sample, 0);
    simple(process, preprocess, now, 20, index.id, level + 2);
    struct call closing = call_at(process, KIND_READER_CLOSE, *now += 25);
    close_sample(process, sample, now, closing.id);
    set_sample_args(&closing, sample, sample->size);
    finish(process, &closing, *now, index.id, level + 2);
    set_sample_args(&index, sample, sample->size);
    finish(process, &index, *now += 8, item.id, level + 1);
    set_sample_args(&item, sample, 0);
    finish(process, &item, *now += 9, parent, level);
    *now += 30 + (int64_t)random_below(&process->random, 200);
}

static void ai_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    int level = sample->level;
    struct call item = call_at(process, KIND_AI_ITEM, *now);
    struct call open =
        call_at(process, KIND_AI_READER_OPEN, *now += 90 + (int64_t)random_below(&process->random, 70));
    open_sample(process, sample, now, open.id);
    set_sample_args(&open, sample, 25);
    finish(process, &open, *now, item.id, level + 1);
    struct call get = call_at(process, KIND_AI_GET_SAMPLE, *now += 60);
    read_sample(process, sample, now, get.id);
    close_sample(process, sample, now, get.id);
    set_sample_args(&get, sample, sample->size);
    finish(process, &get, *now, item.id, level + 1);
    struct call preprocess = {.kind = KIND_AI_PREPROCESS};
    set_sample_args(&preprocess, sample, 0);
    simple(process, preprocess, now, 2400, item.id, level + 1);
    set_sample_args(&item, sample, 0);
    finish(process, &item, *now += 9, parent, level);
    *now += 30 + (int64_t)random_below(&process->random, 200);
}

static void fetch_sample(struct rank *rank, struct process *process, int64_t *now, uint64_t parent)
{
    uint64_t image = random_below(&process->random, rank->options->files);
    uint64_t traits = mix64(image ^ rank->options->seed);
    struct sample sample = {.file = file_id(FILE_DATA, image),
                            .image = (int64_t)image,
                            .size = 96000000 + (int64_t)(traits % 100000000),
                            .step = rank->step,
                            .epoch = rank->epoch + 1,
                            .reads = 5 + (unsigned)(traits >> 40) % (PREADS_MOST - 4),
                            .level = 8};
    (rank->options->shape == SHAPE_AI ? ai_sample : dlio_sample)(process, &sample, now, parent);
}

/* ---- one step */

/* Whether the next sample is fetched during compute: evenly spread, so that the share comes out. */
static bool is_hidden(struct rank *rank)
{
    double share = rank->options->overlap < 0 ? 0.7 : rank->options->overlap;
    unsigned i = rank->samples_made++;
    return rank->count > 1 && (uint64_t)((i + 1) * share) > (uint64_t)(i * share);
}

/* The main process' side of a step of the dlio shape; @wait: until when it waits for data, @end: when compute ends. */
static void dlio_step(struct rank *rank, int64_t wait, int64_t end)
{
    struct process *main = &rank->processes[0];
    struct call iter = call_at(main, KIND_LOOP_ITER, rank->now), trace = {.kind = KIND_TRACE_OBJECT};
    iter.args[ARG_STEP] = rank->step;
    iter.args[ARG_IMAGE] = (int64_t)random_below(&rank->random, rank->options->files);
    finish(main, &iter, wait, rank->epoch_id, 8);
    struct call yield = call_at(main, KIND_LOOP_YIELD, wait + 1);
    yield.args[ARG_STEP] = rank->step;
    yield.args[ARG_IMAGE] = iter.args[ARG_IMAGE];
    int64_t now = wait + 20;
    simple(main, trace, &now, 10, rank->epoch_id, 8);
    struct call compute = call_at(main, KIND_COMPUTE, wait + 100);
    compute.args[ARG_IMAGE_SIZE] = 5;
    finish(main, &compute, end, rank->epoch_id, 8);
    finish(main, &yield, end + 90, rank->epoch_id, 8);
    rank->now = end + 120;
}

static void ai_step(struct rank *rank, int64_t wait, int64_t end)
{
    struct process *main = &rank->processes[0];
    struct call fetch = call_at(main, KIND_AI_FETCH, rank->now),
                transfer = call_at(main, KIND_AI_TRANSFER, wait + 5);
    struct call compute = call_at(main, KIND_AI_COMPUTE, wait + 100),
                forward = call_at(main, KIND_AI_FORWARD, wait + 101);
    int64_t half = (end - wait - 100) / 2;
    fetch.args[ARG_STEP] = transfer.args[ARG_STEP] = compute.args[ARG_STEP] = forward.args[ARG_STEP] =
        rank->step;
    fetch.args[ARG_EPOCH] = transfer.args[ARG_EPOCH] = compute.args[ARG_EPOCH] = forward.args[ARG_EPOCH] =
        rank->epoch + 1;
    struct call backward = forward, reduce = forward, step = forward;
    backward.kind = KIND_AI_BACKWARD, reduce.kind = KIND_AI_ALL_REDUCE, step.kind = KIND_AI_STEP;
    backward.ts = wait + 101 + half, reduce.ts = end - 9000, step.ts = end + 1;
    backward.id = main->next_id++, reduce.id = main->next_id++, step.id = main->next_id++;
    finish(main, &fetch, wait, rank->epoch_id, 8);
    finish(main, &transfer, wait + 80, rank->epoch_id, 8);
    finish(main, &forward, backward.ts - 1, compute.id, 9);
    finish(main, &backward, end, compute.id, 9);
    finish(main, &reduce, end + 20000, compute.id, 9);
    finish(main, &compute, end + 1, rank->epoch_id, 8);
    finish(main, &step, end + 4000, rank->epoch_id, 8);
    rank->now = end + 20100;
}

static void step(struct rank *rank)
{
    unsigned readers = rank->count > 1 ? rank->count - 1 : 1;
    struct process *first = &rank->processes[rank->count > 1];
    bool planted = rank->options->overlap >= 0;
    unsigned *hidden = rank->hidden;
    int64_t *cursors = rank->cursors, wait = rank->now + 200, end;
    rank->step++;
    for (unsigned r = 0; r < readers; r++) {
        hidden[r] = 0;
        cursors[r] = rank->now + 20 + (int64_t)random_below(&rank->random, 100);
        for (int i = 0; i < SAMPLES; i++)
            if (is_hidden(rank))
                hidden[r]++;
            else
                fetch_sample(rank, &first[r], &cursors[r], rank->epoch_id);
        if (cursors[r] > wait)
            wait = cursors[r];
    }
    end = wait + 100 + random_duration(&rank->random, COMPUTE_TIME);
    for (unsigned r = 0; r < readers; r++) {
        if (planted)
            cursors[r] = wait + 300;
        for (unsigned i = 0; i < hidden[r]; i++)
            fetch_sample(rank, &first[r], &cursors[r], rank->epoch_id);
        if (cursors[r] > end)
            end = cursors[r];
    }
    (rank->options->shape == SHAPE_AI ? ai_step : dlio_step)(rank, wait, end);
    close_window(rank);
}

/* ---- checkpoints */

static void write_checkpoint(struct rank *rank, uint64_t file, int64_t *now, uint64_t parent)
{
    struct process *main = &rank->processes[0];
    struct call open = file_call(KIND_OPEN64, file, 21), write = file_call(KIND_WRITE, file, 21);
    open.args[ARG_RET] = 21, open.args[ARG_FLAGS] = 524865, open.args[ARG_MODE] = 438;
    simple(main, open, now, 1625, parent, 10);
    simple(main, file_call(KIND_FXSTAT64, file, 21), now, 603, parent, 10);
    simple(main, file_call(KIND_LSEEK64, file, 21), now, 2, parent, 10);
    for (int i = 0; i < TENSORS; i++) {
        write.args[ARG_COUNT] = write.args[ARG_RET] = 11420 + (int64_t)random_below(&rank->random, 64 << 20);
        simple(main, write, now, write.args[ARG_RET] / 900 + 20, parent, 10);
    }
    simple(main, file_call(KIND_FSYNC, file, 21), now, 30000, parent, 10);
    simple(main, file_call(KIND_CLOSE, file, 21), now, 900, parent, 10);
}

static void checkpoint(struct rank *rank)
{
    struct process *main = &rank->processes[0];
    bool ai = rank->options->shape == SHAPE_AI;
    uint64_t number =
        (uint64_t)(rank->epoch + 1) << 40 | (uint64_t)(rank->step & 0xffffff) << 16 | rank->number;
    uint64_t file = file_id(rank->checkpoints++ & 1 ? FILE_CHECKPOINT_SSD : FILE_CHECKPOINT_LUSTRE, number);
    struct call save = call_at(main, ai ? KIND_AI_CAPTURE : KIND_SAVE_CHECKPOINT, rank->now);
    save.args[ARG_EPOCH] = rank->epoch + 1;
    int64_t now = rank->now + 60;
    get_uri(main, &now, save.id, 9);
    struct call mkdir = file_call(KIND_MKDIR, file, 0);
    mkdir.args[ARG_MODE] = 511;
    simple(main, mkdir, &now, 340, save.id, 9);
    simple(main, file_call(KIND_XSTAT64, file, 0), &now, 25, save.id, 9);
    struct call state = call_at(main, KIND_SAVE_STATE, now);
    state.args[ARG_EPOCH] = rank->epoch + 1;
    now += 30;
    write_checkpoint(rank, file, &now, state.id);
    finish(main, &state, now, save.id, 9);
    finish(main, &save, now + 20, rank->epoch_id, 8);
    rank->now = now + 100;
    close_window(rank);
}

/* ---- a rank's life */

static uint64_t step_cost(const struct rank *rank)
{
    unsigned readers = rank->count > 1 ? rank->count - 1 : 1;
    return (uint64_t)readers * SAMPLES * (2 * PREADS_MOST + 13) + 8;
}

enum { CLOSING_COST = 64, CHECKPOINT_EVERY = 200 };

/* The events that end the rank: two that hold everything in the ai shape, one in dlio's; an end event of each hashed process. */
static uint64_t ending_cost(const struct rank *rank)
{
    bool hashed = rank->processes[0].dialect == DIALECT_HASHED;
    return (rank->options->shape == SHAPE_AI ? 2 : 1) + (hashed ? rank->count : 0);
}

static void start_process(struct process *process, int64_t ts, int64_t parent)
{
    if (process->dialect == DIALECT_PLAIN)
        return;
    process_introduce(process);
    struct call start = call_at(process, KIND_START, ts);
    start.args[ARG_CMD_HASH] = (int64_t)UINT64_C(17868160079272185648);
    start.args[ARG_EXEC_HASH] = (int64_t)UINT64_C(15997048988198709261);
    start.args[ARG_VERSION] = 100008;
    start.args[ARG_PPID] = parent;
    finish(process, &start, ts, (uint64_t)-1, 1);
}

static void read_system_files(struct process *main, int64_t *now, uint64_t parent)
{
    for (unsigned i = 0; i < 4; i++) {
        struct call open = file_call(KIND_OPEN64, file_id(FILE_SYSTEM, i), 5);
        open.args[ARG_RET] = 5;
        simple(main, open, now, 90, parent, 4);
        struct call read = file_call(KIND_READ, file_id(FILE_SYSTEM, i), 5);
        read.args[ARG_RET] = read.args[ARG_COUNT] = 832;
        simple(main, read, now, 12, parent, 4);
    }
}

static void fork_readers(struct rank *rank)
{
    struct process *main = &rank->processes[0];
    for (unsigned i = 1; i < rank->count; i++) {
        struct process *reader = &rank->processes[i];
        if (main->dialect == DIALECT_HASHED) {
            struct call fork = {.kind = KIND_FORK};
            fork.args[ARG_RET] = reader->pid;
            simple(main, fork, &rank->now, 24900, rank->run_id, 8);
        }
        int64_t now = rank->now;
        start_process(reader, now, main->pid);
        if (rank->options->shape == SHAPE_DLIO)
            simple(reader, (struct call){.kind = KIND_WORKER_INIT}, &now, 145000, 0, 9);
        if (now > rank->latest)
            rank->latest = now;
    }
    if (rank->latest > rank->now)
        rank->now = rank->latest;
}

static void rank_begin(struct rank *rank)
{
    struct process *main = &rank->processes[0];
    start_process(main, rank->now, 4242);
    rank->now += 1200000 + (int64_t)random_below(&rank->random, 300000);
    simple(main, (struct call){.kind = KIND_BENCHMARK_INIT}, &rank->now, 87, 6, 2);
    struct call initialize = call_at(main, KIND_INITIALIZE, rank->now),
                walk = call_at(main, KIND_WALK_NODE, rank->now + 20);
    struct call node = call_at(main, KIND_GET_NODE, rank->now + 12);
    int64_t now = rank->now + 40;
    get_uri(main, &now, walk.id, 4);
    simple(main, file_call(KIND_XSTAT64, file_id(FILE_DATA_FOLDER, 0), 0), &now, 46, node.id, 4);
    simple(main, file_call(KIND_OPENDIR, file_id(FILE_DATA_FOLDER, 0), 0), &now, 2500, walk.id, 4);
    finish(main, &walk, now, node.id, 3);
    finish(main, &node, now + 5, initialize.id, 3);
    read_system_files(main, &now, initialize.id);
    simple(main, (struct call){.kind = KIND_DERIVE}, &now, 7800, initialize.id, 3);
    finish(main, &initialize, now, 8, 3);
    rank->now = now + 600;
    rank->run_ts = rank->now;
    rank->run_id = main->next_id++;
    fork_readers(rank);
    close_window(rank);
}

static void begin_epoch(struct rank *rank)
{
    struct process *main = &rank->processes[0];
    rank->epoch_id = main->next_id++;
    rank->epoch_ts = rank->now;
    struct call loader = {.kind = KIND_LOADER_READ};
    simple(main, loader, &rank->now, 900, rank->epoch_id, 7);
    simple(main, (struct call){.kind = KIND_LOADER_NEXT}, &rank->now, 6, rank->epoch_id, 8);
    rank->in_epoch = true;
}

static void end_epoch(struct rank *rank)
{
    struct process *main = &rank->processes[0];
    checkpoint(rank);
    struct call train = {.kind = rank->options->shape == SHAPE_AI ? KIND_AI_EPOCH : KIND_TRAIN,
                         .ts = rank->epoch_ts,
                         .id = rank->epoch_id};
    train.args[ARG_EPOCH] = rank->epoch + 1;
    train.args[ARG_STEP] = rank->step;
    finish(main, &train, rank->now, rank->run_id, 7);
    simple(main, (struct call){.kind = KIND_LOADER_FINALIZE}, &rank->now, 6, rank->run_id, 7);
    simple(main, (struct call){.kind = KIND_RECONFIGURE}, &rank->now, 1981, rank->run_id, 7);
    rank->in_epoch = false;
    rank->epoch++;
    close_window(rank);
}

static void rank_end(struct rank *rank)
{
    struct process *main = &rank->processes[0];
    bool ai = rank->options->shape == SHAPE_AI;
    while (rank->written + ending_cost(rank) < rank->budget)
        get_uri(main, &rank->now, rank->run_id, 7);
    struct call run = {.kind = ai ? KIND_AI_ROOT : KIND_RUN, .ts = rank->run_ts, .id = rank->run_id};
    if (ai) {
        struct call train = call_at(main, KIND_AI_TRAIN, rank->run_ts + 10);
        finish(main, &train, rank->now, rank->run_id, 6);
    }
    run.args[ARG_EPOCH] = rank->epoch;
    run.args[ARG_STEP] = rank->step;
    finish(main, &run, rank->now + 40, 5, 6);
    for (unsigned i = 0; i < rank->count && main->dialect == DIALECT_HASHED; i++) {
        struct process *process = &rank->processes[rank->count - 1 - i];
        struct call end = call_at(process, KIND_END, rank->now + 24000 + i);
        end.args[ARG_NUM_EVENTS] = (int64_t)process->next_id - 1;
        finish(process, &end, end.ts, 0, 7);
    }
    close_window(rank);
}

/* Does the next thing.  Return: whether there is more to do. */
static bool rank_advance(struct rank *rank)
{
    uint64_t epochs = rank->options->epochs;
    uint64_t share = rank->budget / epochs * (rank->epoch + 1);
    if (rank->epoch == epochs) {
        rank_end(rank);
        return false;
    }
    if (!rank->in_epoch)
        begin_epoch(rank);
    else if (rank->written + step_cost(rank) + CLOSING_COST + rank->count > share)
        end_epoch(rank);
    else
        step(rank);
    if (rank->in_epoch && rank->step % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1)
        checkpoint(rank);
    return true;
}

/* ---- ranks, files, tasks */

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
    rank->now = INT64_C(1744611912981173) + (int64_t)random_below(&rank->random, 3000);
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
