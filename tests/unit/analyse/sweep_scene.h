/* A scene of random spans in a few units, cut into row groups, and the sweep that is fed with it: what the
 * tests of intervals share.  By single ticks the scene says which sets are active when. */
#ifndef STA_TESTS_ANALYSE_SWEEP_SCENE_H
#define STA_TESTS_ANALYSE_SWEEP_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/intervals/pieces.h"
#include "analyse/intervals/span.h"
#include "analyse/intervals/sweep.h"
#include "common/account.h"

#define HORIZON 200
#define MOST_SPANS 120
#define UNITS 3
#define MOST_WORKERS 4
#define SETS 4
#define MASKS (1u << SETS)

/* Of the row group that a worker has read, by row. */
struct scene_columns {
    int64_t ts[20], dur[20], sizes[20];
    uint32_t units[20], masks[20], wanted[20];
};

struct scene {
    struct sta_span spans[MOST_SPANS];
    size_t count;
    struct sta_ordered_row_group row_groups[MOST_SPANS];
    size_t first[MOST_SPANS + 1];
    size_t row_group_count;
    int64_t from, to; /* the window */
    int64_t scale;    /* what the sweep gets is that much longer */
    uint32_t active[UNITS][SETS][HORIZON];
    struct sta_sweep *sweep;
    struct sta_pieces *pieces[MASKS]; /* by combination */
    bool sums_only;                   /* nobody takes the intervals */
    bool concurrency, exposure;
    bool one_hot;                                       /* the sweep's sets are the masks of the spans */
    uint16_t translation[STA_SWEEP_MASK_BITS / 8][256]; /* of its masks to those of the spans */
    struct sta_budget budget;
    size_t reading[MOST_WORKERS]; /* by worker: the row group */
    struct scene_columns columns[MOST_WORKERS];
};

/** A number below @limit of a small deterministic generator, so that a failing case can be run again. */
uint32_t below(uint32_t limit);

/** A scene of random spans; the same for the same @seed. */
void scene_make(struct scene *scene, uint64_t seed);

/** Counts a span in what is active at each tick. */
void scene_note(struct scene *scene, const struct sta_span *span);

/** Cuts the spans into row groups that overlap in time, each sorted, as segments of several files have them.
 */
void scene_cut(struct scene *scene);

/** Reads a row group, for sta_ordered_pass. */
int scene_read(void *context, unsigned worker, size_t row_group, const void **rows, struct sta_error *err);

/** The sets of the spans that a mask of the sweep stands for. */
uint32_t scene_translate(const struct scene *scene, uint32_t mask);

/** Makes the sweep and what keeps its intervals: of each unit and combination the @longest, 0 for all. */
void scene_begin(struct scene *scene, struct sta_budget budget, uint32_t longest);

void scene_end(struct scene *scene);

struct sta_ordered_consumer scene_consumer(struct scene *scene);

/** Runs the consumers over the row groups in time order. */
int scene_pass(struct scene *scene, const struct sta_ordered_consumer *consumers, size_t count,
               size_t slice_rows, struct sta_error *err);

/** Makes the sweep and feeds it all, by @workers. */
void scene_run(struct scene *scene, unsigned workers, size_t slice_rows, uint32_t longest);

/** The sets that are active in a unit at a tick. */
uint32_t scene_mask_at(const struct scene *scene, uint32_t unit, int64_t t);

#endif
