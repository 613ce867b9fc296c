/* Nodes whose operands are constants are computed while parsing, so that `size > 4 * 1024 ** 2` compares with
 * one number, skips row groups, and costs nothing per row. */
#include "analyse/expression/build.h"

#include "analyse/expression/kernels.h"
#include "analyse/expression/texts.h"
#include "common/number.h"

/* A scalar is where its loop finds one value of any type: the union of its members begins with each of them,
 * and a condition is the first byte of an integer. */
static struct sta_scalar fold_kernel(const struct sta_builder *builder, const struct sta_node *node)
{
    struct sta_scalar in[3], out = {.integer = 0};
    uint8_t marks[3], missing = 0;
    struct sta_operand operands[3];
    for (unsigned i = 0; i < node->operand_count; i++) {
        const struct sta_node *operand = &builder->tree->nodes[node->operands[i]];
        in[i] = operand->value;
        marks[i] = operand->value.missing;
        if (marks[i] && operand->type == STA_TYPE_TEXT)
            in[i].code = STA_NO_CODE;
        operands[i] = (struct sta_operand){.values = &in[i].integer, .missing = &marks[i]};
    }
    const bool marked = sta_kernel_apply(node, operands, &out.integer, &missing, 1);
    out.missing = node->type == STA_TYPE_TEXT ? out.code == STA_NO_CODE : marked && missing;
    return out;
}

static struct sta_scalar text_scalar(struct sta_builder *builder, struct sta_text text)
{
    return (struct sta_scalar){.code = sta_dictionary_intern(builder->tree->texts, text.bytes, text.length)};
}

static struct sta_scalar fold_call(struct sta_builder *builder, const struct sta_node *node,
                                   uint32_t position)
{
    const struct sta_scalar *of = &builder->tree->nodes[node->operands[0]].value;
    struct sta_text_result result = {0};
    if (of->missing)
        return node->type == STA_TYPE_BOOL ? (struct sta_scalar){.integer = node->call->when_missing}
                                           : (struct sta_scalar){.missing = true};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_text text = sta_dictionary_text(builder->tree->texts, of->code);
    int rc = sta_text_apply(node->call, text, &builder->scratch, &result, &err);
    if (rc != 0)
        sta_build_fail(builder, rc, position, "%s", err.text);
    if (rc != 0 || result.missing)
        return (struct sta_scalar){.missing = true};
    switch ((enum sta_type)node->type) {
    case STA_TYPE_BOOL:
        return (struct sta_scalar){.integer = result.holds};
    case STA_TYPE_INT:
        return (struct sta_scalar){.integer = result.integer};
    case STA_TYPE_FLOAT:
        return (struct sta_scalar){.number = result.number};
    default:
        return text_scalar(builder, result.text);
    }
}

static struct sta_scalar fold_text_of(struct sta_builder *builder, const struct sta_node *of)
{
    char text[STA_DOUBLE_TEXT];
    if (of->value.missing)
        return (struct sta_scalar){.missing = true};
    if (of->type == STA_TYPE_BOOL)
        return text_scalar(builder,
                           of->value.integer ? (struct sta_text){"true", 4} : (struct sta_text){"false", 5});
    size_t length = of->type == STA_TYPE_INT ? sta_format_int(of->value.integer, text)
                                             : sta_format_double(of->value.number, text);
    return text_scalar(builder, (struct sta_text){text, (uint32_t)length});
}

void sta_build_fold(struct sta_builder *builder, uint32_t index, uint32_t position)
{
    struct sta_node node = builder->tree->nodes[index];
    struct sta_scalar value = {.missing = true}; /* that of texts joined, one of which is missing */
    if (node.operation < STA_OP_KERNELS)
        value = fold_kernel(builder, &node);
    else if (node.operation == STA_OP_CALL)
        value = fold_call(builder, &node, position);
    else if (node.operation == STA_OP_TEXT_OF)
        value = fold_text_of(builder, &builder->tree->nodes[node.operands[0]]);
    else if (node.operation == STA_OP_COMPARE_T) /* one at least is missing: else it would be a call */
        value = (struct sta_scalar){.integer = node.comparison == STA_DIFFER};
    builder->tree->nodes[index] =
        (struct sta_node){.operation = STA_OP_CONSTANT, .type = node.type, .value = value};
}
