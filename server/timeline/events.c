/* timeline/events: the boxes of all chosen threads, as columns. */
#include <stdlib.h>

#include "analyse/exec/tasks.h"
#include "analyse/views/members.h"
#include "timeline/columns.h"
#include "timeline/draw.h"
#include "timeline/label_set.h"
#include "timeline/details.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the boxes of the timeline"

static const char *const single_columns[] = {"lane",     "row",   "start", "dur", "name",
                                             "category", "layer", "nth",   NULL};
static const char *const block_columns[] = {"lane", "row",      "start", "dur", "count", "covered",
                                            "name", "category", "layer", "nth", "at",    NULL};

struct picture {
    struct sta_selection selection;
    struct sta_grid grid;
    const struct sta_budget *budget;
    struct sta_drawing **drawings; /* by worker */
    struct sta_boxes *boxes;       /* by chosen thread */
    struct sta_label_set names, categories;
};

static int check_size(const struct picture *picture, struct sta_error *err)
{
    const struct sta_selection *selection = &picture->selection;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < selection->thread_count; i++)
        rows += selection->index->threads[selection->threads[i]].rows;
    if (rows * (uint64_t)picture->grid.width <= selection->query->cells)
        return 0;
    sta_fail(err, STA_ELIMIT,
             "%llu rows of %lld pixels are more cells than the setting timeline_cells allows (%llu); ask for "
             "fewer lanes or a smaller width",
             (unsigned long long)rows, (long long)picture->grid.width,
             (unsigned long long)selection->query->cells);
    return sta_at_member(err, "lanes", NULL, -1);
}

/* What a thread looks like at the grid's resolution; NULL: it is drawn from its events. */
static struct sta_lane_detail *find_level(const struct picture *picture, uint32_t thread)
{
    const struct sta_selection *selection = &picture->selection;
    if (selection->matches != NULL)
        return NULL;
    return sta_lane_details_find(selection->index, thread, picture->grid.resolution);
}

/* The events that boxes are made of. */
static int load_events(const struct picture *picture, const uint32_t *threads, size_t count,
                       struct sta_error *err)
{
    int64_t from, to;
    sta_grid_range(&picture->grid, &from, &to);
    return sta_lane_index_load_window(picture->selection.index, threads, count, from, to, picture->budget,
                                      err);
}

static int draw_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct picture *picture = context;
    struct sta_selection *selection = &picture->selection;
    const uint32_t thread = selection->threads[at];
    struct sta_lane_detail *level = find_level(picture, thread);
    int rc = level == NULL ? STA_ECORRUPT
                           : sta_lane_detail_put(selection->index, level, &picture->grid, picture->budget,
                                                 &picture->boxes[at], err);
    if (rc != STA_ECORRUPT)
        return rc;
    *err = STA_ERROR_INIT;
    rc = load_events(picture, &thread, 1, err);
    return rc == 0 ? sta_drawing_thread(picture->drawings[worker], thread, &picture->boxes[at], err) : rc;
}

/* Threads that are drawn from their events are loaded side by side. */
static int load_threads(struct picture *picture, struct sta_error *err)
{
    const struct sta_selection *selection = &picture->selection;
    size_t count = 0;
    uint32_t *threads = sta_account_alloc(picture->budget->account, (size_t)selection->thread_count + 1,
                                          sizeof *threads, WHAT, err);
    if (threads == NULL)
        return err->status;
    for (uint32_t i = 0; i < selection->thread_count; i++)
        if (find_level(picture, selection->threads[i]) == NULL)
            threads[count++] = selection->threads[i];
    int rc = load_events(picture, threads, count, err);
    sta_account_free(picture->budget->account, threads);
    return rc;
}

static int draw(struct picture *picture, struct sta_error *err)
{
    const struct sta_budget *budget = picture->budget;
    unsigned workers = sta_budget_workers(budget);
    picture->boxes = sta_account_calloc(budget->account, (size_t)picture->selection.thread_count + 1,
                                        sizeof *picture->boxes, WHAT, err);
    if (picture->boxes == NULL)
        return err->status;
    picture->drawings = sta_alloc_array(workers, sizeof *picture->drawings);
    for (unsigned w = 0; w < workers; w++)
        picture->drawings[w] = sta_drawing_create(&picture->selection, &picture->grid, budget);
    return sta_tasks_run(budget, picture->selection.thread_count, draw_thread, picture, err);
}

/* The boxes' layers and categories: their row groups are classified. */
static int classify_boxes(struct picture *picture, struct sta_error *err)
{
    const struct sta_selection *selection = &picture->selection;
    struct sta_account *account = picture->budget->account;
    uint8_t *groups = sta_account_calloc(
        account, sta_snapshot_row_group_count(selection->index->snapshot) + 1, 1, WHAT, err);
    if (groups == NULL)
        return err->status;
    for (uint32_t i = 0; i < selection->thread_count; i++)
        for (size_t b = 0; b < picture->boxes[i].count; b++)
            groups[sta_lane_index_group(selection->index, picture->boxes[i].items[b].number)] = 1;
    int rc =
        sta_preset_view_classify(selection->view, selection->query->timeline, groups, picture->budget, err);
    sta_account_free(account, groups);
    return rc;
}

/* ---- columns */

static int collect_names(struct picture *picture, struct sta_error *err)
{
    const struct sta_selection *selection = &picture->selection;
    int rc = 0;
    uint32_t slot;
    for (uint32_t i = 0; i < selection->thread_count; i++)
        for (size_t b = 0; b < picture->boxes[i].count && rc == 0; b++) {
            const struct sta_box *box = &picture->boxes[i].items[b];
            rc = sta_label_set_add(&picture->names, box->name, &slot, err);
            if (rc == 0)
                rc = sta_label_set_add(&picture->categories,
                                       sta_selection_labels(selection, box->number)->category, &slot, err);
        }
    if (rc == 0)
        rc = sta_label_set_sort(&picture->names, err);
    return rc == 0 ? sta_label_set_sort(&picture->categories, err) : rc;
}

static int put_box(const struct picture *picture, struct sta_timeline_columns *columns, uint32_t lane,
                   const struct sta_box *box, struct sta_error *err)
{
    const struct sta_selection *selection = &picture->selection;
    const struct sta_class_labels *labels = sta_selection_labels(selection, box->number);
    const int64_t name = sta_label_set_place(&picture->names, box->name);
    const int64_t category = sta_label_set_place(&picture->categories, labels->category);
    const int64_t layer = labels->layer == STA_NO_LAYER ? -1 : (int64_t)labels->layer;
    if (box->count == 0) {
        int64_t values[] = {lane, box->row, box->start, box->dur, name, category, layer, box->nth};
        return sta_timeline_columns_put(columns, 0, values, err);
    }
    int64_t values[] = {lane, box->row, box->start, box->dur, box->count, box->covered,
                        name, category, layer,      box->nth, box->at};
    return sta_timeline_columns_put(columns, 1, values, err);
}

static int put_columns(struct picture *picture, struct sta_timeline_columns *columns, struct sta_error *err)
{
    const struct sta_selection *selection = &picture->selection;
    const struct sta_lane_tree *tree = &selection->index->tree;
    columns->names[0] = single_columns;
    columns->names[1] = block_columns;
    int rc = sta_timeline_columns_lanes(columns, selection->thread_count, err);
    for (uint32_t i = 0; rc == 0 && i < selection->thread_count; i++) {
        uint32_t thread = selection->threads[i];
        columns->lanes[i] = sta_lane_tree_id(tree, tree->lane_of_thread[thread]);
        columns->lane_figures[i] = selection->index->threads[thread].rows;
        for (size_t b = 0; rc == 0 && b < picture->boxes[i].count; b++)
            rc = put_box(picture, columns, i, &picture->boxes[i].items[b], err);
    }
    columns->label_count = picture->names.count;
    columns->category_count = picture->categories.count;
    if (rc == 0)
        rc = sta_label_set_take(&picture->names, &columns->labels, &columns->label_colors, err);
    if (rc == 0)
        rc = sta_label_set_take(&picture->categories, &columns->categories, &columns->category_colors, err);
    return rc;
}

static int fill_result(struct picture *picture, struct sta_timeline_columns *columns, struct sta_error *err)
{
    const struct sta_selection *selection = &picture->selection;
    const struct sta_snapshot *snapshot = selection->index->snapshot;
    int rc = check_size(picture, err);
    if (rc != 0)
        return rc;
    sta_label_set_init(&picture->names, sta_tables_names(sta_snapshot_tables(snapshot)), picture->budget);
    sta_label_set_init(&picture->categories,
                       sta_columns_texts(selection->view->bound.columns, STA_LOGICAL_cat), picture->budget);
    rc = load_threads(picture, err);
    if (rc == 0)
        rc = draw(picture, err);
    if (rc == 0)
        rc = classify_boxes(picture, err);
    if (rc == 0)
        rc = collect_names(picture, err);
    if (rc == 0)
        rc = sta_timeline_columns_init(columns, selection, &picture->grid, err);
    if (rc == 0)
        rc = put_columns(picture, columns, err);
    sta_label_set_fini(&picture->names);
    sta_label_set_fini(&picture->categories);
    return rc;
}

static void picture_fini(struct picture *picture)
{
    for (unsigned w = 0; picture->drawings != NULL && w < sta_budget_workers(picture->budget); w++)
        sta_drawing_destroy(picture->drawings[w]);
    free(picture->drawings);
    for (uint32_t i = 0; picture->boxes != NULL && i < picture->selection.thread_count; i++)
        sta_account_free(picture->budget->account, picture->boxes[i].items);
    sta_account_free(picture->budget->account, picture->boxes);
    sta_selection_fini(&picture->selection);
}

int sta_timeline_events(const struct sta_timeline_query *query, const struct sta_budget *budget,
                        struct sta_timeline_columns *columns, struct sta_error *err)
{
    static const char *const own[] = {"width", NULL};
    struct picture picture = {.budget = budget};
    *columns = (struct sta_timeline_columns){0};
    int rc = sta_selection_read(&picture.selection, query, own, budget, err);
    if (rc == 0)
        rc = sta_grid_init(&picture.grid, &picture.selection, err);
    if (rc == 0)
        rc = fill_result(&picture, columns, err);
    picture_fini(&picture);
    if (rc != 0)
        sta_timeline_columns_fini(columns);
    return rc;
}
