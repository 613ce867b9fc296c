/* Rank groups with what a request says of them: a process that is named belongs where it is named, whatever
 * its ancestors; those that descend from it follow.  So named processes lose their parents, roots are found
 * as ever, and a root that is named takes the name of its group. */
#include "analyse/overlap/scope.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/sources/rank_groups.h"
#include "common/account.h"
#include "common/memory.h"

static const char WHAT[] = "the rank groups";

/* ---- what a request may say */

static int fail_group(size_t group, const char *member, const char *wanted, struct sta_error *err)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/rank_groups/%zu%s%s", group, *member ? "/" : "", member);
    return sta_fail_at(err, STA_EINPUT, pointer, "expected %s", wanted);
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
    if (rank_groups->type != STA_DOCUMENT_LIST)
        return sta_fail_at(err, STA_EINPUT, "/rank_groups",
                           "expected a list of {\"host_name\": .., \"pids\": [..]}, not %s",
                           sta_document_kind(rank_groups));
    size_t number = 0;
    int rc = 0;
    for (const struct sta_document *group = rank_groups->first; rc == 0 && group != NULL; group = group->next)
        rc = check_group(group, number++, err);
    return rc;
}

/* ---- naming */

struct naming {
    const struct sta_entities *entities;
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
        const uint32_t process = sta_process_find(naming->entities, code, pid->integer);
        if (process == STA_NO_PARENT)
            continue;
        naming->named[process] = true;
        naming->names[process] = (struct sta_group_key){code, pids->first->integer};
    }
}

static int naming_init(struct naming *naming, const struct sta_entities *entities,
                       const struct sta_document *rank_groups, const struct sta_budget *budget,
                       struct sta_error *err)
{
    const size_t count = entities->process_count;
    naming->entities = entities;
    naming->named = sta_account_calloc(budget->account, count + 1, sizeof *naming->named, WHAT, err);
    naming->names = sta_account_calloc(budget->account, count + 1, sizeof *naming->names, WHAT, err);
    if (naming->named == NULL || naming->names == NULL)
        return err->status;
    for (const struct sta_document *group = rank_groups != NULL ? rank_groups->first : NULL; group != NULL;
         group = group->next)
        name_group(naming, group);
    return STA_OK;
}

static int name_all(struct naming *naming, uint32_t *parents, const struct sta_budget *budget,
                    struct sta_group_key **groups, struct sta_error *err)
{
    const struct sta_entities *entities = naming->entities;
    struct sta_rank_groups found;
    *groups =
        sta_account_alloc(budget->account, (size_t)entities->process_count + 1, sizeof **groups, WHAT, err);
    if (*groups == NULL)
        return err->status;
    for (uint32_t p = 0; p < entities->process_count; p++)
        if (naming->named[p])
            parents[p] = STA_NO_PARENT;
    int rc = sta_rank_groups_from_parents(&found, parents, entities->process_count, budget->account, err);
    for (uint32_t p = 0; rc == 0 && p < entities->process_count; p++) {
        uint32_t root = found.root_of_group[found.group_of_process[p]];
        const struct sta_entity_process *process = &entities->processes[root];
        (*groups)[p] =
            naming->named[root] ? naming->names[root] : (struct sta_group_key){process->host, process->pid};
    }
    if (rc == 0) {
        sta_rank_groups_fini(&found);
    } else {
        sta_account_free(budget->account, *groups);
        *groups = NULL;
    }
    return rc;
}

int sta_given_groups(const struct sta_snapshot *snapshot, const struct sta_document *rank_groups,
                     const struct sta_budget *budget, struct sta_group_key **groups, struct sta_error *err)
{
    struct naming naming = {0};
    const uint32_t count = sta_snapshot_entities(snapshot)->process_count;
    const uint32_t *found;
    int rc = sta_rank_parents(snapshot, budget, &found, err);
    if (rc != 0)
        return sta_error_wrap(err, "cannot find the rank groups");
    uint32_t *parents = sta_account_alloc(budget->account, (size_t)count + 1, sizeof *parents,
                                          "the parents of processes", err);
    if (parents == NULL)
        return err->status;
    memcpy(parents, found, count * sizeof *parents);
    rc = naming_init(&naming, sta_snapshot_entities(snapshot), rank_groups, budget, err);
    if (rc == 0)
        rc = name_all(&naming, parents, budget, groups, err);
    sta_account_free(budget->account, naming.named);
    sta_account_free(budget->account, naming.names);
    sta_account_free(budget->account, parents);
    return rc;
}
