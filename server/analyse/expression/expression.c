/* From text to an expression: what stands around the grammar. */
#include <stdlib.h>
#include <string.h>

#include "analyse/expression/parser.h"

/* ---- schemas */

int sta_schema_find(const struct sta_schema *schema, struct sta_text name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (sta_text_is(name, schema->columns[i].name))
            return (int)i;
    return -1;
}

const char *sta_present_name(struct sta_text older)
{
    static const char *const names[][2] = {
        {"name", "func_name"}, {"filename", "file_name"}, {"hostname", "host_name"}};
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        if (sta_text_is(older, names[i][0]))
            return names[i][1];
    return NULL;
}

bool sta_schema_is_hidden(const struct sta_schema_column *column)
{
    return column->name[0] == ' ';
}

int sta_schema_resolve(const struct sta_schema *schema, struct sta_text name)
{
    int column = sta_schema_find(schema, name);
    if (column >= 0 && sta_schema_is_hidden(&schema->columns[column]))
        return -1;
    const char *present = sta_present_name(name);
    if (column >= 0 || present == NULL)
        return column;
    return sta_schema_find(schema, (struct sta_text){present, (uint32_t)strlen(present)});
}

int sta_schema_ticks(const struct sta_schema *schema, int column, int64_t *per_unit)
{
    if (column < 0 || schema->columns[column].ticks_of == NULL)
        return -1;
    const struct sta_schema_column *of = &schema->columns[column];
    *per_unit = of->ticks_per_unit != 0 ? of->ticks_per_unit : 1000000;
    return sta_schema_find(schema, (struct sta_text){of->ticks_of, (uint32_t)strlen(of->ticks_of)});
}

/* ---- parsers */

int sta_parser_open(struct sta_parser *parser, const char *text, size_t length,
                    const struct sta_schema *schema, struct sta_error *err)
{
    *parser = (struct sta_parser){.aggregates = NULL};
    sta_builder_init(&parser->builder, schema, err);
    int rc = sta_lex(text, length, &parser->tokens, err);
    parser->at = parser->tokens;
    parser->builder.failed = rc != 0;
    return rc;
}

void sta_parser_end(struct sta_parser *parser)
{
    if (!parser->builder.failed && parser->at->kind != STA_TOKEN_END)
        sta_parser_expected(parser, "an operator or the end");
}

int sta_parser_close(struct sta_parser *parser)
{
    int rc = parser->builder.failed ? parser->builder.err->status : 0;
    sta_builder_fini(&parser->builder);
    free(parser->tokens);
    return rc;
}

struct sta_expression *sta_parser_keep(struct sta_parser *parser, struct sta_term term)
{
    if (term.type == STA_TYPE_NULL)
        term = sta_build_cast(&parser->builder, term, STA_TYPE_FLOAT);
    struct sta_tree *tree = sta_tree_retain(parser->builder.tree);
    struct sta_expression *expression = sta_alloc(sizeof *expression);
    expression->tree = tree;
    expression->root = term.node;
    expression->type = term.type;
    expression->column = term.column;
    expression->columns = sta_tree_columns(tree, term.node, &expression->column_count);
    if (term.unit != NULL)
        expression->unit = sta_arena_copy(&tree->arena, term.unit, strlen(term.unit));
    sta_predicates_find(expression);
    return expression;
}

/* ---- whole texts */

static struct sta_term as_number(struct sta_builder *builder, struct sta_term term)
{
    if (!sta_is_numeric(term.type))
        sta_build_fail(builder, STA_EINPUT, term.position, "expected a number, but this is %s",
                       STA_A_TYPE(term));
    else if (term.type == STA_TYPE_BOOL)
        term = sta_build_cast(builder, term, STA_TYPE_INT);
    return term;
}

int sta_parse_whole(const char *text, size_t length, const struct sta_schema *schema,
                    struct sta_aggregates *aggregates, sta_term_wanted make,
                    struct sta_expression **expression, struct sta_error *err)
{
    struct sta_parser parser;
    *expression = NULL;
    if (sta_parser_open(&parser, text, length, schema, err) == 0) {
        parser.aggregates = aggregates;
        struct sta_term whole = sta_parse_or(&parser);
        sta_parser_end(&parser);
        if (make != NULL && !parser.builder.failed)
            whole = make(&parser.builder, whole);
        if (!parser.builder.failed)
            *expression = sta_parser_keep(&parser, whole);
    }
    return sta_parser_close(&parser);
}

int sta_expression_parse(const char *text, size_t length, const struct sta_schema *schema,
                         struct sta_expression **expression, struct sta_error *err)
{
    return sta_parse_whole(text, length, schema, NULL, NULL, expression, err);
}

int sta_condition_parse(const char *text, size_t length, const struct sta_schema *schema,
                        struct sta_expression **expression, struct sta_error *err)
{
    return sta_parse_whole(text, length, schema, NULL, sta_build_condition, expression, err);
}

int sta_number_parse(const char *text, size_t length, const struct sta_schema *schema,
                     struct sta_expression **expression, struct sta_error *err)
{
    return sta_parse_whole(text, length, schema, NULL, as_number, expression, err);
}

struct sta_expression *sta_column_expression(const struct sta_schema *schema, uint32_t column)
{
    struct sta_parser parser = {.aggregates = NULL};
    sta_builder_init(&parser.builder, schema, NULL);
    struct sta_expression *expression =
        sta_parser_keep(&parser, sta_build_column(&parser.builder, column, 0));
    int rc = sta_parser_close(&parser);
    STA_ASSERT(rc == 0);
    return expression;
}
