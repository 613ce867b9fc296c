/* figures.h - busy times and overlaps of one unit or of all, from the cells of the sweep (private to
 * overlap). */
#ifndef STA_ANALYSE_OVERLAP_FIGURES_H
#define STA_ANALYSE_OVERLAP_FIGURES_H

#include "analyse/overlap/pass.h"

/* In ticks. */
struct sta_figures {
    int64_t busy[STA_OVERLAP_SETS];
    int64_t both[STA_OVERLAP_SETS][STA_OVERLAP_SETS]; /* [i][j], i < j */
    int64_t covered;                                  /* by any set */
    int64_t span;
};

/** Adds the figures of a unit.  @cells: all of that unit. */
void sta_figures_add(struct sta_figures *figures, const struct sta_unit_sums *sums,
                     const struct sta_sweep_cell *cells, size_t count);
/** The cells of a unit. */
const struct sta_sweep_cell *sta_figures_cells(const struct sta_overlap_results *results, uint32_t unit,
                                               size_t *count);

/* Columns for each pair, in the order (first, second), (first, third), .. */
enum sta_pair_part { STA_PAIR_BOTH, STA_PAIR_FIRST, STA_PAIR_SECOND, STA_PAIR_PARTS };
/** Ticks of |A and B|, |A \ B| or |B \ A|. */
int64_t sta_figures_pair(const struct sta_figures *figures, uint32_t a, uint32_t b, enum sta_pair_part part);

#endif
