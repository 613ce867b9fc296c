/* Functions by name: one table says what each takes and gives; those that no pattern of arguments describes
 * have a builder. */
#include "analyse/expression/parser.h"

#include <math.h>

#include "analyse/expression/suggest.h"
#include "analyse/expression/texts.h"

struct sta_function {
    const char *name;
    /* n number, s text, i constant integer, r constant pattern, t constant text, a anything; ? begins those
     * that may be left out */
    const char *kinds;
    struct sta_term (*build)(const struct sta_function_call *call);
    enum sta_operation operation; /* of numbers */
    enum sta_type type;           /* of the result */
    sta_text_function apply;      /* of texts */
    struct sta_help help;
};

/* ---- numbers */

static struct sta_term build_number(const struct sta_function_call *call)
{
    struct sta_term x = sta_build_cast(&call->parser->builder, call->terms[0], STA_TYPE_FLOAT);
    return sta_build_plain(&call->parser->builder, call->function->operation, call->function->type,
                           call->position, &x, 1);
}

/* Of an integer: itself. */
static struct sta_term build_whole(const struct sta_function_call *call)
{
    if (call->terms[0].type == STA_TYPE_INT || call->terms[0].type == STA_TYPE_BOOL)
        return sta_renamed(sta_build_cast(&call->parser->builder, call->terms[0], STA_TYPE_INT),
                           call->position);
    return build_number(call);
}

static struct sta_term build_round(const struct sta_function_call *call)
{
    if (call->count == 1)
        return build_whole(call);
    double digits = sta_literal_number(&call->parser->builder, call->terms[1]);
    struct sta_node model = {
        .operation = STA_OP_ROUND_TO_F, .type = STA_TYPE_FLOAT, .scale = pow(10, digits)};
    struct sta_term x = sta_build_cast(&call->parser->builder, call->terms[0], STA_TYPE_FLOAT);
    return sta_build(&call->parser->builder, &model, call->position, &x, 1);
}

static struct sta_term build_abs(const struct sta_function_call *call)
{
    enum sta_type type = sta_integral_type(call->terms, 1);
    struct sta_term x = sta_build_cast(&call->parser->builder, call->terms[0], type);
    return sta_build_plain(&call->parser->builder, sta_typed_operation(STA_OP_ABS_I, type), type,
                           call->position, &x, 1);
}

static struct sta_term build_extreme(const struct sta_function_call *call)
{
    return sta_build_extreme(call, call->function->operation);
}

/* ---- texts */

static struct sta_term build_text(const struct sta_function_call *call)
{
    struct sta_text_call made = {.apply = call->function->apply};
    return sta_build_call(&call->parser->builder, made, call->function->type, call->terms[0], call->position);
}

static struct sta_term build_part(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    if (sta_literal_text(builder, call->terms[1]).length == 0) {
        sta_build_fail(builder, STA_EINPUT, call->terms[1].position, "the separator is empty");
        return sta_nothing();
    }
    struct sta_text_call made = {.apply = call->function->apply,
                                 .first = sta_keep_literal(builder, call->terms[1], false),
                                 .from = sta_build_node(builder, call->terms[2])->value.integer};
    return sta_build_call(builder, made, call->function->type, call->terms[0], call->position);
}

static struct sta_term build_replace(const struct sta_function_call *call)
{
    return sta_build_replace(call->parser, call->terms[0], call->terms[1], call->terms[2], false,
                             call->position);
}

static struct sta_term build_extract(const struct sta_function_call *call)
{
    struct sta_text_call made = {.apply = call->function->apply,
                                 .pattern =
                                     sta_compile_pattern(call->parser, call->terms[1], STA_ANYWHERE, false)};
    if (made.pattern == NULL)
        return sta_nothing();
    return sta_build_call(&call->parser->builder, made, call->function->type, call->terms[0], call->position);
}

/* ---- any value */

static struct sta_term build_int(const struct sta_function_call *call)
{
    if (call->terms[0].type == STA_TYPE_TEXT)
        return build_text(call);
    return build_whole(call);
}

static struct sta_term build_float(const struct sta_function_call *call)
{
    if (call->terms[0].type == STA_TYPE_TEXT)
        return build_text(call);
    return sta_renamed(sta_build_cast(&call->parser->builder, call->terms[0], STA_TYPE_FLOAT),
                       call->position);
}

static struct sta_term build_str(const struct sta_function_call *call)
{
    struct sta_term x = call->terms[0];
    if (x.type == STA_TYPE_TEXT || x.type == STA_TYPE_NULL)
        return sta_renamed(sta_build_cast(&call->parser->builder, x, STA_TYPE_TEXT), call->position);
    return sta_build_plain(&call->parser->builder, STA_OP_TEXT_OF, STA_TYPE_TEXT, call->position, &x, 1);
}

/* ---- the table */

#define FUNCTION(name, kinds, build, operation, type, apply, ...)                                            \
    {                                                                                                        \
        name, kinds, build, operation, type, apply,                                                          \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
static const struct sta_function functions[] = {
    FUNCTION("abs", "n", build_abs, 0, STA_TYPE_NULL, NULL, "abs(x)", "The number without its sign.",
             "abs(-2)", "2"),
    FUNCTION("floor", "n", build_whole, STA_OP_FLOOR_F, STA_TYPE_INT, NULL, "floor(x)",
             "The largest integer that is not above x.", "floor(-2.5)", "-3"),
    FUNCTION("ceil", "n", build_whole, STA_OP_CEIL_F, STA_TYPE_INT, NULL, "ceil(x)",
             "The smallest integer that is not below x.", "ceil(2.1)", "3"),
    FUNCTION("round", "n?i", build_round, STA_OP_ROUND_F, STA_TYPE_INT, NULL, "round(x[, n])",
             "The nearest integer, halves to even; with n, the nearest number of n decimals.",
             "round(2.345, 1)", "2.3"),
    FUNCTION("sqrt", "n", build_number, STA_OP_SQRT_F, STA_TYPE_FLOAT, NULL, "sqrt(x)",
             "The square root; missing below 0.", "sqrt(2.25)", "1.5"),
    FUNCTION("exp", "n", build_number, STA_OP_EXP_F, STA_TYPE_FLOAT, NULL, "exp(x)", "e to the power of x.",
             "exp(0)", "1.0"),
    FUNCTION("log", "n", build_number, STA_OP_LOG_F, STA_TYPE_FLOAT, NULL, "log(x)",
             "The natural logarithm; missing of 0 and below.", "log(1)", "0.0"),
    FUNCTION("log2", "n", build_number, STA_OP_LOG2_F, STA_TYPE_FLOAT, NULL, "log2(x)",
             "The logarithm to base 2; missing of 0 and below.", "log2(4096)", "12.0"),
    FUNCTION("log10", "n", build_number, STA_OP_LOG10_F, STA_TYPE_FLOAT, NULL, "log10(x)",
             "The logarithm to base 10; missing of 0 and below.", "log10(1000)", "3.0"),
    FUNCTION("least", NULL, build_extreme, STA_OP_LEAST_I, STA_TYPE_NULL, NULL, "least(a, ..)",
             "The smallest of the numbers; missing if one is.", "least(3, 1, 2)", "1"),
    FUNCTION("greatest", NULL, build_extreme, STA_OP_GREATEST_I, STA_TYPE_NULL, NULL, "greatest(a, ..)",
             "The largest of the numbers; missing if one is.", "greatest(3, 1, 2)", "3"),
    FUNCTION(
        "bin", NULL, sta_build_bin, 0, STA_TYPE_INT, NULL, "bin(x, width[, origin])",
        "The number of the bin of that width in which x lies, floor((x - origin) / width); exact of times.",
        "bin(75, 30)", "2"),
    FUNCTION("cut", NULL, sta_build_cut, 0, STA_TYPE_INT, NULL, "cut(x, [e0, e1, ..])",
             "How many of the increasing edges are less than x: bins closed on the right.",
             "cut(5000, [4096, 65536])", "1"),
    FUNCTION("basename", "s", build_text, 0, STA_TYPE_TEXT, sta_text_basename, "basename(s)",
             "What stands behind the last slash.", "basename(\"/data/train/a.npz\")", "\"a.npz\""),
    FUNCTION("dirname", "s", build_text, 0, STA_TYPE_TEXT, sta_text_dirname, "dirname(s)",
             "What stands before the last slash.", "dirname(\"/data/train/a.npz\")", "\"/data/train\""),
    FUNCTION("part", "sti", build_part, 0, STA_TYPE_TEXT, sta_text_part, "part(s, \"separator\", i)",
             "The i-th piece between separators, from 0, or from the end when negative.",
             "part(\"/data/train/a.npz\", \"/\", 2)", "\"train\""),
    FUNCTION("replace", "srt", build_replace, 0, STA_TYPE_TEXT, NULL, "replace(s, \"pattern\", \"by\")",
             "Every match of the pattern replaced; \\1 to \\9 in by are its groups.",
             "replace(\"img_0042.npz\", \"[0-9]+\", \"*\")", "\"img_*.npz\""),
    FUNCTION("extract", "sr", build_extract, 0, STA_TYPE_TEXT, sta_text_extract, "extract(s, \"pattern\")",
             "The first group of the first match, or the match; missing without one.",
             "extract(\"rank-12.pfw\", \"rank-([0-9]+)\")", "\"12\""),
    FUNCTION("lower", "s", build_text, 0, STA_TYPE_TEXT, sta_text_lower, "lower(s)",
             "ASCII letters in lower case.", "lower(\"POSIX\")", "\"posix\""),
    FUNCTION("upper", "s", build_text, 0, STA_TYPE_TEXT, sta_text_upper, "upper(s)",
             "ASCII letters in upper case.", "upper(\"read\")", "\"READ\""),
    FUNCTION("strip", "s", build_text, 0, STA_TYPE_TEXT, sta_text_strip, "strip(s)",
             "Without the ASCII blanks around it.", "strip(\"  read \")", "\"read\""),
    FUNCTION("len", "s", build_text, 0, STA_TYPE_INT, sta_text_len, "len(s)", "How many characters it has.",
             "len(\"read\")", "4"),
    FUNCTION("int", "a", build_int, STA_OP_TRUNCATE_F, STA_TYPE_INT, sta_text_to_int, "int(x)",
             "An integer of a number, whose fraction is cut, or of a text; missing of a text that is none.",
             "int(\"42\")", "42"),
    FUNCTION("float", "a", build_float, 0, STA_TYPE_FLOAT, sta_text_to_float, "float(x)",
             "A number of an integer, a condition or a text; missing of a text that is none.",
             "float(\"2.5\")", "2.5"),
    FUNCTION("str", "a", build_str, 0, STA_TYPE_TEXT, NULL, "str(x)", "The value as text.", "str(42)",
             "\"42\""),
    FUNCTION("where", NULL, sta_build_where, 0, STA_TYPE_NULL, NULL, "where(condition, a[, b])",
             "a where the condition holds, else b, or missing; a and b are of one type.",
             "where(2 > 1, \"yes\", \"no\")", "\"yes\""),
    FUNCTION("coalesce", NULL, sta_build_coalesce, 0, STA_TYPE_NULL, NULL, "coalesce(a, ..)",
             "The first of the values that is not missing; all of one type.", "coalesce(null, 7)", "7"),
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

static bool check_arguments(const struct sta_function_call *call, const struct sta_function *function)
{
    const char *may = strchr(function->kinds, '?');
    unsigned all = (unsigned)strlen(function->kinds) - (may != NULL);
    unsigned least = may != NULL ? (unsigned)(may - function->kinds) : all;
    unsigned own = call->is_method; /* stood before the dot */
    if (!sta_check_count(call, least - own, all - own))
        return false;
    for (unsigned i = 0; i < call->count; i++) {
        const struct sta_term *term = &call->terms[i];
        const char *wanted = mismatch(function->kinds[i < least ? i : i + 1], term);
        if (wanted == NULL)
            continue;
        sta_build_fail(&call->parser->builder, STA_EINPUT, term->position, "%s needs %s here, not %s%s",
                       function->name, wanted, STA_A_TYPE(*term), term->literal ? "" : " that is computed");
        return false;
    }
    return true;
}

static const struct sta_function *find_function(struct sta_text name)
{
    for (size_t i = 0; i < STA_COUNT_OF(functions); i++)
        if (sta_text_is(name, functions[i].name))
            return &functions[i];
    return NULL;
}

bool sta_check_function(const struct sta_function_call *call)
{
    const char *names[STA_AGGREGATES + STA_COUNT_OF(functions)];
    struct sta_language_word word;
    size_t count = 0;
    if (find_function(call->name) != NULL)
        return true;
    while (call->parser->aggregates != NULL && sta_aggregate_word(count, &word))
        names[count++] = word.name;
    for (size_t i = 0; i < STA_COUNT_OF(functions); i++)
        names[count++] = functions[i].name;
    sta_fail_unknown(&call->parser->builder, "function", call->name, call->position, names, count);
    return false;
}

struct sta_term sta_build_function(const struct sta_function_call *call)
{
    struct sta_function_call called = *call;
    called.function = find_function(call->name);
    STA_ASSERT(called.function != NULL);
    if (called.function->kinds != NULL && !check_arguments(&called, called.function))
        return sta_nothing();
    return called.function->build(&called);
}

bool sta_function_word(size_t index, struct sta_language_word *word)
{
    if (index >= STA_COUNT_OF(functions))
        return false;
    *word = (struct sta_language_word){.name = functions[index].name, .help = functions[index].help};
    return true;
}
