/* Requests: any JSON object is planned against a fixed schema.  A mistake lies in a member that is there, at
 * a position inside its text; what is planned can be computed. */
#include <stdlib.h>
#include <string.h>

#include "analyse/query/plan.h"
#include "serve/formats/document_json.h"

#define ROWS 3

static const struct sta_schema_column columns[] = {
    {.name = "func_name", .type = STA_TYPE_TEXT},
    {.name = "cat", .type = STA_TYPE_TEXT, .caseless = true},
    {.name = "trace", .type = STA_TYPE_TEXT},
    {.name = "pid", .type = STA_TYPE_INT},
    {.name = "size", .type = STA_TYPE_INT, .unit = "B"},
    {.name = "ts", .type = STA_TYPE_INT, .unit = "us"},
    {.name = "te", .type = STA_TYPE_INT, .unit = "us"},
    {.name = "dur", .type = STA_TYPE_INT, .unit = "us"},
    {.name = "time", .type = STA_TYPE_FLOAT, .unit = "s", .ticks_of = "dur"},
    {.name = "time_start", .type = STA_TYPE_FLOAT, .unit = "s", .ticks_of = "ts"},
    {.name = "args.flag", .type = STA_TYPE_BOOL},
};
static const struct sta_schema events = {columns, STA_COUNT_OF(columns)};
static const struct sta_query_trace runs[] = {{.label = "a"}, {.label = "b"}};

/* ---- values */

static struct sta_dictionary *dictionary;
static uint32_t codes[ROWS];

static int give(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    static const int64_t integers[ROWS] = {INT64_MAX, -3, 0};
    static const double numbers[ROWS] = {1e300, -0.5, 0};
    static const uint8_t bools[ROWS] = {1, 0, 0}, missing[ROWS] = {0, 0, 1};
    const struct sta_schema *schema = context;
    STA_ASSERT(column < schema->count);
    *vector = (struct sta_vector){.type = schema->columns[column].type,
                                  .integers = integers,
                                  .numbers = numbers,
                                  .bools = bools,
                                  .codes = codes,
                                  .texts = dictionary,
                                  .missing = missing};
    return 0;
}

static void intern_texts(void)
{
    if (dictionary != NULL)
        return;
    dictionary = sta_dictionary_create();
    codes[0] = sta_dictionary_intern(dictionary, "read", 4);
    codes[1] = sta_dictionary_intern(dictionary, "", 0);
    codes[2] = STA_NO_CODE;
}

static void evaluate(const struct sta_expression *expression, const struct sta_schema *schema)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_program *program = sta_program_create(expression);
    struct sta_vector result;
    struct sta_evaluator *evaluator = sta_evaluator_create();
    STA_ASSERT(expression->type != STA_TYPE_NULL);
    if (sta_program_run(program, evaluator, ROWS, give, (void *)schema, &result, &err) == 0)
        STA_ASSERT(result.type == expression->type);
    sta_program_destroy(program);
    sta_evaluator_destroy(evaluator);
}

static void evaluate_stage(const struct sta_plan_stage *stage)
{
    const struct sta_schema *of_outputs =
        stage->kind == STA_PLAN_ROWS ? &stage->schema : &stage->gathered.grouped;
    for (size_t i = 0; i < stage->key_count; i++)
        evaluate(stage->keys[i].expression, &stage->schema);
    for (size_t i = 0; i < stage->gathered.argument_count; i++)
        evaluate(stage->gathered.arguments[i], &stage->schema);
    for (size_t i = 0; i < stage->output_count; i++)
        evaluate(stage->outputs[i].expression, of_outputs);
    if (stage->filter != NULL)
        evaluate(stage->filter, &stage->schema);
    for (size_t i = 0; i < stage->gathered.primitive_count; i++)
        STA_ASSERT(stage->gathered.primitives[i].first_argument +
                       sta_primitive_arguments(&stage->gathered.primitives[i]) <=
                   stage->gathered.argument_count);
}

/* ---- mistakes */

/* The child that a reference token of a pointer names, or NULL. */
static const struct sta_document *child_of(const struct sta_document *parent, const char *token)
{
    if (parent->type == STA_DOCUMENT_OBJECT)
        return sta_document_member(parent, token);
    const struct sta_document *child = parent->type == STA_DOCUMENT_LIST ? parent->first : NULL;
    for (long index = strtol(token, NULL, 10); index > 0 && child != NULL; index--)
        child = child->next;
    return child;
}

static void unescape(char *token)
{
    char *out = token;
    for (const char *c = token; *c != '\0'; c++)
        *out++ = *c != '~' ? *c : *++c == '0' ? '~' : '/';
    *out = '\0';
}

/* All but the last token must lead somewhere: the last one may be what is lacking. */
static void check_mistake(const struct sta_document *request, const struct sta_error *err)
{
    char pointer[sizeof err->parameter];
    const struct sta_document *at = request;
    STA_ASSERT(err->status == STA_EINPUT || err->status == STA_ELIMIT);
    STA_ASSERT(err->text[0] != '\0');
    if (strlen(err->parameter) + 1 == sizeof pointer)
        return; /* it was cut */
    strcpy(pointer, err->parameter);
    for (char *token = pointer; *token == '/';) {
        char *name = token + 1;
        token = strchrnul(name, '/');
        char end = *token;
        *token = '\0';
        unescape(name);
        STA_ASSERT(at != NULL);
        at = child_of(at, name);
        *token = end;
    }
    if (err->position > 0)
        STA_ASSERT(at != NULL && at->type == STA_DOCUMENT_TEXT && err->position <= at->text.length);
}

static void plan(const struct sta_document *request)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_plan made;
    struct sta_query query = {.traces = runs, .trace_count = STA_COUNT_OF(runs), .request = request};
    int rc = sta_plan_begin(&query, &made, &err);
    if (rc == 0)
        rc = sta_plan_stages(&query, &events, &made, &err);
    if (rc != 0)
        check_mistake(request, &err);
    for (size_t i = 0; rc == 0 && i < made.stage_count; i++)
        evaluate_stage(&made.stages[i]);
    sta_plan_fini(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sta_arena memory = {.head = NULL};
    struct sta_document *request;
    struct sta_error err = STA_ERROR_INIT;
    intern_texts();
    if (sta_document_parse((const char *)data, size, "The request", &memory, &request, &err) == 0)
        plan(request);
    sta_arena_fini(&memory);
    return 0;
}
