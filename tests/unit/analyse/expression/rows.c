/* A small table: four events, the last of which lacks every value. */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/number.h"

static const struct sta_schema_column columns[COLUMN_COUNT] = {
    [COLUMN_NAME] = {.name = "func_name", .type = STA_TYPE_TEXT},
    [COLUMN_CAT] = {.name = "cat", .type = STA_TYPE_TEXT, .caseless = true},
    [COLUMN_FILE] = {.name = "file_name", .type = STA_TYPE_TEXT},
    [COLUMN_SIZE] = {.name = "size", .type = STA_TYPE_INT, .unit = "B"},
    [COLUMN_TS] = {.name = "ts", .type = STA_TYPE_INT, .unit = "us"},
    [COLUMN_TIME_START] = {.name = "time_start", .type = STA_TYPE_FLOAT, .unit = "s", .ticks_of = "ts"},
    [COLUMN_RATIO] = {.name = "args.ratio", .type = STA_TYPE_FLOAT},
    [COLUMN_FLAG] = {.name = "args.flag", .type = STA_TYPE_BOOL},
};
const struct sta_schema rows_schema = {columns, COLUMN_COUNT};

static const char *const texts[][ROWS] = {
    [COLUMN_NAME] = {"read", "pread64", "caf\xc3\xa9 \xe6\x95\xb0", NULL},
    [COLUMN_CAT] = {"posix", "STDIO", "posix", NULL},
    [COLUMN_FILE] = {"/data/img_017.npz", "plain", "", NULL},
};
static const int64_t integers[][ROWS] = {
    [COLUMN_SIZE] = {4096, -7, INT64_MAX, 0},
    [COLUMN_TS] = {300000, 100000, 2500000, 0},
};
static const double numbers[][ROWS] = {
    [COLUMN_TIME_START] = {0.3, 0.1, 2.5, 0},
    [COLUMN_RATIO] = {2.5, -0.5, 9223372036854775808.0, 0},
};
static const uint8_t flags[ROWS] = {1, 0, 1, 0};
static const uint8_t missing[ROWS] = {0, 0, 0, 1};

static struct sta_dictionary *dictionaries[COLUMN_COUNT];
static uint32_t codes[COLUMN_COUNT][ROWS];
static struct sta_error mistake;

const struct sta_dictionary *rows_texts(uint32_t column)
{
    if (dictionaries[column] == NULL) {
        dictionaries[column] = sta_dictionary_create();
        for (unsigned row = 0; row < ROWS; row++) {
            const char *text = texts[column][row];
            codes[column][row] =
                text != NULL ? sta_dictionary_intern(dictionaries[column], text, strlen(text)) : STA_NO_CODE;
        }
    }
    return dictionaries[column];
}

int rows_give(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    *vector = (struct sta_vector){.type = columns[column].type, .missing = missing, .bools = flags};
    if (vector->type == STA_TYPE_TEXT) {
        vector->texts = rows_texts(column);
        vector->codes = codes[column];
    } else if (vector->type == STA_TYPE_INT) {
        vector->integers = integers[column];
    } else if (vector->type == STA_TYPE_FLOAT) {
        vector->numbers = numbers[column];
    }
    return 0;
}

static void put_value(struct sta_buffer *out, const struct sta_vector *vector, uint32_t row)
{
    size_t at = vector->constant ? 0 : row;
    char text[STA_DOUBLE_TEXT];
    if (vector->type == STA_TYPE_TEXT ? vector->codes[at] == STA_NO_CODE
                                      : vector->missing != NULL && vector->missing[at]) {
        sta_put_char(out, '-');
    } else if (vector->type == STA_TYPE_TEXT) {
        struct sta_text value = sta_dictionary_text(vector->texts, vector->codes[at]);
        sta_put(out, value.bytes, value.length);
    } else if (vector->type == STA_TYPE_INT) {
        sta_put_int(out, vector->integers[at]);
    } else if (vector->type == STA_TYPE_FLOAT) {
        sta_put(out, text, sta_format_double(vector->numbers[at], text));
    } else {
        sta_put_char(out, vector->bools[at] ? 'T' : 'F');
    }
}

const char *rows_evaluate(const char *text)
{
    static char line[1024];
    struct sta_expression *expression;
    struct sta_program *program = NULL;
    struct sta_vector result;
    struct sta_evaluator *evaluator = sta_evaluator_create();
    mistake = STA_ERROR_INIT;
    int rc = sta_expression_parse(text, strlen(text), &rows_schema, &expression, &mistake);
    if (rc == 0)
        program = sta_program_create(expression);
    if (rc == 0)
        rc = sta_program_run(program, evaluator, ROWS, rows_give, NULL, &result, &mistake);
    struct sta_buffer out;
    sta_buffer_init(&out);
    if (rc != 0)
        sta_put_format(&out, "%s@%lld", sta_status_name(rc), (long long)mistake.position);
    for (uint32_t row = 0; rc == 0 && row < ROWS; row++) {
        sta_put_text(&out, row > 0 ? "|" : "");
        put_value(&out, &result, row);
    }
    snprintf(line, sizeof line, "%.*s", (int)out.size, out.data);
    sta_buffer_fini(&out);
    sta_program_destroy(program);
    sta_expression_destroy(expression);
    sta_evaluator_destroy(evaluator);
    return line;
}

const char *rows_mistake(void)
{
    return mistake.text;
}
