/* tree.h - the layers of a preset as a tree of what can block (private to findings).
 *
 * findings.md part 3: all layers but compute and the target's own and their ancestors. */
#ifndef STA_FINDINGS_TREE_H
#define STA_FINDINGS_TREE_H

#include "analyse/analyse.h"

#define STA_TREE_ROOT SIZE_MAX

struct sta_blocking_tree {
    const struct sta_layer **nodes; /* root by root, level by level */
    size_t *parents;                /* by node: a node, or STA_TREE_ROOT */
    size_t *causes;                 /* nodes in post-order: the causes of the chain */
    size_t count;
};

/** The tree below the target of the preset's default chain; without nodes when it has no chain or no layers.
 * Fini. */
void sta_tree_init(struct sta_blocking_tree *tree, const struct sta_preset *preset);
void sta_tree_fini(struct sta_blocking_tree *tree);

#endif
