/* pass.h - events to groups: what the pass collects before it is merged (private to compatible/pass.c and
 * hlm.c).
 *
 * DESIGN.  Each worker has a hash table of its own, from (key, kind) to a group.  Kinds are numbered per
 * worker in the order of first sight: a memory over (function, category, class) finds them without touching a
 * text.  Values of view types that are not grouped by are noted as pairs (group, value); a group remembers
 * its last one, and when the list has doubled its repetitions are removed, so it stays within twice what is
 * distinct.  Memory follows the values that occur, not those that a bin or a file could have. */
#ifndef STA_ANALYSE_COMPATIBLE_PASS_H
#define STA_ANALYSE_COMPATIBLE_PASS_H

#include "analyse/compatible/hlm.h"
#include "analyse/layers/combos.h"

/* Kinds as a worker meets them. */
struct sta_pass_kind {
    uint32_t class, name, cat; /* cat refined */
    uint8_t io_cat;
    bool wanted;         /* its events are grouped */
    bool with[STA_AXES]; /* collect the values of this axis */
    int64_t count;       /* events, grouped or not */
};

#define STA_LAST_NONE (UINT32_MAX - 1) /* no value yet */
#define STA_LAST_MISSING (UINT32_MAX - 2)

struct sta_pass_group {
    uint64_t key;
    uint32_t kind, sizes; /* as in struct sta_group */
    int64_t count;
    sta_fixed time;
    uint32_t last[STA_AXES]; /* value noted last; STA_LAST_MISSING: the group has no set any more */
};

/* Pairs of a group and a value: group << 32 | value. */
struct sta_pairs {
    uint64_t *items;
    size_t count, capacity;
    size_t distinct; /* of the first ones, which are free of repetitions */
};

struct sta_pass_worker {
    struct sta_combos combos;
    struct sta_pass_kind *kinds;
    size_t kind_count, kind_capacity;
    uint32_t *slots; /* index of a group + 1; 0: free */
    size_t slot_count;
    struct sta_pass_group *groups;
    size_t group_count, group_capacity;
    struct sta_group_sizes *sizes;
    size_t sizes_count, sizes_capacity;
    struct sta_pairs pairs[STA_AXES];
    int64_t no_file; /* events left out for want of a file */
};

struct sta_pass {
    struct sta_hlm *hlm;
    const struct sta_hlm_wish *wish;
    const struct sta_budget *budget;
    struct sta_pass_worker *workers;
    unsigned worker_count;
};

STA_MUSTCHECK int sta_pass_run(struct sta_pass *pass, struct sta_hlm *hlm, const struct sta_hlm_wish *wish,
                               const struct sta_budget *budget, struct sta_error *err);
void sta_pass_fini(struct sta_pass *pass);
/** Bytes that all workers hold. */
double sta_pass_bytes(const struct sta_pass *pass);

/** Puts the pairs in order, each once. */
STA_MUSTCHECK int sta_pairs_compact(struct sta_pairs *pairs, struct sta_error *err);

/**
 * sta_members_gather - from pairs to sets by group
 * @group_of: by list and group of a pair: the group of the members
 * @texts: whose codes the values are: the order is that of the texts; NULL: values are numbers
 * @members: sta_members_fini it also after a failure
 */
STA_MUSTCHECK int sta_members_gather(const struct sta_pairs *pairs, size_t list_count,
                                     const uint32_t *const *group_of, size_t group_count,
                                     const struct sta_dictionary *texts, struct sta_members *members,
                                     struct sta_error *err);
void sta_members_fini(struct sta_members *members);

#endif
