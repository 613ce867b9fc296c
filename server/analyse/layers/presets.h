/* presets.h - what of the loaded presets only analyse needs to see. */
#ifndef STA_ANALYSE_LAYERS_PRESETS_H
#define STA_ANALYSE_LAYERS_PRESETS_H

#include <stdatomic.h>

#include "analyse/analyse.h"
#include "analyse/layers/preset_files.h"
#include "common/dictionary.h"

/* functions.yaml: which functions read, write, synchronise. */
#define STA_FUNCTION_UNCLASSIFIED 0 /* in no class, so that it counts as STA_IO_OTHER */

struct sta_functions {
    struct sta_dictionary *categories; /* whose functions have classes */
    struct sta_dictionary *names;      /* of the functions of all classes */
    uint8_t *classes;                  /* by code of the name: enum sta_io_cat */
    size_t capacity;
};

/** @functions is to be given to fini also after a failure. */
STA_MUSTCHECK int sta_functions_init(struct sta_functions *functions, const struct sta_yaml_node *root,
                                     struct sta_error *err);
void sta_functions_fini(struct sta_functions *functions);
/** enum sta_io_cat, or STA_FUNCTION_UNCLASSIFIED. */
unsigned sta_functions_class(const struct sta_functions *functions, const char *name, size_t length);

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
