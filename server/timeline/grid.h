/* grid.h - the resolution of a picture, and the window widened to its cells (private to timeline).
 *
 * timeline.md section 3: the largest power of two r with r * width <= to - from, else 1; cells [c r, (c + 1)
 * r) count from the origin. */
#ifndef STA_TIMELINE_GRID_H
#define STA_TIMELINE_GRID_H

#include "timeline/selection.h"

struct sta_grid {
    int64_t resolution; /* ticks of a cell */
    int64_t from, to;   /* multiples of it */
    int64_t width;      /* pixels */
};

/** Reads member width.  Mistakes: STA_EINPUT with parameter /width. */
STA_MUSTCHECK int sta_grid_init(struct sta_grid *grid, const struct sta_selection *selection,
                                struct sta_error *err);

#endif
