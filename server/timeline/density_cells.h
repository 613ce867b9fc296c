/* density_cells.h - for how long events of each label are on top in each cell of a lane (private to
 * timeline).
 *
 * The cells of one lane are held at a time, for the labels that occur in it. */
#ifndef STA_TIMELINE_DENSITY_CELLS_H
#define STA_TIMELINE_DENSITY_CELLS_H

#include "timeline/density_base.h"
#include "timeline/grid.h"

enum sta_density_label { STA_DENSITY_LAYER, STA_DENSITY_NAME, STA_DENSITY_CATEGORY };

struct sta_density_worker;

/* Zeroed but for the first four. */
struct sta_density {
    const struct sta_selection *selection;
    const struct sta_budget *budget;
    struct sta_grid grid;
    enum sta_density_label label;
    size_t cell_count;
    uint32_t first_thread; /* of those that are measured */
    struct sta_density_worker *workers;
    unsigned worker_count;
    struct sta_density_run *runs; /* of the lanes that have ended */
    size_t run_count, run_capacity;
};

/** Lays out the cells of the grid. */
void sta_density_init(struct sta_density *density);
void sta_density_fini(struct sta_density *density);
/** A lane begins: its cells are empty. */
void sta_density_begin(struct sta_density *density);
/** Adds the events of threads (numbers, side by side), which are loaded. */
STA_MUSTCHECK int sta_density_add_threads(struct sta_density *density, uint32_t first, uint32_t count,
                                          struct sta_error *err);
/** Adds what is known of a lane at 2^@shift ticks, no more than the grid's. */
STA_MUSTCHECK int sta_density_add_runs(struct sta_density *density, const struct sta_lane_density *known,
                                       uint32_t shift, struct sta_error *err);
/** Puts the cells of the lane to the runs.  @lane: number that these get. */
STA_MUSTCHECK int sta_density_end(struct sta_density *density, int64_t lane, struct sta_error *err);

#endif
