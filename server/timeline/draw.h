/* draw.h - the boxes of one thread: single events, and blocks that stand for many short ones (private to
 * timeline). */
#ifndef STA_TIMELINE_DRAW_H
#define STA_TIMELINE_DRAW_H

#include "timeline/grid.h"
#include "common/map.h"

/* A box.  Of a single event count is 0. */
struct sta_box {
    uint32_t row;
    uint32_t name, number, nth; /* of the event; of a block of the longest of its name, which starts .. */
    int64_t start, dur;
    int64_t count, covered;
    int64_t at; /* .. here */
};

struct sta_boxes {
    struct sta_box *items; /* by row, then start */
    size_t count, capacity;
};

/** Adds a box unless it lies outside of the grid. */
STA_MUSTCHECK int sta_boxes_add(struct sta_boxes *boxes, const struct sta_box *box,
                                const struct sta_grid *grid, const struct sta_budget *budget,
                                struct sta_error *err);

/** From when to when the events are that the boxes of a grid are made of. */
void sta_grid_range(const struct sta_grid *grid, int64_t *from, int64_t *to);

struct sta_drawing; /* of one worker */
struct sta_drawing *sta_drawing_create(const struct sta_selection *selection, const struct sta_grid *grid,
                                       const struct sta_budget *budget);
void sta_drawing_destroy(struct sta_drawing *drawing); /* NULL allowed */
/** Adds the boxes of a thread, whose events in the grid's reach are there. */
STA_MUSTCHECK int sta_drawing_thread(struct sta_drawing *drawing, uint32_t thread, struct sta_boxes *boxes,
                                     struct sta_error *err);

#endif
