/* Numbers to numbers of bins: bin, of one width, and cut, of any edges. */
#include "analyse/expression/parser.h"

#include <math.h>

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

static bool check_bin(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    if (!sta_check_count(call, 2, 3) || !sta_check_numbers(call))
        return false;
    for (unsigned i = 1; i < call->count && !builder->failed; i++)
        if (!call->terms[i].literal || sta_build_node(builder, call->terms[i])->value.missing)
            sta_build_fail(builder, STA_EINPUT, call->terms[i].position, "bin needs a constant here");
    if (!builder->failed && sta_literal_number(builder, call->terms[1]) <= 0)
        sta_build_fail(builder, STA_EINPUT, call->terms[1].position, "the width must be positive");
    return !builder->failed;
}

static bool is_whole(struct sta_term term)
{
    return sta_integral_type(&term, 1) == STA_TYPE_INT;
}

struct sta_term sta_build_bin(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    if (!check_bin(call))
        return sta_nothing();
    struct sta_term x = call->terms[0], width = call->terms[1];
    struct sta_term none =
        sta_build_constant(builder, STA_TYPE_INT, (struct sta_scalar){.integer = 0}, call->position);
    struct sta_term origin = call->count > 2 ? call->terms[2] : none;
    struct sta_binning binning = {.number_width = sta_literal_number(builder, width),
                                  .number_origin = sta_literal_number(builder, origin)};
    int64_t per_unit;
    int ticks = sta_schema_ticks(builder->schema, x.column, &per_unit);
    if (ticks >= 0 && whole_ticks(binning.number_width, per_unit, &binning.width) && binning.width >= 1 &&
        whole_ticks(binning.number_origin, per_unit, &binning.origin))
        return build_binning(builder, STA_OP_BIN_I,
                             sta_build_column(builder, (uint32_t)ticks, call->position), binning,
                             call->position);
    if (!is_whole(x) || !is_whole(origin))
        return build_binning(builder, STA_OP_BIN_F, x, binning, call->position);
    binning.origin = sta_build_node(builder, origin)->value.integer;
    if (!is_whole(width))
        return build_binning(builder, STA_OP_BIN_IF, x, binning, call->position);
    binning.width = sta_build_node(builder, width)->value.integer;
    return build_binning(builder, STA_OP_BIN_I, x, binning, call->position);
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

static bool check_edges(const struct sta_function_call *call)
{
    const struct sta_node *nodes = call->parser->builder.tree->nodes;
    const struct sta_list *list = call->terms[1].list;
    bool increase = list->count > 0;
    for (uint32_t i = 1; i < list->count; i++)
        increase = increase && sta_literal_compare(&nodes[list->nodes[i - 1]], &nodes[list->nodes[i]]) < 0;
    if (!increase)
        sta_build_fail(&call->parser->builder, STA_EINPUT, call->terms[1].position,
                       "the edges must increase");
    return increase;
}

struct sta_term sta_build_cut(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    struct sta_arena *arena = &builder->tree->arena;
    if (call->count != 2 || !sta_is_numeric(call->terms[0].type) || call->terms[1].list == NULL) {
        sta_build_fail(builder, STA_EINPUT, call->position, "cut takes a number and a list of edges");
        return sta_nothing();
    }
    if (!check_edges(call))
        return sta_nothing();
    enum sta_type type = sta_integral_type(call->terms, 1);
    const struct sta_list *list = call->terms[1].list;
    struct sta_numbers *edges = sta_arena_alloc(arena, sizeof *edges, _Alignof(struct sta_numbers));
    *edges = (struct sta_numbers){
        .integers = sta_arena_alloc(arena, list->count * sizeof(int64_t), _Alignof(int64_t))};
    for (uint32_t i = 0; i < list->count; i++)
        edges->below += !put_edge(edges, &builder->tree->nodes[list->nodes[i]], type);
    struct sta_node model = {.operation = (uint8_t)sta_typed_operation(STA_OP_CUT_I, type),
                             .type = STA_TYPE_INT,
                             .numbers = edges};
    struct sta_term x = sta_build_cast(builder, call->terms[0], type);
    return sta_build(builder, &model, call->position, &x, 1);
}
