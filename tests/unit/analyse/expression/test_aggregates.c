/* Expressions of aggregates: what is gathered, and what is made of it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyse/expression/aggregates.h"
#include "common/number.h"
#include "rows.h"

static const struct sta_schema_column keys[] = {{.name = "func_name", .type = STA_TYPE_TEXT},
                                                {.name = "k", .type = STA_TYPE_INT, .unit = "B"}};

/* Values of the key k and of the primitives, as if one group had been gathered; of FLOAT primitives
 * halves. */
struct gathered {
    const struct sta_aggregates *aggregates;
    const int64_t *values; /* of k, then of primitives; -1 is missing */
    int64_t integer;
    double number;
    uint8_t missing;
};

static int give(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    static const uint32_t no_text = STA_NO_CODE;
    struct gathered *gathered = context;
    enum sta_type type = gathered->aggregates->grouped.columns[column].type;
    static int64_t integers[16];
    static double numbers[16];
    static uint8_t missing[16];
    *vector = (struct sta_vector){.type = type, .constant = true};
    cr_assert_lt(column, 16);
    if (type == STA_TYPE_TEXT) {
        vector->codes = &no_text;
        return 0;
    }
    integers[column] = gathered->values[column - 1];
    numbers[column] = (double)gathered->values[column - 1] / 2;
    missing[column] = integers[column] == -1;
    vector->integers = &integers[column];
    vector->numbers = &numbers[column];
    vector->missing = &missing[column];
    return 0;
}

static const char *put_value(const struct sta_vector *vector)
{
    static char text[STA_DOUBLE_TEXT];
    if (vector->missing != NULL && vector->missing[0])
        return "-";
    if (vector->type == STA_TYPE_INT)
        snprintf(text, sizeof text, "%lld", (long long)vector->integers[0]);
    else if (vector->type == STA_TYPE_FLOAT)
        text[sta_format_double(vector->numbers[0], text)] = '\0';
    else
        snprintf(text, sizeof text, "%s", vector->bools[0] ? "true" : "false");
    return text;
}

/* @unit: of the expression, "" for none */
static void check(const char *text, const int64_t *values, const char *wanted, const char *unit)
{
    struct sta_aggregates aggregates;
    struct sta_expression *expression;
    struct sta_program *program;
    struct sta_vector result;
    struct sta_error err = STA_ERROR_INIT;
    sta_aggregates_init(&aggregates, &rows_schema, true, keys, STA_COUNT_OF(keys));
    cr_assert_eq(sta_aggregate_parse(text, strlen(text), &aggregates, &expression, &err), 0, "%s: %s", text,
                 err.text);
    const char *got_unit = expression->unit;
    cr_expect_str_eq(got_unit != NULL ? got_unit : "", unit, "%s", text);
    struct sta_evaluator *evaluator = sta_evaluator_create();
    struct gathered gathered = {.aggregates = &aggregates, .values = values};
    program = sta_program_create(expression);
    cr_assert_eq(sta_program_run(program, evaluator, 1, give, &gathered, &result, &err), 0, "%s", err.text);
    cr_expect_str_eq(put_value(&result), wanted, "%s: %s, not %s", text, put_value(&result), wanted);
    sta_program_destroy(program);
    sta_expression_destroy(expression);
    sta_evaluator_destroy(evaluator);
    sta_aggregates_fini(&aggregates);
}

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})

Test(aggregates, values)
{
    check("sum(size)", VALUES(0, 4096), "4096", "B");
    check("sum(size) / count()", VALUES(0, 100, 8), "12.5", "");
    check("max(ts) - min(ts)", VALUES(0, 70, 30), "40", "");
    check("k * 2 + count()", VALUES(20, 3), "43", "");
    check("k", VALUES(20), "20", "B");
    check("count(size) > 3 and not (k == 1)", VALUES(2, 4), "true", "");
    check("round(mean(size), 1) // 2", VALUES(0, 9), "2.0", "");
    check("where(count() > 3, max(size))", VALUES(0, 2, 100), "-", "");
    check("name.isna()", VALUES(0), "true", "");
    check("(sum(size))", VALUES(0, 5), "5", "B");
    check("-sum(size)", VALUES(0, 5), "-5", "");
}

Test(aggregates, microseconds_become_seconds)
{
    check("sum(time_start)", VALUES(0, 2500001), "2.500001", "s");
    check("max(time_start)", VALUES(0, 300000), "0.3", "s");
    check("max(time_start)", VALUES(0, -1), "-", "s");
    check("mean(time_start)", VALUES(0, 5000000, 4), "1.25", "s");
    check("mean(time_start)", VALUES(0, 0, 0), "-", "s");
    check("std(time_start)", VALUES(0, 3000000), "1.5", "s");
    check("var(time_start)", VALUES(0, 3000000), "1.5e-06", "");
    check("count(time_start) + nunique(time_start)", VALUES(0, 3, 4), "7", "");
    check("sum(where(size > 1, time_start, 0))", VALUES(0, 4000000), "4.0", "");
    check("sum(time_start * 1)", VALUES(0, 5), "2.5", "");
    check("sum(ts)", VALUES(0, 5), "5", "us");
}

/* The columns that arguments read, by what is gathered. */
Test(aggregates, arguments)
{
    static const char text[] =
        "sum(time_start) + mean(time_start) + sum(where(size > 1, coalesce(time_start, 0), 0))";
    struct sta_aggregates aggregates;
    struct sta_expression *expression;
    struct sta_error err = STA_ERROR_INIT;
    sta_aggregates_init(&aggregates, &rows_schema, true, keys, STA_COUNT_OF(keys));
    cr_assert_eq(sta_aggregate_parse(text, strlen(text), &aggregates, &expression, &err), 0, "%s", err.text);
    cr_assert_eq(aggregates.argument_count, 2);
    cr_expect_eq(aggregates.arguments[0]->column, COLUMN_TS);
    const uint32_t *columns = aggregates.arguments[1]->columns;
    cr_expect(aggregates.arguments[1]->column_count == 2 && columns[0] == COLUMN_SIZE &&
              columns[1] == COLUMN_TS);
    cr_expect_eq(aggregates.arguments[1]->type, STA_TYPE_INT);
    cr_expect_eq(aggregates.primitive_count, 3, "sum and count of ts, sum of the choice");
    sta_expression_destroy(expression);
    sta_aggregates_fini(&aggregates);
}
