/* palette.h - colours of layers that are given none (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_PALETTE_H
#define STA_ANALYSE_LAYERS_PALETTE_H

#include "common/memory.h"

/** "#rrggbb" for the @index-th layer at @depth below the outermost: the hue by index, lighter with depth. */
const char *sta_palette_color(size_t index, unsigned depth, struct sta_arena *memory);

#endif
