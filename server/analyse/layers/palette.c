/* Colours that differ to any kind of colour vision (after Okabe and Ito, and Tol), dark enough to be
 * lightened with depth. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analyse/layers/palette.h"
#include "common/memory.h"

#define DEEPEST 3 /* lighter than that is too near to white */

static const uint32_t hues[] = {0x005a8c, 0xb34700, 0x00735a, 0x8a3d6b, 0x8f6200,
                                0x3b2f8f, 0x2f7d32, 0x8f1d3f, 0x2b7a9e, 0x6b6b1f};

static unsigned lighten(unsigned channel, unsigned depth)
{
    return channel + (255 - channel) * depth / (DEEPEST + 2);
}

const char *sta_palette_color(size_t index, unsigned depth, struct sta_arena *memory)
{
    char color[sizeof "#rrggbb"];
    uint32_t hue = hues[index % STA_COUNT_OF(hues)];
    depth = STA_MIN(depth, (unsigned)DEEPEST);
    snprintf(color, sizeof color, "#%02x%02x%02x", lighten(hue >> 16 & 255, depth) & 255,
             lighten(hue >> 8 & 255, depth) & 255, lighten(hue & 255, depth) & 255);
    return sta_arena_copy(memory, color, strlen(color));
}
