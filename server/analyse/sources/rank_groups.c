/* Roots from parents: each process is visited once.
 *
 * Walking up from a process ends at one without a parent, at one whose root is known, or in a loop.  Whoever
 * is on the loop is its own root (the walk that starts there closes there); whoever leads into it has the
 * member where it enters. */
#include "analyse/sources/rank_groups.h"

#include <stdlib.h>

#include "common/memory.h"

enum visit { VISIT_NOT_YET, VISIT_ON_PATH, VISIT_DONE };

struct walk {
    const uint32_t *parents;
    uint32_t *roots;
    uint8_t *visits;
    uint32_t *path;
};

static void resolve(struct walk *walk, uint32_t process)
{
    size_t length = 0;
    uint32_t at = process;
    while (at != STA_NO_PARENT && walk->visits[at] == VISIT_NOT_YET) {
        walk->visits[at] = VISIT_ON_PATH;
        walk->path[length++] = at;
        at = walk->parents[at];
    }
    uint32_t loop = at != STA_NO_PARENT && walk->visits[at] == VISIT_ON_PATH ? at : STA_NO_PARENT;
    uint32_t root = at != STA_NO_PARENT && walk->visits[at] == VISIT_DONE ? walk->roots[at] : STA_NO_PARENT;
    while (length > 0) {
        uint32_t here = walk->path[--length];
        if (root == STA_NO_PARENT || loop != STA_NO_PARENT)
            root = here;
        if (here == loop)
            loop = STA_NO_PARENT;
        walk->roots[here] = root;
        walk->visits[here] = VISIT_DONE;
    }
}

static void number_groups(struct sta_rank_groups *groups, const uint32_t *roots, uint32_t process_count)
{
    uint32_t *group_of_root = sta_alloc_array((size_t)process_count + 1, sizeof *group_of_root);
    for (uint32_t p = 0; p < process_count; p++)
        if (roots[p] == p) {
            group_of_root[p] = groups->group_count;
            groups->root_of_group[groups->group_count++] = p;
        }
    for (uint32_t p = 0; p < process_count; p++)
        groups->group_of_process[p] = group_of_root[roots[p]];
    free(group_of_root);
}

void sta_rank_groups_from_parents(struct sta_rank_groups *groups, const uint32_t *parents,
                                  uint32_t process_count)
{
    size_t room = (size_t)process_count + 1;
    struct walk walk = {.parents = parents,
                        .roots = sta_alloc_array(room, sizeof *walk.roots),
                        .visits = sta_alloc_array(room, sizeof *walk.visits),
                        .path = sta_alloc_array(room, sizeof *walk.path)};
    for (uint32_t p = 0; p < process_count; p++)
        resolve(&walk, p);
    *groups =
        (struct sta_rank_groups){.group_of_process = sta_alloc_array(room, sizeof *groups->group_of_process),
                                 .root_of_group = sta_alloc_array(room, sizeof *groups->root_of_group)};
    number_groups(groups, walk.roots, process_count);
    free(walk.path);
    free(walk.visits);
    free(walk.roots);
}

int sta_rank_groups_init(struct sta_rank_groups *groups, const struct sta_snapshot *snapshot,
                         const struct sta_budget *budget, struct sta_error *err)
{
    const uint32_t *parents;
    int rc = sta_rank_parents(snapshot, budget, &parents, err);
    if (rc != 0)
        return sta_error_wrap(err, "cannot find the rank groups");
    sta_rank_groups_from_parents(groups, parents, sta_snapshot_entities(snapshot)->process_count);
    return 0;
}

void sta_rank_groups_fini(struct sta_rank_groups *groups)
{
    free(groups->group_of_process);
    free(groups->root_of_group);
    *groups = (struct sta_rank_groups){0};
}
