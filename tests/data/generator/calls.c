/* calls.c - how a rank writes a call, and how the intervals of a window become busy and exposed time. */
#include "rank.h"

void rank_note(struct rank *rank, uint32_t layers, int64_t ts, int64_t dur)
{
    for (; layers; layers &= layers - 1)
        intervals_add(&rank->layers[__builtin_ctz(layers)], ts, ts + dur);
}

void close_window(struct rank *rank)
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

struct call call_at(struct process *process, enum kind kind, int64_t ts)
{
    return (struct call){.kind = kind, .ts = ts, .id = process->next_id++};
}

void finish(struct process *process, struct call *call, int64_t end, uint64_t parent, int level)
{
    call->dur = end - call->ts;
    call->args[ARG_PARENT] = (int64_t)parent;
    call->args[ARG_LEVEL] = level;
    process_call(process, call);
    process->rank->written++;
    fault_plan_run(process->plan, process, false);
}

/* A call without children: begins at *@now, moves it on. */
void simple(struct process *process, struct call call, int64_t *now, int64_t typical, uint64_t parent,
            int level)
{
    call.ts = *now;
    call.id = process->next_id++;
    *now += random_duration(&process->random, typical);
    finish(process, &call, *now, parent, level);
    *now += 2 + (int64_t)random_below(&process->random, 12);
}

void get_uri(struct process *process, int64_t *now, uint64_t parent, int level)
{
    simple(process, (struct call){.kind = KIND_GET_URI}, now, 8, parent, level);
}

struct call file_call(enum kind kind, uint64_t file, int64_t fd)
{
    struct call call = {.kind = kind, .file = file};
    call.args[ARG_FD] = fd;
    return call;
}
