/* Programs from the outside: what an expression says of itself, many rows, growing dictionaries, predicates.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <uv.h>

#include "common/memory.h"
#include "rows.h"

static struct sta_expression *parse(const char *text)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_expression *expression;
    cr_assert_eq(sta_expression_parse(text, strlen(text), &rows_schema, &expression, &err), 0, "%s: %s", text,
                 err.text);
    return expression;
}

Test(programs, say_what_they_are)
{
    struct sta_expression *expression = parse("size");
    cr_expect_str_eq(expression->unit, "B");
    cr_expect_eq(expression->column, COLUMN_SIZE);
    sta_expression_destroy(expression);
    expression = parse("+size");
    cr_expect_null(expression->unit);
    cr_expect_eq(expression->column, -1);
    cr_expect_eq(expression->type, STA_TYPE_INT);
    sta_expression_destroy(expression);
}

Test(programs, read_only_what_they_need)
{
    struct sta_expression *expression = parse("bin(time_start, 1) + size * 0 + where(1 < 2, 1, 2)");
    cr_assert_eq(expression->column_count, 2);
    cr_expect_eq(expression->columns[0], COLUMN_SIZE);
    cr_expect_eq(expression->columns[1], COLUMN_TS); /* exact bins come from the ticks */
    sta_expression_destroy(expression);
}

/* ---- conditions */

Test(programs, conditions_are_never_missing)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_expression *expression;
    struct sta_program *program;
    struct sta_vector result;
    struct sta_evaluator *evaluator = sta_evaluator_create();
    cr_assert_eq(sta_condition_parse("args.flag", 9, &rows_schema, &expression, &err), 0);
    program = sta_program_create(expression);
    sta_expression_destroy(expression); /* the program lives on */
    cr_assert_eq(sta_program_run(program, evaluator, ROWS, rows_give, NULL, &result, &err), 0);
    cr_expect_null(result.missing);
    cr_expect_eq(result.bools[0], 1);
    cr_expect_eq(result.bools[3], 0);
    sta_program_destroy(program);
    sta_evaluator_destroy(evaluator);
    cr_expect_eq(sta_condition_parse("size + 1", 8, &rows_schema, &expression, &err), STA_EINPUT);
    cr_expect_eq(err.position, 0);
}

/* ---- threads that run one program while its dictionary grows */

#define TEXTS 20000

struct shared {
    struct sta_program *program;
    struct sta_dictionary *texts;
    unsigned wrong;
};

static int give_range(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    *vector = *(const struct sta_vector *)context;
    return 0;
}

/* Every text is a number; len tells whether the answer belongs to it. */
static void run_some(struct shared *shared, struct sta_evaluator *evaluator, uint32_t first)
{
    uint32_t codes[1500];
    char text[16];
    struct sta_error err = STA_ERROR_INIT;
    struct sta_vector column = {.type = STA_TYPE_TEXT, .codes = codes, .texts = shared->texts}, result;
    for (uint32_t i = 0; i < STA_COUNT_OF(codes); i++) {
        int length = snprintf(text, sizeof text, "%u", (first + i) % TEXTS);
        codes[i] = sta_dictionary_intern(shared->texts, text, (size_t)length);
    }
    cr_assert_eq(
        sta_program_run(shared->program, evaluator, STA_COUNT_OF(codes), give_range, &column, &result, &err),
        0);
    for (uint32_t i = 0; i < STA_COUNT_OF(codes); i++)
        if (result.missing != NULL || result.integers[i] != (int64_t)((first + i) % TEXTS))
            __atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
}

static void run_thread(void *context)
{
    struct sta_evaluator *evaluator = sta_evaluator_create();
    for (uint32_t round = 0; round < 40; round++)
        run_some(context, evaluator, round * 700);
    sta_evaluator_destroy(evaluator);
}

Test(programs, threads_share_what_is_remembered)
{
    struct sta_expression *expression = parse("int(strip(' ' + func_name))");
    struct shared shared = {.texts = sta_dictionary_create(), .program = sta_program_create(expression)};
    uv_thread_t threads[4];
    for (size_t i = 0; i < STA_COUNT_OF(threads); i++)
        cr_assert_eq(uv_thread_create(&threads[i], run_thread, &shared), 0);
    for (size_t i = 0; i < STA_COUNT_OF(threads); i++)
        uv_thread_join(&threads[i]);
    cr_expect_eq(shared.wrong, 0);
    sta_program_destroy(shared.program);
    sta_expression_destroy(expression);
    sta_dictionary_destroy(shared.texts);
}

/* ---- predicates */

static void check_range(const char *text, uint32_t column, double low, double high)
{
    struct sta_expression *expression = parse(text);
    const struct sta_predicate *predicates = expression->predicates;
    bool found = false;
    for (size_t i = 0; i < expression->predicate_count; i++) {
        if (predicates[i].column != column)
            continue;
        found = true;
        cr_expect_eq(predicates[i].kind, STA_PREDICATE_RANGE);
        cr_expect(predicates[i].range.low == low && predicates[i].range.high == high, "%s: %g .. %g", text,
                  predicates[i].range.low, predicates[i].range.high);
    }
    cr_expect(found, "%s", text);
    sta_expression_destroy(expression);
}

Test(predicates, ranges)
{
    check_range("size > 4 * 1024 and args.flag", COLUMN_SIZE, 4096, INFINITY);
    check_range("size > 1 and 9 >= size and size != 5", COLUMN_SIZE, 1, 9);
    check_range("size.between(1, 9) & (ts == 2 | ts in [7, 3])", COLUMN_SIZE, 1, 9);
    check_range("size.between(1, 9) & (ts == 2 | ts in [7, 3])", COLUMN_TS, 2, 7);
    check_range("size < 2.5", COLUMN_SIZE, -INFINITY, 3);
    check_range("time_start >= 0.25 and time_start < 1", COLUMN_TIME_START, 0.25, 1);
    check_range("size in []", COLUMN_SIZE, INFINITY, -INFINITY);
    check_range("(size > 5 and ts > 1) or size == 2", COLUMN_SIZE, 2, INFINITY);
}

Test(predicates, nothing_where_nothing_is_certain)
{
    static const char *const texts[] = {
        "size > 1 or ts > 1", "not size > 1", "size != 1", "size % 2 == 0",
        "size.isna()",        "true",         "size > ts", "size > 1 or name == 'x'",
        "size + 1",           "name == cat"};
    for (size_t i = 0; i < STA_COUNT_OF(texts); i++) {
        struct sta_expression *expression = parse(texts[i]);
        cr_expect_eq(expression->predicate_count, 0, "%s", texts[i]);
        sta_expression_destroy(expression);
    }
}

static void check_whole(const char *text, bool whole)
{
    struct sta_expression *expression = parse(text);
    cr_expect_eq(expression->is_predicates, whole, "%s", text);
    sta_expression_destroy(expression);
}

Test(predicates, that_are_the_whole_condition)
{
    check_whole("size > 1", true);
    check_whole("size > 1 and 9 >= size and ts < 5 and name == 'x'", true);
    check_whole("name.str.contains('x') or name == 'y'", true);
    check_whole("size > 1 and size != 5", false);
    check_whole("size > 1 and size % 2 == 0", false);
    check_whole("size == 1 or size == 5", false);
    check_whole("size in [1, 5]", false);
    check_whole("size > 9007199254740993", false);
    check_whole("size > ts", false);
    check_whole("name == 'x' and size.isna()", false);
}

/* Whether one of the texts of a column is admitted; each code alone. */
static void check_texts(const char *text, uint32_t column, const char *expected)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_vector vector;
    struct sta_expression *expression = parse(text);
    struct sta_evaluator *evaluator = sta_evaluator_create();
    const struct sta_predicate *predicates = expression->predicates;
    cr_assert_eq(expression->predicate_count, 1, "%s", text);
    cr_expect(predicates->kind == STA_PREDICATE_TEXT && predicates->column == column, "%s", text);
    rows_give(NULL, column, &vector, &err);
    uint8_t passes[ROWS];
    cr_assert_eq(sta_predicate_test(predicates, evaluator, vector.texts, vector.codes, ROWS, passes, &err),
                 0);
    for (unsigned row = 0; row < ROWS; row++)
        cr_expect_eq(passes[row], expected[row] == 'T', "%s: row %u", text, row);
    sta_evaluator_destroy(evaluator);
    sta_expression_destroy(expression);
}

Test(predicates, texts)
{
    check_texts("cat == 'POSIX'", COLUMN_CAT, "TFTF");
    check_texts("args.flag and (name == 'read' or name.str.contains('\\d'))", COLUMN_NAME, "TTFF");
    check_texts("not name.str.startswith('p')", COLUMN_NAME, "TFTT");
    check_texts("name.isna()", COLUMN_NAME, "FFFT");
    check_texts("len(file_name) > 5", COLUMN_FILE, "TFFF");
}
