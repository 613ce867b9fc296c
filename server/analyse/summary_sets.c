/* Which unions a summary needs, and which of them an event counts towards.
 *
 * |A minus B| = |A and B together| - |B|: exposed time of a layer is the union of layer and compute minus that of compute, self time
 * likewise with the layer's children, so that no interval is ever kept. */
#include "analyse/summary.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- shape */

static uint32_t layer_named(const struct sta_preset *preset, const char *name)
{
    for (size_t i = 0; name != NULL && i < preset->layer_count; i++)
        if (strcmp(preset->layers[i].name, name) == 0)
            return (uint32_t)i;
    return STA_NO_LAYER;
}

static bool is_below(const struct sta_shape *shape, uint32_t layer, uint32_t above)
{
    while (layer != STA_NO_LAYER && layer != above)
        layer = shape->layers[layer].parent;
    return layer == above;
}

void sta_shape_init(struct sta_shape *shape, const struct sta_preset *preset)
{
    *shape = (struct sta_shape){.layer_count = (uint32_t)preset->layer_count,
                                .compute = layer_named(preset, preset->overlap_with)};
    shape->layers = sta_alloc_array(preset->layer_count + 1, sizeof *shape->layers);
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        shape->layers[l].parent = layer_named(preset, preset->layers[l].parent);
        shape->layers[l].first_metric = shape->metric_count;
        shape->layers[l].metric_count = (uint32_t)preset->layers[l].metric_count;
        shape->metric_count += shape->layers[l].metric_count;
    }
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        if (shape->layers[l].parent != STA_NO_LAYER)
            shape->layers[shape->layers[l].parent].has_children = true;
        shape->layers[l].exposed = shape->compute != STA_NO_LAYER && !is_below(shape, l, shape->compute) &&
                                   !is_below(shape, shape->compute, l);
    }
}

void sta_shape_fini(struct sta_shape *shape)
{
    free(shape->layers);
    *shape = (struct sta_shape){0};
}

void sta_membership_init(struct sta_membership *membership, const struct sta_shape *shape)
{
    *membership = (struct sta_membership){
        .layers = sta_alloc_array((size_t)shape->layer_count + 1, sizeof *membership->layers),
        .metrics = sta_alloc_array((size_t)shape->metric_count + 1, sizeof *membership->metrics)};
}

void sta_membership_fini(struct sta_membership *membership)
{
    free(membership->layers);
    free(membership->metrics);
    *membership = (struct sta_membership){0};
}

/* ---- slots */

uint32_t sta_summary_set(const struct sta_shape *shape, enum sta_summary_set kind, uint32_t index)
{
    return (uint32_t)kind * shape->layer_count + index;
}

static void add_slot(struct sta_slot_keys *keys, const struct sta_shape *shape, enum sta_summary_set kind,
                     uint32_t index, uint32_t unit)
{
    uint64_t key = sta_slot_key(sta_summary_set(shape, kind, index), unit);
    for (size_t i = 0; i < keys->count; i++)
        if (keys->items[i] == key)
            return;
    STA_GROW(keys->items, keys->capacity, keys->count + 1);
    keys->items[keys->count++] = key;
}

static void add_layer_slots(const struct sta_shape *shape, uint32_t l, uint32_t process, uint32_t group,
                            struct sta_slot_keys *keys)
{
    const struct sta_shape_layer *layer = &shape->layers[l];
    add_slot(keys, shape, STA_SET_PROCESS, l, process);
    add_slot(keys, shape, STA_SET_GROUP, l, group);
    add_slot(keys, shape, STA_SET_JOB, l, 0);
    if (layer->exposed)
        add_slot(keys, shape, STA_SET_COVERED, l, group);
    if (layer->has_children)
        add_slot(keys, shape, STA_SET_WITH_CHILDREN, l, group);
    if (layer->parent != STA_NO_LAYER) {
        add_slot(keys, shape, STA_SET_CHILDREN, layer->parent, group);
        add_slot(keys, shape, STA_SET_WITH_CHILDREN, layer->parent, group);
    }
    for (uint32_t e = 0; l == shape->compute && e < shape->layer_count; e++)
        if (shape->layers[e].exposed)
            add_slot(keys, shape, STA_SET_COVERED, e, group);
}

void sta_summary_slots(const struct sta_shape *shape, const struct sta_membership *membership,
                       uint32_t process, uint32_t group, struct sta_slot_keys *keys)
{
    keys->count = 0;
    for (uint32_t i = 0; i < membership->layer_count; i++)
        add_layer_slots(shape, membership->layers[i], process, group, keys);
    for (uint32_t i = 0; i < membership->metric_count; i++)
        add_slot(keys, shape, STA_SET_METRIC, membership->metrics[i], 0);
}
