/* Distinct values of groups, from pairs in no order: sorted by counting, repetitions found by a mark per
 * value. */
#include "analyse/compatible/pass.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static size_t group_of_pair(const uint32_t *group_of, uint64_t pair)
{
    return group_of != NULL ? group_of[pair >> 32] : (size_t)(pair >> 32);
}

/* Puts every pair's value to its group. */
static void distribute(const struct sta_pairs *pairs, size_t list_count, const uint32_t *const *group_of,
                       size_t group_count, struct sta_members *members)
{
    for (size_t l = 0; l < list_count; l++)
        for (size_t i = 0; i < pairs[l].count; i++)
            members->start[group_of_pair(group_of != NULL ? group_of[l] : NULL, pairs[l].items[i]) + 1]++;
    for (size_t g = 0; g < group_count; g++)
        members->start[g + 1] += members->start[g];
    for (size_t l = list_count; l-- > 0;)
        for (size_t i = pairs[l].count; i-- > 0;) {
            uint64_t pair = pairs[l].items[i];
            size_t group = group_of_pair(group_of != NULL ? group_of[l] : NULL, pair);
            members->items[--members->start[group + 1]] = (uint32_t)pair;
        }
    /* start[g + 1] is now where group g begins: move it to its place. */
    memmove(members->start, members->start + 1, group_count * sizeof *members->start);
}

/* Removes repetitions, in place. */
static void thin_out(struct sta_members *members, size_t group_count, size_t total, uint32_t *mark)
{
    size_t kept = 0;
    members->start[group_count] = total;
    for (size_t g = 0; g < group_count; g++) {
        size_t from = members->start[g], to = members->start[g + 1];
        members->start[g] = kept;
        for (size_t i = from; i < to; i++) {
            uint32_t value = members->items[i];
            if (mark[value] == g + 1)
                continue;
            mark[value] = (uint32_t)g + 1;
            members->items[kept++] = value;
        }
    }
    members->start[group_count] = kept;
}

int sta_members_gather(const struct sta_pairs *pairs, size_t list_count, const uint32_t *const *group_of,
                       size_t group_count, uint32_t limit, struct sta_members *members, struct sta_error *err)
{
    size_t total = 0;
    for (size_t l = 0; l < list_count; l++)
        total += pairs[l].count;
    *members = (struct sta_members){.start = sta_alloc_array(group_count + 2, sizeof *members->start),
                                    .items = sta_try_alloc_array(total + 1, sizeof *members->items)};
    uint32_t *mark = sta_alloc_array((size_t)limit + 1, sizeof *mark);
    if (members->items == NULL) {
        free(mark);
        free(members->start);
        *members = (struct sta_members){0};
        return sta_fail(err, STA_ENOMEM, "no memory for the distinct files of each group");
    }
    distribute(pairs, list_count, group_of, group_count, members);
    thin_out(members, group_count, total, mark);
    free(mark);
    return 0;
}
