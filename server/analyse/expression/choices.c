/* One of several values: least, greatest, coalesce, where. */
#include "analyse/expression/parser.h"

struct sta_term sta_renamed(struct sta_term term, uint32_t position)
{
    term.position = position;
    term.column = -1;
    term.unit = NULL;
    term.literal = false;
    return term;
}

bool sta_check_numbers(struct sta_parser *parser, const struct sta_callee *callee,
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

/* Two by two. */
struct sta_term sta_build_extreme(struct sta_parser *parser, enum sta_operation of_integers,
                                  const struct sta_callee *callee, const struct sta_term *arguments,
                                  unsigned count)
{
    struct sta_builder *builder = &parser->builder;
    if (!sta_check_count(parser, callee, count, 1, UINT32_MAX) ||
        !sta_check_numbers(parser, callee, arguments, count))
        return sta_nothing();
    enum sta_type type = sta_integral_type(arguments, count);
    struct sta_term extreme = sta_build_cast(builder, arguments[0], type);
    enum sta_operation operation = sta_typed_operation(of_integers, type);
    for (unsigned i = 1; i < count; i++) {
        struct sta_term pair[] = {extreme, sta_build_cast(builder, arguments[i], type)};
        extreme = sta_build_plain(builder, operation, type, callee->position, pair, 2);
    }
    return sta_renamed(extreme, callee->position);
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
    return sta_renamed(first, callee->position);
}

struct sta_term sta_build_where(struct sta_parser *parser, const struct sta_callee *callee,
                                const struct sta_term *arguments, unsigned count)
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
