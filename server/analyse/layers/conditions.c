/* Conditions of presets: finds the args columns that a schema lacks, and types for them. */
#include <stdlib.h>
#include <string.h>

#include "analyse/expression/aggregates.h"
#include "analyse/expression/lexer.h"
#include "analyse/sources/columns.h"
#include "analyse/layers/conditions.h"
#include "common/memory.h"

#define UNKNOWN_COLUMNS 6 /* of one condition; each multiplies the types to try by three */

static const struct sta_schema_column standard_columns[] = {
#define X(name, type, unit, caseless, ticks_of) {#name, STA_TYPE_##type, unit, caseless, ticks_of, 0},
    STA_LOGICAL_LIST(X)
#undef X
#define X(name, text) {text, STA_TYPE_INT, NULL, false, NULL, 0},
        STA_LOGICAL_TICKS_LIST(X)
#undef X
};

const struct sta_schema sta_standard_schema = {.columns = standard_columns,
                                               .count = STA_COUNT_OF(standard_columns)};

static bool is_token(const struct sta_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

static bool has_column(const struct sta_schema_column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(columns[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Puts the column of an args key behind those of the schema, unless it is there; STA_ELIMIT when they are too
 * many. */
static int add_column(struct sta_open_condition *condition, const struct sta_token *key,
                      struct sta_error *err)
{
    const int quote = key->kind == STA_TOKEN_QUOTED;
    const size_t count = condition->schema.count;
    char *name = sta_sprintf("args.%.*s", (int)key->length - 2 * quote, key->text + quote);
    bool known = has_column(condition->columns, count, name);
    if (known || condition->added == UNKNOWN_COLUMNS) {
        free(name);
        return known
                   ? STA_OK
                   : sta_fail(err, STA_ELIMIT, "a condition may name %d columns that the trace does not have",
                              UNKNOWN_COLUMNS);
    }
    condition->columns[count] = (struct sta_schema_column){.name = name};
    condition->added++;
    condition->schema.count++;
    return STA_OK;
}

/* The same for all columns args.x and args.`x y` that @text names. */
static int add_columns(struct sta_open_condition *condition, const char *text,
                       const struct sta_schema *schema, struct sta_error *err)
{
    struct sta_token *tokens;
    int status = sta_lex(text, strlen(text), &tokens, err);
    condition->columns = sta_alloc_array(schema->count + UNKNOWN_COLUMNS, sizeof *condition->columns);
    memcpy(condition->columns, schema->columns, schema->count * sizeof *condition->columns);
    condition->schema = (struct sta_schema){.columns = condition->columns, .count = schema->count};
    for (size_t i = 0; status == STA_OK && tokens[i].kind != STA_TOKEN_END; i++)
        if (is_token(&tokens[i], "args") && is_token(&tokens[i + 1], ".") &&
            (tokens[i + 2].kind == STA_TOKEN_NAME || tokens[i + 2].kind == STA_TOKEN_QUOTED))
            status = add_column(condition, &tokens[i + 2], err);
    free(tokens);
    return status;
}

/* The @trial-th way to give types to the added columns; false after the last. */
static bool give_types(struct sta_open_condition *condition, size_t known, unsigned trial)
{
    static const enum sta_type types[] = {STA_TYPE_INT, STA_TYPE_TEXT, STA_TYPE_BOOL};
    for (size_t i = 0; i < condition->added; i++) {
        condition->columns[known + i].type = types[trial % STA_COUNT_OF(types)];
        trial /= STA_COUNT_OF(types);
    }
    return trial == 0;
}

static int parse_condition(const char *text, struct sta_open_condition *condition, struct sta_error *err)
{
    return sta_condition_parse(text, strlen(text), &condition->schema, &condition->expression, err);
}

static int parse_aggregate(const char *text, struct sta_open_condition *condition, struct sta_error *err)
{
    struct sta_aggregates aggregates;
    sta_aggregates_init(&aggregates, &condition->schema, true, NULL, 0);
    int status = sta_aggregate_parse(text, strlen(text), &aggregates, &condition->expression, err);
    if (status == STA_OK)
        sta_expression_destroy(condition->expression);
    condition->expression = NULL;
    sta_aggregates_fini(&aggregates);
    return status;
}

/* Tries all types of the columns that the schema lacks. */
static int parse_open(const char *text, const struct sta_schema *schema,
                      int (*parse)(const char *, struct sta_open_condition *, struct sta_error *),
                      struct sta_open_condition *condition, struct sta_error *err)
{
    *condition = (struct sta_open_condition){0};
    int status = add_columns(condition, text, schema, err);
    struct sta_error furthest =
        STA_ERROR_INIT; /* the mistake that most of the text comes before is the real one */
    for (unsigned trial = 0; status == STA_OK && give_types(condition, schema->count, trial); trial++) {
        struct sta_error mistake = STA_ERROR_INIT;
        if (parse(text, condition, &mistake) == STA_OK)
            return STA_OK;
        if (furthest.status == STA_OK || mistake.position > furthest.position)
            furthest = mistake;
    }
    if (status == STA_OK) {
        *err = furthest;
        status = furthest.status;
    }
    condition->expression = NULL;
    sta_open_condition_fini(condition);
    return status;
}

int sta_open_condition_parse(const char *text, const struct sta_schema *schema,
                             struct sta_open_condition *condition, struct sta_error *err)
{
    return parse_open(text, schema, parse_condition, condition, err);
}

int sta_open_aggregate_check(const char *text, const struct sta_schema *schema, struct sta_error *err)
{
    struct sta_open_condition unused;
    int status = parse_open(text, schema, parse_aggregate, &unused, err);
    if (status == STA_OK)
        sta_open_condition_fini(&unused);
    return status;
}

void sta_open_condition_fini(struct sta_open_condition *condition)
{
    sta_expression_destroy(condition->expression);
    for (size_t i = 0; i < condition->added; i++)
        free((char *)(uintptr_t)condition->columns[condition->schema.count - 1 - i].name);
    free(condition->columns);
    *condition = (struct sta_open_condition){0};
}

bool sta_open_condition_is_fixed(const struct sta_open_condition *condition)
{
    static const uint32_t fixed[] = {STA_LOGICAL_func_name, STA_LOGICAL_cat, STA_LOGICAL_io_cat,
                                     STA_LOGICAL_acc_pat, STA_LOGICAL_count};
    const struct sta_expression *expression = condition->expression;
    for (size_t i = 0; i < expression->column_count; i++) {
        bool found = false;
        for (size_t f = 0; f < STA_COUNT_OF(fixed); f++)
            found |= expression->columns[i] == fixed[f];
        if (!found)
            return false;
    }
    return true;
}
