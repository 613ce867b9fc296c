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

bool sta_check_numbers(const struct sta_function_call *call)
{
    for (unsigned i = 0; i < call->count; i++) {
        if (sta_is_numeric(call->terms[i].type))
            continue;
        sta_build_fail(&call->parser->builder, STA_EINPUT, call->position, "%.*s needs numbers, not %s",
                       (int)call->name.length, call->name.bytes, STA_A_TYPE(call->terms[i]));
        return false;
    }
    return true;
}

/* Two by two. */
struct sta_term sta_build_extreme(const struct sta_function_call *call, enum sta_operation of_integers)
{
    struct sta_builder *builder = &call->parser->builder;
    if (!sta_check_count(call, 1, UINT32_MAX) || !sta_check_numbers(call))
        return sta_nothing();
    enum sta_type type = sta_integral_type(call->terms, call->count);
    struct sta_term extreme = sta_build_cast(builder, call->terms[0], type);
    enum sta_operation operation = sta_typed_operation(of_integers, type);
    for (unsigned i = 1; i < call->count; i++) {
        struct sta_term pair[] = {extreme, sta_build_cast(builder, call->terms[i], type)};
        extreme = sta_build_plain(builder, operation, type, call->position, pair, 2);
    }
    return sta_renamed(extreme, call->position);
}

/* The type of a choice among values; false, and a failure, if there is none. */
static bool choose_type(const struct sta_function_call *call, const struct sta_term *values, unsigned count,
                        enum sta_type *type)
{
    int common = sta_common_type(values, count);
    for (unsigned i = 0; i < count; i++)
        if (values[i].type == STA_TYPE_LIST)
            common = -1;
    if (common < 0)
        sta_build_fail(&call->parser->builder, STA_EINPUT, call->position, "%.*s needs values of one type",
                       (int)call->name.length, call->name.bytes);
    *type = (enum sta_type)common;
    return common >= 0;
}

struct sta_term sta_build_coalesce(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    enum sta_type type;
    if (!sta_check_count(call, 1, UINT32_MAX) || !choose_type(call, call->terms, call->count, &type))
        return sta_nothing();
    struct sta_term first = sta_build_cast(builder, call->terms[0], type);
    for (unsigned i = 1; i < call->count && type != STA_TYPE_NULL; i++) {
        struct sta_term pair[] = {first, sta_build_cast(builder, call->terms[i], type)};
        first = sta_build_plain(builder, sta_typed_operation(STA_OP_COALESCE_I, type), type, call->position,
                                pair, 2);
    }
    return sta_renamed(first, call->position);
}

struct sta_term sta_build_where(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    enum sta_type type;
    if (!sta_check_count(call, 2, 3))
        return sta_nothing();
    struct sta_term condition = sta_build_condition(builder, call->terms[0]);
    if (builder->failed || !choose_type(call, call->terms + 1, call->count - 1, &type))
        return sta_nothing();
    struct sta_term otherwise =
        sta_build_constant(builder, STA_TYPE_NULL, (struct sta_scalar){.missing = true}, call->position);
    if (type == STA_TYPE_NULL)
        return otherwise;
    struct sta_term operands[] = {
        condition, sta_build_cast(builder, call->terms[1], type),
        sta_build_cast(builder, call->count > 2 ? call->terms[2] : otherwise, type)};
    return sta_build_plain(builder, sta_typed_operation(STA_OP_WHERE_I, type), type, call->position, operands,
                           3);
}
