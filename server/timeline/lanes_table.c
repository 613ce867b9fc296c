/* timeline/lanes: the tree with figures of the matching events that touch the window. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/views/members.h"
#include "timeline/lane_figures.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the lanes of the timeline"
#define MOST_SORT_KEYS 8

static const char *const sort_words[] = {"name", "busy", "events", "first", "last", "longest", "rows"};
enum { SORT_NAME, SORT_BUSY, SORT_EVENTS, SORT_FIRST, SORT_LAST, SORT_LONGEST, SORT_ROWS, SORT_WORDS };

struct lanes_run {
    struct sta_selection selection;
    const struct sta_budget *budget;
    const struct sta_lane_figures *figures; /* by lane */
    struct {
        size_t word;
        bool descending;
    } sort[MOST_SORT_KEYS];
    size_t sort_count, level;
    uint32_t parent;
};

/* ---- order */

static int64_t figure(const struct sta_lane_figures *figures, size_t word)
{
    switch (word) {
    case SORT_BUSY:
        return figures->busy;
    case SORT_EVENTS:
        return figures->events;
    case SORT_FIRST:
        return figures->first;
    case SORT_LAST:
        return figures->last;
    case SORT_LONGEST:
        return figures->longest;
    default:
        return figures->rows;
    }
}

static int compare_lanes(const void *a, const void *b, void *context)
{
    const struct lanes_run *run = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (size_t k = 0; k < run->sort_count; k++) {
        int64_t p = x, q = y;
        if (run->sort[k].word != SORT_NAME) {
            p = figure(&run->figures[x], run->sort[k].word);
            q = figure(&run->figures[y], run->sort[k].word);
        }
        if (p != q)
            return (p < q) == !run->sort[k].descending ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* The lanes below @lane that have events, in order, with those below each behind it. */
static int list_below(const struct lanes_run *run, uint32_t lane, uint32_t *list, size_t *count,
                      struct sta_error *err)
{
    const struct sta_lane_tree *tree = &run->selection.index->tree;
    if (tree->lanes[lane].level >= run->level)
        return 0;
    uint32_t *children =
        sta_account_alloc(run->budget->account, tree->lanes[lane].end - lane, sizeof *children, WHAT, err);
    if (children == NULL)
        return err->status;
    size_t child_count = 0;
    for (uint32_t below = lane + 1; below < tree->lanes[lane].end; below = tree->lanes[below].end)
        if (run->figures[below].events > 0)
            children[child_count++] = below;
    int rc = sta_sort(run->budget, children, child_count, sizeof *children, compare_lanes, (void *)run, err);
    for (size_t i = 0; rc == 0 && i < child_count; i++) {
        list[(*count)++] = children[i];
        rc = list_below(run, children[i], list, count, err);
    }
    sta_account_free(run->budget->account, children);
    return rc;
}

/* ---- members */

static int read_sort_key(struct lanes_run *run, struct sta_text key, struct sta_error *err)
{
    bool descending = key.length > 0 && key.bytes[0] == '-';
    for (size_t w = 0; w < SORT_WORDS && run->sort_count < MOST_SORT_KEYS; w++)
        if (strlen(sort_words[w]) == key.length - descending &&
            memcmp(key.bytes + descending, sort_words[w], key.length - descending) == 0) {
            run->sort[run->sort_count].word = w;
            run->sort[run->sort_count++].descending = descending;
            return 0;
        }
    sta_fail(err, STA_EINPUT,
             "expected up to %d of name, busy, events, first, last, longest, rows, with - before those that "
             "descend",
             MOST_SORT_KEYS);
    return sta_at_member(err, "sort", NULL, -1);
}

static int read_sort_keys(struct lanes_run *run, struct sta_text keys, struct sta_error *err)
{
    int rc = 0;
    for (const char *at = keys.bytes, *end = keys.bytes + keys.length; rc == 0 && at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma != NULL ? comma : end;
        rc = read_sort_key(run, (struct sta_text){at, (uint32_t)(stop - at)}, err);
        at = stop + 1;
    }
    return rc;
}

static int read_sort(struct lanes_run *run, struct sta_error *err)
{
    const struct sta_document *sort = sta_member_given(run->selection.query->request, "sort");
    if (sort == NULL)
        return 0;
    if (sort->type == STA_DOCUMENT_TEXT)
        return read_sort_keys(run, sort->text, err);
    int rc = 0;
    for (const struct sta_document *key = sort->first; rc == 0 && key != NULL; key = key->next)
        rc = read_sort_keys(run, key->type == STA_DOCUMENT_TEXT ? key->text : (struct sta_text){"", 0}, err);
    return rc;
}

static int read_members(struct lanes_run *run, struct sta_error *err)
{
    const struct sta_document *request = run->selection.query->request;
    size_t level = STA_LANE_THREAD - 1;
    const char *parent = "job";
    int rc = sta_member_word(request, "level", sta_lane_level_names + 1, STA_LANE_THREAD, &level, err);
    run->level = level + 1;
    if (rc == 0)
        rc = sta_member_text(request, "parent", &parent, err);
    if (rc != 0)
        return rc;
    run->parent = sta_lane_tree_find(&run->selection.index->tree, parent, strlen(parent));
    if (run->parent == STA_NO_LANE) {
        sta_fail(err, STA_EINPUT, "there is no lane \"%.200s\"", parent);
        return sta_at_member(err, "parent", NULL, -1);
    }
    return read_sort(run, err);
}

/* ---- the table */

static void put_label(const struct lanes_run *run, const struct sta_timeline_lane *lane,
                      struct sta_table *table, struct sta_table_column *column, size_t row)
{
    char text[40];
    int64_t number = lane->level == STA_LANE_THREAD ? lane->tid : lane->pid;
    if (lane->level == STA_LANE_HOST) {
        struct sta_text host =
            lane->host == STA_NO_CODE
                ? (struct sta_text){"no host", 7}
                : sta_dictionary_text(run->selection.index->tree.entities->hosts, lane->host);
        sta_table_set_text(table, column, row, host.bytes, host.length);
        return;
    }
    const char *before = lane->level == STA_LANE_RANK_GROUP ? "rank " : "";
    int length = number == STA_NO_ID ? snprintf(text, sizeof text, "%sNone", before)
                                     : snprintf(text, sizeof text, "%s%lld", before, (long long)number);
    sta_table_set_text(table, column, row, text, (size_t)length);
}

static void put_names(const struct lanes_run *run, struct sta_table *table, const uint32_t *list)
{
    const struct sta_lane_tree *tree = &run->selection.index->tree;
    struct sta_table_column *ids = sta_table_add(table, "id", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < table->rows; i++) {
        struct sta_text id = sta_lane_tree_id(tree, list[i]);
        sta_table_set_text(table, ids, i, id.bytes, id.length);
    }
    struct sta_table_column *parents = sta_table_add(table, "parent", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        if (tree->lanes[list[i]].parent != 0) {
            struct sta_text id = sta_lane_tree_id(tree, tree->lanes[list[i]].parent);
            sta_table_set_text(table, parents, i, id.bytes, id.length);
        }
    struct sta_table_column *levels = sta_table_add(table, "level", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < table->rows; i++) {
        const char *level = sta_lane_level_names[tree->lanes[list[i]].level];
        sta_table_set_text(table, levels, i, level, strlen(level));
    }
    struct sta_table_column *labels = sta_table_add(table, "label", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        put_label(run, &tree->lanes[list[i]], table, labels, i);
}

static void put_keys(const struct lanes_run *run, struct sta_table *table, const uint32_t *list)
{
    const struct sta_lane_tree *tree = &run->selection.index->tree;
    struct sta_table_column *hosts = sta_table_add(table, "host_name", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        if (tree->lanes[list[i]].host != STA_NO_CODE) {
            struct sta_text host = sta_dictionary_text(tree->entities->hosts, tree->lanes[list[i]].host);
            sta_table_set_text(table, hosts, i, host.bytes, host.length);
        }
    struct sta_table_column *pids = sta_table_add(table, "pid", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        if (tree->lanes[list[i]].level > STA_LANE_HOST && tree->lanes[list[i]].pid != STA_NO_ID)
            sta_table_set_int(pids, i, tree->lanes[list[i]].pid);
    struct sta_table_column *tids = sta_table_add(table, "tid", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        if (tree->lanes[list[i]].tid != STA_NO_ID)
            sta_table_set_int(tids, i, tree->lanes[list[i]].tid);
}

static void put_figures(const struct lanes_run *run, struct sta_table *table, const uint32_t *list)
{
    static const char *const counted[] = {"threads", "events"};
    static const char *const timed[] = {"busy", "first", "last", "longest"};
    for (size_t c = 0; c < 2; c++) {
        struct sta_table_column *column = sta_table_add(table, counted[c], STA_TYPE_INT, NULL);
        for (size_t i = 0; i < table->rows; i++)
            sta_table_set_int(column, i,
                              c == 0 ? run->figures[list[i]].threads : run->figures[list[i]].events);
    }
    for (size_t c = 0; c < 4; c++) {
        struct sta_table_column *column = sta_table_add(table, timed[c], STA_TYPE_FLOAT, "s");
        for (size_t i = 0; i < table->rows; i++) {
            const struct sta_lane_figures *f = &run->figures[list[i]];
            const int64_t ticks[] = {f->busy, f->first, f->last, f->longest};
            sta_table_set_number(column, i, sta_selection_seconds(&run->selection, ticks[c]));
        }
    }
    struct sta_table_column *rows = sta_table_add(table, "rows", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        sta_table_set_int(rows, i, run->figures[list[i]].rows);
}

/* Whether the figures of all events are asked for, which the index may know. */
static bool is_whole(const struct sta_selection *selection)
{
    return selection->matches == NULL && selection->from <= 0 && selection->to >= selection->index->end &&
           selection->thread_count == selection->index->tree.thread_count;
}

static int put_table(struct lanes_run *run, struct sta_table *table, struct sta_error *err)
{
    const uint32_t lanes = run->selection.index->tree.lane_count;
    uint32_t *list = sta_account_alloc(run->budget->account, lanes, sizeof *list, WHAT, err);
    size_t count = 0;
    int rc = list == NULL ? err->status : list_below(run, run->parent, list, &count, err);
    if (rc == 0) {
        sta_table_init(table, count);
        sta_table_count_in(table, run->budget->account);
        put_names(run, table, list);
        put_keys(run, table, list);
        put_figures(run, table, list);
    }
    sta_account_free(run->budget->account, list);
    return rc;
}

static int fill_result(struct lanes_run *run, struct sta_table *table, struct sta_error *err)
{
    struct sta_lane_figures *measured = NULL;
    int rc = 0;
    run->figures = is_whole(&run->selection) ? atomic_load(&run->selection.index->figures) : NULL;
    if (run->figures == NULL) {
        rc = sta_selection_load(&run->selection, run->budget, err);
        if (rc == 0)
            rc = sta_lane_figures_measure(&run->selection, run->budget, &measured, err);
        run->figures = measured;
    }
    if (rc == 0)
        rc = put_table(run, table, err);
    sta_account_free(run->budget->account, measured);
    return rc;
}

int sta_timeline_lanes(const struct sta_timeline_query *query, const struct sta_budget *budget,
                       struct sta_table *table, struct sta_error *err)
{
    static const char *const own[] = {"parent", "level", "sort", NULL};
    struct lanes_run run = {.budget = budget};
    int rc = sta_selection_read(&run.selection, query, own, budget, err);
    if (rc == 0)
        rc = read_members(&run, err);
    if (rc == 0)
        rc = fill_result(&run, table, err);
    sta_selection_fini(&run.selection);
    return rc;
}
