/* An interval over many cells costs as much as one over two: cells that are covered whole are kept as
 * differences. */
#include "timeline/density_cells.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "timeline/top.h"
#include "common/map.h"
#include "common/memory.h"

#define WHAT "the density of the timeline"

/* The cells of one label in one lane. */
struct label_cells {
    uint32_t code;
    int64_t *parts;  /* by cell: ticks of cells that are covered in part */
    int64_t *inside; /* by cell, and one more: change in the ticks of cells that are covered whole */
};

/* What one worker has of a lane. */
struct sta_density_worker {
    struct label_cells *labels;
    size_t count, capacity, made; /* labels in use; with memory */
    struct sta_map slots;         /* code -> label */
    struct sta_top_stack stack;
};

/* ---- cells */

static uint32_t code_of(const struct sta_density *density, const struct sta_lane_event *event)
{
    if (density->label == STA_DENSITY_NAME)
        return event->name;
    const struct sta_class_labels *labels = sta_selection_labels(density->selection, event->number);
    return density->label == STA_DENSITY_LAYER ? labels->layer : labels->category;
}

static int find_label(struct sta_density *density, struct sta_density_worker *cells, uint32_t code,
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

/* A label's cells for an interval that begins and ends inside the grid. */
static void add_interval(const struct sta_density *density, struct label_cells *label, int64_t from,
                         int64_t to)
{
    const int64_t r = density->grid.resolution;
    const int shift = __builtin_ctzll((uint64_t)r);
    const int64_t first = (from - density->grid.from) >> shift, last = (to - density->grid.from - 1) >> shift;
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
    struct sta_density *density;
    struct sta_density_worker *cells;
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
    struct sta_density *density = context;
    struct adding adding = {density, &density->workers[worker]};
    return sta_top_run(density->selection, density->first_thread + (uint32_t)at, density->grid.from,
                       density->grid.to, &adding.cells->stack, density->budget, take_top, &adding, err);
}

/* ---- runs */

static int add_run(struct sta_density *density, struct sta_density_run run, struct sta_error *err)
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
static int unite_workers(struct sta_density *density, struct sta_error *err)
{
    int rc = 0;
    struct sta_density_worker *to = &density->workers[0];
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

static int list_runs(struct sta_density *density, int64_t lane, struct sta_error *err)
{
    const struct sta_density_worker *cells = &density->workers[0];
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

/* ---- a lane */

void sta_density_init(struct sta_density *density)
{
    density->cell_count = (size_t)((density->grid.to - density->grid.from) / density->grid.resolution);
    density->worker_count = sta_budget_workers(density->budget);
    density->workers = sta_alloc_array(density->worker_count, sizeof *density->workers);
}

void sta_density_fini(struct sta_density *density)
{
    struct sta_account *account = density->budget->account;
    for (unsigned w = 0; w < density->worker_count; w++) {
        struct sta_density_worker *cells = &density->workers[w];
        for (size_t l = 0; l < cells->made; l++)
            sta_account_free(account, cells->labels[l].parts);
        sta_account_free(account, cells->labels);
        sta_map_fini(&cells->slots);
        sta_top_stack_fini(&cells->stack, account);
    }
    free(density->workers);
    sta_account_free(account, density->runs);
}

void sta_density_begin(struct sta_density *density)
{
    for (unsigned w = 0; w < density->worker_count; w++) {
        density->workers[w].count = 0;
        sta_map_fini(&density->workers[w].slots);
        density->workers[w].slots.account = density->budget->account;
    }
}

int sta_density_add_threads(struct sta_density *density, uint32_t first, uint32_t count,
                            struct sta_error *err)
{
    density->first_thread = first;
    if (count > 1)
        return sta_tasks_run(density->budget, count, add_thread, density, err);
    return count == 1 ? add_thread(density, 0, 0, err) : 0;
}

int sta_density_add_runs(struct sta_density *density, const struct sta_lane_density *known,
                         uint32_t from_shift, struct sta_error *err)
{
    const int64_t resolution = density->grid.resolution;
    const int shift = __builtin_ctzll((uint64_t)resolution) - (int)from_shift;
    const int64_t first = density->grid.from / resolution;
    int rc = 0;
    for (uint32_t i = 0; i < known->count && rc == 0; i++) {
        const struct sta_density_run *run = &known->runs[i];
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

int sta_density_end(struct sta_density *density, int64_t lane, struct sta_error *err)
{
    int rc = unite_workers(density, err);
    return rc == 0 ? list_runs(density, lane, err) : rc;
}
