/* Times in whole ticks, for aggregates that must be exact.
 *
 * time, time_start and time_end are integers of microseconds divided by 10^6, or of nanoseconds by 10^9 where
 * a trace has these; and then ts, te and dur are such quotients too.  A choice among columns of one divisor,
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

#define ANY_DIVISOR (-1) /* of nothing and of 0 */

/* The divisor of a node's twin; 0: it has none. */
static int64_t divisor_of(const struct sta_builder *builder, const struct sta_node *node,
                          const int64_t *divisors)
{
    int64_t divisor = 0;
    if (node->operation == STA_OP_COLUMN)
        return sta_schema_ticks(builder->schema, (int)node->column, &divisor) >= 0 ? divisor : 0;
    if (is_nothing(node))
        return ANY_DIVISOR;
    if (!is_choice(node))
        return 0;
    divisor = ANY_DIVISOR;
    for (unsigned k = first_value(node); k < node->operand_count; k++) {
        int64_t of_value = divisors[node->operands[k]];
        if (of_value == 0 || (of_value > 0 && divisor > 0 && of_value != divisor))
            return 0;
        if (of_value > 0)
            divisor = of_value;
    }
    return divisor;
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
    int64_t unused;
    if (node->operation == STA_OP_COLUMN)
        return sta_build_column(builder,
                                (uint32_t)sta_schema_ticks(builder->schema, (int)node->column, &unused), 0)
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

int64_t sta_build_ticks(struct sta_builder *builder, struct sta_term *time)
{
    struct sta_tree *tree = builder->tree;
    uint32_t root = time->node;
    bool varies = tree->nodes[root].operation != STA_OP_CONSTANT;
    int64_t *divisors = sta_alloc_array((size_t)root + 1, sizeof *divisors);
    uint8_t *needed = sta_alloc_array((size_t)root + 1, 1);
    uint32_t *twins = sta_alloc_array((size_t)root + 1, sizeof *twins);
    for (uint32_t i = 0; i <= root; i++)
        divisors[i] = divisor_of(builder, &tree->nodes[i], divisors);
    int64_t divisor = varies && divisors[root] > 0 ? divisors[root] : 0;
    if (divisor > 0) {
        mark_values(tree, root, needed);
        for (uint32_t i = 0; i <= root; i++) {
            struct sta_node node = tree->nodes[i]; /* building moves the array */
            if (needed[i])
                twins[i] = make_twin(builder, &node, twins);
        }
        *time = twin_of(builder, twins[root], time->position);
    }
    free(divisors);
    free(needed);
    free(twins);
    return divisor;
}
