/* rank.c - a rank from start to end: it forks its readers, runs its epochs, and spends its budget of events
 * exactly. */
#include "rank.h"

enum { CLOSING_COST = 64, CHECKPOINT_EVERY = 200, FIRST_MEETING = 5000000 };

/* The events that end the rank: two that hold everything in the ai shape, one in dlio's; an end event of each
 * hashed process. */
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

void rank_begin(struct rank *rank)
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

/* Ranks begin an epoch together when the one with most steps can have ended the last: a step takes a little
 * less than half of what it may cost, more or less of it by rank. */
static void meet_for_epoch(struct rank *rank)
{
    uint64_t most =
        rank->options->events / rank->options->ranks / rank->options->epochs * 9 / step_cost(rank) / 4;
    if (rank->epoch == 0)
        rank->meeting = START_TIME + FIRST_MEETING;
    else
        while (rank->epoch_step < most)
            next_meeting(rank);
    rank->epoch_step = 0;
    if (rank->now < rank->meeting)
        rank->now = rank->meeting;
}

static void begin_epoch(struct rank *rank)
{
    if (rank->options->together)
        meet_for_epoch(rank);
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
bool rank_advance(struct rank *rank)
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
