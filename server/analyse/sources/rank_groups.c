/* Roots from parents: each process is visited once.
 *
 * Walking up from a process ends at one without a parent, at one whose root is known, or in a loop.  Whoever
 * is on the loop is its own root (the walk that starts there closes there); whoever leads into it has the
 * member where it enters. */
#include "analyse/sources/rank_groups.h"

#include "common/account.h"
#include "common/memory.h"

#define WHAT "the groups of processes"

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

static void number_groups(struct sta_rank_groups *groups, const uint32_t *roots, uint32_t *group_of_root,
                          uint32_t process_count)
{
    for (uint32_t p = 0; p < process_count; p++)
        if (roots[p] == p) {
            group_of_root[p] = groups->group_count;
            groups->root_of_group[groups->group_count++] = p;
        }
    for (uint32_t p = 0; p < process_count; p++)
        groups->group_of_process[p] = group_of_root[roots[p]];
}

int sta_rank_groups_from_parents(struct sta_rank_groups *groups, const uint32_t *parents,
                                 uint32_t process_count, struct sta_account *account, struct sta_error *err)
{
    uint32_t *arrays[4] = {NULL}; /* roots, path, and the two that stay */
    int rc = 0;
    for (size_t i = 0; i < STA_COUNT_OF(arrays) && rc == 0; i++) {
        arrays[i] = sta_account_alloc(account, process_count, sizeof **arrays, WHAT, err);
        rc = arrays[i] != NULL ? 0 : err->status;
    }
    uint8_t *visits = rc == 0 ? sta_account_calloc(account, process_count, 1, WHAT, err) : NULL;
    *groups = (struct sta_rank_groups){
        .group_of_process = arrays[2], .root_of_group = arrays[3], .account = account};
    if (visits != NULL) {
        struct walk walk = {.parents = parents, .roots = arrays[0], .visits = visits, .path = arrays[1]};
        for (uint32_t p = 0; p < process_count; p++)
            resolve(&walk, p);
        number_groups(groups, walk.roots, walk.path, process_count);
    } else {
        rc = err->status;
        sta_rank_groups_fini(groups);
    }
    sta_account_free(account, visits);
    sta_account_free(account, arrays[0]);
    sta_account_free(account, arrays[1]);
    return rc;
}

int sta_rank_groups_init(struct sta_rank_groups *groups, const struct sta_snapshot *snapshot,
                         const struct sta_budget *budget, struct sta_error *err)
{
    const uint32_t *parents;
    int rc = sta_rank_parents(snapshot, budget, &parents, err);
    if (rc == 0)
        rc = sta_rank_groups_from_parents(groups, parents, sta_snapshot_entities(snapshot)->process_count,
                                          budget->account, err);
    return rc == 0 ? 0 : sta_error_wrap(err, "cannot find the rank groups");
}

void sta_rank_groups_fini(struct sta_rank_groups *groups)
{
    sta_account_free(groups->account, groups->group_of_process);
    sta_account_free(groups->account, groups->root_of_group);
    *groups = (struct sta_rank_groups){0};
}
