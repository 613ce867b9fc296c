/* figures.h - busy times and overlaps of one unit or of all, from the cells of the sweep (private to
 * overlap). */
#ifndef STA_ANALYSE_OVERLAP_FIGURES_H
#define STA_ANALYSE_OVERLAP_FIGURES_H

#include "analyse/overlap/pass.h"

/* In ticks; of many units they may exceed 64 bits. */
struct sta_figures {
    __int128 busy[STA_OVERLAP_SETS];
    __int128 both[STA_OVERLAP_SETS][STA_OVERLAP_SETS]; /* [i][j], i < j */
    __int128 covered;                                  /* by any set */
    __int128 span;
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
__int128 sta_figures_pair(const struct sta_figures *figures, uint32_t a, uint32_t b, enum sta_pair_part part);

#endif
