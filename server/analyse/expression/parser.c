/* The grammar, one function per rule, by recursive descent.
 *
 * The depth of recursion is bounded by the nesting limit: what nests (parentheses, arguments, `not`, signs,
 * the right side of **) enters and leaves.  After the first mistake the parser stands at the end of the text,
 * so every rule finishes. */
#include "analyse/expression/parser.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/expression/suggest.h"
#include "common/memory.h"
#include "common/number.h"

#define SHOWN_CHARACTERS 40 /* of a token, in messages */

struct sta_term sta_nothing(void)
{
    return (struct sta_term){.column = -1};
}

bool sta_parser_at(const struct sta_parser *parser, const char *word)
{
    const struct sta_token *at = parser->at;
    return (at->kind == STA_TOKEN_SIGN || at->kind == STA_TOKEN_NAME) && !parser->builder.failed &&
           sta_text_is(sta_token_text(at), word);
}

const struct sta_token *sta_parser_take(struct sta_parser *parser, const char *word)
{
    return sta_parser_at(parser, word) ? parser->at++ : NULL;
}

void sta_parser_expected(struct sta_parser *parser, const char *what)
{
    const struct sta_token *at = parser->at;
    if (at->kind == STA_TOKEN_END)
        sta_build_fail(&parser->builder, STA_EINPUT, at->position, "expected %s, found the end", what);
    else
        sta_build_fail(&parser->builder, STA_EINPUT, at->position, "expected %s, found %.*s", what,
                       (int)sta_utf8_prefix(at->text, at->length, SHOWN_CHARACTERS), at->text);
}

void sta_parser_need(struct sta_parser *parser, const char *word)
{
    if (sta_parser_take(parser, word) == NULL)
        sta_parser_expected(parser, word);
}

bool sta_parser_enter(struct sta_parser *parser)
{
    if (++parser->nesting > sta_expression_limits.nesting)
        sta_build_fail(&parser->builder, STA_ELIMIT, parser->at->position,
                       "the expression nests more than %u deep; the limit is %u",
                       sta_expression_limits.nesting, sta_expression_limits.nesting);
    return !parser->builder.failed;
}

/* ---- values */

static struct sta_term parse_number(struct sta_parser *parser, const struct sta_token *token)
{
    struct sta_builder *builder = &parser->builder;
    struct sta_scalar value = {.integer = 0};
    if (token->whole) {
        for (uint32_t i = 0; i < token->length; i++)
            if (__builtin_mul_overflow(value.integer, 10, &value.integer) ||
                __builtin_add_overflow(value.integer, token->text[i] - '0', &value.integer)) {
                sta_build_fail(builder, STA_EINPUT, token->position,
                               "this integer is too large; the largest is %lld", (long long)INT64_MAX);
                break;
            }
    } else {
        char *copy = sta_strndup(token->text, token->length);
        value.number = strtod(copy, NULL);
        free(copy);
        if (!isfinite(value.number))
            sta_build_fail(builder, STA_EINPUT, token->position, "this number is too large");
    }
    struct sta_term term =
        sta_build_constant(builder, token->whole ? STA_TYPE_INT : STA_TYPE_FLOAT, value, token->position);
    term.literal = true;
    return term;
}

static struct sta_term parse_string(struct sta_parser *parser, const struct sta_token *token)
{
    char *text = sta_alloc(token->length);
    size_t length = sta_token_unescape(token, text);
    struct sta_term term =
        sta_build_text(&parser->builder, (struct sta_text){text, (uint32_t)length}, token->position);
    free(text);
    term.literal = true;
    return term;
}

static void fail_column(struct sta_parser *parser, struct sta_text name, uint32_t position)
{
    const struct sta_schema *schema = parser->builder.schema;
    const char **names = sta_alloc_array(schema->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < schema->count; i++)
        if (!sta_schema_is_hidden(&schema->columns[i]))
            names[count++] = schema->columns[i].name;
    sta_fail_unknown(&parser->builder, "column", name, position, names, count);
    free(names);
}

static struct sta_term parse_column(struct sta_parser *parser, struct sta_text name, uint32_t position)
{
    if (parser->aggregates != NULL && !parser->gathers)
        return sta_parse_key(parser, name, position);
    int column = sta_schema_resolve(parser->builder.schema, name);
    if (column >= 0)
        return sta_build_column(&parser->builder, (uint32_t)column, position);
    fail_column(parser, name, position);
    return sta_nothing();
}

static struct sta_text without_quotes(const struct sta_token *token)
{
    bool quoted = token->kind == STA_TOKEN_QUOTED;
    return (struct sta_text){token->text + quoted, token->length - 2 * quoted};
}

/* Behind "args." */
static struct sta_term parse_argument_column(struct sta_parser *parser, uint32_t position)
{
    const struct sta_token *key = parser->at;
    if (key->kind != STA_TOKEN_NAME && key->kind != STA_TOKEN_QUOTED) {
        sta_parser_expected(parser, "the name of an argument");
        return sta_nothing();
    }
    parser->at++;
    struct sta_buffer name;
    sta_buffer_init(&name);
    sta_put_text(&name, "args.");
    sta_put(&name, without_quotes(key).bytes, without_quotes(key).length);
    struct sta_term term = parse_column(parser, (struct sta_text){name.data, (uint32_t)name.size}, position);
    sta_buffer_fini(&name);
    return term;
}

/* Words that join values (the first four), then words that are values. */
static const struct keyword {
    const char *name;
    struct sta_help help;
} keywords[] = {
    {"and", {"a and b", "Whether both conditions hold.", "1 < 2 and 2 < 3", "true"}},
    {"or", {"a or b", "Whether one of the conditions holds.", "1 > 2 or 2 < 3", "true"}},
    {"not",
     {"not a", "Whether the condition does not hold; before in: whether the value is none of the list.",
      "not 1 > 2", "true"}},
    {"in",
     {"x in [a, ..]", "Whether the value is one of the constants.", "\"read\" in [\"read\", \"write\"]",
      "true"}},
    {"true", {"true", "The condition that holds.", "true", "true"}},
    {"True", {"True", "The same as true.", "True", "true"}},
    {"false", {"false", "The condition that does not hold.", "false", "false"}},
    {"False", {"False", "The same as false.", "False", "false"}},
    {"null",
     {"null", "A missing value; what is missing is found by isna(), not by ==.", "coalesce(null, 1)", "1"}},
    {"None", {"None", "The same as null.", "coalesce(None, 1)", "1"}},
};

bool sta_keyword_word(size_t index, struct sta_language_word *word)
{
    if (index >= STA_COUNT_OF(keywords))
        return false;
    *word = (struct sta_language_word){.name = keywords[index].name, .help = keywords[index].help};
    return true;
}

/* Words that are values or can't be one; false if the token is neither. */
static bool parse_word(struct sta_parser *parser, const struct sta_token *token, struct sta_term *term)
{
    size_t word = 0;
    while (word < STA_COUNT_OF(keywords) && !sta_text_is(sta_token_text(token), keywords[word].name))
        word++;
    if (word == STA_COUNT_OF(keywords))
        return false;
    if (word < 4) {
        parser->at = token;
        sta_parser_expected(parser, "a value");
        return true;
    }
    enum sta_type type = word < 8 ? STA_TYPE_BOOL : STA_TYPE_NULL;
    struct sta_scalar value = {.missing = type == STA_TYPE_NULL, .integer = word < 6};
    *term = sta_build_constant(&parser->builder, type, value, token->position);
    term->literal = true;
    return true;
}

static struct sta_term parse_name(struct sta_parser *parser, const struct sta_token *token)
{
    struct sta_term term = sta_nothing();
    if (parse_word(parser, token, &term))
        return term;
    if (sta_text_is(sta_token_text(token), "args") && sta_parser_take(parser, "."))
        return parse_argument_column(parser, token->position);
    if (sta_parser_at(parser, "("))
        return sta_parse_call(parser, token);
    return parse_column(parser, sta_token_text(token), token->position);
}

static struct sta_term parse_primary(struct sta_parser *parser)
{
    const struct sta_token *token = parser->at;
    struct sta_term term = sta_nothing();
    if (parser->builder.failed)
        return term;
    if (sta_parser_take(parser, "(")) {
        if (sta_parser_enter(parser))
            term = sta_parse_or(parser);
        parser->nesting--;
        sta_parser_need(parser, ")");
        return term;
    }
    if (token->kind == STA_TOKEN_END || token->kind == STA_TOKEN_SIGN) {
        sta_parser_expected(parser, "a value");
        return term;
    }
    parser->at++;
    if (token->kind == STA_TOKEN_NUMBER)
        return parse_number(parser, token);
    if (token->kind == STA_TOKEN_STRING)
        return parse_string(parser, token);
    if (token->kind == STA_TOKEN_QUOTED)
        return parse_column(parser, without_quotes(token), token->position);
    return parse_name(parser, token);
}

/* ---- arithmetic */

static struct sta_term parse_unary(struct sta_parser *parser);

static struct sta_term parse_signed(struct sta_parser *parser)
{
    const struct sta_token *sign = parser->at++;
    struct sta_term term = sta_nothing();
    if (sta_parser_enter(parser))
        term = parse_unary(parser);
    parser->nesting--;
    if (parser->builder.failed)
        return term;
    if (*sign->text == '~')
        return sta_build_not(&parser->builder, sign->position, term);
    return sta_build_sign(&parser->builder, *sign->text, sign->position, term);
}

static struct sta_term parse_unary(struct sta_parser *parser)
{
    if (sta_parser_at(parser, "~") || sta_parser_at(parser, "-") || sta_parser_at(parser, "+"))
        return parse_signed(parser);
    struct sta_term base = sta_parse_methods(parser, parse_primary(parser));
    const struct sta_token *sign = sta_parser_take(parser, "**");
    if (sign == NULL)
        return base;
    struct sta_term power = sta_nothing();
    if (sta_parser_enter(parser))
        power = parse_unary(parser);
    parser->nesting--;
    return sta_build_arithmetic(&parser->builder, 'P', sign->position, base, power);
}

static struct sta_term parse_term(struct sta_parser *parser)
{
    struct sta_term term = parse_unary(parser);
    while (sta_parser_at(parser, "*") || sta_parser_at(parser, "/") || sta_parser_at(parser, "//") ||
           sta_parser_at(parser, "%")) {
        const struct sta_token *sign = parser->at++;
        struct sta_term right = parse_unary(parser);
        term = sta_build_arithmetic(&parser->builder, sign->length == 2 ? 'D' : *sign->text, sign->position,
                                    term, right);
    }
    return term;
}

static struct sta_term parse_sum(struct sta_parser *parser)
{
    struct sta_term sum = parse_term(parser);
    while (sta_parser_at(parser, "+") || sta_parser_at(parser, "-")) {
        const struct sta_token *sign = parser->at++;
        struct sta_term right = parse_term(parser);
        sum = sta_build_arithmetic(&parser->builder, *sign->text, sign->position, sum, right);
    }
    return sum;
}

/* ---- comparisons */

/* An element of a list. */
static void parse_element(struct sta_parser *parser, enum sta_type of, struct sta_list *list,
                          size_t *capacity)
{
    struct sta_builder *builder = &parser->builder;
    struct sta_term element = parse_unary(parser);
    if (!element.literal || element.type == STA_TYPE_NULL)
        sta_build_fail(builder, STA_EINPUT, element.position, "a list holds constants only");
    else if ((of == STA_TYPE_TEXT) != (element.type == STA_TYPE_TEXT))
        sta_build_fail(builder, STA_EINPUT, element.position, "cannot compare %s with %s", sta_a_type(of),
                       STA_A_TYPE(element));
    else if (list->count == sta_expression_limits.list)
        sta_build_fail(builder, STA_ELIMIT, element.position,
                       "the list has more than %u values; the limit is %u", sta_expression_limits.list,
                       sta_expression_limits.list);
    if (builder->failed)
        return;
    STA_GROW(list->nodes, *capacity, list->count + 1u);
    list->nodes[list->count++] = element.node;
}

const struct sta_list *sta_parse_values(struct sta_parser *parser, enum sta_type of)
{
    struct sta_arena *arena = &parser->builder.tree->arena;
    struct sta_list list = {.count = 0};
    size_t capacity = 0;
    const char *close = sta_parser_at(parser, "[") ? "]" : sta_parser_at(parser, "(") ? ")" : NULL;
    if (close == NULL) {
        sta_parser_expected(parser, "a list");
        return NULL;
    }
    if (sta_parser_enter(parser))
        parser->at++;
    while (!sta_parser_at(parser, close) && !parser->builder.failed) {
        if (list.count > 0)
            sta_parser_need(parser, ",");
        parse_element(parser, of, &list, &capacity);
    }
    parser->nesting--;
    sta_parser_take(parser, close);
    struct sta_list *kept = sta_arena_alloc(arena, sizeof *kept, _Alignof(struct sta_list));
    kept->count = list.count;
    kept->nodes = sta_arena_alloc(arena, (list.count + 1) * sizeof *kept->nodes, _Alignof(uint32_t));
    for (uint32_t i = 0; i < list.count; i++)
        kept->nodes[i] = list.nodes[i];
    free(list.nodes);
    return kept;
}

static const struct sta_token *take_comparison(struct sta_parser *parser,
                                               enum sta_comparison_operator *comparison)
{
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    for (unsigned i = 0; i < STA_COUNT_OF(signs); i++) {
        const struct sta_token *sign = sta_parser_take(parser, signs[i]);
        *comparison = (enum sta_comparison_operator)i;
        if (sign != NULL)
            return sign;
    }
    return NULL;
}

/* "in" or "not in". */
static bool take_in(struct sta_parser *parser, bool *negate)
{
    *negate = sta_parser_at(parser, "not") && sta_text_is(sta_token_text(parser->at + 1), "in");
    parser->at += *negate;
    return sta_parser_take(parser, "in") != NULL;
}

/* a < b < c holds where a < b and b < c hold. */
static struct sta_term parse_comparison(struct sta_parser *parser)
{
    struct sta_builder *builder = &parser->builder;
    struct sta_term left = parse_sum(parser), whole = left;
    enum sta_comparison_operator comparison;
    bool negate;
    for (unsigned links = 0; !builder->failed; links++) {
        struct sta_term link;
        const struct sta_token *sign = take_comparison(parser, &comparison);
        if (sign != NULL) {
            struct sta_term right = parse_sum(parser);
            link = sta_build_compare(builder, comparison, sign->position, left, right);
            left = right;
        } else if (take_in(parser, &negate)) {
            if (left.type == STA_TYPE_LIST)
                sta_build_fail(builder, STA_EINPUT, parser->at->position, "cannot look for a list in a list");
            const struct sta_list *list = sta_parse_values(parser, left.type);
            link = sta_build_member(builder, left, list, negate);
        } else {
            if (sta_parser_at(parser, "="))
                sta_parser_expected(parser, "==");
            break;
        }
        link.position = whole.position;
        whole = links == 0 ? link : sta_build_junction(builder, STA_OP_AND, whole, link);
    }
    return whole;
}

/* ---- logic */

static struct sta_term parse_not(struct sta_parser *parser)
{
    const struct sta_token *word = sta_parser_take(parser, "not");
    if (word == NULL)
        return parse_comparison(parser);
    struct sta_term term = sta_nothing();
    if (sta_parser_enter(parser))
        term = parse_not(parser);
    parser->nesting--;
    return sta_build_not(&parser->builder, word->position, term);
}

static struct sta_term parse_and(struct sta_parser *parser)
{
    struct sta_term term = parse_not(parser);
    while (sta_parser_take(parser, "and") || sta_parser_take(parser, "&")) {
        term = sta_build_condition(&parser->builder, term);
        term = sta_build_junction(&parser->builder, STA_OP_AND, term, parse_not(parser));
    }
    return term;
}

struct sta_term sta_parse_or(struct sta_parser *parser)
{
    struct sta_term term = parse_and(parser);
    while (sta_parser_take(parser, "or") || sta_parser_take(parser, "|")) {
        term = sta_build_condition(&parser->builder, term);
        term = sta_build_junction(&parser->builder, STA_OP_OR, term, parse_and(parser));
    }
    return term;
}
