/* Nodes of arithmetic. */
#include "analyse/expression/build.h"

#include "analyse/expression/texts.h"

struct sign_rule {
    char sign;
    const char *name;
    enum sta_operation integers, numbers;
};

static const struct sign_rule rules[] = {
    {'+', "+", STA_OP_ADD_I, STA_OP_ADD_F},
    {'-', "-", STA_OP_SUBTRACT_I, STA_OP_SUBTRACT_F},
    {'*', "*", STA_OP_MULTIPLY_I, STA_OP_MULTIPLY_F},
    {'D', "//", STA_OP_FLOOR_DIVIDE_I, STA_OP_FLOOR_DIVIDE_F},
    {'%', "%", STA_OP_MODULO_I, STA_OP_MODULO_F},
    {'/', "/", STA_OP_DIVIDE_I, STA_OP_DIVIDE_F},
    {'P', "**", STA_OP_POWER_F, STA_OP_POWER_F},
};

static const struct sign_rule *find_rule(char sign)
{
    size_t i = 0;
    while (rules[i].sign != sign)
        i++;
    return &rules[i];
}

static bool is_present_constant(const struct sta_node *node)
{
    return node->operation == STA_OP_CONSTANT && !node->value.missing;
}

static struct sta_term concatenate(struct sta_builder *builder, struct sta_term a, struct sta_term b)
{
    struct sta_text_call call = {.apply = sta_text_append};
    if (is_present_constant(sta_build_node(builder, b))) {
        call.first = sta_keep_literal(builder, b, false);
        return sta_build_call(builder, call, STA_TYPE_TEXT, a, a.position);
    }
    if (is_present_constant(sta_build_node(builder, a))) {
        call.apply = sta_text_prepend;
        call.first = sta_keep_literal(builder, a, false);
        return sta_build_call(builder, call, STA_TYPE_TEXT, b, a.position);
    }
    struct sta_term operands[] = {a, b};
    return sta_build_plain(builder, STA_OP_CONCAT_T, STA_TYPE_TEXT, a.position, operands, 2);
}

struct sta_term sta_build_arithmetic(struct sta_builder *builder, char sign, uint32_t at, struct sta_term a,
                                     struct sta_term b)
{
    const struct sign_rule *rule = find_rule(sign);
    if (builder->failed)
        return a;
    if (sign == '+' && a.type == STA_TYPE_TEXT && b.type == STA_TYPE_TEXT)
        return concatenate(builder, a, b);
    if (!sta_is_numeric(a.type) || !sta_is_numeric(b.type)) {
        sta_build_fail(builder, STA_EINPUT, at, "%s needs numbers%s, not %s and %s", rule->name,
                       sign == '+' ? " or two texts" : "", STA_A_TYPE(a), STA_A_TYPE(b));
        return a;
    }
    struct sta_term operands[] = {a, b};
    enum sta_type type = sta_integral_type(operands, 2);
    enum sta_operation operation = type == STA_TYPE_INT ? rule->integers : rule->numbers;
    if (sign == 'P')
        type = STA_TYPE_FLOAT;
    for (unsigned i = 0; i < 2; i++)
        operands[i] = sta_build_cast(builder, operands[i], type);
    return sta_build_plain(builder, operation, sign == '/' ? STA_TYPE_FLOAT : type, a.position, operands, 2);
}

struct sta_term sta_build_sign(struct sta_builder *builder, char sign, uint32_t at, struct sta_term a)
{
    bool literal = a.literal;
    if (!sta_is_numeric(a.type)) {
        sta_build_fail(builder, STA_EINPUT, at, "%c needs a number, not %s", sign, STA_A_TYPE(a));
        return a;
    }
    enum sta_type type = sta_integral_type(&a, 1);
    struct sta_term term = sta_build_cast(builder, a, type);
    if (sign == '-')
        term = sta_build_plain(builder, sta_typed_operation(STA_OP_NEGATE_I, type), type, at, &term, 1);
    term.position = at;
    term.column = -1; /* no longer the column itself */
    term.unit = NULL;
    term.literal = literal;
    return term;
}
