/* given_groups.h - the rank group of each process, as found or as a request gives it (private to overlap). */
#ifndef STA_ANALYSE_OVERLAP_GIVEN_GROUPS_H
#define STA_ANALYSE_OVERLAP_GIVEN_GROUPS_H

#include "analyse/analyse.h"

/* What a group is named by: usually its root process; a request may name one that has no events. */
struct sta_group_key {
    uint32_t host; /* code in the entities' hosts, or STA_NO_CODE */
    int64_t pid;   /* STA_NO_ID when missing */
};

/** A member `rank_groups` of a request, as overlap.md section 1 has it.  STA_EINPUT with a parameter below
 * /rank_groups. */
STA_MUSTCHECK int sta_given_groups_check(const struct sta_document *rank_groups, struct sta_error *err);

/**
 * sta_given_groups - the group of each process
 * @rank_groups: checked; or NULL
 * @groups: by index of sta_entities.processes; of the budget's account
 * Return: 0, or what finding the parents failed with.
 */
STA_MUSTCHECK int sta_given_groups(const struct sta_snapshot *snapshot,
                                   const struct sta_document *rank_groups, const struct sta_budget *budget,
                                   struct sta_group_key **groups, struct sta_error *err);

#endif
