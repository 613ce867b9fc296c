/* Formulas over the columns of a flat view. */
#include "analyse/compatible/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/expression/expression.h"
#include "analyse/layers/preset_build.h"
#include "common/memory.h"

/* The table's columns as an expression sees them: numbers all. */
static struct sta_schema_column *make_schema(const struct sta_table *table, struct sta_schema *schema)
{
    struct sta_schema_column *columns = sta_alloc_array(table->column_count + 1, sizeof *columns);
    for (size_t i = 0; i < table->column_count; i++) {
        enum sta_type type = table->columns[i].type;
        columns[i] = (struct sta_schema_column){.name = table->columns[i].name,
                                                .type = type == STA_TYPE_INT ? STA_TYPE_FLOAT : type};
    }
    *schema = (struct sta_schema){.columns = columns, .count = table->column_count};
    return columns;
}

/* Rows of the table from @first on. */
struct window {
    const struct sta_table *table;
    size_t first, rows;
    double *numbers; /* STA_VECTOR_ROWS for each column of the table that the formula reads */
};

/* @numbers: by column that is read, in the order of the expression */
struct formula {
    struct sta_expression *expression;
    struct sta_program *program;
    const uint32_t *columns;
    size_t column_count;
    uint8_t *divisor; /* by column of the table */
    bool divides;
    struct window window;
};

static int give(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct formula *formula = context;
    const struct window *window = &formula->window;
    const struct sta_table_column *from = &window->table->columns[column];
    size_t place = 0;
    while (formula->columns[place] != column)
        place++;
    double *numbers = window->numbers + place * STA_VECTOR_ROWS;
    for (size_t i = 0; i < window->rows; i++)
        numbers[i] = from->missing[window->first + i] ? 0 : sta_table_number(from, window->first + i);
    *vector = (struct sta_vector){
        .type = STA_TYPE_FLOAT, .numbers = numbers, .missing = from->missing + window->first};
    return 0;
}

/* Whether a row has a denominator that is neither missing nor 0, or the formula has none. */
static bool has_denominator(const struct formula *formula, size_t row)
{
    for (size_t i = 0; i < formula->column_count; i++) {
        const struct sta_table_column *column = &formula->window.table->columns[formula->columns[i]];
        if (formula->divisor[formula->columns[i]] && !column->missing[row] &&
            sta_table_number(column, row) != 0)
            return true;
    }
    return !formula->divides;
}

static int run(struct formula *formula, struct sta_table *table, size_t at, struct sta_error *err)
{
    struct sta_evaluator *evaluator = sta_evaluator_create();
    struct sta_table_column *out = &table->columns[at];
    struct window *window = &formula->window;
    int rc = 0;
    for (; rc == 0 && window->first < table->rows; window->first += window->rows) {
        struct sta_vector result;
        window->rows = STA_MIN(table->rows - window->first, (size_t)STA_VECTOR_ROWS);
        rc =
            sta_program_run(formula->program, evaluator, (uint32_t)window->rows, give, formula, &result, err);
        for (size_t i = 0; rc == 0 && result.type == STA_TYPE_FLOAT && i < window->rows; i++) {
            size_t from = result.constant ? 0 : i;
            bool missing = result.missing != NULL && result.missing[from];
            if (!missing && has_denominator(formula, window->first + i))
                sta_table_set_number(out, window->first + i, result.numbers[from]);
        }
    }
    sta_evaluator_destroy(evaluator);
    return rc;
}

static int parse(struct formula *formula, const char *text, const struct sta_table *table,
                 struct sta_error *err)
{
    struct sta_schema schema;
    struct sta_schema_column *columns = make_schema(table, &schema);
    char *as_number = sta_sprintf("(%s) * 1.0", text);
    int rc = sta_expression_parse(as_number, strlen(as_number), &schema, &formula->expression, err);
    free(as_number);
    free(columns);
    return rc;
}

static void bind_columns(struct formula *formula, const struct sta_table *table)
{
    formula->columns = formula->expression->columns;
    formula->column_count = formula->expression->column_count;
    formula->divisor = sta_alloc_array(table->column_count + 1, sizeof *formula->divisor);
    sta_expression_divisors(formula->expression, formula->divisor);
    for (size_t i = 0; i < table->column_count; i++)
        formula->divides |= formula->divisor[i] != 0;
    formula->window = (struct window){
        .table = table,
        .numbers = sta_alloc_array((formula->column_count + 1) * STA_VECTOR_ROWS, sizeof(double))};
    formula->program = sta_program_create(formula->expression);
}

int sta_additional(struct sta_table *table, const struct sta_named_expression *metric, const char *time,
                   size_t at, struct sta_error *err)
{
    struct formula formula = {0};
    char *text = sta_preset_formula(metric->expression, time);
    STA_ASSERT(text != NULL); /* checked when the preset was loaded */
    int rc = parse(&formula, text, table, err);
    if (rc == 0) {
        bind_columns(&formula, table);
        rc = run(&formula, table, at, err);
    }
    sta_program_destroy(formula.program);
    sta_expression_destroy(formula.expression);
    free(formula.window.numbers);
    free(formula.divisor);
    free(text);
    return rc == 0 ? 0 : sta_error_wrap(err, "additional metric %s", metric->name);
}
