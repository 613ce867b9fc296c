/* lane_tree.h - the lanes of a trace: job, hosts, rank groups, processes, threads (private to timeline).
 *
 * timeline.md section 2.  Lanes come in pre-order: host, then the root's pid, then pid, then tid, ascending,
 * missing last.  Lane 0 is the job.  The threads below a lane stand side by side in that order. */
#ifndef STA_TIMELINE_LANE_TREE_H
#define STA_TIMELINE_LANE_TREE_H

#include "analyse/exec/budget.h"
#include "store/store.h"

enum sta_lane_level {
    STA_LANE_JOB,
    STA_LANE_HOST,
    STA_LANE_RANK_GROUP,
    STA_LANE_PROCESS,
    STA_LANE_THREAD,
    STA_LANE_LEVELS
};
extern const char *const sta_lane_level_names[STA_LANE_LEVELS];

#define STA_NO_LANE UINT32_MAX

struct sta_timeline_lane {
    enum sta_lane_level level;
    uint32_t parent; /* STA_NO_LANE of the job */
    uint32_t end;    /* the lane behind all lanes below this one */
    uint32_t host;   /* code in the entities' hosts, or STA_NO_CODE */
    int64_t pid;     /* of a rank group: its root's */
    int64_t tid;
    uint32_t first_thread, thread_count; /* those below it */
};

struct sta_lane_tree {
    const struct sta_entities *entities; /* of the snapshot, borrowed */
    struct sta_account *account;
    struct sta_timeline_lane *lanes;
    uint32_t lane_count;
    size_t lane_capacity;
    struct sta_dictionary *ids; /* codes are numbers of lanes */
    uint32_t thread_count;
    uint32_t *entity_of_thread; /* by number in tree order: index in the entities' threads .. */
    uint32_t *thread_of_entity; /* .. and back */
    uint32_t *lane_of_thread;   /* by number in tree order */
};

/** The tree of all threads of a snapshot, which must outlive it.  @account: is charged for what stays.
 * Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ECORRUPT, STA_ECANCELLED.  Fini also after a failure. */
STA_MUSTCHECK int sta_lane_tree_init(struct sta_lane_tree *tree, const struct sta_snapshot *snapshot,
                                     struct sta_account *account, const struct sta_budget *budget,
                                     struct sta_error *err);
void sta_lane_tree_fini(struct sta_lane_tree *tree);
/** The lane of that id, or STA_NO_LANE. */
uint32_t sta_lane_tree_find(const struct sta_lane_tree *tree, const char *id, size_t length);
struct sta_text sta_lane_tree_id(const struct sta_lane_tree *tree, uint32_t lane);
/** The lane of a level that a thread is below of. */
uint32_t sta_lane_tree_above(const struct sta_lane_tree *tree, uint32_t thread, enum sta_lane_level level);

#endif
