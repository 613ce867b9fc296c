/* The sargable predicates of a condition: what it says of single columns, for zone maps and for rows.
 *
 * DESIGN.  One pass over the nodes, operands first, notes for each condition the range of one numeric column
 * outside which it can't hold (`or` gives the hull, `and` the intersection) and whether it depends on a
 * single column of text.  Then the conjuncts of the root are taken apart.  Whatever has no note says
 * nothing: that excludes too little and never too much. */
#include "analyse/expression/tree.h"

#include <math.h>
#include <stdlib.h>

#define NO_COLUMN UINT32_MAX
#define MANY_COLUMNS (UINT32_MAX - 1)

struct note {
    uint32_t ranged; /* column of the range, or NO_COLUMN */
    struct sta_value_range range;
    bool exact;     /* as of a predicate */
    uint32_t reads; /* the one column it reads, NO_COLUMN or MANY_COLUMNS */
};

static const struct sta_value_range any_value = {.low = -INFINITY, .high = INFINITY};

static bool is_column(const struct sta_node *node)
{
    return node->operation == STA_OP_COLUMN && (node->type == STA_TYPE_INT || node->type == STA_TYPE_FLOAT);
}

static void bound(struct sta_value_range *range, enum sta_comparison_operator comparison, double value)
{
    range->low_open = comparison == STA_GREATER;
    range->high_open = comparison == STA_LESS;
    if (comparison == STA_EQUAL || comparison == STA_GREATER || comparison == STA_GREATER_EQUAL)
        range->low = value;
    if (comparison == STA_EQUAL || comparison == STA_LESS || comparison == STA_LESS_EQUAL)
        range->high = value;
}

/* column < constant, or constant < column */
static void note_comparison(const struct sta_tree *tree, const struct sta_node *node, struct note *note)
{
    const struct sta_node *a = &tree->nodes[node->operands[0]], *b = &tree->nodes[node->operands[1]];
    enum sta_comparison_operator comparison = (enum sta_comparison_operator)(node->operation % 6);
    if (comparison == STA_DIFFER)
        return;
    if (a->operation == STA_OP_CONSTANT) {
        const struct sta_node *first = a;
        a = b;
        b = first;
        comparison = sta_comparison_mirrored(comparison);
    }
    if (!is_column(a) || b->operation != STA_OP_CONSTANT || b->value.missing)
        return;
    note->ranged = a->column;
    double value = b->type == STA_TYPE_INT ? (double)b->value.integer : b->value.number;
    bound(&note->range, comparison, value);
    note->exact = fabs(value) < 0x1p53; /* neither rounded nor NaN */
}

static void note_member(const struct sta_tree *tree, const struct sta_node *node, struct note *note)
{
    const struct sta_node *of = &tree->nodes[node->operands[0]];
    const struct sta_numbers *list = node->numbers;
    if (!is_column(of))
        return;
    note->ranged = of->column;
    note->range = (struct sta_value_range){.low = INFINITY, .high = -INFINITY};
    if (list->count == 0)
        return;
    bool whole = node->operation == STA_OP_IN_I;
    note->range.low = whole ? (double)list->integers[0] : list->numbers[0];
    note->range.high = whole ? (double)list->integers[list->count - 1] : list->numbers[list->count - 1];
}

static void note_or(const struct note *a, const struct note *b, struct note *note)
{
    if (a->ranged == NO_COLUMN || a->ranged != b->ranged)
        return;
    note->ranged = a->ranged;
    note->range.low = fmin(a->range.low, b->range.low);
    note->range.high = fmax(a->range.high, b->range.high);
}

static void note_and(const struct note *a, const struct note *b, struct note *note)
{
    const struct note *one = a->ranged != NO_COLUMN ? a : b;
    note->ranged = one->ranged;
    note->range.low = one->range.low;
    note->range.high = one->range.high;
    if (a->ranged == b->ranged) {
        note->range.low = fmax(a->range.low, b->range.low);
        note->range.high = fmin(a->range.high, b->range.high);
    }
}

static uint32_t join_reads(uint32_t a, uint32_t b)
{
    if (a == NO_COLUMN || a == b)
        return b;
    return b == NO_COLUMN ? a : MANY_COLUMNS;
}

static void note_node(const struct sta_tree *tree, uint32_t index, struct note *notes)
{
    const struct sta_node *node = &tree->nodes[index];
    struct note *note = &notes[index];
    *note = (struct note){.ranged = NO_COLUMN,
                          .range = any_value,
                          .reads = node->operation == STA_OP_COLUMN ? node->column : NO_COLUMN};
    for (unsigned k = 0; k < node->operand_count; k++)
        note->reads = join_reads(note->reads, notes[node->operands[k]].reads);
    if (node->operation <= STA_OP_GREATER_EQUAL_IF)
        note_comparison(tree, node, note);
    else if (node->operation == STA_OP_IN_I || node->operation == STA_OP_IN_F)
        note_member(tree, node, note);
    else if (node->operation == STA_OP_OR)
        note_or(&notes[node->operands[0]], &notes[node->operands[1]], note);
    else if (node->operation == STA_OP_AND)
        note_and(&notes[node->operands[0]], &notes[node->operands[1]], note);
    else if (node->operation == STA_OP_TRUTH)
        note_and(&notes[node->operands[0]], &notes[node->operands[0]], note);
}

static struct sta_predicate *add_predicate(struct sta_expression *expression, struct sta_predicate predicate)
{
    expression->predicates =
        sta_realloc_array(expression->predicates, expression->predicate_count + 1, sizeof predicate);
    expression->predicates[expression->predicate_count] = predicate;
    return &expression->predicates[expression->predicate_count++];
}

static void narrow(struct sta_value_range *range, const struct sta_value_range *by)
{
    if (by->low >= range->low) {
        range->low_open = by->low_open || (range->low_open && by->low == range->low);
        range->low = by->low;
    }
    if (by->high <= range->high) {
        range->high_open = by->high_open || (range->high_open && by->high == range->high);
        range->high = by->high;
    }
}

static void add_range(struct sta_expression *expression, const struct note *note)
{
    for (size_t i = 0; i < expression->predicate_count; i++) {
        struct sta_predicate *predicate = &expression->predicates[i];
        if (predicate->kind == STA_PREDICATE_RANGE && predicate->column == note->ranged) {
            narrow(&predicate->range, &note->range);
            predicate->exact &= note->exact;
            return;
        }
    }
    add_predicate(expression, (struct sta_predicate){.column = note->ranged,
                                                     .kind = STA_PREDICATE_RANGE,
                                                     .range = note->range,
                                                     .exact = note->exact});
}

/* A node that reads the column tells its type. */
static bool is_text_column(const struct sta_tree *tree, uint32_t column)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].operation == STA_OP_COLUMN && tree->nodes[i].column == column)
            return tree->nodes[i].type == STA_TYPE_TEXT;
    return false;
}

static void add_conjunct(struct sta_expression *expression, uint32_t index, const struct note *note)
{
    struct sta_tree *tree = expression->tree;
    const bool of_text = note->ranged == NO_COLUMN && is_text_column(tree, note->reads);
    if (note->ranged != NO_COLUMN)
        add_range(expression, note);
    else if (of_text)
        add_predicate(expression, (struct sta_predicate){.column = note->reads,
                                                         .kind = STA_PREDICATE_TEXT,
                                                         .range = any_value,
                                                         .exact = true,
                                                         .program = sta_program_of(tree, index)});
    expression->is_predicates &= of_text || (note->ranged != NO_COLUMN && note->exact);
}

void sta_predicates_find(struct sta_expression *expression)
{
    const struct sta_tree *tree = expression->tree;
    uint32_t root = expression->root;
    if (expression->type != STA_TYPE_BOOL)
        return;
    struct note *notes = sta_alloc_array((size_t)root + 1, sizeof *notes);
    uint8_t *conjunct = sta_alloc_array((size_t)root + 1, sizeof *conjunct);
    for (uint32_t i = 0; i <= root; i++)
        note_node(tree, i, notes);
    conjunct[root] = 1;
    expression->is_predicates = true;
    for (uint32_t i = root + 1; i-- > 0;) {
        const struct sta_node *node = &tree->nodes[i];
        if (!conjunct[i])
            continue;
        if (node->operation == STA_OP_AND || node->operation == STA_OP_TRUTH)
            for (unsigned k = 0; k < node->operand_count; k++)
                conjunct[node->operands[k]] = 1;
        else
            add_conjunct(expression, i, &notes[i]);
    }
    free(notes);
    free(conjunct);
}

/* ---- testing texts */

struct codes {
    const struct sta_dictionary *texts;
    const uint32_t *codes;
};

static int give_codes(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct codes *codes = context;
    *vector = (struct sta_vector){.type = STA_TYPE_TEXT, .codes = codes->codes, .texts = codes->texts};
    return 0;
}

int sta_predicate_test(const struct sta_predicate *predicate, struct sta_evaluator *evaluator,
                       const struct sta_dictionary *texts, const uint32_t *codes, uint32_t count,
                       uint8_t *passes, struct sta_error *err)
{
    struct codes some = {texts, codes};
    struct sta_vector holds;
    int rc = sta_program_run(predicate->program, evaluator, count, give_codes, &some, &holds, err);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const uint32_t at = holds.constant ? 0 : i;
        passes[i] = holds.bools[at] && !(holds.missing != NULL && holds.missing[at]);
    }
    return rc;
}
