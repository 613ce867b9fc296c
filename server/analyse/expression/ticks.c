/* Seconds in whole microseconds, for aggregates that must be exact.
 *
 * time, time_start and time_end are integers of microseconds divided by 1e6.  A choice among such columns,
 * nothing and 0 (where, coalesce, fillna) has the same twin: the choice among the integers.  Anything else is
 * no longer whole. */
#include <stdlib.h>

#include "analyse/expression/build.h"

/* Which operands of a node are its values: of where, the first is a condition. */
static unsigned first_value(const struct sta_node *node)
{
    return node->operation == STA_OP_WHERE_F ? 1 : 0;
}

static bool is_choice(const struct sta_node *node)
{
    return node->operation == STA_OP_WHERE_F || node->operation == STA_OP_COALESCE_F;
}

static bool is_nothing(const struct sta_node *node)
{
    return node->operation == STA_OP_CONSTANT && node->type == STA_TYPE_FLOAT &&
           (node->value.missing || node->value.number == 0);
}

static bool has_twin(const struct sta_builder *builder, const struct sta_node *node, const uint8_t *whole)
{
    if (node->operation == STA_OP_COLUMN)
        return sta_schema_ticks(builder->schema, (int)node->column) >= 0;
    bool all = is_choice(node);
    for (unsigned k = first_value(node); all && k < node->operand_count; k++)
        all = whole[node->operands[k]];
    return all || is_nothing(node);
}

/* Marks, from the root down, what a twin is made of. */
static void mark_values(const struct sta_tree *tree, uint32_t root, uint8_t *needed)
{
    needed[root] = 1;
    for (uint32_t i = root + 1; i-- > 0;) {
        const struct sta_node *node = &tree->nodes[i];
        for (unsigned k = first_value(node); needed[i] && is_choice(node) && k < node->operand_count; k++)
            needed[node->operands[k]] = 1;
    }
}

static uint32_t make_twin(struct sta_builder *builder, const struct sta_node *node, const uint32_t *twins)
{
    if (node->operation == STA_OP_COLUMN)
        return sta_build_column(builder, (uint32_t)sta_schema_ticks(builder->schema, (int)node->column), 0)
            .node;
    if (node->operation == STA_OP_CONSTANT) {
        struct sta_scalar zero = {.missing = node->value.missing};
        return sta_build_constant(builder, STA_TYPE_INT, zero, 0).node;
    }
    struct sta_term operands[3];
    for (unsigned k = 0; k < node->operand_count; k++)
        operands[k].node = k < first_value(node) ? node->operands[k] : twins[node->operands[k]];
    enum sta_operation first = node->operation == STA_OP_WHERE_F ? STA_OP_WHERE_I : STA_OP_COALESCE_I;
    return sta_build_plain(builder, first, STA_TYPE_INT, 0, operands, node->operand_count).node;
}

static struct sta_term twin_of(struct sta_builder *builder, uint32_t node, uint32_t position)
{
    const struct sta_node *twin = &builder->tree->nodes[node];
    if (twin->operation == STA_OP_COLUMN)
        return sta_build_column(builder, twin->column, position);
    return (struct sta_term){.node = node, .type = STA_TYPE_INT, .position = position, .column = -1};
}

bool sta_build_ticks(struct sta_builder *builder, struct sta_term *seconds)
{
    struct sta_tree *tree = builder->tree;
    uint32_t root = seconds->node;
    bool varies = tree->nodes[root].operation != STA_OP_CONSTANT;
    uint8_t *whole = sta_alloc_array((size_t)root + 1, 1), *needed = sta_alloc_array((size_t)root + 1, 1);
    uint32_t *twins = sta_alloc_array((size_t)root + 1, sizeof *twins);
    for (uint32_t i = 0; i <= root; i++)
        whole[i] = has_twin(builder, &tree->nodes[i], whole);
    bool found = varies && whole[root];
    if (found) {
        mark_values(tree, root, needed);
        for (uint32_t i = 0; i <= root; i++) {
            struct sta_node node = tree->nodes[i]; /* building moves the array */
            if (needed[i])
                twins[i] = make_twin(builder, &node, twins);
        }
        *seconds = twin_of(builder, twins[root], seconds->position);
    }
    free(whole);
    free(needed);
    free(twins);
    return found;
}
