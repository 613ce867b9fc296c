/* Paths are sorted by parent first, so that siblings lie side by side; a stack walks them in pre-order. */
#include "timeline/call_rows.h"

#include <math.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "common/memory.h"

#define WHAT "the call tree"

/* All that lies below a path, itself included. */
struct below {
    int64_t count, min, max, nodes;
    __int128 size, children; /* total of the direct children */
};

struct arranging {
    const struct sta_call_tree *tree;
    struct sta_call_rows *rows;
    uint32_t *order;       /* paths, siblings side by side */
    uint32_t *first_child; /* by path: where its children begin in order; one more */
    struct below *below;   /* by path */
    struct open {
        uint32_t next, end; /* in order: children that are still to come */
        uint32_t row;       /* of their parent, STA_NO_NODE: a group's root */
        uint32_t path;
        bool folded; /* some of them are small */
    } * stack;
    size_t depth, stack_capacity;
    __int128 limit; /* totals below are folded */
    int64_t most;   /* depth; 0: any */
    uint32_t group;
};

static int compare_paths(const void *a, const void *b, void *context)
{
    const struct sta_call_tree *tree = context;
    const struct sta_call_path *x = &tree->paths.items[*(const uint32_t *)a],
                               *y = &tree->paths.items[*(const uint32_t *)b];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->parent == STA_NO_NODE) /* groups in tree order */
        return x->label < y->label ? -1 : x->label > y->label;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return sta_labels_compare(&tree->labels, x->label, y->label);
}

/* Children come after their parents, so going backwards each is complete when it is added. */
static void add_up(struct arranging *arranging)
{
    const struct sta_call_paths *paths = &arranging->tree->paths;
    for (size_t i = 0; i < paths->count; i++) {
        const struct sta_call_path *path = &paths->items[i];
        arranging->below[i] = (struct below){
            .count = path->count, .min = path->min, .max = path->max, .nodes = 1, .size = path->size};
    }
    for (size_t i = paths->count; i-- > 0;) {
        const uint32_t parent = paths->items[i].parent;
        if (parent == STA_NO_NODE)
            continue;
        struct below *to = &arranging->below[parent];
        const struct below *from = &arranging->below[i];
        to->count += from->count;
        to->min = STA_MIN(to->min, from->min);
        to->max = STA_MAX(to->max, from->max);
        to->nodes += from->nodes;
        to->size += from->size;
        to->children += paths->items[i].total;
    }
}

static int sort_paths(struct arranging *arranging, struct sta_error *err)
{
    const struct sta_call_tree *tree = arranging->tree;
    const struct sta_call_paths *paths = &tree->paths;
    struct sta_account *account = tree->budget->account;
    arranging->order = sta_account_alloc(account, paths->count + 1, sizeof(uint32_t), WHAT, err);
    arranging->first_child = sta_account_calloc(account, paths->count + 2, sizeof(uint32_t), WHAT, err);
    arranging->below = sta_account_alloc(account, paths->count + 1, sizeof *arranging->below, WHAT, err);
    if (arranging->order == NULL || arranging->first_child == NULL || arranging->below == NULL)
        return err->status;
    for (size_t i = 0; i < paths->count; i++)
        arranging->order[i] = (uint32_t)i;
    int rc = sta_sort(tree->budget, arranging->order, paths->count, sizeof *arranging->order, compare_paths,
                      (void *)tree, err);
    /* Roots have the largest number as parent, so they lie at the end. */
    size_t at = 0;
    for (uint32_t parent = 0; rc == 0 && parent <= paths->count; parent++) {
        arranging->first_child[parent] = (uint32_t)at;
        while (at < paths->count && paths->items[arranging->order[at]].parent == parent)
            at++;
    }
    return rc;
}

/* ---- rows */

static bool is_small(const struct arranging *arranging, uint32_t path)
{
    return arranging->tree->paths.items[path].total < arranging->limit ||
           (arranging->most > 0 && (int64_t)arranging->depth > arranging->most);
}

static int add_row(struct arranging *arranging, struct sta_call_row row, struct sta_error *err)
{
    struct sta_call_rows *rows = arranging->rows;
    row.parent = arranging->stack[arranging->depth - 1].row;
    row.group = arranging->group;
    row.depth = (uint32_t)arranging->depth;
    int rc = STA_ACCOUNT_GROW(arranging->tree->budget->account, rows->items, rows->capacity, rows->count + 1,
                              WHAT, err);
    if (rc == 0)
        rows->items[rows->count++] = row;
    return rc;
}

static int open_children(struct arranging *arranging, uint32_t path, uint32_t row, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(arranging->tree->budget->account, arranging->stack, arranging->stack_capacity,
                              arranging->depth + 1, WHAT, err);
    if (rc == 0)
        arranging->stack[arranging->depth++] = (struct open){.next = arranging->first_child[path],
                                                             .end = arranging->first_child[path + 1],
                                                             .row = row,
                                                             .path = path};
    return rc;
}

static int show_path(struct arranging *arranging, uint32_t number, struct sta_error *err)
{
    const struct sta_call_path *path = &arranging->tree->paths.items[number];
    int rc =
        add_row(arranging,
                (struct sta_call_row){.label = path->label,
                                      .count = path->count,
                                      .min = path->min,
                                      .max = path->max,
                                      .nodes = 1,
                                      .total = path->total,
                                      .self = path->self,
                                      .overlap = path->self + arranging->below[number].children - path->total,
                                      .size = path->size},
                err);
    return rc == 0 ? open_children(arranging, number, (uint32_t)arranging->rows->count - 1, err) : rc;
}

/* The small ones among the children of a path, as one row. */
static int show_other(struct arranging *arranging, const struct open *open, struct sta_error *err)
{
    struct sta_call_row other = {.label = STA_NO_CODE, .other = true, .min = INT64_MAX};
    for (uint32_t i = arranging->first_child[open->path]; i < open->end; i++) {
        const uint32_t number = arranging->order[i];
        if (!is_small(arranging, number))
            continue;
        const struct sta_call_path *path = &arranging->tree->paths.items[number];
        const struct below *below = &arranging->below[number];
        const bool callers = arranging->tree->callers;
        other.total += path->total;
        other.count += callers ? path->count : below->count;
        other.size += callers ? path->size : below->size;
        other.min = STA_MIN(other.min, callers ? path->min : below->min);
        other.max = STA_MAX(other.max, callers ? path->max : below->max);
        other.nodes += below->nodes;
    }
    other.self = other.total;
    return add_row(arranging, other, err);
}

static int show_group(struct arranging *arranging, uint32_t root, struct sta_error *err)
{
    int rc = open_children(arranging, root, STA_NO_NODE, err);
    while (rc == 0 && arranging->depth > 0) {
        struct open *open = &arranging->stack[arranging->depth - 1];
        if (open->next < open->end) {
            uint32_t path = arranging->order[open->next++];
            if (is_small(arranging, path))
                open->folded = true;
            else
                rc = show_path(arranging, path, err);
        } else {
            if (open->folded)
                rc = show_other(arranging, open, err);
            arranging->depth--;
        }
        if (rc == 0)
            rc = sta_budget_check_step(arranging->tree->budget, arranging->rows->count, err);
    }
    return rc;
}

int sta_call_rows_init(struct sta_call_rows *rows, const struct sta_call_tree *tree, double min_share,
                       int64_t depth, struct sta_error *err)
{
    struct arranging arranging = {.tree = tree, .rows = rows, .most = depth};
    struct sta_account *account = tree->budget->account;
    *rows = (struct sta_call_rows){0};
    int rc = sort_paths(&arranging, err);
    if (rc == 0)
        add_up(&arranging);
    for (size_t r = rc == 0 ? arranging.first_child[tree->paths.count] : 0; rc == 0 && r < tree->paths.count;
         r++) {
        const uint32_t root = arranging.order[r];
        arranging.group = tree->paths.items[root].label;
        arranging.limit = (__int128)ceil(min_share * (double)arranging.below[root].children);
        rc = show_group(&arranging, root, err);
    }
    sta_account_free(account, arranging.order);
    sta_account_free(account, arranging.first_child);
    sta_account_free(account, arranging.below);
    sta_account_free(account, arranging.stack);
    return rc;
}

void sta_call_rows_fini(struct sta_call_rows *rows, struct sta_account *account)
{
    sta_account_free(account, rows->items);
    *rows = (struct sta_call_rows){0};
}
