/* Rank groups from parents. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "analyse/sources/rank_groups.h"
#include "common/memory.h"
#include "made_trace.h"

#define NONE STA_NO_PARENT

static void expect_roots(const uint32_t *parents, uint32_t count, const uint32_t *roots)
{
    struct sta_rank_groups groups;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_rank_groups_from_parents(&groups, parents, count, NULL, &err), 0, "%s", err.text);
    for (uint32_t p = 0; p < count; p++)
        cr_assert_eq(groups.root_of_group[groups.group_of_process[p]], roots[p], "process %u", p);
    for (uint32_t g = 1; g < groups.group_count; g++)
        cr_assert_lt(groups.root_of_group[g - 1], groups.root_of_group[g]);
    sta_rank_groups_fini(&groups);
}

Test(rank_groups, workers_of_workers_belong_to_the_topmost_rank)
{
    const uint32_t parents[] = {NONE, 0, 1, NONE, 3, 2};
    const uint32_t roots[] = {0, 0, 0, 3, 3, 0};
    expect_roots(parents, 6, roots);
}

Test(rank_groups, parents_may_come_after_their_children)
{
    const uint32_t parents[] = {2, 0, NONE, 1};
    const uint32_t roots[] = {2, 2, 2, 2};
    expect_roots(parents, 4, roots);
}

Test(rank_groups, a_loop_of_parents_ends_where_it_closes)
{
    const uint32_t parents[] = {
        1, 0, 0, 2, 4}; /* 0 and 1 state each other; 2 and 3 lead into the loop; 4 states itself */
    const uint32_t roots[] = {0, 1, 0, 0, 4};
    expect_roots(parents, 5, roots);
}

Test(rank_groups, without_processes_there_are_no_groups)
{
    struct sta_rank_groups groups;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_rank_groups_from_parents(&groups, NULL, 0, NULL, &err), 0, "%s", err.text);
    cr_assert_eq(groups.group_count, 0);
    sta_rank_groups_fini(&groups);
}

/* ---- from events */

/* The pid of a process's parent in the trace, or 0. */
static int64_t parent_of(const struct sta_snapshot *snapshot, const uint32_t *parents, int64_t pid)
{
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    for (uint32_t p = 0; p < entities->process_count; p++)
        if (entities->processes[p].pid == pid)
            return parents[p] == STA_NO_PARENT ? 0 : entities->processes[parents[p]].pid;
    cr_assert_fail("no process %ld", (long)pid);
    return -1;
}

static const struct made_event forks[] = {
    /* two files say different things of process 20 at the same time: the first by path counts */
    {"b.pfw", 50, 1, "start", "dftracer", "n1", NULL, 20, 20, {{"ppid", NULL, 11}}},
    {"b.pfw", 10, 1, "read", "posix", "n1", NULL, 11, 11, {{0}}},
    {"a.pfw", 50, 1, "start", "dftracer", "n1", NULL, 20, 20, {{"ppid", NULL, 10}}},
    {"a.pfw", 90, 1, "start", "dftracer", "n1", NULL, 20, 20, {{"ppid", NULL, 11}}},
    /* a fork by 11 comes later than one by 10, and other returns name no child */
    {"a.pfw", 60, 5, "fork", "posix", "n1", NULL, 10, 10, {{"ret", NULL, 30}}},
    {"a.pfw", 61, 5, "fork", "posix", "n1", NULL, 11, 11, {{"ret", NULL, 30}}},
    {"a.pfw", 5, 5, "fork", "posix", "n1", NULL, 11, 11, {{"ret", NULL, -1}}},
    {"a.pfw", 5, 5, "open", "posix", "n1", NULL, 11, 11, {{"ret", NULL, 40}}},
    {"a.pfw", 5, 5, "fork", "stdio", "n1", NULL, 11, 11, {{"ret", NULL, 40}}},
    {"a.pfw", 70, 1, "read", "posix", "n1", NULL, 30, 30, {{0}}},
    {"a.pfw", 70, 1, "read", "posix", "n1", NULL, 40, 40, {{0}}},
    /* what a process states goes before forks, even if its parent has no events; a text may be an integer */
    {"a.pfw", 80, 1, "clone", "posix", "n1", NULL, 10, 10, {{"ret", NULL, 50}}},
    {"a.pfw", 81, 1, "start", "dftracer", "n1", NULL, 50, 50, {{"ppid", NULL, 1}}},
    {"a.pfw", 82, 1, "start", "dftracer", "n1", NULL, 60, 60, {{"ppid", " 10 ", 0}}},
    {"a.pfw", 83, 1, "start", "dftracer", "n1", NULL, 70, 70, {{"ppid", "ten", 0}}},
    /* the same pids on another host are other processes */
    {"a.pfw", 84, 1, "vfork", "posix", "n2", NULL, 10, 10, {{"ret", NULL, 80}}},
    {"a.pfw", 85, 1, "read", "posix", "n2", NULL, 80, 80, {{0}}},
    {"a.pfw", 85, 1, "read", "posix", "n1", NULL, 90, 90, {{0}}},
    {"a.pfw", 86, 1, "fork", "posix", "n2", NULL, 10, 10, {{"ret", NULL, 90}}},
};

Test(rank_groups, parents_come_from_what_processes_state_then_from_forks_in_event_order)
{
    static const int64_t wanted[][2] = {{10, 0}, {11, 0},  {20, 10}, {30, 10}, {40, 0},
                                        {50, 0}, {60, 10}, {70, 0},  {80, 10}, {90, 0}};
    for (unsigned workers = 1; workers <= 3; workers++)
        for (uint32_t chunk_rows = 1; chunk_rows < 8; chunk_rows += 2) {
            struct made_trace trace;
            struct sta_error err = STA_ERROR_INIT;
            struct sta_budget budget = {.workers = workers, .memory = 1 << 20};
            const uint32_t *parents, *again;
            made_trace_init(&trace, forks, STA_COUNT_OF(forks), chunk_rows, workers);
            cr_assert_eq(sta_rank_parents(trace.snapshot, &budget, &parents, &err), 0, "%s", err.text);
            for (size_t i = 0; i < STA_COUNT_OF(wanted); i++)
                cr_assert_eq(parent_of(trace.snapshot, parents, wanted[i][0]), wanted[i][1],
                             "process %ld, chunks of %u, %u workers", (long)wanted[i][0], chunk_rows,
                             workers);
            cr_assert_eq(sta_rank_parents(trace.snapshot, &budget, &again, &err), 0, "%s", err.text);
            cr_assert_eq(again, parents, "they are found once");
            made_trace_fini(&trace);
        }
}

Test(rank_groups, a_trace_without_forks_has_a_group_per_process)
{
    static const struct made_event alone[] = {
        {"a.pfw", 1, 1, "read", "posix", NULL, NULL, 1, 1, {{0}}},
        {"a.pfw", 2, 1, "read", "posix", NULL, NULL, STA_NO_ID, 1, {{0}}}};
    struct made_trace trace;
    struct sta_rank_groups groups;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = {.workers = 2, .memory = 1 << 20};
    made_trace_init(&trace, alone, 2, 10, 1);
    cr_assert_eq(sta_rank_groups_init(&groups, trace.snapshot, &budget, &err), 0, "%s", err.text);
    cr_assert_eq(groups.group_count, 2);
    sta_rank_groups_fini(&groups);
    made_trace_fini(&trace);
}
