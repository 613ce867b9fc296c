/* Lanes from the threads of a trace: threads sorted by tree order, then a lane wherever a level changes. */
#include "timeline/lane_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyse/exec/sort.h"
#include "analyse/sources/rank_groups.h"
#include "common/buffer.h"

#define WHAT "the lanes of the timeline"

const char *const sta_lane_level_names[STA_LANE_LEVELS] = {"job", "host", "rank_group", "process", "thread"};

/* ---- ids */

static void put_coded(struct sta_buffer *id, const char *bytes, size_t length)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
                     c == '_' || c == '-';
        if (plain) {
            sta_put_char(id, (char)c);
        } else {
            sta_put_char(id, '%');
            sta_put_char(id, hex[c >> 4]);
            sta_put_char(id, hex[c & 15]);
        }
    }
}

static void put_number(struct sta_buffer *id, int64_t number)
{
    sta_put_char(id, ':');
    if (number == STA_NO_ID)
        sta_put_char(id, '~');
    else
        sta_put_format(id, "%" PRId64, number);
}

static void put_id(struct sta_buffer *id, const struct sta_lane_tree *tree,
                   const struct sta_timeline_lane *lane)
{
    if (lane->level == STA_LANE_JOB) {
        sta_put_text(id, "job");
        return;
    }
    sta_put_char(id, sta_lane_level_names[lane->level][0]);
    sta_put_char(id, ':');
    if (lane->host == STA_NO_CODE) {
        sta_put_char(id, '~');
    } else {
        struct sta_text host = sta_dictionary_text(tree->entities->hosts, lane->host);
        put_coded(id, host.bytes, host.length);
    }
    if (lane->level >= STA_LANE_RANK_GROUP)
        put_number(id, lane->pid);
    if (lane->level == STA_LANE_THREAD)
        put_number(id, lane->tid);
}

uint32_t sta_lane_tree_find(const struct sta_lane_tree *tree, const char *id, size_t length)
{
    uint32_t lane = sta_dictionary_find(tree->ids, id, length);
    return lane == STA_NO_CODE ? STA_NO_LANE : lane;
}

struct sta_text sta_lane_tree_id(const struct sta_lane_tree *tree, uint32_t lane)
{
    return sta_dictionary_text(tree->ids, lane);
}

uint32_t sta_lane_tree_above(const struct sta_lane_tree *tree, uint32_t thread, enum sta_lane_level level)
{
    uint32_t lane = tree->lane_of_thread[thread];
    while (tree->lanes[lane].level > level)
        lane = tree->lanes[lane].parent;
    return lane;
}

/* ---- lanes */

/* A thread and what it is sorted by; all three are indexes into the entities, which come in order. */
struct placed {
    uint32_t root, process, thread;
};

static int compare_placed(const void *a, const void *b, void *context)
{
    const struct placed *x = a, *y = b;
    (void)context;
    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

struct making {
    struct sta_lane_tree *tree;
    struct sta_buffer id;
    uint32_t open[STA_LANE_LEVELS]; /* the lane of each level that threads are added to; STA_NO_LANE: none */
};

static void close_lanes(struct making *making, enum sta_lane_level from)
{
    struct sta_lane_tree *tree = making->tree;
    for (int level = from; level < STA_LANE_LEVELS; level++)
        if (making->open[level] != STA_NO_LANE) {
            tree->lanes[making->open[level]].end = tree->lane_count;
            making->open[level] = STA_NO_LANE;
        }
}

static int open_lane(struct making *making, struct sta_timeline_lane lane, struct sta_error *err)
{
    struct sta_lane_tree *tree = making->tree;
    close_lanes(making, lane.level);
    int rc =
        STA_ACCOUNT_GROW(tree->account, tree->lanes, tree->lane_capacity, tree->lane_count + 1, WHAT, err);
    if (rc != 0)
        return rc;
    lane.parent = lane.level == STA_LANE_JOB ? STA_NO_LANE : making->open[lane.level - 1];
    sta_buffer_clear(&making->id);
    put_id(&making->id, tree, &lane);
    if (making->id.failed)
        return sta_fail(err, STA_ENOMEM, "out of memory for " WHAT);
    uint32_t number = sta_dictionary_intern(tree->ids, making->id.data, making->id.size);
    STA_ASSERT(number == tree->lane_count);
    making->open[lane.level] = number;
    tree->lanes[tree->lane_count++] = lane;
    return 0;
}

/* Opens the lanes in which a thread differs from the one before. */
static int add_thread(struct making *making, const struct placed *before, const struct placed *placed,
                      uint32_t number, struct sta_error *err)
{
    struct sta_lane_tree *tree = making->tree;
    const struct sta_entities *entities = tree->entities;
    const struct sta_entity_thread *thread = &entities->threads[placed->thread];
    const struct sta_entity_process *root = &entities->processes[placed->root];
    struct sta_timeline_lane lane = {
        .host = root->host, .pid = root->pid, .tid = STA_NO_ID, .first_thread = number};
    bool fresh = before == NULL || entities->processes[before->root].host != root->host;
    int rc = 0;
    if (fresh) {
        lane.level = STA_LANE_HOST;
        rc = open_lane(making, lane, err);
    }
    fresh = fresh || before->root != placed->root;
    if (rc == 0 && fresh) {
        lane.level = STA_LANE_RANK_GROUP;
        rc = open_lane(making, lane, err);
    }
    lane.pid = thread->pid;
    if (rc == 0 && (fresh || before->process != placed->process)) {
        lane.level = STA_LANE_PROCESS;
        rc = open_lane(making, lane, err);
    }
    lane.level = STA_LANE_THREAD;
    lane.tid = thread->tid;
    if (rc == 0)
        rc = open_lane(making, lane, err);
    for (int level = 0; rc == 0 && level < STA_LANE_LEVELS; level++)
        tree->lanes[making->open[level]].thread_count++;
    if (rc == 0)
        tree->lane_of_thread[number] = making->open[STA_LANE_THREAD];
    tree->entity_of_thread[number] = placed->thread;
    tree->thread_of_entity[placed->thread] = number;
    return rc;
}

static int make_lanes(struct sta_lane_tree *tree, const struct placed *placed, struct sta_error *err)
{
    struct making making = {.tree = tree};
    for (int level = 0; level < STA_LANE_LEVELS; level++)
        making.open[level] = STA_NO_LANE;
    sta_buffer_init(&making.id);
    struct sta_timeline_lane job = {
        .level = STA_LANE_JOB, .host = STA_NO_CODE, .pid = STA_NO_ID, .tid = STA_NO_ID};
    int rc = open_lane(&making, job, err);
    for (uint32_t i = 0; i < tree->thread_count && rc == 0; i++)
        rc = add_thread(&making, i > 0 ? &placed[i - 1] : NULL, &placed[i], i, err);
    close_lanes(&making, STA_LANE_JOB);
    sta_buffer_fini(&making.id);
    return rc;
}

/* The threads in tree order; sta_account_free it. */
static struct placed *place_threads(const struct sta_lane_tree *tree, const struct sta_rank_groups *groups,
                                    const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_entities *entities = tree->entities;
    struct placed *placed =
        sta_account_alloc(tree->account, (size_t)tree->thread_count + 1, sizeof *placed, WHAT, err);
    for (uint32_t t = 0; placed != NULL && t < tree->thread_count; t++) {
        uint32_t process = entities->threads[t].process;
        placed[t] = (struct placed){groups->root_of_group[groups->group_of_process[process]], process, t};
    }
    if (placed != NULL &&
        sta_sort(budget, placed, tree->thread_count, sizeof *placed, compare_placed, NULL, err) != 0) {
        sta_account_free(tree->account, placed);
        return NULL;
    }
    return placed;
}

int sta_lane_tree_init(struct sta_lane_tree *tree, const struct sta_snapshot *snapshot,
                       struct sta_account *account, const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    size_t capacity = (size_t)entities->thread_count + 1;
    *tree = (struct sta_lane_tree){.entities = entities,
                                   .account = account,
                                   .thread_count = entities->thread_count,
                                   .ids = sta_dictionary_create()};
    tree->entity_of_thread = sta_account_alloc(tree->account, capacity, sizeof(uint32_t), WHAT, err);
    tree->thread_of_entity = sta_account_alloc(tree->account, capacity, sizeof(uint32_t), WHAT, err);
    tree->lane_of_thread = sta_account_alloc(tree->account, capacity, sizeof(uint32_t), WHAT, err);
    if (tree->entity_of_thread == NULL || tree->thread_of_entity == NULL || tree->lane_of_thread == NULL)
        return err->status;
    struct sta_rank_groups groups;
    int rc = sta_rank_groups_init(&groups, snapshot, budget, err);
    if (rc != 0)
        return rc;
    struct placed *placed = place_threads(tree, &groups, budget, err);
    sta_rank_groups_fini(&groups);
    if (placed == NULL)
        return err->status;
    rc = make_lanes(tree, placed, err);
    sta_account_free(tree->account, placed);
    return rc;
}

void sta_lane_tree_fini(struct sta_lane_tree *tree)
{
    sta_dictionary_destroy(tree->ids);
    sta_account_free(tree->account, tree->lanes);
    sta_account_free(tree->account, tree->entity_of_thread);
    sta_account_free(tree->account, tree->thread_of_entity);
    sta_account_free(tree->account, tree->lane_of_thread);
    *tree = (struct sta_lane_tree){0};
}
