/* Rank groups with what a request says of them: a process that is named belongs where it is named, whatever
 * its ancestors; those that descend from it follow.  So named processes lose their parents, roots are found
 * as ever, and a root that is named takes the name of its group. */
#include "analyse/overlap/given_groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/rank_groups.h"
#include "common/memory.h"

/* ---- what a request may say */

static int fail_group(size_t group, const char *member, const char *wanted, struct sta_error *err)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/rank_groups/%zu%s%s", group, *member ? "/" : "", member);
    sta_fail(err, STA_EINPUT, "expected %s", wanted);
    return sta_at(err, pointer, -1);
}

static int check_group(const struct sta_document *group, size_t number, struct sta_error *err)
{
    if (group->type != STA_DOCUMENT_OBJECT)
        return fail_group(number, "", "an object {\"host_name\": .., \"pids\": [..]}", err);
    for (const struct sta_document *member = group->first; member != NULL; member = member->next)
        if (strcmp(member->name, "host_name") != 0 && strcmp(member->name, "pids") != 0)
            return fail_group(number, "", "the members host_name and pids, nothing else", err);
    const struct sta_document *host = sta_document_member(group, "host_name");
    if (host == NULL || (host->type != STA_DOCUMENT_TEXT && host->type != STA_DOCUMENT_NULL))
        return fail_group(number, "host_name", "the name of a host, or null", err);
    const struct sta_document *pids = sta_document_member(group, "pids");
    if (pids == NULL || pids->type != STA_DOCUMENT_LIST || pids->count == 0)
        return fail_group(number, "pids", "a list of process ids, the root's first", err);
    for (const struct sta_document *pid = pids->first; pid != NULL; pid = pid->next)
        if (pid->type != STA_DOCUMENT_INT)
            return fail_group(number, "pids", "whole numbers", err);
    return 0;
}

int sta_given_groups_check(const struct sta_document *rank_groups, struct sta_error *err)
{
    if (rank_groups->type != STA_DOCUMENT_LIST) {
        sta_fail(err, STA_EINPUT, "expected a list of {\"host_name\": .., \"pids\": [..]}, not %s",
                 sta_document_kind(rank_groups));
        return sta_at(err, "/rank_groups", -1);
    }
    size_t number = 0;
    int rc = 0;
    for (const struct sta_document *group = rank_groups->first; rc == 0 && group != NULL; group = group->next)
        rc = check_group(group, number++, err);
    return rc;
}

/* ---- processes by (host, pid) */

struct placed_process {
    uint32_t host;
    int64_t pid;
    uint32_t process;
};

static int compare_processes(const void *a, const void *b)
{
    const struct placed_process *x = a;
    const struct placed_process *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct placed_process *index_processes(const struct sta_entities *entities)
{
    struct placed_process *index = sta_alloc_array((size_t)entities->process_count + 1, sizeof *index);
    for (uint32_t p = 0; p < entities->process_count; p++)
        index[p] = (struct placed_process){entities->processes[p].host, entities->processes[p].pid, p};
    qsort(index, entities->process_count, sizeof *index, compare_processes);
    return index;
}

/* ---- naming */

struct naming {
    const struct sta_entities *entities;
    struct placed_process *index;
    bool *named;                 /* by process: the request names it .. */
    struct sta_group_key *names; /* .. as one of this group */
};

static void name_group(struct naming *naming, const struct sta_document *group)
{
    const struct sta_document *host = sta_document_member(group, "host_name");
    const struct sta_document *pids = sta_document_member(group, "pids");
    uint32_t code = STA_NO_CODE;
    if (host->type == STA_DOCUMENT_TEXT) {
        code = sta_dictionary_find(naming->entities->hosts, host->text.bytes, host->text.length);
        if (code == STA_NO_CODE)
            return; /* a host without events */
    }
    for (const struct sta_document *pid = pids->first; pid != NULL; pid = pid->next) {
        struct placed_process wanted = {.host = code, .pid = pid->integer};
        const struct placed_process *found = bsearch(&wanted, naming->index, naming->entities->process_count,
                                                     sizeof wanted, compare_processes);
        if (found == NULL)
            continue;
        naming->named[found->process] = true;
        naming->names[found->process] = (struct sta_group_key){code, pids->first->integer};
    }
}

static void naming_init(struct naming *naming, const struct sta_entities *entities,
                        const struct sta_document *rank_groups)
{
    size_t room = (size_t)entities->process_count + 1;
    *naming = (struct naming){.entities = entities,
                              .index = index_processes(entities),
                              .named = sta_alloc_array(room, sizeof *naming->named),
                              .names = sta_alloc_array(room, sizeof *naming->names)};
    for (const struct sta_document *group = rank_groups != NULL ? rank_groups->first : NULL; group != NULL;
         group = group->next)
        name_group(naming, group);
}

static void naming_fini(struct naming *naming)
{
    free(naming->index);
    free(naming->named);
    free(naming->names);
}

int sta_given_groups(const struct sta_snapshot *snapshot, const struct sta_document *rank_groups,
                     const struct sta_budget *budget, struct sta_group_key **groups, struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    uint32_t *parents;
    int rc = sta_rank_parents(snapshot, budget, &parents, err);
    if (rc != 0)
        return sta_because(err, "cannot find the rank groups");
    struct naming naming;
    naming_init(&naming, entities, rank_groups);
    for (uint32_t p = 0; p < entities->process_count; p++)
        if (naming.named[p])
            parents[p] = STA_NO_PARENT;
    struct sta_rank_groups found;
    sta_rank_groups_from_parents(&found, parents, entities->process_count);
    *groups = sta_alloc_array((size_t)entities->process_count + 1, sizeof **groups);
    for (uint32_t p = 0; p < entities->process_count; p++) {
        uint32_t root = found.root_of_group[found.group_of_process[p]];
        const struct sta_entity_process *process = &entities->processes[root];
        (*groups)[p] =
            naming.named[root] ? naming.names[root] : (struct sta_group_key){process->host, process->pid};
    }
    sta_rank_groups_fini(&found);
    naming_fini(&naming);
    free(parents);
    return 0;
}
