/* presets.h - what of the loaded presets only analyse needs to see. */
#ifndef STA_ANALYSE_LAYERS_PRESETS_H
#define STA_ANALYSE_LAYERS_PRESETS_H

#include <stdatomic.h>

#include "analyse/analyse.h"
#include "analyse/layers/preset_files.h"
#include "analyse/layers/functions.h"

struct sta_presets {
    atomic_uint references;
    struct sta_functions functions;
    struct sta_preset_files files; /* texts of the presets are theirs */
    struct sta_preset **items;     /* those with a detect_layer by their rank, then by name */
    size_t count;
    uint64_t fingerprint;
    void *rules; /* those of findings, which read them; NULL: none */
    void (*destroy_rules)(void *rules);
};

/** Also of one that was made in part; NULL allowed. */
void sta_preset_destroy(struct sta_preset *preset);
#define STA_NO_LAYER UINT32_MAX /* where the number of a layer could stand */
/** The number of the layer named so; STA_NO_LAYER: there is none, or @name is NULL. */
uint32_t sta_preset_layer_number(const struct sta_preset *preset, const char *name);
/** The layer itself; NULL likewise. */
const struct sta_layer *sta_preset_layer(const struct sta_preset *preset, const char *name);
/** "#rrggbb" for the @index-th layer at @depth below the outermost: the hue by index, lighter with depth. */
const char *sta_palette_color(size_t index, unsigned depth, struct sta_arena *memory);

#endif
