/* Functions by name: one table says what each takes and gives; those that no pattern of arguments describes
 * have a builder. */
#include "analyse/expression/parser.h"

#include <math.h>

#include "analyse/expression/suggest.h"
#include "analyse/expression/texts.h"

struct function {
    const char *name;
    /* n number, s text, i constant integer, r constant pattern, t constant text, a anything; ? begins those
     * that may be left out */
    const char *kinds;
    struct sta_term (*build)(struct sta_parser *parser, const struct function *function,
                             const struct sta_callee *callee, const struct sta_term *arguments,
                             unsigned count);
    enum sta_operation operation; /* of numbers */
    enum sta_type type;           /* of the result */
    sta_text_function apply;      /* of texts */
};

#define BUILDER(name)                                                                                        \
    static struct sta_term name(struct sta_parser *parser, const struct function *function,                  \
                                const struct sta_callee *callee, const struct sta_term *arguments,           \
                                unsigned count)

/* ---- numbers */

BUILDER(build_number)
{
    struct sta_term x = sta_build_cast(&parser->builder, arguments[0], STA_TYPE_FLOAT);
    return sta_build_plain(&parser->builder, function->operation, function->type, callee->position, &x, 1);
}

/* The same value under another position. */
static struct sta_term renamed(struct sta_term term, uint32_t position)
{
    term.position = position;
    term.column = -1;
    term.unit = NULL;
    term.literal = false;
    return term;
}

/* Of an integer: itself. */
BUILDER(build_whole)
{
    if (arguments[0].type == STA_TYPE_INT || arguments[0].type == STA_TYPE_BOOL)
        return renamed(sta_build_cast(&parser->builder, arguments[0], STA_TYPE_INT), callee->position);
    return build_number(parser, function, callee, arguments, count);
}

BUILDER(build_round)
{
    if (count == 1)
        return build_whole(parser, function, callee, arguments, count);
    double digits = sta_literal_number(&parser->builder, arguments[1]);
    struct sta_node model = {
        .operation = STA_OP_ROUND_TO_F, .type = STA_TYPE_FLOAT, .scale = pow(10, digits)};
    struct sta_term x = sta_build_cast(&parser->builder, arguments[0], STA_TYPE_FLOAT);
    return sta_build(&parser->builder, &model, callee->position, &x, 1);
}

BUILDER(build_abs)
{
    enum sta_type type = sta_integral_type(arguments, 1);
    struct sta_term x = sta_build_cast(&parser->builder, arguments[0], type);
    return sta_build_plain(&parser->builder, sta_typed_operation(STA_OP_ABS_I, type), type, callee->position,
                           &x, 1);
}

static bool check_numbers(struct sta_parser *parser, const struct sta_callee *callee,
                          const struct sta_term *arguments, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (sta_is_numeric(arguments[i].type))
            continue;
        sta_build_fail(&parser->builder, STA_EINPUT, callee->position, "%.*s needs numbers, not %s",
                       (int)callee->name.length, callee->name.bytes, STA_A_TYPE(arguments[i]));
        return false;
    }
    return true;
}

/* least and greatest: two by two. */
BUILDER(build_extreme)
{
    struct sta_builder *builder = &parser->builder;
    if (!sta_check_count(parser, callee, count, 1, UINT32_MAX) ||
        !check_numbers(parser, callee, arguments, count))
        return sta_nothing();
    enum sta_type type = sta_integral_type(arguments, count);
    struct sta_term extreme = sta_build_cast(builder, arguments[0], type);
    enum sta_operation operation = sta_typed_operation(function->operation, type);
    for (unsigned i = 1; i < count; i++) {
        struct sta_term pair[] = {extreme, sta_build_cast(builder, arguments[i], type)};
        extreme = sta_build_plain(builder, operation, type, callee->position, pair, 2);
    }
    return renamed(extreme, callee->position);
}

/* A time as whole ticks; false if they aren't whole. */
static bool whole_ticks(double time, int64_t per_unit, int64_t *whole)
{
    double exact = time * (double)per_unit, rounded = rint(exact);
    if (!(fabs(exact) < 0x1p62) || fabs(rounded - exact) >= 1e-6)
        return false;
    *whole = (int64_t)rounded;
    return true;
}

static struct sta_term build_binning(struct sta_builder *builder, enum sta_operation operation,
                                     struct sta_term x, struct sta_binning binning, uint32_t position)
{
    struct sta_binning *kept =
        sta_arena_alloc(&builder->tree->arena, sizeof *kept, _Alignof(struct sta_binning));
    *kept = binning;
    struct sta_node model = {.operation = (uint8_t)operation, .type = STA_TYPE_INT, .binning = kept};
    x = sta_build_cast(builder, x, operation == STA_OP_BIN_F ? STA_TYPE_FLOAT : STA_TYPE_INT);
    return sta_build(builder, &model, position, &x, 1);
}

static bool check_bin(struct sta_parser *parser, const struct sta_callee *callee,
                      const struct sta_term *arguments, unsigned count)
{
    struct sta_builder *builder = &parser->builder;
    if (!sta_check_count(parser, callee, count, 2, 3) || !check_numbers(parser, callee, arguments, count))
        return false;
    for (unsigned i = 1; i < count && !builder->failed; i++)
        if (!arguments[i].literal || sta_build_node(builder, arguments[i])->value.missing)
            sta_build_fail(builder, STA_EINPUT, arguments[i].position, "bin needs a constant here");
    if (!builder->failed && sta_literal_number(builder, arguments[1]) <= 0)
        sta_build_fail(builder, STA_EINPUT, arguments[1].position, "the width must be positive");
    return !builder->failed;
}

static bool is_whole(struct sta_term term)
{
    return sta_integral_type(&term, 1) == STA_TYPE_INT;
}

BUILDER(build_bin)
{
    struct sta_builder *builder = &parser->builder;
    if (!check_bin(parser, callee, arguments, count))
        return sta_nothing();
    struct sta_term x = arguments[0], width = arguments[1];
    struct sta_term none =
        sta_build_constant(builder, STA_TYPE_INT, (struct sta_scalar){.integer = 0}, callee->position);
    struct sta_term origin = count > 2 ? arguments[2] : none;
    struct sta_binning binning = {.number_width = sta_literal_number(builder, width),
                                  .number_origin = sta_literal_number(builder, origin)};
    int64_t per_unit;
    int ticks = sta_schema_ticks(builder->schema, x.column, &per_unit);
    if (ticks >= 0 && whole_ticks(binning.number_width, per_unit, &binning.width) && binning.width >= 1 &&
        whole_ticks(binning.number_origin, per_unit, &binning.origin))
        return build_binning(builder, STA_OP_BIN_I,
                             sta_build_column(builder, (uint32_t)ticks, callee->position), binning,
                             callee->position);
    if (!is_whole(x) || !is_whole(origin))
        return build_binning(builder, STA_OP_BIN_F, x, binning, callee->position);
    binning.origin = sta_build_node(builder, origin)->value.integer;
    if (!is_whole(width))
        return build_binning(builder, STA_OP_BIN_IF, x, binning, callee->position);
    binning.width = sta_build_node(builder, width)->value.integer;
    return build_binning(builder, STA_OP_BIN_I, x, binning, callee->position);
}

/* An edge as a value of the type, so that x > edge is the same: rounded down.  False if it lies below every
 * integer. */
static bool put_edge(struct sta_numbers *edges, const struct sta_node *edge, enum sta_type type)
{
    bool whole = edge->type != STA_TYPE_FLOAT;
    if (type == STA_TYPE_FLOAT) {
        double number = whole ? (double)edge->value.integer : edge->value.number;
        bool above = whole && (number >= 0x1p63 || (int64_t)number > edge->value.integer);
        edges->numbers[edges->count++] = above ? nextafter(number, -INFINITY) : number;
        return true;
    }
    double floored = whole ? 0 : floor(edge->value.number);
    if (floored < -0x1p63)
        return false;
    int64_t integer = floored >= 0x1p63 ? INT64_MAX : (int64_t)floored;
    edges->integers[edges->count++] = whole ? edge->value.integer : integer;
    return true;
}

static bool check_edges(struct sta_parser *parser, const struct sta_term *arguments)
{
    const struct sta_node *nodes = parser->builder.tree->nodes;
    const struct sta_list *list = arguments[1].list;
    bool increase = list->count > 0;
    for (uint32_t i = 1; i < list->count; i++)
        increase = increase && sta_literal_compare(&nodes[list->nodes[i - 1]], &nodes[list->nodes[i]]) < 0;
    if (!increase)
        sta_build_fail(&parser->builder, STA_EINPUT, arguments[1].position, "the edges must increase");
    return increase;
}

BUILDER(build_cut)
{
    struct sta_builder *builder = &parser->builder;
    struct sta_arena *arena = &builder->tree->arena;
    if (count != 2 || !sta_is_numeric(arguments[0].type) || arguments[1].list == NULL) {
        sta_build_fail(builder, STA_EINPUT, callee->position, "cut takes a number and a list of edges");
        return sta_nothing();
    }
    if (!check_edges(parser, arguments))
        return sta_nothing();
    enum sta_type type = sta_integral_type(arguments, 1);
    const struct sta_list *list = arguments[1].list;
    struct sta_numbers *edges = sta_arena_alloc(arena, sizeof *edges, _Alignof(struct sta_numbers));
    *edges = (struct sta_numbers){
        .integers = sta_arena_alloc(arena, list->count * sizeof(int64_t), _Alignof(int64_t))};
    for (uint32_t i = 0; i < list->count; i++)
        edges->below += !put_edge(edges, &builder->tree->nodes[list->nodes[i]], type);
    struct sta_node model = {.operation = (uint8_t)sta_typed_operation(STA_OP_CUT_I, type),
                             .type = STA_TYPE_INT,
                             .numbers = edges};
    struct sta_term x = sta_build_cast(builder, arguments[0], type);
    return sta_build(builder, &model, callee->position, &x, 1);
}

/* ---- texts */

BUILDER(build_text)
{
    struct sta_text_call call = {.apply = function->apply};
    return sta_build_call(&parser->builder, call, function->type, arguments[0], callee->position);
}

BUILDER(build_part)
{
    struct sta_builder *builder = &parser->builder;
    struct sta_text separator = sta_literal_text(builder, arguments[1]);
    if (separator.length == 0) {
        sta_build_fail(builder, STA_EINPUT, arguments[1].position, "the separator is empty");
        return sta_nothing();
    }
    struct sta_text_call call = {.apply = function->apply,
                                 .from = sta_build_node(builder, arguments[2])->value.integer};
    call.first = (struct sta_text){sta_arena_copy(&builder->tree->arena, separator.bytes, separator.length),
                                   separator.length};
    return sta_build_call(builder, call, function->type, arguments[0], callee->position);
}

BUILDER(build_replace)
{
    return sta_build_replace(parser, arguments[0], arguments[1], arguments[2], false, callee->position);
}

BUILDER(build_extract)
{
    struct sta_text_call call = {.apply = function->apply,
                                 .pattern = sta_compile_pattern(parser, arguments[1], STA_ANYWHERE, false)};
    if (call.pattern == NULL)
        return sta_nothing();
    return sta_build_call(&parser->builder, call, function->type, arguments[0], callee->position);
}

/* ---- any value */

BUILDER(build_int)
{
    if (arguments[0].type == STA_TYPE_TEXT)
        return build_text(parser, function, callee, arguments, count);
    return build_whole(parser, function, callee, arguments, count);
}

BUILDER(build_float)
{
    if (arguments[0].type == STA_TYPE_TEXT)
        return build_text(parser, function, callee, arguments, count);
    return renamed(sta_build_cast(&parser->builder, arguments[0], STA_TYPE_FLOAT), callee->position);
}

BUILDER(build_str)
{
    struct sta_term x = arguments[0];
    if (x.type == STA_TYPE_TEXT || x.type == STA_TYPE_NULL)
        return renamed(sta_build_cast(&parser->builder, x, STA_TYPE_TEXT), callee->position);
    return sta_build_plain(&parser->builder, STA_OP_TEXT_OF, STA_TYPE_TEXT, callee->position, &x, 1);
}

/* The type of a choice among values; false, and a failure, if there is none. */
static bool choose_type(struct sta_parser *parser, const struct sta_callee *callee,
                        const struct sta_term *values, unsigned count, enum sta_type *type)
{
    int common = sta_common_type(values, count);
    for (unsigned i = 0; i < count; i++)
        if (values[i].type == STA_TYPE_LIST)
            common = -1;
    if (common < 0)
        sta_build_fail(&parser->builder, STA_EINPUT, callee->position, "%.*s needs values of one type",
                       (int)callee->name.length, callee->name.bytes);
    *type = (enum sta_type)common;
    return common >= 0;
}

struct sta_term sta_build_coalesce(struct sta_parser *parser, const struct sta_callee *callee,
                                   const struct sta_term *arguments, unsigned count)
{
    struct sta_builder *builder = &parser->builder;
    enum sta_type type;
    if (!sta_check_count(parser, callee, count, 1, UINT32_MAX) ||
        !choose_type(parser, callee, arguments, count, &type))
        return sta_nothing();
    struct sta_term first = sta_build_cast(builder, arguments[0], type);
    for (unsigned i = 1; i < count && type != STA_TYPE_NULL; i++) {
        struct sta_term pair[] = {first, sta_build_cast(builder, arguments[i], type)};
        first = sta_build_plain(builder, sta_typed_operation(STA_OP_COALESCE_I, type), type, callee->position,
                                pair, 2);
    }
    return renamed(first, callee->position);
}

BUILDER(build_coalesce)
{
    return sta_build_coalesce(parser, callee, arguments, count);
}

BUILDER(build_where)
{
    struct sta_builder *builder = &parser->builder;
    enum sta_type type;
    if (!sta_check_count(parser, callee, count, 2, 3))
        return sta_nothing();
    struct sta_term condition = sta_build_condition(builder, arguments[0]);
    if (builder->failed || !choose_type(parser, callee, arguments + 1, count - 1, &type))
        return sta_nothing();
    struct sta_term otherwise =
        sta_build_constant(builder, STA_TYPE_NULL, (struct sta_scalar){.missing = true}, callee->position);
    if (type == STA_TYPE_NULL)
        return otherwise;
    struct sta_term operands[] = {condition, sta_build_cast(builder, arguments[1], type),
                                  sta_build_cast(builder, count > 2 ? arguments[2] : otherwise, type)};
    return sta_build_plain(builder, sta_typed_operation(STA_OP_WHERE_I, type), type, callee->position,
                           operands, 3);
}

/* ---- the table */

static const struct function functions[] = {
    {"abs", "n", build_abs, 0, STA_TYPE_NULL, NULL},
    {"floor", "n", build_whole, STA_OP_FLOOR_F, STA_TYPE_INT, NULL},
    {"ceil", "n", build_whole, STA_OP_CEIL_F, STA_TYPE_INT, NULL},
    {"round", "n?i", build_round, STA_OP_ROUND_F, STA_TYPE_INT, NULL},
    {"sqrt", "n", build_number, STA_OP_SQRT_F, STA_TYPE_FLOAT, NULL},
    {"exp", "n", build_number, STA_OP_EXP_F, STA_TYPE_FLOAT, NULL},
    {"log", "n", build_number, STA_OP_LOG_F, STA_TYPE_FLOAT, NULL},
    {"log2", "n", build_number, STA_OP_LOG2_F, STA_TYPE_FLOAT, NULL},
    {"log10", "n", build_number, STA_OP_LOG10_F, STA_TYPE_FLOAT, NULL},
    {"least", NULL, build_extreme, STA_OP_LEAST_I, STA_TYPE_NULL, NULL},
    {"greatest", NULL, build_extreme, STA_OP_GREATEST_I, STA_TYPE_NULL, NULL},
    {"bin", NULL, build_bin, 0, STA_TYPE_INT, NULL},
    {"cut", NULL, build_cut, 0, STA_TYPE_INT, NULL},
    {"basename", "s", build_text, 0, STA_TYPE_TEXT, sta_text_basename},
    {"dirname", "s", build_text, 0, STA_TYPE_TEXT, sta_text_dirname},
    {"part", "sti", build_part, 0, STA_TYPE_TEXT, sta_text_part},
    {"replace", "srt", build_replace, 0, STA_TYPE_TEXT, NULL},
    {"extract", "sr", build_extract, 0, STA_TYPE_TEXT, sta_text_extract},
    {"lower", "s", build_text, 0, STA_TYPE_TEXT, sta_text_lower},
    {"upper", "s", build_text, 0, STA_TYPE_TEXT, sta_text_upper},
    {"strip", "s", build_text, 0, STA_TYPE_TEXT, sta_text_strip},
    {"len", "s", build_text, 0, STA_TYPE_INT, sta_text_len},
    {"int", "a", build_int, STA_OP_TRUNCATE_F, STA_TYPE_INT, sta_text_to_int},
    {"float", "a", build_float, 0, STA_TYPE_FLOAT, sta_text_to_float},
    {"str", "a", build_str, 0, STA_TYPE_TEXT, NULL},
    {"where", NULL, build_where, 0, STA_TYPE_NULL, NULL},
    {"coalesce", NULL, build_coalesce, 0, STA_TYPE_NULL, NULL},
};

/* What an argument of the kind should be, or NULL if it is. */
static const char *mismatch(char kind, const struct sta_term *term)
{
    switch (kind) {
    case 'n':
        return sta_is_numeric(term->type) ? NULL : "a number";
    case 's':
        return term->type == STA_TYPE_TEXT || term->type == STA_TYPE_NULL ? NULL : "a text";
    case 'i':
        return term->type == STA_TYPE_INT && term->literal ? NULL : "a constant integer";
    case 'r':
        return term->type == STA_TYPE_TEXT && term->literal ? NULL : "a constant pattern";
    case 't':
        return term->type == STA_TYPE_TEXT && term->literal ? NULL : "a constant text";
    default:
        return term->type != STA_TYPE_LIST ? NULL : "a single value";
    }
}

static bool check_arguments(struct sta_parser *parser, const struct function *function,
                            const struct sta_callee *callee, const struct sta_term *arguments, unsigned count)
{
    const char *may = strchr(function->kinds, '?');
    unsigned all = (unsigned)strlen(function->kinds) - (may != NULL);
    unsigned least = may != NULL ? (unsigned)(may - function->kinds) : all;
    unsigned own = callee->is_method; /* stood before the dot */
    if (!sta_check_count(parser, callee, count - own, least - own, all - own))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const char *wanted = mismatch(function->kinds[i < least ? i : i + 1], &arguments[i]);
        if (wanted == NULL)
            continue;
        sta_build_fail(&parser->builder, STA_EINPUT, arguments[i].position, "%s needs %s here, not %s%s",
                       function->name, wanted, STA_A_TYPE(arguments[i]),
                       arguments[i].literal ? "" : " that is computed");
        return false;
    }
    return true;
}

static void fail_function(struct sta_parser *parser, const struct sta_callee *callee)
{
    const char *names[STA_COUNT_OF(functions)];
    for (size_t i = 0; i < STA_COUNT_OF(functions); i++)
        names[i] = functions[i].name;
    sta_fail_unknown(&parser->builder, "function", callee->name, callee->position, names,
                     STA_COUNT_OF(names));
}

struct sta_term sta_build_function(struct sta_parser *parser, const struct sta_callee *callee,
                                   const struct sta_term *arguments, unsigned count)
{
    for (size_t i = 0; i < STA_COUNT_OF(functions); i++) {
        const struct function *function = &functions[i];
        if (!sta_text_is(callee->name, function->name))
            continue;
        if (function->kinds != NULL && !check_arguments(parser, function, callee, arguments, count))
            return sta_nothing();
        return function->build(parser, function, callee, arguments, count);
    }
    fail_function(parser, callee);
    return sta_nothing();
}
