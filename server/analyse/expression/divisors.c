/* Which columns a formula divides by. */
#include "analyse/expression/tree.h"

#include <stdlib.h>
#include <string.h>

static bool divides(const struct sta_node *node)
{
    switch (node->operation) {
    case STA_OP_DIVIDE_I:
    case STA_OP_DIVIDE_F:
    case STA_OP_FLOOR_DIVIDE_I:
    case STA_OP_FLOOR_DIVIDE_F:
        return true;
    default:
        return false;
    }
}

void sta_expression_divisors(const struct sta_expression *expression, uint8_t *divisor)
{
    const struct sta_tree *tree = expression->tree;
    uint8_t *needed = sta_tree_needed(tree, expression->root);
    for (uint32_t i = 0; i <= expression->root; i++) {
        if (!needed[i] || !divides(&tree->nodes[i]))
            continue;
        size_t count;
        uint32_t *columns = sta_tree_columns(tree, tree->nodes[i].operands[1], &count);
        for (size_t c = 0; c < count; c++)
            divisor[columns[c]] = 1;
        free(columns);
    }
    free(needed);
}
