/* Each worker merges the threads that it takes; paths of all workers are then added up. */
#include "timeline/call_paths.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "analyse/views/members.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the call tree"

/* What a worker has, beside its forest. */
struct merging {
    struct sta_call_tree *tree;
    struct sta_forest forest;
    struct sta_map memo;
    struct sta_call_paths paths;
    struct sta_named_calls named;
    uint32_t root;            /* path of the group of the thread */
    struct placed {           /* by node on the stack of the forest */
        uint32_t label, path; /* STA_NO_NODE: not among the paths */
        bool within;          /* an ancestor has the name */
    } * placed;
    size_t placed_capacity;
};

/* ---- paths */

static int new_path(struct sta_call_paths *paths, uint32_t parent, uint32_t label,
                    const struct sta_budget *budget, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(budget->account, paths->items, paths->capacity, paths->count + 1, WHAT, err);
    if (rc == 0)
        paths->items[paths->count++] =
            (struct sta_call_path){.parent = parent, .label = label, .min = INT64_MAX};
    return rc;
}

/* *path: that of @parent and one more label; without a parent the root of a lane's group. */
static int find_path(struct sta_call_paths *paths, uint32_t parent, uint32_t label,
                     const struct sta_budget *budget, uint32_t *path, struct sta_error *err)
{
    bool added;
    *path = parent == STA_NO_NODE ? sta_map_intern(&paths->roots, label, (uint32_t)paths->count, &added)
                                  : sta_map_intern(&paths->children, (uint64_t)parent << 32 | label,
                                                   (uint32_t)paths->count, &added);
    return added ? new_path(paths, parent, label, budget, err) : 0;
}

static void add_to_path(struct sta_call_path *path, const struct sta_forest_node *node, int64_t self)
{
    path->count++;
    path->total += node->dur;
    path->self += self;
    path->size += node->size;
    path->min = STA_MIN(path->min, node->dur);
    path->max = STA_MAX(path->max, node->dur);
}

static void paths_init(struct sta_call_paths *paths, struct sta_account *account)
{
    *paths = (struct sta_call_paths){0};
    sta_map_init(&paths->children);
    sta_map_init(&paths->roots);
    paths->children.account = paths->roots.account = account;
}

static void paths_fini(struct sta_call_paths *paths, struct sta_account *account)
{
    sta_account_free(account, paths->items);
    sta_map_fini(&paths->children);
    sta_map_fini(&paths->roots);
}

/* ---- an event */

/* A path's number for node @n, below that of the node around it or, without one there, the root. */
static int place_below(struct merging *merging, uint32_t parent, size_t n, struct sta_error *err)
{
    struct placed *placed = &merging->placed[n];
    return find_path(&merging->paths, parent, placed->label, merging->tree->budget, &placed->path, err);
}

/* An outermost call adds itself to each path from its own label upwards. */
static int add_callers(struct merging *merging, size_t n, struct sta_error *err)
{
    const struct sta_forest_node *node = &merging->forest.nodes[n];
    uint32_t path = merging->root;
    for (size_t at = n + 1; at-- > 0;) {
        int rc =
            find_path(&merging->paths, path, merging->placed[at].label, merging->tree->budget, &path, err);
        if (rc != 0)
            return rc;
        add_to_path(&merging->paths.items[path], node, at == 0 ? node->dur : 0);
    }
    return 0;
}

static bool has_name(const struct merging *merging, const struct placed *placed)
{
    return merging->tree->name != STA_NO_CODE && placed->label == merging->tree->name;
}

static int place_named(struct merging *merging, size_t n, struct sta_error *err)
{
    struct placed *placed = &merging->placed[n];
    const struct placed *up = n > 0 ? placed - 1 : NULL;
    placed->within = up != NULL && (up->within || has_name(merging, up));
    const bool outermost = has_name(merging, placed) && !placed->within;
    merging->named.count += has_name(merging, placed);
    if (outermost) {
        merging->named.outermost++;
        merging->named.total += merging->forest.nodes[n].dur;
    }
    if (merging->tree->callers)
        return outermost ? add_callers(merging, n, err) : 0;
    if (outermost)
        return place_below(merging, merging->root, n, err);
    return up != NULL && up->path != STA_NO_NODE ? place_below(merging, up->path, n, err) : 0;
}

static int enter(void *context, const struct sta_forest *forest, const struct sta_lane_event *event,
                 struct sta_error *err)
{
    struct merging *merging = context;
    const size_t n = forest->depth - 1;
    int rc = STA_ACCOUNT_GROW(merging->tree->budget->account, merging->placed, merging->placed_capacity,
                              forest->depth, WHAT, err);
    if (rc != 0)
        return rc;
    merging->placed[n] = (struct placed){
        .label = sta_labels_of(&merging->tree->labels, &merging->memo, event), .path = STA_NO_NODE};
    if (merging->tree->has_name)
        return place_named(merging, n, err);
    return place_below(merging, n > 0 ? merging->placed[n - 1].path : merging->root, n, err);
}

static int leave(void *context, const struct sta_forest *forest, const struct sta_lane_event *event,
                 struct sta_error *err)
{
    struct merging *merging = context;
    const struct placed *placed = &merging->placed[forest->depth];
    const struct sta_forest_node *node = &forest->nodes[forest->depth];
    (void)event;
    (void)err;
    if (merging->tree->has_name && has_name(merging, placed))
        merging->named.self += sta_forest_self(node);
    if (placed->path != STA_NO_NODE)
        add_to_path(&merging->paths.items[placed->path], node, sta_forest_self(node));
    return 0;
}

static int add_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct merging *merging = &((struct merging *)context)[worker];
    struct sta_call_tree *tree = merging->tree;
    const uint32_t thread = tree->selection.threads[at];
    const struct sta_forest_visitor visitor = {merging, enter, leave};
    size_t count;
    int rc = find_path(&merging->paths, STA_NO_NODE,
                       sta_lane_tree_above(&tree->selection.index->tree, thread, tree->scope), tree->budget,
                       &merging->root, err);
    return rc == 0 ? sta_forest_visit(&merging->forest, thread, &visitor, &count, err) : rc;
}

/* ---- all workers */

static int unite_paths(struct sta_call_tree *tree, const struct sta_call_paths *from, struct sta_error *err)
{
    uint32_t *united = sta_account_alloc(tree->budget->account, from->count + 1, sizeof *united, WHAT, err);
    int rc = united == NULL ? err->status : 0;
    for (size_t i = 0; i < from->count && rc == 0; i++) {
        const struct sta_call_path *path = &from->items[i];
        uint32_t parent = path->parent != STA_NO_NODE ? united[path->parent] : STA_NO_NODE;
        rc = find_path(&tree->paths, parent, path->label, tree->budget, &united[i], err);
        if (rc != 0)
            break;
        struct sta_call_path *sum = &tree->paths.items[united[i]];
        sum->count += path->count;
        sum->total += path->total;
        sum->self += path->self;
        sum->size += path->size;
        sum->min = STA_MIN(sum->min, path->min);
        sum->max = STA_MAX(sum->max, path->max);
        rc = sta_budget_check_step(tree->budget, i + 1, err);
    }
    sta_account_free(tree->budget->account, united);
    return rc;
}

static int merge_events(struct sta_call_tree *tree, const int64_t *sizes, struct sta_error *err)
{
    unsigned workers = sta_budget_workers(tree->budget);
    struct merging *merging = sta_alloc_array(workers, sizeof *merging);
    for (unsigned w = 0; w < workers; w++) {
        merging[w].tree = tree;
        merging[w].forest =
            (struct sta_forest){.selection = &tree->selection, .budget = tree->budget, .sizes = sizes};
        sta_map_init(&merging[w].memo);
        merging[w].memo.account = tree->budget->account;
        paths_init(&merging[w].paths, tree->budget->account);
    }
    int rc = sta_tasks_run(tree->budget, tree->selection.thread_count, add_thread, merging, err);
    for (unsigned w = 0; w < workers; w++) {
        if (rc == 0)
            rc = unite_paths(tree, &merging[w].paths, err);
        tree->named.count += merging[w].named.count;
        tree->named.outermost += merging[w].named.outermost;
        tree->named.total += merging[w].named.total;
        tree->named.self += merging[w].named.self;
        paths_fini(&merging[w].paths, tree->budget->account);
        sta_account_free(tree->budget->account, merging[w].placed);
        sta_forest_fini(&merging[w].forest);
        sta_map_fini(&merging[w].memo);
    }
    free(merging);
    return rc;
}

static int read_name(struct sta_call_tree *tree, struct sta_error *err)
{
    static const char *const directions[] = {"callees", "callers"};
    const struct sta_document *request = tree->selection.query->request;
    const struct sta_document *direction = sta_member_given(request, "direction"),
                              *name = sta_member_given(request, "name");
    size_t word = 0;
    if (direction != NULL && name == NULL) {
        sta_fail(err, STA_EINPUT, "direction goes with name");
        return sta_at_member(err, "direction", NULL, -1);
    }
    const char *text = NULL;
    int rc = sta_member_word(request, "direction", directions, 2, &word, err);
    if (rc == 0)
        rc = sta_member_text(request, "name", &text, err);
    tree->callers = word == 1;
    tree->has_name = text != NULL;
    if (rc == 0 && text != NULL)
        tree->name = sta_labels_find(&tree->labels, name->text);
    return rc;
}

int sta_call_tree_init(struct sta_call_tree *tree, const struct sta_timeline_query *query,
                       const char *const *own, const struct sta_budget *budget, struct sta_error *err)
{
    *tree = (struct sta_call_tree){.budget = budget};
    paths_init(&tree->paths, tree->budget->account);
    size_t scope = STA_LANE_JOB;
    const int64_t *sizes;
    int rc = sta_selection_init(&tree->selection, query, own, budget, err);
    if (rc == 0)
        rc = sta_member_word(query->request, "scope", sta_lane_level_names, STA_LANE_LEVELS, &scope, err);
    tree->scope = (enum sta_lane_level)scope;
    if (rc == 0)
        rc = sta_labels_init(&tree->labels, &tree->selection, budget, err);
    if (rc == 0)
        rc = read_name(tree, err);
    if (rc == 0)
        rc = sta_timeline_sizes(query->timeline, tree->selection.view, budget, &sizes, err);
    return rc == 0 ? merge_events(tree, sizes, err) : rc;
}

void sta_call_tree_fini(struct sta_call_tree *tree)
{
    paths_fini(&tree->paths, tree->budget->account);
    sta_labels_fini(&tree->labels);
    sta_selection_fini(&tree->selection);
}
