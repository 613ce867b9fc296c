/* What follows from how long each combination of sets was active. */
#include "analyse/overlap/figures.h"

void sta_figures_add(struct sta_figures *figures, const struct sta_unit_sums *sums,
                     const struct sta_sweep_cell *cells, size_t count)
{
    figures->span += sums->end - sums->start;
    for (size_t c = 0; c < count; c++) {
        figures->covered += cells[c].time;
        for (uint32_t first = cells[c].mask; first != 0; first &= first - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(first);
            figures->busy[i] += cells[c].time;
            for (uint32_t rest = first & (first - 1); rest != 0; rest &= rest - 1)
                figures->both[i][__builtin_ctz(rest)] += cells[c].time;
        }
    }
}

const struct sta_sweep_cell *sta_figures_cells(const struct sta_overlap_results *results, uint32_t unit,
                                               size_t *count)
{
    size_t low = 0;
    for (size_t left = results->cell_count; left > 0;) {
        size_t half = left / 2;
        bool before = results->cells[low + half].unit < unit;
        low += before ? half + 1 : 0;
        left = before ? left - half - 1 : half;
    }
    size_t end = low;
    while (end < results->cell_count && results->cells[end].unit == unit)
        end++;
    *count = end - low;
    return results->cells + low;
}

__int128 sta_figures_pair(const struct sta_figures *figures, uint32_t a, uint32_t b, enum sta_pair_part part)
{
    __int128 both = figures->both[a][b];
    if (part == STA_PAIR_BOTH)
        return both;
    return figures->busy[part == STA_PAIR_FIRST ? a : b] - both;
}
