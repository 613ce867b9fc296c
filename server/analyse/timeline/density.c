/* timeline/density: how much of each cell events of each label are on top, per lane.
 *
 * A lane's cells are held for one lane at a time, for the labels that occur in it.  A interval over many
 * cells costs as much as one over two: cells that are covered whole are kept as differences. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "analyse/views/members.h"
#include "analyse/timeline/columns.h"
#include "analyse/timeline/density_base.h"
#include "analyse/timeline/label_set.h"
#include "analyse/timeline/top.h"
#include "common/memory.h"

#define WHAT "the density of the timeline"

static const char *const cell_columns[] = {"lane", "label", "cell", "cells", "time", NULL};
static const char *const label_words[] = {"layer", "name", "category"};
enum { LABEL_LAYER, LABEL_NAME, LABEL_CATEGORY };

/* The cells of one label in one lane. */
struct label_cells {
    uint32_t code;
    int64_t *parts;  /* by cell: ticks of cells that are covered in part */
    int64_t *inside; /* by cell, and one more: change in the ticks of cells that are covered whole */
};

/* What one worker has of a lane. */
struct lane_cells {
    struct label_cells *labels;
    size_t count, capacity, made; /* labels in use; with memory */
    struct sta_map slots;         /* code -> label */
    struct sta_top_stack stack;
};

#define LEAST_EVENTS 16384 /* of a lane whose density is kept: the others are measured fast enough */
#define LEAST_SHARE 16     /* what is kept has at most one run for so many events */

struct density {
    struct sta_selection selection;
    struct sta_grid grid;
    const struct sta_budget *budget;
    size_t label, cell_count;
    struct lane_cells *workers;
    unsigned worker_count;
    const struct sta_timeline_lane *lane; /* the present one */
    struct sta_density_run *runs;
    size_t run_count, run_capacity;
};

/* ---- cells */

static uint32_t code_of(const struct density *density, const struct sta_lane_event *event)
{
    if (density->label == LABEL_NAME)
        return event->name;
    const struct sta_class_labels *labels = sta_selection_labels(&density->selection, event->number);
    return density->label == LABEL_LAYER ? labels->layer : labels->category;
}

static int find_label(struct density *density, struct lane_cells *cells, uint32_t code,
                      struct label_cells **label, struct sta_error *err)
{
    struct sta_account *account = density->budget->account;
    bool added;
    uint32_t slot = sta_map_intern(&cells->slots, code, (uint32_t)cells->count, &added);
    if (added) {
        int rc = STA_ACCOUNT_GROW(account, cells->labels, cells->capacity, cells->count + 1, WHAT, err);
        if (rc != 0)
            return rc;
        struct label_cells *fresh = &cells->labels[cells->count];
        const size_t capacity = density->cell_count + 1;
        if (cells->count == cells->made) {
            *fresh = (struct label_cells){
                .parts = sta_account_alloc(account, 2 * capacity, sizeof(int64_t), WHAT, err)};
            if (fresh->parts == NULL)
                return err->status;
            fresh->inside = fresh->parts + capacity;
            cells->made++;
        }
        memset(fresh->parts, 0, 2 * capacity * sizeof *fresh->parts);
        fresh->code = code;
        cells->count++;
    }
    *label = &cells->labels[slot];
    return 0;
}

/* A label's cells for a interval that begins and ends inside the grid. */
static void add_interval(const struct density *density, struct label_cells *label, int64_t from, int64_t to)
{
    const int64_t r = density->grid.resolution;
    int64_t first = (from - density->grid.from) / r, last = (to - density->grid.from - 1) / r;
    if (first == last) {
        label->parts[first] += to - from;
        return;
    }
    label->parts[first] += density->grid.from + (first + 1) * r - from;
    label->parts[last] += to - (density->grid.from + last * r);
    label->inside[first + 1] += r;
    label->inside[last] -= r;
}

struct adding {
    struct density *density;
    struct lane_cells *cells;
};

static int take_top(void *context, int64_t from, int64_t to, const struct sta_lane_event *event,
                    struct sta_error *err)
{
    struct adding *adding = context;
    struct label_cells *label = NULL;
    int rc = find_label(adding->density, adding->cells, code_of(adding->density, event), &label, err);
    if (rc == 0)
        add_interval(adding->density, label, from, to);
    return rc;
}

static int add_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct density *density = context;
    struct adding adding = {density, &density->workers[worker]};
    return sta_top_run(&density->selection, density->lane->first_thread + (uint32_t)at, density->grid.from,
                       density->grid.to, &adding.cells->stack, density->budget, take_top, &adding, err);
}

/* ---- runs */

static int add_run(struct density *density, struct sta_density_run run, struct sta_error *err)
{
    struct sta_density_run *last = density->run_count > 0 ? &density->runs[density->run_count - 1] : NULL;
    if (run.time == 0)
        return 0;
    if (last != NULL && last->lane == run.lane && last->code == run.code &&
        last->cell + last->cells == run.cell && last->time == run.time) {
        last->cells++;
        return 0;
    }
    int rc = STA_ACCOUNT_GROW(density->budget->account, density->runs, density->run_capacity,
                              density->run_count + 1, WHAT, err);
    if (rc == 0)
        density->runs[density->run_count++] = run;
    return rc;
}

/* Adds the cells of the other workers to those of the first. */
static int unite_workers(struct density *density, struct sta_error *err)
{
    int rc = 0;
    struct lane_cells *to = &density->workers[0];
    for (unsigned w = 1; w < density->worker_count; w++)
        for (size_t l = 0; l < density->workers[w].count && rc == 0; l++) {
            const struct label_cells *from = &density->workers[w].labels[l];
            struct label_cells *label = NULL;
            rc = find_label(density, to, from->code, &label, err);
            for (size_t c = 0; rc == 0 && c < 2 * (density->cell_count + 1); c++)
                label->parts[c] += from->parts[c];
        }
    return rc;
}

static int list_runs(struct density *density, int64_t lane, struct sta_error *err)
{
    const struct lane_cells *cells = &density->workers[0];
    int rc = 0;
    for (size_t l = 0; l < cells->count && rc == 0; l++) {
        int64_t inside = 0;
        for (size_t c = 0; c < density->cell_count && rc == 0; c++) {
            inside += cells->labels[l].inside[c];
            rc = add_run(density,
                         (struct sta_density_run){.code = cells->labels[l].code,
                                                  .lane = lane,
                                                  .cell = (int64_t)c,
                                                  .cells = 1,
                                                  .time = cells->labels[l].parts[c] + inside},
                         err);
        }
    }
    return rc;
}

/* Adds what is kept of a lane, at a finer resolution. */
static int add_kept(struct density *density, const struct sta_lane_density *kept, struct sta_error *err)
{
    const int64_t resolution = density->grid.resolution;
    const int shift = __builtin_ctzll((uint64_t)resolution) - (int)density->selection.index->density.shift;
    const int64_t first = density->grid.from / resolution;
    int rc = 0;
    for (uint32_t i = 0; i < kept->count && rc == 0; i++) {
        const struct sta_density_run *run = &kept->runs[i];
        struct label_cells *label = NULL;
        rc = find_label(density, &density->workers[0], run->code, &label, err);
        for (int64_t c = run->cell; rc == 0 && c < run->cell + run->cells; c++) {
            const int64_t cell = (c >> shift) - first;
            if (cell >= 0 && cell < (int64_t)density->cell_count)
                label->parts[cell] += run->time;
        }
    }
    return rc;
}

static struct sta_lane_density *find_kept(const struct density *density, size_t at)
{
    if (density->label != LABEL_LAYER)
        return NULL;
    return sta_density_base_find(&density->selection, density->selection.lanes[at], density->grid.resolution);
}

/* Measures the threads of the present lane. */
static int measure_threads(struct density *density, struct sta_error *err)
{
    if (density->lane->thread_count > 1)
        return sta_tasks_run(density->budget, density->lane->thread_count, add_thread, density, err);
    return add_thread(density, 0, 0, err);
}

static int measure_lane(struct density *density, size_t at, struct sta_error *err)
{
    const struct sta_selection *selection = &density->selection;
    struct sta_lane_density *kept = find_kept(density, at);
    density->lane = &selection->index->tree.lanes[selection->lanes[at]];
    for (unsigned w = 0; w < density->worker_count; w++) {
        density->workers[w].count = 0;
        sta_map_fini(&density->workers[w].slots);
        density->workers[w].slots.account = density->budget->account;
    }
    int rc = kept != NULL ? add_kept(density, kept, err) : measure_threads(density, err);
    if (rc == 0)
        rc = unite_workers(density, err);
    return rc == 0 ? list_runs(density, (int64_t)at, err) : rc;
}

/* ---- the answer */

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

static int put_runs(struct density *density, const struct sta_label_set *labels,
                    struct sta_timeline_columns *columns, struct sta_error *err)
{
    struct run_order order = {labels};
    columns->names[0] = cell_columns;
    int rc = sta_sort(density->budget, density->runs, density->run_count, sizeof *density->runs, compare_runs,
                      &order, err);
    for (size_t i = 0; i < density->run_count && rc == 0; i++) {
        const struct sta_density_run *run = &density->runs[i];
        int64_t values[] = {run->lane, label_place(labels, run->code), run->cell, run->cells, run->time};
        rc = sta_timeline_columns_put(columns, 0, values, err);
    }
    return rc;
}

static int put_labels(const struct density *density, struct sta_label_set *labels,
                      struct sta_timeline_columns *columns, struct sta_error *err)
{
    uint32_t slot;
    int rc = 0;
    for (size_t i = 0; i < density->run_count && rc == 0; i++)
        rc = sta_label_set_add(labels, density->runs[i].code, &slot, err);
    if (rc == 0)
        rc = sta_label_set_sort(labels, err);
    columns->label_count = labels->count;
    return rc == 0 ? sta_label_set_take(labels, &columns->labels, &columns->label_colors, err) : rc;
}

static int put_lanes(const struct density *density, struct sta_timeline_columns *columns,
                     struct sta_error *err)
{
    const struct sta_selection *selection = &density->selection;
    int rc = sta_timeline_columns_lanes(columns, selection->lane_count, err);
    for (size_t i = 0; i < selection->lane_count && rc == 0; i++) {
        columns->lanes[i] = sta_lane_tree_id(&selection->index->tree, selection->lanes[i]);
        columns->lane_figures[i] = selection->index->tree.lanes[selection->lanes[i]].thread_count;
    }
    return rc;
}

static int answer(struct density *density, struct sta_timeline_columns *columns, struct sta_error *err)
{
    const struct sta_selection *selection = &density->selection;
    const bool by_layer = density->label == LABEL_LAYER;
    struct sta_label_set labels;
    sta_label_set_init(&labels,
                       density->label == LABEL_NAME
                           ? sta_tables_names(sta_snapshot_tables(selection->index->snapshot))
                           : sta_columns_texts(selection->view->bound.columns, STA_LOGICAL_cat),
                       density->budget);
    int rc = sta_timeline_columns_init(columns, selection, &density->grid, err);
    columns->of_density = true;
    columns->by_layer = by_layer;
    for (size_t i = 0; i < selection->lane_count && rc == 0 && selection->from < selection->to; i++)
        rc = measure_lane(density, i, err);
    if (rc == 0 && !by_layer)
        rc = put_labels(density, &labels, columns, err);
    if (rc == 0)
        rc = put_lanes(density, columns, err);
    if (rc == 0)
        rc = put_runs(density, by_layer ? NULL : &labels, columns, err);
    sta_label_set_fini(&labels);
    return rc;
}

/* Loads what the lanes need: what is kept of them, or the events of their threads. */
static int load_lanes(struct density *density, struct sta_error *err)
{
    const struct sta_selection *selection = &density->selection;
    const struct sta_lane_tree *tree = &selection->index->tree;
    uint32_t *threads = sta_account_alloc(density->budget->account, (size_t)tree->thread_count + 1,
                                          sizeof *threads, WHAT, err);
    int rc = threads == NULL ? err->status : 0;
    bool measured = false;
    for (size_t i = 0; i < selection->lane_count && rc == 0; i++) {
        struct sta_lane_density *kept = find_kept(density, i);
        rc =
            kept != NULL ? sta_lane_density_load(selection->index, kept, density->budget, err) : STA_ECORRUPT;
        if (rc != STA_ECORRUPT)
            continue;
        *err = STA_ERROR_INIT;
        measured = true;
        const struct sta_timeline_lane *lane = &tree->lanes[selection->lanes[i]];
        for (uint32_t t = 0; t < lane->thread_count; t++)
            threads[t] = lane->first_thread + t;
        rc = sta_lane_index_load(selection->index, threads, lane->thread_count, density->budget, err);
    }
    if (rc == 0 && measured && density->label != LABEL_NAME)
        rc =
            sta_preset_view_classify(selection->view, selection->query->timeline, NULL, density->budget, err);
    sta_account_free(density->budget->account, threads);
    return rc;
}

static int prepare(struct density *density, struct sta_error *err)
{
    const struct sta_timeline_query *query = density->selection.query;
    int rc = sta_grid_init(&density->grid, &density->selection, err);
    if (rc == 0)
        rc = sta_member_word(query->request, "label", label_words, 3, &density->label, err);
    if (rc == 0)
        rc = check_lanes(&density->selection, err);
    if (rc == 0)
        rc = load_lanes(density, err);
    density->cell_count =
        rc == 0 ? (size_t)((density->grid.to - density->grid.from) / density->grid.resolution) : 0;
    density->worker_count = sta_budget_workers(density->budget);
    density->workers = sta_alloc_array(density->worker_count, sizeof *density->workers);
    return rc;
}

static void density_fini(struct density *density)
{
    struct sta_account *account = density->budget->account;
    for (unsigned w = 0; w < density->worker_count; w++) {
        struct lane_cells *cells = &density->workers[w];
        for (size_t l = 0; l < cells->made; l++)
            sta_account_free(account, cells->labels[l].parts);
        sta_account_free(account, cells->labels);
        sta_map_fini(&cells->slots);
        sta_top_stack_fini(&cells->stack, account);
    }
    free(density->workers);
    sta_account_free(account, density->runs);
    sta_selection_fini(&density->selection);
}

int sta_timeline_density(const struct sta_timeline_query *query, const struct sta_budget *budget,
                         struct sta_timeline_columns *columns, struct sta_error *err)
{
    static const char *const own[] = {"width", "label", NULL};
    struct density density = {.budget = budget};
    *columns = (struct sta_timeline_columns){0};
    int rc = sta_selection_read(&density.selection, query, own, budget, err);
    if (rc == 0)
        rc = prepare(&density, err);
    if (rc == 0)
        rc = answer(&density, columns, err);
    density_fini(&density);
    if (rc != 0)
        sta_timeline_columns_fini(columns);
    return rc;
}

/* ---- keeping it with the trace */

static uint64_t events_below(const struct sta_lane_index *index, uint32_t lane)
{
    const struct sta_timeline_lane *of = &index->tree.lanes[lane];
    uint64_t events = 0;
    for (uint32_t t = 0; t < of->thread_count; t++)
        events += index->threads[of->first_thread + t].count;
    return events;
}

static int keep_lanes(struct density *density, struct sta_lane_file_writer *writer, struct sta_buffer *list,
                      uint64_t *count, struct sta_error *err)
{
    const struct sta_lane_index *index = density->selection.index;
    int rc = 0;
    for (uint32_t lane = 0; lane < index->tree.lane_count && rc == 0; lane++) {
        const uint64_t events = events_below(index, lane);
        if (events < LEAST_EVENTS)
            continue;
        density->selection.lanes = &lane;
        density->run_count = 0;
        rc = measure_lane(density, 0, err);
        if (rc != 0 || density->run_count > events / LEAST_SHARE)
            continue;
        sta_put_varint(list, lane);
        sta_put_varint(list, density->run_count);
        ++*count;
        rc = sta_density_runs_put(writer, density->runs, density->run_count, err);
    }
    density->selection.lanes = NULL;
    return rc;
}

int sta_density_base_keep(struct sta_timeline *timeline, struct sta_presets *presets, const char *preset,
                          struct sta_lane_file_writer *writer, struct sta_buffer *head,
                          const struct sta_budget *budget, struct sta_error *err)
{
    struct density density = {.selection = {.account = budget->account, .index = timeline->index},
                              .budget = budget,
                              .label = LABEL_LAYER,
                              .worker_count = sta_budget_workers(budget)};
    const uint32_t shift = sta_density_base_shift(timeline->index);
    struct sta_buffer list;
    uint64_t count = 0;
    sta_buffer_init(&list);
    density.grid = (struct sta_grid){.resolution = INT64_C(1) << shift};
    density.cell_count = (size_t)(timeline->index->end >> shift) + 1;
    density.grid.to = (int64_t)density.cell_count << shift;
    density.workers = sta_alloc_array(density.worker_count, sizeof *density.workers);
    int rc = sta_timeline_view(timeline, presets, preset, &density.selection.view, err);
    if (rc == 0)
        rc = sta_preset_view_classify(density.selection.view, timeline, NULL, budget, err);
    if (rc == 0)
        rc = keep_lanes(&density, writer, &list, &count, err);
    sta_put_block(head, preset, strlen(preset));
    sta_put_u64(head, sta_presets_fingerprint(presets));
    sta_put_varint(head, shift);
    sta_put_varint(head, count);
    sta_put(head, list.data, list.size);
    if (rc == 0 && (list.failed || head->failed))
        rc = sta_fail(err, STA_ENOMEM, "no memory to write " WHAT);
    sta_buffer_fini(&list);
    density_fini(&density);
    return rc;
}
