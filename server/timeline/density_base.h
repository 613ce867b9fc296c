/* density_base.h - the density of large lanes by layer, at one fine resolution, kept in the lane file
 * (private to timeline).
 *
 * Coarser cells are sums of finer ones, so one resolution serves for all coarser ones.  Layers are those of
 * the preset that the trace had when the file was written; for another preset it is not used. */
#ifndef STA_TIMELINE_DENSITY_BASE_H
#define STA_TIMELINE_DENSITY_BASE_H

#include "timeline/selection.h"

/* Adjacent cells of a lane in which events of one label are on top for equally long each. */
struct sta_density_run {
    int64_t lane;        /* in a request: its place among those asked */
    uint32_t code;       /* layer, or STA_NO_LAYER */
    int64_t cell, cells; /* the first, from the origin; how many */
    int64_t time;        /* ticks, of each */
};

struct sta_lane_density {
    uint32_t lane, count, first_block;
    _Atomic int state; /* enum sta_extent_state */
    struct sta_density_run *runs;
};

/** The shift of the resolution at which it is kept. */
uint32_t sta_density_base_shift(const struct sta_lane_index *index);
/** The one of a lane, if it serves for a request of this preset at this resolution, else NULL. */
struct sta_lane_density *sta_density_base_find(const struct sta_selection *selection, uint32_t lane,
                                               int64_t resolution);
/** Makes sure that the runs are there.  STA_ECORRUPT: the file is quarantined, the lane is to be measured. */
STA_MUSTCHECK int sta_lane_density_load(struct sta_lane_index *index, struct sta_lane_density *density,
                                        const struct sta_budget *budget, struct sta_error *err);
void sta_density_base_fini(struct sta_lane_index *index);

/** Measures the large lanes of an index that was made of the events by the layers of a preset, adds them to a
 * lane file, and their list to the head. */
STA_MUSTCHECK int sta_density_base_keep(struct sta_timeline *timeline, struct sta_presets *presets,
                                        const char *preset, struct sta_lane_file_writer *writer,
                                        struct sta_buffer *head, const struct sta_budget *budget,
                                        struct sta_error *err);
/** Reads that list.  *block: the first behind what goes before; moved on.  STA_ECORRUPT. */
STA_MUSTCHECK int sta_density_base_attach(struct sta_lane_index *index, struct sta_cursor *head,
                                          uint32_t *block, struct sta_error *err);

#endif
