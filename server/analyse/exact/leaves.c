/* Leaves, places and slots.  One lock guards the maps and all growth. */
#include "analyse/exact/leaves.h"

#include <stdlib.h>

struct sta_leaves *sta_leaves_create(const struct sta_leaves_options *options)
{
    struct sta_leaves *leaves = sta_alloc(sizeof *leaves);
    leaves->options = *options;
    leaves->leaves.size = sizeof(struct sta_leaf);
    leaves->slots.size = sizeof(struct sta_exact_slot);
    leaves->places.size = sizeof(struct sta_place);
    /* of each layer five, of each metric one */
    leaves->scratch = sta_alloc_array(
        (size_t)options->shape->layer_count * 5 + options->shape->metric_count + 1, sizeof *leaves->scratch);
    STA_ASSERT(uv_mutex_init(&leaves->lock) == 0);
    return leaves;
}

void sta_leaves_destroy(struct sta_leaves *leaves)
{
    if (leaves == NULL)
        return;
    uv_mutex_destroy(&leaves->lock);
    sta_map_fini(&leaves->streams);
    sta_map_fini(&leaves->by_key);
    sta_map_fini(&leaves->places_by_key);
    for (size_t i = 0; i < STA_COUNT_OF(leaves->units); i++)
        sta_map_fini(&leaves->units[i]);
    sta_pile_fini(&leaves->leaves);
    sta_pile_fini(&leaves->slots);
    sta_pile_fini(&leaves->places);
    sta_arena_fini(&leaves->lists);
    free(leaves->scratch);
    free(leaves);
}

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* ---- places and slots; with the lock held */

static uint32_t new_slot(struct sta_leaves *leaves, enum sta_exact_slot_kind kind, uint32_t layer,
                         uint32_t place)
{
    struct sta_exact_slot *slot = sta_pile_add(&leaves->slots);
    *slot = (struct sta_exact_slot){.place = place, .layer = layer, .kind = kind};
    return leaves->slots.count - 1;
}

static uint32_t place_of(struct sta_leaves *leaves, uint32_t layer, uint32_t key)
{
    bool added;
    uint32_t number = sta_map_intern(&leaves->places_by_key, pair(layer, key), leaves->places.count, &added);
    if (!added)
        return number;
    struct sta_place *place = sta_pile_add(&leaves->places);
    *place = (struct sta_place){.layer = layer, .key = key, .first_metric = leaves->metric_places};
    place->first_slot = new_slot(leaves, STA_SLOT_ROW, layer, number);
    uint32_t metrics = leaves->options.shape->layers[layer].metric_count;
    for (uint32_t m = 0; leaves->options.wants & STA_WANT_METRICS && m < metrics; m++)
        new_slot(leaves, STA_SLOT_METRIC, layer, leaves->metric_places++);
    return number;
}

static void list_unit(struct sta_leaves *leaves, enum sta_exact_slot_kind kind, const struct sta_kind *of,
                      uint32_t key, uint32_t unit)
{
    for (uint32_t i = 0; i < of->layer_count; i++) {
        uint32_t place = place_of(leaves, of->layers[i], key);
        bool added;
        uint32_t slot = sta_map_intern(&leaves->units[kind], pair(place, unit), leaves->slots.count, &added);
        if (added)
            new_slot(leaves, kind, of->layers[i], place);
        leaves->scratch[leaves->scratch_count++] = slot;
    }
}

static void list_rows(struct sta_leaves *leaves, const struct sta_kind *kind, uint32_t key)
{
    const struct sta_exact_shape *shape = leaves->options.shape;
    for (uint32_t i = 0; i < kind->layer_count; i++) {
        const struct sta_place *place = sta_pile_at(&leaves->places, place_of(leaves, kind->layers[i], key));
        leaves->scratch[leaves->scratch_count++] = place->first_slot;
    }
    for (uint32_t i = 0, m = 0; leaves->options.wants & STA_WANT_METRICS && i < kind->layer_count; i++) {
        const struct sta_exact_shape_layer *layer = &shape->layers[kind->layers[i]];
        uint32_t first = leaves->scratch[i] + 1;
        for (; m < kind->metric_count && kind->metrics[m] < layer->first_metric + layer->metric_count; m++)
            leaves->scratch[leaves->scratch_count++] = first + kind->metrics[m] - layer->first_metric;
    }
}

/* ---- leaves */

static void make_leaf(struct sta_leaves *leaves, const struct sta_kind *kind, uint32_t thread, uint32_t key)
{
    struct sta_leaf leaf = {.kind = kind};
    bool units = (leaves->options.wants & STA_WANT_UNITS) != 0;
    const struct sta_entity_thread *who = units ? &leaves->options.entities->threads[thread] : NULL;
    leaves->scratch_count = 0;
    list_rows(leaves, kind, key);
    if (units)
        list_unit(leaves, STA_SLOT_PROCESS, kind, key, who->process);
    leaf.plain = leaves->scratch_count;
    if (units) {
        leaf.group = leaves->options.groups->group_of_process[who->process];
        list_unit(leaves, STA_SLOT_GROUP, kind, key, leaf.group);
    }
    leaf.measured = leaves->scratch_count;
    if (units) {
        list_unit(leaves, STA_SLOT_THREAD, kind, key, thread);
        list_unit(leaves, STA_SLOT_HOST, kind, key, who->host);
    }
    leaf.count = leaves->scratch_count;
    uint32_t *slots =
        sta_arena_alloc(&leaves->lists, ((size_t)leaf.count + 1) * sizeof *slots, _Alignof(uint32_t));
    for (uint32_t i = 0; i < leaf.count; i++)
        slots[i] = leaves->scratch[i];
    leaf.slots = slots;
    *(struct sta_leaf *)sta_pile_add(&leaves->leaves) = leaf;
}

uint32_t sta_leaves_add(struct sta_leaves *leaves, const struct sta_kind *kind, uint32_t thread, uint32_t key)
{
    bool added;
    uv_mutex_lock(&leaves->lock);
    uint32_t stream =
        sta_map_intern(&leaves->streams, pair(kind->number, thread), (uint32_t)leaves->streams.count, &added);
    uint32_t leaf = sta_map_intern(&leaves->by_key, pair(stream, key), leaves->leaves.count, &added);
    if (added)
        make_leaf(leaves, kind, thread, key);
    uv_mutex_unlock(&leaves->lock);
    return leaf;
}

uint32_t sta_leaves_add_place(struct sta_leaves *leaves, uint32_t layer, uint32_t key)
{
    uv_mutex_lock(&leaves->lock);
    uint32_t place = place_of(leaves, layer, key);
    uv_mutex_unlock(&leaves->lock);
    return place;
}

struct sta_leaf_counts sta_leaves_count(struct sta_leaves *leaves)
{
    uv_mutex_lock(&leaves->lock);
    struct sta_leaf_counts counts = {leaves->leaves.count, leaves->slots.count, leaves->places.count,
                                     leaves->metric_places};
    uv_mutex_unlock(&leaves->lock);
    return counts;
}
