/* Which layers are compared with which. */
#include "analyse/exact/shape.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static bool is_below(const struct sta_exact_shape *shape, uint32_t layer, uint32_t above)
{
    while (layer != STA_NO_LAYER && layer != above)
        layer = shape->layers[layer].parent;
    return layer == above;
}

void sta_exact_shape_init(struct sta_exact_shape *shape, const struct sta_preset *preset, const bool *wanted)
{
    *shape = (struct sta_exact_shape){.preset = preset,
                                      .layer_count = (uint32_t)preset->layer_count,
                                      .compute = sta_preset_layer_number(preset, preset->overlap_with)};
    shape->layers = sta_alloc_array(preset->layer_count + 1, sizeof *shape->layers);
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        struct sta_exact_shape_layer *layer = &shape->layers[l];
        layer->wanted = wanted == NULL || wanted[l];
        layer->parent = sta_preset_layer_number(preset, preset->layers[l].parent);
        layer->first_metric = shape->metric_count;
        layer->wanted_index = shape->wanted_count;
        layer->metric_count = layer->wanted ? (uint32_t)preset->layers[l].metric_count : 0;
        shape->metric_count += layer->metric_count;
        shape->wanted_count += layer->wanted;
    }
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        if (shape->layers[l].parent != STA_NO_LAYER)
            shape->layers[shape->layers[l].parent].has_children = true;
        shape->layers[l].exposed = shape->compute != STA_NO_LAYER && !is_below(shape, l, shape->compute) &&
                                   !is_below(shape, shape->compute, l);
    }
}

void sta_exact_shape_fini(struct sta_exact_shape *shape)
{
    free(shape->layers);
    *shape = (struct sta_exact_shape){0};
}

bool sta_exact_shape_any_exposed(const struct sta_exact_shape *shape)
{
    for (uint32_t l = 0; l < shape->layer_count; l++)
        if (shape->layers[l].wanted && shape->layers[l].exposed)
            return true;
    return false;
}
