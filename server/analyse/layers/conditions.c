/* Conditions of presets: finds the args columns that a schema lacks, and types for them. */
#include <stdlib.h>
#include <string.h>

#include "analyse/expression/aggregates.h"
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

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Behind the string that begins at @at with its quote. */
static const char *skip_string(const char *at)
{
    char quote = *at++;
    while (*at != '\0' && *at != quote)
        at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    return *at != '\0' ? at + 1 : at;
}

/* The next "args.x" or "args.`x y`" from @at on; *key and *length are its x.  Return: behind it, or NULL. */
static const char *next_args_column(const char *start, const char *at, const char **key, size_t *length)
{
    while (*at != '\0') {
        if (*at == '"' || *at == '\'') {
            at = skip_string(at);
            continue;
        }
        bool fresh = at == start || !in_name(at[-1]);
        if (!fresh || strncmp(at, "args.", 5) != 0) {
            at++;
            continue;
        }
        at += 5;
        bool quoted = *at == '`';
        *key = at + quoted;
        *length = quoted ? strcspn(*key, "`") : 0;
        while (!quoted && in_name((*key)[*length]))
            ++*length;
        at = *key + *length;
        return quoted && *at == '`' ? at + 1 : at;
    }
    return NULL;
}

static bool has_column(const struct sta_schema_column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(columns[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Puts the columns that @text names and the schema lacks behind those of the schema; STA_ELIMIT when they are
 * too many. */
static int add_columns(struct sta_open_condition *condition, const char *text,
                       const struct sta_schema *schema, struct sta_error *err)
{
    size_t known = schema->count, length;
    condition->columns = sta_alloc_array(known + UNKNOWN_COLUMNS, sizeof *condition->columns);
    condition->names = sta_alloc_array(UNKNOWN_COLUMNS, sizeof *condition->names);
    memcpy(condition->columns, schema->columns, known * sizeof *condition->columns);
    const char *key, *at = text;
    while ((at = next_args_column(text, at, &key, &length)) != NULL) {
        char *name = sta_sprintf("args.%.*s", (int)length, key);
        if (has_column(condition->columns, known + condition->added, name)) {
            free(name);
            continue;
        }
        if (condition->added == UNKNOWN_COLUMNS) {
            free(name);
            return sta_fail(err, STA_ELIMIT, "a condition may name %d columns that the trace does not have",
                            UNKNOWN_COLUMNS);
        }
        condition->columns[known + condition->added] = (struct sta_schema_column){.name = name};
        condition->names[condition->added++] = name;
    }
    condition->schema = (struct sta_schema){.columns = condition->columns, .count = known + condition->added};
    return STA_OK;
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
        free(condition->names[i]);
    free(condition->names);
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
