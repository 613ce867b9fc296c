/* Expressions: any text is parsed and, if it is one, evaluated on a few rows; what it says of its columns
 * must admit every row that it selects. */
#include <stdint.h>
#include <string.h>

#include "analyse/expression/expression.h"
#include "common/memory.h"

#define ROWS 5

static const struct sta_schema_column columns[] = {
    {.name = "func_name", .type = STA_TYPE_TEXT},
    {.name = "cat", .type = STA_TYPE_TEXT, .caseless = true},
    {.name = "size", .type = STA_TYPE_INT},
    {.name = "ts", .type = STA_TYPE_INT},
    {.name = "time_start", .type = STA_TYPE_FLOAT, .ticks_of = "ts"},
    {.name = "args.flag", .type = STA_TYPE_BOOL},
};
static const struct sta_schema schema = {columns, STA_COUNT_OF(columns)};

static const char *const texts[ROWS] = {"read", "", "/a/na\xc3\xafve \xf0\x9f\x9a\x80.npz", "-12", NULL};
static const int64_t integers[ROWS] = {4096, INT64_MIN, INT64_MAX, -1, 0};
static const double numbers[ROWS] = {0.3, -1e300, 9223372036854775808.0, -0.0, 0};
static const uint8_t flags[ROWS] = {1, 0, 1, 0, 0};
static const uint8_t missing[ROWS] = {0, 0, 0, 0, 1};
static struct sta_dictionary *dictionary;
static uint32_t codes[ROWS];

static int give(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    *vector = (struct sta_vector){.type = columns[column].type,
                                  .integers = integers,
                                  .numbers = numbers,
                                  .bools = flags,
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
    for (unsigned i = 0; i < ROWS; i++)
        codes[i] =
            texts[i] != NULL ? sta_dictionary_intern(dictionary, texts[i], strlen(texts[i])) : STA_NO_CODE;
}

static bool admits(const struct sta_predicate *predicate, struct sta_evaluator *evaluator, unsigned row)
{
    struct sta_error err = STA_ERROR_INIT;
    uint8_t passes;
    if (predicate->kind == STA_PREDICATE_TEXT)
        return sta_predicate_test(predicate, evaluator, dictionary, &codes[row], 1, &passes, &err) != 0 ||
               passes;
    double value = columns[predicate->column].type == STA_TYPE_INT ? (double)integers[row] : numbers[row];
    return !missing[row] && value >= predicate->range.low && value <= predicate->range.high;
}

static void check_predicates(const struct sta_expression *expression, const struct sta_vector *holds)
{
    struct sta_evaluator *evaluator = sta_evaluator_create();
    for (unsigned row = 0; row < ROWS; row++)
        for (size_t i = 0; i < expression->predicate_count && holds->bools[holds->constant ? 0 : row]; i++)
            STA_ASSERT(admits(&expression->predicates[i], evaluator, row));
    sta_evaluator_destroy(evaluator);
}

static void evaluate(const struct sta_expression *expression)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_program *program = sta_program_create(expression);
    struct sta_vector result;
    struct sta_evaluator *evaluator = sta_evaluator_create();
    int rc = sta_program_run(program, evaluator, ROWS, give, NULL, &result, &err);
    if (rc == 0 && result.type == STA_TYPE_BOOL && result.missing == NULL)
        check_predicates(expression, &result);
    sta_program_destroy(program);
    sta_evaluator_destroy(evaluator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_expression *expression;
    intern_texts();
    if (sta_expression_parse((const char *)data, size, &schema, &expression, &err) != 0) {
        STA_ASSERT(err.position >= 0 && err.position <= (int64_t)size);
        return 0;
    }
    evaluate(expression);
    sta_expression_destroy(expression);
    return 0;
}
