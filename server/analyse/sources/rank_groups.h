/* rank_groups.h - which processes belong together: a training rank and the workers it forked (private to
 * analyse).
 *
 * overlap.md section 1: the parent of a process is what its own events state (args.ppid), else the process on
 * its host that logged a fork which returned its pid.  A group is named by its root, the topmost ancestor
 * that has events. */
#ifndef STA_ANALYSE_SOURCES_RANK_GROUPS_H
#define STA_ANALYSE_SOURCES_RANK_GROUPS_H

#include <stdint.h>

#include "analyse/analyse.h"
#include "common/error.h"
#include "store/store.h"

struct sta_rank_groups {
    uint32_t *group_of_process; /* by index of sta_entities.processes */
    uint32_t *root_of_group;    /* index of the root's process; groups come in the order of their roots */
    uint32_t group_count;
    struct sta_account *account;
};

#define STA_NO_PARENT UINT32_MAX

/** The index of the process that has a pid on a host (code of the entities' hosts, or STA_NO_CODE);
 * STA_NO_PARENT: there is none. */
uint32_t sta_process_find(const struct sta_entities *entities, uint32_t host, int64_t pid);

/**
 * sta_rank_groups_init - find the groups of all complete events of a snapshot, before any filter
 * Once for each snapshot it reads the row groups that hold args.ppid or a fork.
 * Return: 0, STA_ECORRUPT, STA_ECANCELLED, STA_ELIMIT, STA_EBUSY, STA_ENOMEM.
 */
STA_MUSTCHECK int sta_rank_groups_init(struct sta_rank_groups *groups, const struct sta_snapshot *snapshot,
                                       const struct sta_budget *budget, struct sta_error *err);
/** The same from known parents: by process, the index of its parent or STA_NO_PARENT.  A loop of parents ends
 * where it closes.  @account: charged with the groups.  Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM; then
 * there is nothing to fini. */
STA_MUSTCHECK int sta_rank_groups_from_parents(struct sta_rank_groups *groups, const uint32_t *parents,
                                               uint32_t process_count, struct sta_account *account,
                                               struct sta_error *err);
/** The parents themselves: by process, the index of its parent, or STA_NO_PARENT when it has none that has
 * events.  Found once for each snapshot, as long as which they live. */
STA_MUSTCHECK int sta_rank_parents(const struct sta_snapshot *snapshot, const struct sta_budget *budget,
                                   const uint32_t **parents, struct sta_error *err);
void sta_rank_groups_fini(struct sta_rank_groups *groups);

#endif
