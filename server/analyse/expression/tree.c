/* Trees and parsed expressions: ownership, and what they read. */
#include "analyse/expression/tree.h"

#include <stdlib.h>

const struct sta_expression_limits sta_expression_limits = {
    .length = 10000, .nesting = 100, .list = 10000, .pattern = 1000};

struct sta_tree *sta_tree_create(void)
{
    struct sta_tree *tree = sta_alloc(sizeof *tree);
    atomic_init(&tree->users, 1);
    tree->texts = sta_dictionary_create();
    return tree;
}

struct sta_tree *sta_tree_retain(struct sta_tree *tree)
{
    atomic_fetch_add(&tree->users, 1);
    return tree;
}

void sta_tree_release(struct sta_tree *tree)
{
    if (tree == NULL || atomic_fetch_sub(&tree->users, 1) > 1)
        return;
    for (size_t i = 0; i < tree->pattern_count; i++)
        sta_pattern_destroy(tree->patterns[i]);
    for (size_t i = 0; i < tree->set_count; i++)
        sta_dictionary_destroy(tree->sets[i]);
    for (size_t i = 0; i < tree->replacement_count; i++)
        sta_replacement_destroy(tree->replacements[i]);
    free(tree->patterns);
    free(tree->sets);
    free(tree->replacements);
    sta_dictionary_destroy(tree->texts);
    sta_arena_fini(&tree->arena);
    free(tree->nodes);
    free(tree);
}

uint8_t *sta_tree_needed(const struct sta_tree *tree, uint32_t root)
{
    uint8_t *needed = sta_alloc_array(tree->count, 1);
    needed[root] = 1;
    for (uint32_t i = root + 1; i-- > 0;)
        for (unsigned k = 0; needed[i] && k < tree->nodes[i].operand_count; k++)
            needed[tree->nodes[i].operands[k]] = 1;
    return needed;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

uint32_t *sta_tree_columns(const struct sta_tree *tree, uint32_t root, size_t *count)
{
    uint8_t *needed = sta_tree_needed(tree, root);
    uint32_t *columns = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t i = 0; i <= root; i++) {
        if (!needed[i] || tree->nodes[i].operation != STA_OP_COLUMN)
            continue;
        STA_GROW(columns, capacity, *count + 1);
        columns[(*count)++] = tree->nodes[i].column; /* a column has one node at most */
    }
    free(needed);
    if (*count > 0)
        qsort(columns, *count, sizeof *columns, by_number);
    return columns;
}

void sta_expression_destroy(struct sta_expression *expression)
{
    if (expression == NULL)
        return;
    for (size_t i = 0; i < expression->predicate_count; i++)
        sta_program_destroy(expression->predicates[i].program);
    free(expression->predicates);
    free(expression->columns);
    sta_tree_release(expression->tree);
    free(expression);
}

/* ---- what a formula divides by */

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
