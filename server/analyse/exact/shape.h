/* shape.h - what of a preset the exact tables are shaped by (private to exact). */
#ifndef STA_ANALYSE_EXACT_SHAPE_H
#define STA_ANALYSE_EXACT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/views/bound_query.h"

struct sta_exact_shape_layer {
    uint32_t parent;                     /* STA_NO_LAYER: none */
    bool wanted;                         /* the query is about this layer */
    bool exposed;                        /* has exposed and hidden columns */
    bool has_children;                   /* has self_group_sum */
    uint32_t wanted_index;               /* number among the wanted layers */
    uint32_t first_metric, metric_count; /* in the numbering of all wanted layers' metrics */
};

/* What a layer's time is compared with, by rank group, is a union of intervals: union l is that of the
 * children of layer l, and union layer_count that of the compute layer. */
struct sta_exact_shape {
    const struct sta_preset *preset;
    struct sta_exact_shape_layer *layers;
    uint32_t layer_count;
    uint32_t wanted_count, metric_count; /* layers that are wanted, and their metrics */
    uint32_t compute;                    /* the layer that overlap_with names, or STA_NO_LAYER */
};

/** @wanted: by layer; NULL: all are. */
void sta_exact_shape_init(struct sta_exact_shape *shape, const struct sta_preset *preset, const bool *wanted);
void sta_exact_shape_fini(struct sta_exact_shape *shape);
/** Whether some wanted layer is compared with the compute layer. */
bool sta_exact_shape_any_exposed(const struct sta_exact_shape *shape);

#endif
