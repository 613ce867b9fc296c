/* details.h - pictures of large threads at coarse resolutions, kept in the lane file (private to timeline).
 *
 * A level has the boxes of a whole thread at one resolution, as draw.h makes them of the events.  It is kept
 * where it is much smaller than the thread, so a picture of a long interval of time reads little. */
#ifndef STA_TIMELINE_DETAILS_H
#define STA_TIMELINE_DETAILS_H

#include "timeline/draw.h"

/** The level of a thread at a resolution, or NULL: it has to be drawn.  Reads memory only. */
struct sta_lane_detail *sta_lane_details_find(const struct sta_lane_index *index, uint32_t thread,
                                              int64_t resolution);
/** Adds the boxes of a level that touch the grid; loads the level at first.  Return: 0, STA_ECORRUPT (the
 * file is quarantined; the thread is to be drawn), STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ECANCELLED. */
STA_MUSTCHECK int sta_lane_detail_put(struct sta_lane_index *index, struct sta_lane_detail *level,
                                      const struct sta_grid *grid, const struct sta_budget *budget,
                                      struct sta_boxes *boxes, struct sta_error *err);
void sta_lane_details_fini(struct sta_lane_index *index);

/** Draws the levels of all large threads of an index that was made of the events, adds them to a lane file
 * behind the events, and their list to the head. */
STA_MUSTCHECK int sta_lane_details_keep(struct sta_lane_index *index, struct sta_lane_file_writer *writer,
                                        struct sta_buffer *head, const struct sta_budget *budget,
                                        struct sta_error *err);
/** Reads that list.  *block: the first behind the events; moved on.  STA_ECORRUPT. */
STA_MUSTCHECK int sta_lane_details_attach(struct sta_lane_index *index, struct sta_cursor *head,
                                          uint32_t *block, struct sta_error *err);

#endif
