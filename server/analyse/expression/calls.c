/* What is called: arguments, functions by name, methods behind a dot. */
#include "analyse/expression/parser.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyse/expression/suggest.h"

/* ---- arguments */

static struct sta_term parse_list_argument(struct sta_parser *parser)
{
    struct sta_term term = sta_nothing();
    term.position = parser->at->position;
    term.type = STA_TYPE_LIST;
    term.literal = true;
    term.list = sta_parse_values(parser, STA_TYPE_FLOAT);
    return term;
}

static void parse_option(struct sta_function_call *call)
{
    struct sta_parser *parser = call->parser;
    const struct sta_token *name = parser->at;
    parser->at += 2;
    bool yes = sta_parser_at(parser, "true") || sta_parser_at(parser, "True");
    if (!yes && !sta_parser_at(parser, "false") && !sta_parser_at(parser, "False")) {
        sta_parser_expected(parser, "true or false");
        return;
    }
    parser->at++;
    if (call->option_count == STA_MOST_OPTIONS)
        sta_build_fail(&parser->builder, STA_EINPUT, name->position, "there are not so many options");
    else
        call->options[call->option_count++] = (struct sta_option){name, yes};
}

static void add_argument(struct sta_function_call *call, struct sta_term term)
{
    STA_GROW(call->terms, call->capacity, call->count + 1u);
    call->terms[call->count++] = term;
}

static void parse_argument(struct sta_function_call *call)
{
    struct sta_parser *parser = call->parser;
    const struct sta_token *at = parser->at;
    if (at->kind == STA_TOKEN_NAME && sta_text_is(sta_token_text(at + 1), "="))
        parse_option(call);
    else
        add_argument(call, sta_parser_at(parser, "[") ? parse_list_argument(parser) : sta_parse_or(parser));
}

void sta_parse_arguments(struct sta_function_call *call, const struct sta_term *first)
{
    struct sta_parser *parser = call->parser;
    if (first != NULL)
        add_argument(call, *first);
    sta_parser_need(parser, "(");
    sta_parser_enter(parser);
    for (bool more = false; !sta_parser_at(parser, ")") && !parser->builder.failed; more = true) {
        if (more)
            sta_parser_need(parser, ",");
        if (!parser->builder.failed)
            parse_argument(call);
    }
    parser->nesting--;
    sta_parser_take(parser, ")");
}

bool sta_refuse_options(const struct sta_function_call *call)
{
    if (call->option_count > 0)
        sta_build_fail(&call->parser->builder, STA_EINPUT, call->position, "%.*s has no named options",
                       (int)call->name.length, call->name.bytes);
    return !call->parser->builder.failed;
}

bool sta_check_count(const struct sta_function_call *call, unsigned least, unsigned most)
{
    const unsigned count = call->count - call->is_method;
    char range[48];
    if (count >= least && count <= most)
        return true;
    if (most == 0)
        snprintf(range, sizeof range, "no arguments");
    else if (least == most)
        snprintf(range, sizeof range, "%u argument%s", least, least == 1 ? "" : "s");
    else if (most == UINT32_MAX)
        snprintf(range, sizeof range, "at least %u argument%s", least, least == 1 ? "" : "s");
    else
        snprintf(range, sizeof range, "%u to %u arguments", least, most);
    sta_build_fail(&call->parser->builder, STA_EINPUT, call->position, "%.*s takes %s, found %u",
                   (int)call->name.length, call->name.bytes, range, count);
    return false;
}

/* ---- functions */

struct sta_term sta_parse_call(struct sta_parser *parser, const struct sta_token *name)
{
    struct sta_function_call call = {
        .parser = parser, .name = sta_token_text(name), .position = name->position};
    struct sta_term term = sta_nothing();
    if (sta_is_aggregate(call.name))
        return sta_parse_aggregate(parser, name);
    if (!sta_check_function(&call))
        return term;
    sta_parse_arguments(&call, NULL);
    if (!parser->builder.failed && sta_refuse_options(&call))
        term = sta_build_function(&call);
    free(call.terms);
    return term;
}

/* ---- methods of any value */

static struct sta_term method_isna(const struct sta_function_call *call)
{
    return sta_build_isna(&call->parser->builder, call->terms[0], false);
}

static struct sta_term method_notna(const struct sta_function_call *call)
{
    return sta_build_isna(&call->parser->builder, call->terms[0], true);
}

static struct sta_term method_between(const struct sta_function_call *call)
{
    struct sta_builder *builder = &call->parser->builder;
    const struct sta_term of = call->terms[0];
    struct sta_term low = sta_build_compare(builder, STA_GREATER_EQUAL, call->position, of, call->terms[1]);
    struct sta_term high = sta_build_compare(builder, STA_LESS_EQUAL, call->position, of, call->terms[2]);
    if (builder->failed)
        return low;
    struct sta_term both = sta_build_junction(builder, STA_OP_AND, low, high);
    both.position = of.position;
    return both;
}

static const struct method {
    const char *name;
    unsigned least, most;                                           /* arguments between the parentheses */
    struct sta_term (*build)(const struct sta_function_call *call); /* NULL: parse_isin reads its list */
    struct sta_help help;
} methods[] = {
    {"isin",
     1,
     1,
     NULL,
     {"x.isin([a, ..])", "Whether x is one of the constants.", "\"read\".isin([\"read\", \"write\"])",
      "true"}},
    {"isna", 0, 0, method_isna, {"x.isna()", "Whether the value is missing.", "(1 / 0).isna()", "true"}},
    {"isnull", 0, 0, method_isna, {"x.isnull()", "The same as isna.", "(1 / 0).isnull()", "true"}},
    {"notna", 0, 0, method_notna, {"x.notna()", "Whether there is a value.", "(1 / 0).notna()", "false"}},
    {"notnull", 0, 0, method_notna, {"x.notnull()", "The same as notna.", "(1 / 0).notnull()", "false"}},
    {"between",
     2,
     2,
     method_between,
     {"x.between(a, b)", "Whether a <= x <= b.", "(5).between(1, 5)", "true"}},
    {"fillna",
     1,
     1,
     sta_build_coalesce,
     {"x.fillna(value)", "x, or the value where x is missing; both of one type.", "(1 / 0).fillna(0)",
      "0.0"}},
    {"abs", 0, 0, sta_build_function, {"x.abs()", "The number without its sign.", "(-2).abs()", "2"}},
    {"round", 0, 1, sta_build_function, {"x.round([n])", "As the function round.", "(2.5).round()", "2"}},
};

bool sta_method_word(size_t index, struct sta_language_word *word)
{
    if (index >= STA_COUNT_OF(methods))
        return false;
    *word = (struct sta_language_word){.name = methods[index].name, .help = methods[index].help};
    return true;
}

static void fail_method(const struct sta_function_call *call)
{
    const char *names[STA_COUNT_OF(methods) + 1] = {"str"};
    for (size_t i = 0; i < STA_COUNT_OF(methods); i++)
        names[i + 1] = methods[i].name;
    sta_fail_unknown(&call->parser->builder, "method", call->name, call->position, names,
                     STA_COUNT_OF(names));
}

static struct sta_term apply_method(const struct sta_function_call *call)
{
    const struct method *method = NULL;
    for (size_t i = 0; i < STA_COUNT_OF(methods); i++)
        if (sta_text_is(call->name, methods[i].name))
            method = &methods[i];
    if (method == NULL)
        fail_method(call);
    else if (sta_refuse_options(call) && sta_check_count(call, method->least, method->most))
        return method->build(call);
    return sta_nothing();
}

static struct sta_term parse_isin(struct sta_parser *parser, struct sta_term of)
{
    sta_parser_need(parser, "(");
    if (of.type == STA_TYPE_LIST)
        sta_build_fail(&parser->builder, STA_EINPUT, parser->at->position,
                       "cannot look for a list in a list");
    const struct sta_list *list = sta_parse_values(parser, of.type);
    sta_parser_need(parser, ")");
    return sta_build_member(&parser->builder, of, list, false);
}

/* Behind a dot; @text_method: it was ".str." */
static struct sta_term parse_method(struct sta_parser *parser, struct sta_term of,
                                    const struct sta_token *name, bool text_method)
{
    struct sta_function_call call = {
        .parser = parser, .name = sta_token_text(name), .position = name->position, .is_method = true};
    if (!text_method && sta_text_is(call.name, "isin"))
        return parse_isin(parser, of);
    struct sta_term term = sta_nothing();
    sta_parse_arguments(&call, &of);
    if (!parser->builder.failed)
        term = text_method ? sta_parse_text_method(&call) : apply_method(&call);
    free(call.terms);
    return term;
}

static const struct sta_token *take_name(struct sta_parser *parser, const char *expected)
{
    if (parser->at->kind == STA_TOKEN_NAME)
        return parser->at++;
    sta_parser_expected(parser, expected);
    return NULL;
}

struct sta_term sta_parse_methods(struct sta_parser *parser, struct sta_term of)
{
    while (sta_parser_take(parser, ".")) {
        const struct sta_token *name = take_name(parser, "a method");
        bool text_method = name != NULL && sta_text_is(sta_token_text(name), "str");
        if (text_method) {
            sta_parser_need(parser, ".");
            name = parser->builder.failed ? NULL : take_name(parser, "a method of text");
        }
        if (name == NULL)
            return of;
        if (text_method && of.type != STA_TYPE_TEXT)
            sta_build_fail(&parser->builder, STA_EINPUT, name->position, ".str needs a text, not %s",
                           STA_A_TYPE(of));
        if (parser->builder.failed)
            return of;
        of = parse_method(parser, of, name, text_method);
    }
    return of;
}
