/* Nodes with their types: casts, comparisons, logic, arithmetic. */
#include "analyse/expression/build.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/expression/texts.h"

void sta_builder_init(struct sta_builder *builder, const struct sta_schema *schema, struct sta_error *err)
{
    *builder = (struct sta_builder){.tree = sta_tree_create(), .schema = schema, .err = err};
    sta_text_scratch_init(&builder->scratch);
    sta_build_constant(builder, STA_TYPE_NULL, (struct sta_scalar){.missing = true},
                       0); /* what meaningless terms refer to */
}

void sta_builder_fini(struct sta_builder *builder)
{
    sta_text_scratch_fini(&builder->scratch);
    free(builder->column_nodes);
    sta_tree_release(builder->tree);
}

void sta_build_fail(struct sta_builder *builder, int status, uint32_t position, const char *format, ...)
{
    if (builder->failed)
        return;
    char text[sizeof builder->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sta_fail(builder->err, status, "%s", text);
    sta_at(builder->err, "", position);
    builder->failed = true;
}

const struct sta_node *sta_build_node(const struct sta_builder *builder, struct sta_term term)
{
    return &builder->tree->nodes[term.node];
}

bool sta_is_numeric(enum sta_type type)
{
    return type != STA_TYPE_TEXT && type != STA_TYPE_LIST;
}

bool sta_is_caseless(const struct sta_builder *builder, struct sta_term term)
{
    return term.column >= 0 && builder->schema->columns[term.column].caseless;
}

static uint32_t add_node(struct sta_builder *builder, const struct sta_node *node)
{
    struct sta_tree *tree = builder->tree;
    STA_GROW(tree->nodes, tree->capacity, tree->count + 1);
    tree->nodes[tree->count] = *node;
    return tree->count++;
}

struct sta_term sta_build_constant(struct sta_builder *builder, enum sta_type type, struct sta_scalar value,
                                   uint32_t position)
{
    struct sta_node node = {.operation = STA_OP_CONSTANT, .type = (uint8_t)type, .value = value};
    return (struct sta_term){
        .node = add_node(builder, &node), .type = type, .position = position, .column = -1};
}

struct sta_term sta_build_text(struct sta_builder *builder, struct sta_text text, uint32_t position)
{
    uint32_t code = sta_dictionary_intern(builder->tree->texts, text.bytes, text.length);
    return sta_build_constant(builder, STA_TYPE_TEXT, (struct sta_scalar){.code = code}, position);
}

/* The grouped schema grows while it is parsed against. */
static uint32_t *column_node(struct sta_builder *builder, uint32_t column)
{
    size_t before = builder->column_capacity;
    STA_GROW(builder->column_nodes, builder->column_capacity, (size_t)column + 1);
    if (builder->column_capacity > before)
        memset(builder->column_nodes + before, 0, (builder->column_capacity - before) * sizeof(uint32_t));
    return &builder->column_nodes[column];
}

struct sta_term sta_build_column(struct sta_builder *builder, uint32_t column, uint32_t position)
{
    const struct sta_schema_column *known = &builder->schema->columns[column];
    struct sta_node node = {.operation = STA_OP_COLUMN, .type = (uint8_t)known->type, .column = column};
    uint32_t *place = column_node(builder, column);
    if (*place == 0)
        *place = add_node(builder, &node) + 1;
    return (struct sta_term){.node = *place - 1,
                             .type = known->type,
                             .position = position,
                             .column = (int)column,
                             .unit = known->unit};
}

struct sta_term sta_build(struct sta_builder *builder, const struct sta_node *model, uint32_t position,
                          const struct sta_term *operands, unsigned count)
{
    struct sta_node node = *model;
    bool constant = true;
    node.operand_count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        node.operands[i] = operands[i].node;
        constant = constant && builder->tree->nodes[operands[i].node].operation == STA_OP_CONSTANT;
    }
    struct sta_term term = {.node = add_node(builder, &node),
                            .type = (enum sta_type)node.type,
                            .position = position,
                            .column = -1};
    if (constant && !builder->failed)
        sta_build_fold(builder, term.node, position);
    return term;
}

struct sta_term sta_build_plain(struct sta_builder *builder, enum sta_operation operation, enum sta_type type,
                                uint32_t position, const struct sta_term *operands, unsigned count)
{
    struct sta_node model = {.operation = (uint8_t)operation, .type = (uint8_t)type};
    return sta_build(builder, &model, position, operands, count);
}

struct sta_term sta_build_call(struct sta_builder *builder, struct sta_text_call call, enum sta_type type,
                               struct sta_term of, uint32_t position)
{
    struct sta_text_call *kept =
        sta_arena_alloc(&builder->tree->arena, sizeof *kept, _Alignof(struct sta_text_call));
    *kept = call;
    struct sta_node model = {.operation = STA_OP_CALL, .type = (uint8_t)type, .call = kept};
    of = sta_build_cast(builder, of, STA_TYPE_TEXT);
    return sta_build(builder, &model, position, &of, 1);
}

/* ---- types */

const char *sta_a_type(enum sta_type type)
{
    static const char *const names[] = {"null", "a condition", "an integer", "a number", "a text", "a list"};
    return names[type];
}

struct sta_term sta_build_cast(struct sta_builder *builder, struct sta_term term, enum sta_type type)
{
    enum sta_operation operation;
    if (term.type == type || builder->failed)
        return term;
    if (term.type == STA_TYPE_NULL)
        return sta_build_constant(builder, type, (struct sta_scalar){.missing = true}, term.position);
    if (type == STA_TYPE_INT)
        operation = STA_OP_BOOL_TO_INT;
    else
        operation = term.type == STA_TYPE_BOOL ? STA_OP_BOOL_TO_FLOAT : STA_OP_INT_TO_FLOAT;
    STA_ASSERT(sta_is_numeric(term.type) && (type == STA_TYPE_INT || type == STA_TYPE_FLOAT));
    return sta_build_plain(builder, operation, type, term.position, &term, 1);
}

int sta_common_type(const struct sta_term *terms, unsigned count)
{
    int common = STA_TYPE_NULL;
    for (unsigned i = 0; i < count; i++) {
        enum sta_type type = terms[i].type;
        if (type == STA_TYPE_NULL || (int)type == common)
            continue;
        if (common == STA_TYPE_NULL)
            common = (int)type;
        else if (!sta_is_numeric(type) || !sta_is_numeric((enum sta_type)common))
            return -1;
        else
            common = STA_MAX(STA_MAX((int)type, common), STA_TYPE_INT);
    }
    return common;
}

enum sta_type sta_integral_type(const struct sta_term *terms, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (terms[i].type != STA_TYPE_INT && terms[i].type != STA_TYPE_BOOL)
            return STA_TYPE_FLOAT;
    return STA_TYPE_INT;
}

enum sta_operation sta_typed_operation(enum sta_operation first, enum sta_type type)
{
    static const uint8_t steps[] = {
        [STA_TYPE_INT] = 0, [STA_TYPE_FLOAT] = 1, [STA_TYPE_BOOL] = 2, [STA_TYPE_TEXT] = 3};
    return first + steps[type];
}

/* ---- conditions */

/* Whether a node's conditions may be missing: those of columns and of choices. */
static bool may_be_missing(const struct sta_node *node)
{
    return node->operation == STA_OP_COLUMN || node->operation == STA_OP_CONSTANT ||
           node->operation == STA_OP_WHERE_B || node->operation == STA_OP_COALESCE_B;
}

struct sta_term sta_build_condition(struct sta_builder *builder, struct sta_term term)
{
    if (term.type != STA_TYPE_BOOL && term.type != STA_TYPE_NULL)
        sta_build_fail(builder, STA_EINPUT, term.position, "expected a condition, but this is %s",
                       STA_A_TYPE(term));
    int column = term.column;
    term = sta_build_cast(builder, term, STA_TYPE_BOOL);
    if (builder->failed || !may_be_missing(sta_build_node(builder, term)))
        return term;
    term = sta_build_plain(builder, STA_OP_TRUTH, STA_TYPE_BOOL, term.position, &term, 1);
    term.column = column;
    return term;
}

struct sta_term sta_build_not(struct sta_builder *builder, uint32_t at, struct sta_term a)
{
    a = sta_build_condition(builder, a);
    return sta_build_plain(builder, STA_OP_NOT, STA_TYPE_BOOL, at, &a, 1);
}

struct sta_term sta_build_junction(struct sta_builder *builder, enum sta_operation operation,
                                   struct sta_term a, struct sta_term b)
{
    struct sta_term operands[] = {a, sta_build_condition(builder, b)};
    return sta_build_plain(builder, operation, STA_TYPE_BOOL, a.position, operands, 2);
}

struct sta_term sta_build_isna(struct sta_builder *builder, struct sta_term of, bool negate)
{
    bool coded = of.type == STA_TYPE_TEXT || of.type == STA_TYPE_LIST;
    enum sta_operation operation = coded ? STA_OP_ISNA_T : STA_OP_ISNA;
    return sta_build_plain(builder, negate ? operation + 1 : operation, STA_TYPE_BOOL, of.position, &of, 1);
}

/* ---- comparisons */

enum sta_comparison_operator sta_comparison_mirrored(enum sta_comparison_operator comparison)
{
    static const uint8_t mirror[] = {[STA_EQUAL] = STA_EQUAL,  [STA_DIFFER] = STA_DIFFER,
                                     [STA_LESS] = STA_GREATER, [STA_LESS_EQUAL] = STA_GREATER_EQUAL,
                                     [STA_GREATER] = STA_LESS, [STA_GREATER_EQUAL] = STA_LESS_EQUAL};
    return (enum sta_comparison_operator)mirror[comparison];
}

static struct sta_term swap_sides(struct sta_term *a, struct sta_term *b,
                                  enum sta_comparison_operator *comparison)
{
    struct sta_term first = *a;
    *a = *b;
    *b = first;
    *comparison = sta_comparison_mirrored(*comparison);
    return first;
}

static bool is_constant(const struct sta_builder *builder, struct sta_term term)
{
    return sta_build_node(builder, term)->operation == STA_OP_CONSTANT;
}

/* An integer compared with a constant that is none becomes a comparison of integers: x > 2.5 is x > 2.
 * Beyond the integers the relation is the same for all of them, and what says so is a comparison with the
 * last integer. */
static struct sta_term whole_bound(struct sta_builder *builder, struct sta_term bound,
                                   enum sta_comparison_operator *comparison)
{
    double value = sta_build_node(builder, bound)->value.number;
    bool up = *comparison == STA_LESS || *comparison == STA_GREATER_EQUAL;
    double whole = up ? ceil(value) : floor(value);
    struct sta_scalar integer = {.integer = 0};
    if (whole >= 0x1p63) {
        integer.integer = INT64_MAX;
        *comparison = *comparison == STA_LESS || *comparison == STA_LESS_EQUAL ? STA_LESS_EQUAL : STA_GREATER;
    } else if (whole < -0x1p63) {
        integer.integer = INT64_MIN;
        *comparison = *comparison == STA_LESS || *comparison == STA_LESS_EQUAL ? STA_LESS : STA_GREATER_EQUAL;
    } else {
        integer.integer = (int64_t)whole;
    }
    return sta_build_constant(builder, STA_TYPE_INT, integer, bound.position);
}

/* Whether a double is an integer of 64 bits, and a 64-bit integer a double. */
static bool is_exact(const struct sta_node *constant)
{
    if (constant->value.missing)
        return true;
    if (constant->type == STA_TYPE_INT) {
        double rounded = (double)constant->value.integer;
        return rounded < 0x1p63 && (int64_t)rounded == constant->value.integer;
    }
    double value = constant->value.number;
    return value >= -0x1p63 && value < 0x1p63 && value == floor(value);
}

/* @a is an integer, @b a number. */
static struct sta_term compare_mixed(struct sta_builder *builder, enum sta_comparison_operator comparison,
                                     struct sta_term a, struct sta_term b, uint32_t position)
{
    enum sta_operation first = STA_OP_EQUAL_IF;
    bool order = comparison != STA_EQUAL && comparison != STA_DIFFER;
    if (is_constant(builder, b) && !is_constant(builder, a) && !sta_build_node(builder, b)->value.missing &&
        (order || is_exact(sta_build_node(builder, b)))) {
        b = whole_bound(builder, b, &comparison);
        first = STA_OP_EQUAL_II;
    } else if (is_constant(builder, a) && is_exact(sta_build_node(builder, a))) {
        a = sta_build_cast(builder, a, STA_TYPE_FLOAT);
        first = STA_OP_EQUAL_FF;
    }
    struct sta_term operands[] = {a, b};
    return sta_build_plain(builder, first + comparison, STA_TYPE_BOOL, position, operands, 2);
}

static struct sta_term compare_numbers(struct sta_builder *builder, enum sta_comparison_operator comparison,
                                       struct sta_term a, struct sta_term b)
{
    uint32_t position = a.position;
    if (a.type == STA_TYPE_BOOL)
        a = sta_build_cast(builder, a, STA_TYPE_INT);
    if (b.type == STA_TYPE_BOOL)
        b = sta_build_cast(builder, b, STA_TYPE_INT);
    if (a.type != b.type) {
        if (a.type == STA_TYPE_FLOAT)
            swap_sides(&a, &b, &comparison);
        return compare_mixed(builder, comparison, a, b, position);
    }
    struct sta_term operands[] = {a, b};
    enum sta_operation first = a.type == STA_TYPE_INT ? STA_OP_EQUAL_II : STA_OP_EQUAL_FF;
    return sta_build_plain(builder, first + comparison, STA_TYPE_BOOL, position, operands, 2);
}

struct sta_text sta_keep_literal(struct sta_builder *builder, struct sta_term literal, bool fold)
{
    struct sta_text text = sta_literal_text(builder, literal);
    text = fold ? sta_text_fold(text, &builder->scratch.buffer) : text;
    return (struct sta_text){sta_arena_copy(&builder->tree->arena, text.bytes, text.length), text.length};
}

static struct sta_term compare_texts(struct sta_builder *builder, enum sta_comparison_operator comparison,
                                     struct sta_term a, struct sta_term b)
{
    uint32_t position = a.position;
    bool caseless = sta_is_caseless(builder, a) || sta_is_caseless(builder, b);
    if (is_constant(builder, a))
        swap_sides(&a, &b, &comparison);
    struct sta_text_call call = {
        .caseless = caseless, .comparison = comparison, .when_missing = comparison == STA_DIFFER};
    if (is_constant(builder, b) && !sta_build_node(builder, b)->value.missing) {
        call.apply = sta_text_compare;
        call.first = sta_keep_literal(builder, b, caseless);
        return sta_build_call(builder, call, STA_TYPE_BOOL, a, position);
    }
    struct sta_term operands[] = {a, b};
    call.apply = sta_text_lower;
    for (unsigned i = 0; caseless && i < 2; i++)
        operands[i] = sta_build_call(builder, call, STA_TYPE_TEXT, operands[i], position);
    struct sta_node model = {.operation = STA_OP_COMPARE_T, .type = STA_TYPE_BOOL, .comparison = comparison};
    return sta_build(builder, &model, position, operands, 2);
}

struct sta_term sta_build_compare(struct sta_builder *builder, enum sta_comparison_operator comparison,
                                  uint32_t at, struct sta_term a, struct sta_term b)
{
    bool text = a.type == STA_TYPE_TEXT;
    if (a.type == STA_TYPE_NULL || b.type == STA_TYPE_NULL)
        sta_build_fail(builder, STA_EINPUT, at, "null equals nothing; write x.isna() or x.notna()");
    else if (text != (b.type == STA_TYPE_TEXT) || a.type == STA_TYPE_LIST || b.type == STA_TYPE_LIST)
        sta_build_fail(builder, STA_EINPUT, at, "cannot compare %s with %s", STA_A_TYPE(a), STA_A_TYPE(b));
    if (builder->failed)
        return a;
    return text ? compare_texts(builder, comparison, a, b) : compare_numbers(builder, comparison, a, b);
}

/* ---- lists */

static int by_integer(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int by_double(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The constants that a value of the type can equal, ascending. */
static struct sta_numbers *list_numbers(struct sta_builder *builder, const struct sta_list *list,
                                        enum sta_type type)
{
    struct sta_arena *arena = &builder->tree->arena;
    struct sta_numbers *numbers = sta_arena_alloc(arena, sizeof *numbers, _Alignof(struct sta_numbers));
    *numbers = (struct sta_numbers){
        .integers = sta_arena_alloc(arena, STA_MAX(list->count, 1u) * sizeof(int64_t), _Alignof(int64_t))};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct sta_node *node = &builder->tree->nodes[list->nodes[i]];
        bool whole = node->type != STA_TYPE_FLOAT;
        struct sta_node wide = *node;
        wide.type = whole ? STA_TYPE_INT : STA_TYPE_FLOAT;
        if (whole != (type == STA_TYPE_INT) && !is_exact(&wide))
            continue;
        if (type == STA_TYPE_INT)
            numbers->integers[numbers->count++] = whole ? node->value.integer : (int64_t)node->value.number;
        else
            numbers->numbers[numbers->count++] = whole ? (double)node->value.integer : node->value.number;
    }
    qsort(numbers->integers, numbers->count, sizeof(int64_t), type == STA_TYPE_INT ? by_integer : by_double);
    return numbers;
}

static struct sta_term member_of_texts(struct sta_builder *builder, struct sta_term of,
                                       const struct sta_list *list)
{
    struct sta_tree *tree = builder->tree;
    struct sta_text_call call = {.apply = sta_text_in, .caseless = sta_is_caseless(builder, of)};
    struct sta_dictionary *set = sta_dictionary_create();
    STA_GROW(tree->sets, tree->set_capacity, tree->set_count + 1);
    tree->sets[tree->set_count++] = set;
    for (uint32_t i = 0; i < list->count; i++) {
        struct sta_text text = sta_dictionary_text(tree->texts, tree->nodes[list->nodes[i]].value.code);
        if (call.caseless)
            text = sta_text_fold(text, &builder->scratch.buffer);
        sta_dictionary_intern(set, text.bytes, text.length);
    }
    call.set = set;
    return sta_build_call(builder, call, STA_TYPE_BOOL, of, of.position);
}

struct sta_term sta_build_member(struct sta_builder *builder, struct sta_term of, const struct sta_list *list,
                                 bool negate)
{
    struct sta_term member;
    uint32_t position = of.position;
    if (builder->failed)
        return of;
    if (of.type == STA_TYPE_TEXT) {
        member = member_of_texts(builder, of, list);
    } else {
        enum sta_type type = of.type == STA_TYPE_FLOAT ? STA_TYPE_FLOAT : STA_TYPE_INT;
        struct sta_node model = {.operation = (uint8_t)sta_typed_operation(STA_OP_IN_I, type),
                                 .type = STA_TYPE_BOOL};
        model.numbers = list_numbers(builder, list, type);
        of = sta_build_cast(builder, of, type);
        member = sta_build(builder, &model, position, &of, 1);
    }
    return negate ? sta_build_plain(builder, STA_OP_NOT, STA_TYPE_BOOL, position, &member, 1) : member;
}

/* ---- literals */

double sta_literal_number(const struct sta_builder *builder, struct sta_term term)
{
    const struct sta_node *node = sta_build_node(builder, term);
    return node->type == STA_TYPE_FLOAT ? node->value.number : (double)node->value.integer;
}

struct sta_text sta_literal_text(const struct sta_builder *builder, struct sta_term term)
{
    return sta_dictionary_text(builder->tree->texts, sta_build_node(builder, term)->value.code);
}

int sta_literal_compare(const struct sta_node *a, const struct sta_node *b)
{
    bool whole_a = a->type != STA_TYPE_FLOAT, whole_b = b->type != STA_TYPE_FLOAT;
    if (whole_a && whole_b)
        return by_integer(&a->value.integer, &b->value.integer);
    double left = whole_a ? (double)a->value.integer : a->value.number;
    double right = whole_b ? (double)b->value.integer : b->value.number;
    if (left != right || whole_a == whole_b)
        return by_double(&left, &right);
    if (!whole_a)
        return -sta_literal_compare(b, a);
    return right >= 0x1p63 ? -1 : by_integer(&a->value.integer, &(int64_t){(int64_t)right});
}
