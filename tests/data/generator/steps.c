/* steps.c - a step: readers fetch, the rank computes; and a checkpoint, which it waits for. */
#include "rank.h"

/* Whether the next sample is fetched during compute: evenly spread, so that the share comes out. */
static bool is_hidden(struct rank *rank)
{
    double share = rank->options->overlap < 0 ? 0.7 : rank->options->overlap;
    unsigned i = rank->samples_made++;
    return rank->count > 1 && (uint64_t)((i + 1) * share) > (uint64_t)(i * share);
}

int64_t next_meeting(struct rank *rank)
{
    uint64_t number = (uint64_t)rank->epoch << 32 | ++rank->epoch_step;
    struct random shared = {mix64(rank->options->seed ^ mix64(number))};
    int64_t compute = random_duration(&shared, COMPUTE_TIME);
    rank->meeting += INPUT_TIME + compute;
    return compute;
}

/* The main process' side of a step of the dlio shape; @wait: until when it waits for data, @end: when compute
 * ends. */
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

void step(struct rank *rank)
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
    bool together = rank->options->together;
    end = wait + 100 + (together ? next_meeting(rank) : random_duration(&rank->random, COMPUTE_TIME));
    for (unsigned r = 0; r < readers; r++) {
        if (planted)
            cursors[r] = wait + 300;
        for (unsigned i = 0; i < hidden[r]; i++)
            fetch_sample(rank, &first[r], &cursors[r], rank->epoch_id);
        if (cursors[r] > end)
            end = cursors[r];
    }
    if (together && end < rank->meeting)
        end = rank->meeting;
    (rank->options->shape == SHAPE_AI ? ai_step : dlio_step)(rank, wait, end);
    close_window(rank);
}

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

void checkpoint(struct rank *rank)
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

uint64_t step_cost(const struct rank *rank)
{
    unsigned readers = rank->count > 1 ? rank->count - 1 : 1;
    return (uint64_t)readers * SAMPLES * (2 * PREADS_MOST + 13) + 8;
}
