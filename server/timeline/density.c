/* timeline/density: how much of each cell events of each label are on top, per lane. */
#include <stdlib.h>
#include <string.h>

#include "analyse/views/members.h"
#include "timeline/columns.h"
#include "timeline/density_cells.h"
#include "timeline/label_set.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the density of the timeline"

static const char *const cell_columns[] = {"lane", "label", "cell", "cells", "time", NULL};
static const char *const label_words[] = {"layer", "name", "category"};

struct request {
    struct sta_selection selection;
    struct sta_density density;
};

static struct sta_lane_density *find_kept(const struct request *request, size_t at)
{
    if (request->density.label != STA_DENSITY_LAYER)
        return NULL;
    return sta_density_base_find(&request->selection, request->selection.lanes[at],
                                 request->density.grid.resolution);
}

static int measure_lane(struct request *request, size_t at, struct sta_error *err)
{
    const struct sta_lane_index *index = request->selection.index;
    const struct sta_timeline_lane *lane = &index->tree.lanes[request->selection.lanes[at]];
    const struct sta_lane_density *kept = find_kept(request, at);
    sta_density_begin(&request->density);
    int rc = kept != NULL
                 ? sta_density_add_runs(&request->density, kept, index->density.shift, err)
                 : sta_density_add_threads(&request->density, lane->first_thread, lane->thread_count, err);
    return rc == 0 ? sta_density_end(&request->density, (int64_t)at, err) : rc;
}

/* ---- the result */

static int check_lanes(const struct sta_selection *selection, struct sta_error *err)
{
    uint8_t *seen = sta_account_calloc(selection->account, selection->index->tree.lane_count, 1, WHAT, err);
    if (seen == NULL)
        return err->status;
    int rc = 0;
    for (size_t i = 0; i < selection->lane_count && rc == 0; i++) {
        if (seen[selection->lanes[i]]++ > 0) {
            sta_fail(err, STA_EINPUT, "a lane is named twice");
            rc = sta_at_member(err, "lanes", NULL, -1);
        }
    }
    sta_account_free(selection->account, seen);
    return rc;
}

struct run_order {
    const struct sta_label_set *labels; /* NULL: layers */
};

static int64_t label_place(const struct sta_label_set *labels, uint32_t code)
{
    if (labels != NULL)
        return sta_label_set_place(labels, code);
    return code == STA_NO_LAYER ? -1 : (int64_t)code;
}

static int compare_runs(const void *a, const void *b, void *context)
{
    const struct sta_density_run *x = a, *y = b;
    const struct run_order *order = context;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->code != y->code)
        return label_place(order->labels, x->code) < label_place(order->labels, y->code) ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static int put_runs(struct request *request, const struct sta_label_set *labels,
                    struct sta_timeline_columns *columns, struct sta_error *err)
{
    struct run_order order = {labels};
    columns->names[0] = cell_columns;
    int rc = sta_sort(request->density.budget, request->density.runs, request->density.run_count,
                      sizeof *request->density.runs, compare_runs, &order, err);
    for (size_t i = 0; i < request->density.run_count && rc == 0; i++) {
        const struct sta_density_run *run = &request->density.runs[i];
        int64_t values[] = {run->lane, label_place(labels, run->code), run->cell, run->cells, run->time};
        rc = sta_timeline_columns_put(columns, 0, values, err);
    }
    return rc;
}

static int put_labels(const struct request *request, struct sta_label_set *labels,
                      struct sta_timeline_columns *columns, struct sta_error *err)
{
    uint32_t slot;
    int rc = 0;
    for (size_t i = 0; i < request->density.run_count && rc == 0; i++)
        rc = sta_label_set_add(labels, request->density.runs[i].code, &slot, err);
    if (rc == 0)
        rc = sta_label_set_sort(labels, err);
    columns->label_count = labels->count;
    return rc == 0 ? sta_label_set_take(labels, &columns->labels, &columns->label_colors, err) : rc;
}

static int put_lanes(const struct request *request, struct sta_timeline_columns *columns,
                     struct sta_error *err)
{
    const struct sta_selection *selection = &request->selection;
    int rc = sta_timeline_columns_lanes(columns, selection->lane_count, err);
    for (size_t i = 0; i < selection->lane_count && rc == 0; i++) {
        columns->lanes[i] = sta_lane_tree_id(&selection->index->tree, selection->lanes[i]);
        columns->lane_figures[i] = selection->index->tree.lanes[selection->lanes[i]].thread_count;
    }
    return rc;
}

static int fill_result(struct request *request, struct sta_timeline_columns *columns, struct sta_error *err)
{
    const struct sta_selection *selection = &request->selection;
    const bool by_layer = request->density.label == STA_DENSITY_LAYER;
    struct sta_label_set labels;
    sta_label_set_init(&labels,
                       request->density.label == STA_DENSITY_NAME
                           ? sta_tables_names(sta_snapshot_tables(selection->index->snapshot))
                           : sta_columns_texts(selection->view->bound.columns, STA_LOGICAL_cat),
                       request->density.budget);
    int rc = sta_timeline_columns_init(columns, selection, &request->density.grid, err);
    columns->of_density = true;
    columns->by_layer = by_layer;
    for (size_t i = 0; i < selection->lane_count && rc == 0 && selection->from < selection->to; i++)
        rc = measure_lane(request, i, err);
    if (rc == 0 && !by_layer)
        rc = put_labels(request, &labels, columns, err);
    if (rc == 0)
        rc = put_lanes(request, columns, err);
    if (rc == 0)
        rc = put_runs(request, by_layer ? NULL : &labels, columns, err);
    sta_label_set_fini(&labels);
    return rc;
}

/* Loads what the lanes need: what is kept of them, or the events of their threads. */
static int load_lanes(struct request *request, struct sta_error *err)
{
    const struct sta_selection *selection = &request->selection;
    const struct sta_lane_tree *tree = &selection->index->tree;
    uint32_t *threads = sta_account_alloc(request->density.budget->account, (size_t)tree->thread_count + 1,
                                          sizeof *threads, WHAT, err);
    int rc = threads == NULL ? err->status : 0;
    bool measured = false;
    for (size_t i = 0; i < selection->lane_count && rc == 0; i++) {
        struct sta_lane_density *kept = find_kept(request, i);
        rc = kept != NULL ? sta_lane_density_load(selection->index, kept, request->density.budget, err)
                          : STA_ECORRUPT;
        if (rc != STA_ECORRUPT)
            continue;
        *err = STA_ERROR_INIT;
        measured = true;
        const struct sta_timeline_lane *lane = &tree->lanes[selection->lanes[i]];
        for (uint32_t t = 0; t < lane->thread_count; t++)
            threads[t] = lane->first_thread + t;
        rc = sta_lane_index_load(selection->index, threads, lane->thread_count, request->density.budget, err);
    }
    if (rc == 0 && measured && request->density.label != STA_DENSITY_NAME)
        rc = sta_preset_view_classify(selection->view, selection->query->timeline, NULL,
                                      request->density.budget, err);
    sta_account_free(request->density.budget->account, threads);
    return rc;
}

static int prepare(struct request *request, struct sta_error *err)
{
    size_t label = STA_DENSITY_LAYER;
    int rc = sta_grid_init(&request->density.grid, &request->selection, err);
    if (rc == 0)
        rc = sta_member_word(request->selection.query->request, "label", label_words, 3, &label, err);
    request->density.label = (enum sta_density_label)label;
    if (rc == 0)
        rc = check_lanes(&request->selection, err);
    if (rc == 0)
        rc = load_lanes(request, err);
    if (rc == 0)
        sta_density_init(&request->density);
    return rc;
}

int sta_timeline_density(const struct sta_timeline_query *query, const struct sta_budget *budget,
                         struct sta_timeline_columns *columns, struct sta_error *err)
{
    static const char *const own[] = {"width", "label", NULL};
    struct request request = {.density = {.selection = &request.selection, .budget = budget}};
    *columns = (struct sta_timeline_columns){0};
    int rc = sta_selection_read(&request.selection, query, own, budget, err);
    if (rc == 0)
        rc = prepare(&request, err);
    if (rc == 0)
        rc = fill_result(&request, columns, err);
    sta_density_fini(&request.density);
    sta_selection_fini(&request.selection);
    if (rc != 0)
        sta_timeline_columns_fini(columns);
    return rc;
}
