/* Rank groups from parents. */
#include <criterion/criterion.h>

#include "analyse/rank_groups.h"

#define NONE STA_NO_PARENT

static void expect_roots(const uint32_t *parents, uint32_t count, const uint32_t *roots)
{
    struct sta_rank_groups groups;
    sta_rank_groups_from_parents(&groups, parents, count);
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
    sta_rank_groups_from_parents(&groups, NULL, 0);
    cr_assert_eq(groups.group_count, 0);
    sta_rank_groups_fini(&groups);
}
