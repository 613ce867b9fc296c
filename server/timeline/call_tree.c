/* calltree: the table, and the stacks that flame graphs of other tools are made from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/views/members.h"
#include "timeline/call_rows.h"
#include "common/buffer.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the call tree"
#define MIN_SHARE 0.001

static const char *const members[] = {"scope", "label", "name", "direction", "min_share", "depth", NULL};

static int read_folding(const struct sta_timeline_query *query, double *min_share, int64_t *depth,
                        struct sta_error *err)
{
    bool given = false;
    int rc = sta_member_number(query->request, "min_share", min_share, &given, err);
    if (rc == 0 && given && !(*min_share >= 0 && *min_share <= 1)) {
        sta_fail(err, STA_EINPUT, "expected a number from 0 to 1");
        return sta_at_member(err, "min_share", NULL, -1);
    }
    const struct sta_document *most = sta_member_given(query->request, "depth");
    *depth = 0;
    if (rc == 0 && most != NULL) {
        if (most->type != STA_DOCUMENT_INT || most->integer < 1) {
            sta_fail(err, STA_EINPUT, "expected a whole number from 1");
            return sta_at_member(err, "depth", NULL, -1);
        }
        *depth = most->integer;
    }
    return rc;
}

/* ---- the table */

static double seconds(const struct sta_call_tree *tree, __int128 ticks)
{
    return (double)ticks / (double)tree->selection.index->ticks_per_second;
}

static void put_texts(const struct sta_call_tree *tree, const struct sta_call_row *row,
                      struct sta_table *table, struct sta_table_column *const *columns, size_t at)
{
    struct sta_text group = sta_lane_tree_id(&tree->selection.index->tree, row->group);
    struct sta_text label = sta_labels_text(&tree->labels, row->label);
    sta_table_set_text(table, columns[0], at, group.bytes, group.length);
    sta_table_set_text(table, columns[1], at, row->other ? "other" : "node", row->other ? 5 : 4);
    if (label.bytes != NULL && !row->other)
        sta_table_set_text(table, columns[2], at, label.bytes, label.length);
}

static void put_table(const struct sta_call_tree *tree, const struct sta_call_rows *rows,
                      struct sta_table *table)
{
    enum { NODE, PARENT, GROUP, DEPTH, KIND, LABEL, COUNT, TOTAL, SELF, OVERLAP, MIN, MAX, SIZE, NODES };
    static const char *const names[] = {"node",  "parent", "group",   "depth", "kind", "label", "count",
                                        "total", "self",   "overlap", "min",   "max",  "size",  "nodes"};
    struct sta_table_column *c[STA_COUNT_OF(names)];
    sta_table_init(table, rows->count);
    sta_table_count_in(table, tree->budget->account);
    for (size_t i = 0; i < STA_COUNT_OF(names); i++) {
        bool text = i == GROUP || i == KIND || i == LABEL, time = i >= TOTAL && i <= MAX;
        sta_table_add(table, names[i],
                      text   ? STA_TYPE_TEXT
                      : time ? STA_TYPE_FLOAT
                             : STA_TYPE_INT,
                      time        ? "s"
                      : i == SIZE ? "B"
                                  : NULL);
    }
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        c[i] = sta_table_find(table, names[i]);
    struct sta_table_column *const texts[] = {c[GROUP], c[KIND], c[LABEL]};
    for (size_t i = 0; i < rows->count; i++) {
        const struct sta_call_row *row = &rows->items[i];
        sta_table_set_int(c[NODE], i, (int64_t)i);
        if (row->parent != STA_NO_NODE)
            sta_table_set_int(c[PARENT], i, row->parent);
        put_texts(tree, row, table, texts, i);
        sta_table_set_int(c[DEPTH], i, row->depth);
        sta_table_set_int(c[COUNT], i, row->count);
        sta_table_set_number(c[TOTAL], i, seconds(tree, row->total));
        sta_table_set_number(c[SELF], i, seconds(tree, row->self));
        sta_table_set_number(c[OVERLAP], i, seconds(tree, row->overlap));
        sta_table_set_number(c[MIN], i, seconds(tree, row->min));
        sta_table_set_number(c[MAX], i, seconds(tree, row->max));
        if (row->size <= INT64_MAX)
            sta_table_set_int(c[SIZE], i, (int64_t)row->size);
        else
            c[SIZE]->too_large++;
        sta_table_set_int(c[NODES], i, row->nodes);
    }
}

int sta_timeline_call_tree(const struct sta_timeline_query *query, const struct sta_budget *budget,
                           struct sta_table *table, struct sta_named_figures *named, struct sta_error *err)
{
    struct sta_call_tree tree;
    struct sta_call_rows rows = {0};
    double min_share = MIN_SHARE;
    int64_t depth;
    int rc = sta_call_tree_init(&tree, query, members, budget, err);
    if (rc == 0)
        rc = read_folding(query, &min_share, &depth, err);
    if (rc == 0)
        rc = sta_call_rows_init(&rows, &tree, min_share, depth, err);
    if (rc == 0) {
        put_table(&tree, &rows, table);
        *named = (struct sta_named_figures){.asked = tree.has_name,
                                            .count = tree.named.count,
                                            .outermost = tree.named.outermost,
                                            .total = seconds(&tree, tree.named.total),
                                            .self = seconds(&tree, tree.named.self)};
    }
    sta_call_rows_fini(&rows, budget->account);
    sta_call_tree_fini(&tree);
    return rc;
}

/* ---- stacks */

static void put_frame(const struct sta_call_tree *tree, const struct sta_call_row *row,
                      struct sta_buffer *path)
{
    struct sta_text label = sta_labels_text(&tree->labels, row->label);
    if (row->other)
        sta_put_text(path, "[other]");
    else if (label.bytes == NULL)
        sta_put_text(path, "[no name]");
    for (uint32_t i = 0; !row->other && i < label.length; i++) {
        unsigned char c = (unsigned char)label.bytes[i];
        sta_put_char(path, c == ';' ? ':' : c < 0x20 ? ' ' : (char)c);
    }
}

static void put_group(const struct sta_call_tree *tree, const struct sta_call_row *row,
                      struct sta_buffer *path)
{
    struct sta_text id = sta_lane_tree_id(&tree->selection.index->tree, row->group);
    sta_put(path, id.bytes, id.length);
}

static int add_stack(struct sta_timeline_stacks *stacks, size_t *capacity, const struct sta_buffer *path,
                     const struct sta_call_row *row, struct sta_error *err)
{
    if (path->failed)
        return sta_fail(err, STA_ENOMEM, "out of memory for " WHAT);
    int rc = STA_ACCOUNT_GROW(stacks->account, stacks->items, *capacity, stacks->count + 1, WHAT, err);
    if (rc != 0)
        return rc;
    const char *copy = sta_arena_copy(&stacks->memory, path->data, path->size);
    stacks->items[stacks->count++] = (struct sta_timeline_stack){
        .path = {copy, (uint32_t)path->size}, .group = row->group, .self = row->self};
    return 0;
}

/* Where the path of a row ends, by row: rows come in pre-order, so that of the parent is a prefix. */
static int list_stacks(const struct sta_call_tree *tree, const struct sta_call_rows *rows,
                       struct sta_timeline_stacks *stacks, struct sta_error *err)
{
    struct sta_buffer path;
    sta_buffer_init(&path);
    size_t capacity = 0;
    size_t *ends = sta_account_alloc(stacks->account, rows->count + 1, sizeof *ends, WHAT, err);
    int rc = ends == NULL ? err->status : 0;
    for (size_t i = 0; i < rows->count && rc == 0; i++) {
        const struct sta_call_row *row = &rows->items[i];
        path.size = row->parent != STA_NO_NODE ? ends[row->parent] : 0;
        if (row->parent == STA_NO_NODE && tree->scope != STA_LANE_JOB)
            put_group(tree, row, &path);
        if (path.size > 0)
            sta_put_char(&path, ';');
        put_frame(tree, row, &path);
        ends[i] = path.size;
        if (row->self > 0)
            rc = add_stack(stacks, &capacity, &path, row, err);
        if (rc == 0)
            rc = sta_account_check(stacks->account, 0, WHAT, err);
    }
    sta_buffer_fini(&path);
    sta_account_free(stacks->account, ends);
    return rc;
}

static int compare_stacks(const void *a, const void *b, void *context)
{
    const struct sta_timeline_stack *x = a, *y = b;
    (void)context;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return sta_text_order(x->path, y->path);
}

/* Labels that differ in what is replaced alone make the same path. */
static void unite_stacks(struct sta_timeline_stacks *stacks)
{
    size_t kept = 0;
    for (size_t i = 0; i < stacks->count; i++) {
        struct sta_timeline_stack *last = kept > 0 ? &stacks->items[kept - 1] : NULL;
        if (last != NULL && compare_stacks(last, &stacks->items[i], NULL) == 0)
            last->self += stacks->items[i].self;
        else
            stacks->items[kept++] = stacks->items[i];
    }
    stacks->count = kept;
}

/* From lanes to indexes of the groups, which rows list in tree order. */
static int name_groups(const struct sta_call_tree *tree, const struct sta_call_rows *rows,
                       struct sta_timeline_stacks *stacks, struct sta_error *err)
{
    size_t capacity = 0, at = 0;
    stacks->ticks_per_second = tree->selection.index->ticks_per_second;
    for (size_t i = 0; i < rows->count; i++) {
        const uint32_t lane = rows->items[i].group;
        if (i > 0 && lane == rows->items[i - 1].group)
            continue;
        int rc =
            STA_ACCOUNT_GROW(stacks->account, stacks->groups, capacity, stacks->group_count + 1, WHAT, err);
        if (rc != 0)
            return rc;
        struct sta_text id = sta_lane_tree_id(&tree->selection.index->tree, lane);
        for (; at < stacks->count && stacks->items[at].group == lane; at++)
            stacks->items[at].group = (uint32_t)stacks->group_count;
        stacks->groups[stacks->group_count++] =
            (struct sta_text){sta_arena_copy(&stacks->memory, id.bytes, id.length), id.length};
    }
    return 0;
}

void sta_timeline_stacks_fini(struct sta_timeline_stacks *stacks)
{
    sta_account_free(stacks->account, stacks->items);
    sta_account_free(stacks->account, stacks->groups);
    sta_arena_fini(&stacks->memory);
    *stacks = (struct sta_timeline_stacks){0};
}

int sta_timeline_call_stacks(const struct sta_timeline_query *query, const struct sta_budget *budget,
                             struct sta_timeline_stacks *stacks, struct sta_error *err)
{
    struct sta_call_tree tree;
    struct sta_call_rows rows = {0};
    double min_share = 0;
    int64_t depth;
    *stacks = (struct sta_timeline_stacks){.account = budget->account};
    stacks->memory.account = budget->account;
    int rc = sta_call_tree_init(&tree, query, members, budget, err);
    if (rc == 0)
        rc = read_folding(query, &min_share, &depth, err);
    if (rc == 0)
        rc = sta_call_rows_init(&rows, &tree, min_share, depth, err);
    if (rc == 0)
        rc = list_stacks(&tree, &rows, stacks, err);
    if (rc == 0)
        rc = sta_sort(budget, stacks->items, stacks->count, sizeof *stacks->items, compare_stacks, NULL, err);
    if (rc == 0) {
        unite_stacks(stacks);
        rc = name_groups(&tree, &rows, stacks, err);
    }
    sta_call_rows_fini(&rows, budget->account);
    sta_call_tree_fini(&tree);
    if (rc != 0)
        sta_timeline_stacks_fini(stacks);
    return rc;
}
