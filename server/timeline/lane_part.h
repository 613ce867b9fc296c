/* lane_part.h - a part of the lane file that is loaded as a whole, by who asks for it first (private to
 * timeline). */
#ifndef STA_TIMELINE_LANE_PART_H
#define STA_TIMELINE_LANE_PART_H

#include "timeline/lane_index.h"

/* Rows that lie in blocks of the file, full ones but for the last. */
struct sta_lane_rows {
    uint32_t first_block, count;
    unsigned columns;
    /** Takes rows @first .. @first + @rows - 1, column by column.  Return: whether they make sense. */
    bool (*take)(void *self, uint32_t first, uint32_t rows, int64_t *const *columns);
    void *self;
    const char *nonsense; /* what is said when they do not */
};

/** Return: 0; STA_ECORRUPT with that sentence, or why the file cannot be read. */
STA_MUSTCHECK int sta_lane_rows_read(const struct sta_lane_index *index, const struct sta_lane_rows *rows,
                                     struct sta_error *err);

struct sta_lane_part {
    _Atomic int *state; /* enum sta_extent_state */
    int (*load)(void *self, struct sta_lane_index *index, struct sta_error *err);
    void *self;
    const char *nonsense; /* what is said when it is damaged */
};

/** Loads a part, or waits for who does.  One that is damaged stays so, and the file is set aside. */
STA_MUSTCHECK int sta_lane_part_need(struct sta_lane_index *index, const struct sta_lane_part *part,
                                     const struct sta_budget *budget, struct sta_error *err);

#endif
