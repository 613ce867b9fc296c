/* Evaluates expressions for a script: reads JSON lines, writes one JSON line for each.
 *
 *   {"columns": {"size": "int", "cat": "str"}, "rows": [{"size": 4096, "cat": "posix"}, {}],
 *    "expression": "size > 1", "condition": true}
 *   {"type": "condition", "values": [true, false]}
 * or
 *   {"status": "INPUT", "position": 5, "error": "cannot compare .."}
 *
 * A member that a row lacks is a missing value.  Rows are evaluated once alone and once repeated over several
 * minibatches; the answers must agree. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/expression/expression.h"
#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"

struct column {
    struct sta_vector vector;
    int64_t *integers;
    double *numbers;
    uint8_t *bools, *missing;
    uint32_t *codes;
    struct sta_dictionary *texts;
};

struct table {
    struct sta_schema_column *schema;
    struct column *columns;
    size_t count;
    uint32_t rows;
};

static enum sta_type type_named(const char *name)
{
    static const struct {
        const char *name;
        enum sta_type type;
    } types[] = {
        {"int", STA_TYPE_INT}, {"float", STA_TYPE_FLOAT}, {"bool", STA_TYPE_BOOL}, {"str", STA_TYPE_TEXT}};
    size_t i = 0;
    while (strcmp(types[i].name, name) != 0)
        i++;
    return types[i].type;
}

static const char *ticks_behind(const char *name)
{
    static const char *const seconds[][2] = {{"time", "dur"}, {"time_start", "ts"}, {"time_end", "te"}};
    for (size_t i = 0; i < STA_COUNT_OF(seconds); i++)
        if (strcmp(seconds[i][0], name) == 0)
            return seconds[i][1];
    return NULL;
}

static void set_value(struct column *column, uint32_t row, const json_t *value)
{
    column->codes[row] = STA_NO_CODE;
    column->missing[row] = value == NULL || json_is_null(value);
    if (column->missing[row])
        return;
    if (column->vector.type == STA_TYPE_TEXT)
        column->codes[row] =
            sta_dictionary_intern(column->texts, json_string_value(value), json_string_length(value));
    column->integers[row] = json_integer_value(value);
    column->numbers[row] = json_number_value(value);
    column->bools[row] = json_is_true(value);
}

static void fill_column(struct column *column, const char *name, const json_t *rows, uint32_t times)
{
    uint32_t count = (uint32_t)json_array_size(rows), all = count * times;
    column->integers = sta_alloc_array(all, sizeof(int64_t));
    column->numbers = sta_alloc_array(all, sizeof(double));
    column->bools = sta_alloc_array(all, 1);
    column->missing = sta_alloc_array(all, 1);
    column->codes = sta_alloc_array(all, sizeof(uint32_t));
    column->texts = sta_dictionary_create();
    for (uint32_t row = 0; row < all; row++)
        set_value(column, row, json_object_get(json_array_get(rows, row % count), name));
    column->vector.integers = column->integers;
    column->vector.numbers = column->numbers;
    column->vector.bools = column->bools;
    column->vector.missing = column->missing;
    column->vector.codes = column->codes;
    column->vector.texts = column->texts;
}

static struct table read_table(json_t *request, uint32_t times)
{
    json_t *columns = json_object_get(request, "columns"), *rows = json_object_get(request, "rows"), *type;
    struct table table = {.rows = (uint32_t)json_array_size(rows) * times};
    table.schema = sta_alloc_array(json_object_size(columns), sizeof *table.schema);
    table.columns = sta_alloc_array(json_object_size(columns), sizeof *table.columns);
    const char *name;
    json_object_foreach(columns, name, type)
    {
        struct column *column = &table.columns[table.count];
        struct sta_schema_column *schema = &table.schema[table.count++];
        column->vector.type = schema->type = type_named(json_string_value(type));
        schema->name = name;
        schema->caseless = strcmp(name, "cat") == 0;
        schema->ticks_of = ticks_behind(name);
        fill_column(column, name, rows, times);
    }
    return table;
}

static void free_table(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->columns[i].integers);
        free(table->columns[i].numbers);
        free(table->columns[i].bools);
        free(table->columns[i].missing);
        free(table->columns[i].codes);
        sta_dictionary_destroy(table->columns[i].texts);
    }
    free(table->schema);
    free(table->columns);
}

static int give_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    *vector = ((struct table *)context)->columns[column].vector;
    return 0;
}

static void put_value(struct sta_buffer *out, const struct sta_vector *vector, uint32_t row)
{
    size_t at = vector->constant ? 0 : row;
    bool coded = vector->type == STA_TYPE_TEXT;
    if (coded ? vector->codes[at] == STA_NO_CODE : vector->missing != NULL && vector->missing[at]) {
        sta_put_text(out, "null");
    } else if (coded) {
        struct sta_text text = sta_dictionary_text(vector->texts, vector->codes[at]);
        sta_put_json_string(out, text.bytes, text.length);
    } else if (vector->type == STA_TYPE_INT) {
        sta_put_int(out, vector->integers[at]);
    } else if (vector->type == STA_TYPE_FLOAT) {
        sta_put_double(out, vector->numbers[at]);
    } else {
        sta_put_text(out, vector->bools[at] ? "true" : "false");
    }
}

/* The values as JSON; free() them.  NULL, and *err, if the evaluation failed. */
static char *evaluate(const struct sta_expression *expression, json_t *request, uint32_t times,
                      struct sta_error *err)
{
    struct sta_program *program = sta_program_create(expression);
    struct sta_vector result;
    struct table table = read_table(request, times);
    struct sta_evaluator *evaluator = sta_evaluator_create();
    int rc = sta_program_run(program, evaluator, table.rows, give_column, &table, &result, err);
    char *values = NULL;
    for (uint32_t round = 0; rc == 0 && round < times; round++) {
        struct sta_buffer out;
        sta_buffer_init(&out);
        uint32_t rows = table.rows / times;
        for (uint32_t i = 0; i < rows; i++) {
            sta_put_text(&out, i > 0 ? ", " : "");
            put_value(&out, &result, round * rows + i);
        }
        sta_put_text(&out, "");
        char *text = sta_buffer_take_text(&out);
        STA_ASSERT(values == NULL || strcmp(values, text) == 0);
        free(values);
        values = text;
    }
    sta_program_destroy(program);
    sta_evaluator_destroy(evaluator);
    free_table(&table);
    return values;
}

static void print_failure(const struct sta_error *err)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_put_json_string(&out, err->text, strlen(err->text));
    printf("{\"status\": \"%s\", \"position\": %lld, \"error\": %.*s}\n", sta_status_name(err->status),
           (long long)err->position, (int)out.size, out.data);
    sta_buffer_fini(&out);
}

static void answer(json_t *request)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_expression *expression;
    json_t *text = json_object_get(request, "expression");
    struct table table = read_table(request, 1);
    struct sta_schema schema = {table.schema, table.count};
    bool condition = json_is_true(json_object_get(request, "condition"));
    int rc = (condition ? sta_condition_parse : sta_expression_parse)(
        json_string_value(text), json_string_length(text), &schema, &expression, &err);
    free_table(&table);
    char *once = rc == 0 ? evaluate(expression, request, 1, &err) : NULL;
    uint32_t rows = (uint32_t)json_array_size(json_object_get(request, "rows"));
    char *often = once != NULL ? evaluate(expression, request, 2500 / rows, &err) : NULL;
    if (often != NULL) {
        STA_ASSERT(strcmp(once, often) == 0);
        printf("{\"type\": \"%s\", \"values\": [%s]}\n", sta_type_name(expression->type), once);
    } else {
        print_failure(&err);
    }
    free(once);
    free(often);
    sta_expression_destroy(expression);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        json_error_t mistake;
        json_t *request = json_loads(line, JSON_ALLOW_NUL, &mistake);
        if (request == NULL) {
            fprintf(stderr, "expression_eval: %s\n", mistake.text);
            return 2;
        }
        answer(request);
        json_decref(request);
        fflush(stdout);
    }
    free(line);
    return 0;
}
