/* Layers as a tree, and its post-order. */
#include "findings/tree.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/layers/presets.h"
#include "common/memory.h"

/* Leaves out a layer and all above it. */
static void leave_out(const struct sta_preset *preset, const char *name, bool *out)
{
    const struct sta_layer *layer = sta_preset_layer(preset, name);
    for (size_t steps = 0; layer != NULL && steps < preset->layer_count; steps++) {
        out[layer - preset->layers] = true;
        layer = sta_preset_layer(preset, layer->parent);
    }
}

static size_t place_of(const struct sta_blocking_tree *tree, const char *name)
{
    for (size_t i = 0; name != NULL && i < tree->count; i++)
        if (strcmp(tree->nodes[i]->name, name) == 0)
            return i;
    return STA_TREE_ROOT;
}

/* Whether a layer hangs, by @depth steps, from @root, which stands for those above it that are nodes. */
static bool hangs_from(const struct sta_preset *preset, const bool *out, const struct sta_layer *layer,
                       const struct sta_layer *root, size_t depth)
{
    while (depth-- > 0) {
        layer = sta_preset_layer(preset, layer->parent);
        if (layer == NULL || out[layer - preset->layers])
            return false;
    }
    return layer == root;
}

static bool is_root(const struct sta_preset *preset, const bool *out, const struct sta_layer *layer)
{
    const struct sta_layer *parent = sta_preset_layer(preset, layer->parent);
    return parent == NULL || out[parent - preset->layers];
}

/* Root by root, and below each level by level, in the preset's order. */
static void put_nodes(struct sta_blocking_tree *tree, const struct sta_preset *preset, const bool *out)
{
    for (size_t r = 0; r < preset->layer_count; r++) {
        const struct sta_layer *root = &preset->layers[r];
        if (out[r] || !is_root(preset, out, root))
            continue;
        for (size_t depth = 0, before = SIZE_MAX; before != tree->count; depth++) {
            before = tree->count;
            for (size_t l = 0; l < preset->layer_count; l++)
                if (!out[l] && hangs_from(preset, out, &preset->layers[l], root, depth))
                    tree->nodes[tree->count++] = &preset->layers[l];
        }
    }
}

/* Appends what is below a node, each behind what is below itself. */
static void put_below(const struct sta_blocking_tree *tree, size_t parent, size_t *put)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->parents[i] == parent) {
            put_below(tree, i, put);
            tree->causes[(*put)++] = i;
        }
}

void sta_tree_init(struct sta_blocking_tree *tree, const struct sta_preset *preset)
{
    *tree = (struct sta_blocking_tree){0};
    if (preset->chain_count == 0 || preset->phases[STA_PHASE_compute] == NULL)
        return;
    const struct sta_chain *chain = &preset->chains[0];
    bool *out = sta_alloc_array(preset->layer_count + 1, sizeof *out);
    leave_out(preset, preset->overlap_with, out);
    for (size_t s = 0; s < chain->set_count; s++)
        leave_out(preset, chain->sets[s].name, out);
    tree->nodes = sta_alloc_array(preset->layer_count + 1, sizeof *tree->nodes);
    tree->parents = sta_alloc_array(preset->layer_count + 1, sizeof *tree->parents);
    tree->causes = sta_alloc_array(preset->layer_count + 1, sizeof *tree->causes);
    put_nodes(tree, preset, out);
    for (size_t i = 0; i < tree->count; i++)
        tree->parents[i] = place_of(tree, tree->nodes[i]->parent);
    size_t put = 0;
    put_below(tree, STA_TREE_ROOT, &put);
    free(out);
}

void sta_tree_fini(struct sta_blocking_tree *tree)
{
    free(tree->nodes);
    free(tree->parents);
    free(tree->causes);
    *tree = (struct sta_blocking_tree){0};
}
