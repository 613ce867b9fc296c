/* Figures as columns of one row, and as words of a sentence. */
#include "findings/figures.h"

#include <math.h>
#include <string.h>

#include "analyse/expression/expression.h"
#include "common/memory.h"
#include "findings/findings.h"

/* ---- the list */

void sta_figures_fini(struct sta_figure_list *figures)
{
    sta_arena_fini(&figures->memory);
    figures->count = 0;
}

void sta_figure_add(struct sta_figure_list *figures, const char *ask, const char *name,
                    const struct sta_figure *value)
{
    char whole[160];
    if (ask != NULL)
        snprintf(whole, sizeof whole, "%.70s_%.70s", ask, name);
    else
        snprintf(whole, sizeof whole, "%.140s", name);
    if (figures->count == STA_FIGURES || sta_figure_find(figures, whole, strlen(whole)) != NULL)
        return;
    struct sta_figure *figure = &figures->items[figures->count++];
    *figure = *value;
    figure->name = sta_arena_copy(&figures->memory, whole, strlen(whole));
    if (value->text != NULL)
        figure->text = sta_arena_copy(&figures->memory, value->text, strlen(value->text));
}

void sta_figure_int(struct sta_figure_list *figures, const char *ask, const char *name, int64_t value)
{
    const struct sta_figure figure = {.type = STA_TYPE_INT, .integer = value, .number = (double)value};
    sta_figure_add(figures, ask, name, &figure);
}

void sta_figure_number(struct sta_figure_list *figures, const char *ask, const char *name, double value)
{
    const struct sta_figure figure = {
        .type = STA_TYPE_FLOAT, .number = isnan(value) ? 0 : value, .missing = isnan(value)};
    sta_figure_add(figures, ask, name, &figure);
}

void sta_figure_text(struct sta_figure_list *figures, const char *ask, const char *name, const char *text)
{
    const struct sta_figure figure = {.type = STA_TYPE_TEXT, .text = text, .missing = text == NULL};
    sta_figure_add(figures, ask, name, &figure);
}

const struct sta_figure *sta_figure_find(const struct sta_figure_list *figures, const char *name,
                                         size_t length)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strncmp(figures->items[i].name, name, length) == 0 && figures->items[i].name[length] == '\0')
            return &figures->items[i];
    return NULL;
}

/* ---- expressions */

struct row {
    const struct sta_figure_list *figures;
    struct sta_dictionary *texts;
    uint32_t codes[STA_FIGURES];
    uint8_t missing[STA_FIGURES], bools[STA_FIGURES];
};

static void make_schema(const struct sta_figure_list *figures, struct sta_schema_column *columns,
                        struct sta_schema *schema)
{
    for (size_t i = 0; i < figures->count; i++)
        columns[i] =
            (struct sta_schema_column){.name = figures->items[i].name, .type = figures->items[i].type};
    *schema = (struct sta_schema){.columns = columns, .count = figures->count};
}

static int column_of(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct row *row = context;
    const struct sta_figure *figure = &row->figures->items[column];
    (void)err;
    row->missing[column] = figure->missing;
    row->bools[column] = figure->integer != 0;
    *vector = (struct sta_vector){.type = figure->type,
                                  .constant = true,
                                  .integers = &figure->integer,
                                  .numbers = &figure->number,
                                  .bools = &row->bools[column],
                                  .missing = figure->missing ? &row->missing[column] : NULL};
    if (figure->type == STA_TYPE_TEXT) {
        row->codes[column] = figure->missing
                                 ? STA_NO_CODE
                                 : sta_dictionary_intern(row->texts, figure->text, strlen(figure->text));
        vector->codes = &row->codes[column];
        vector->texts = row->texts;
        vector->missing = NULL;
    }
    return STA_OK;
}

static void take_result(const struct sta_vector *vector, struct sta_figure *value)
{
    *value = (struct sta_figure){.type = vector->type};
    if (vector->type == STA_TYPE_TEXT) {
        value->missing = true; /* no rule compares texts beyond a condition */
        return;
    }
    value->missing = vector->missing != NULL && vector->missing[0];
    if (vector->type == STA_TYPE_FLOAT)
        value->number = vector->numbers[0];
    else
        value->integer = vector->type == STA_TYPE_BOOL ? vector->bools[0] : vector->integers[0];
    if (vector->type != STA_TYPE_FLOAT)
        value->number = (double)value->integer;
    value->missing = value->missing || !isfinite(value->number);
}

static int run_expression(const struct sta_figure_list *figures, const struct sta_expression *expression,
                          struct sta_figure *value, struct sta_error *err)
{
    struct row *row = sta_alloc(sizeof *row);
    struct sta_program *program = sta_program_create(expression);
    struct sta_evaluator *evaluator = sta_evaluator_create();
    struct sta_vector vector;
    *row = (struct row){.figures = figures, .texts = sta_dictionary_create()};
    int rc = sta_program_run(program, evaluator, 1, column_of, row, &vector, err);
    if (rc == STA_OK)
        take_result(&vector, value);
    sta_evaluator_destroy(evaluator);
    sta_program_destroy(program);
    sta_dictionary_destroy(row->texts);
    free(row);
    return rc;
}

int sta_figures_evaluate(const struct sta_figure_list *figures, const char *text, struct sta_figure *value,
                         struct sta_error *err)
{
    struct sta_schema_column columns[STA_FIGURES];
    struct sta_schema schema;
    struct sta_expression *expression;
    make_schema(figures, columns, &schema);
    int rc = sta_expression_parse(text, strlen(text), &schema, &expression, err);
    if (rc != STA_OK)
        return rc;
    rc = run_expression(figures, expression, value, err);
    sta_expression_destroy(expression);
    return rc;
}

int sta_figures_hold(const struct sta_figure_list *figures, const char *text, bool *holds,
                     struct sta_error *err)
{
    struct sta_figure value;
    int rc = sta_figures_evaluate(figures, text, &value, err);
    *holds = rc == STA_OK && !value.missing && value.number != 0;
    return rc;
}

int sta_figures_check(const struct sta_figure_list *figures, const char *text, struct sta_error *err)
{
    struct sta_schema_column columns[STA_FIGURES];
    struct sta_schema schema;
    struct sta_expression *expression;
    make_schema(figures, columns, &schema);
    int rc = sta_expression_parse(text, strlen(text), &schema, &expression, err);
    if (rc == STA_OK)
        sta_expression_destroy(expression);
    return rc;
}

/* ---- sentences */

static void put_thousands(struct sta_buffer *out, const char *digits)
{
    const size_t sign = *digits == '-';
    const size_t whole = strcspn(digits + sign, ".");
    sta_put(out, digits, sign);
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0)
            sta_put_char(out, ',');
        sta_put_char(out, digits[sign + i]);
    }
    sta_put_text(out, digits + sign + whole);
}

static void put_count(const struct sta_figure *figure, struct sta_buffer *out)
{
    char digits[400];
    if (figure->type == STA_TYPE_INT)
        snprintf(digits, sizeof digits, "%lld", (long long)figure->integer);
    else
        snprintf(digits, sizeof digits, "%.1f", figure->number);
    put_thousands(out, digits);
}

static void put_whole(double number, struct sta_buffer *out)
{
    char digits[400];
    snprintf(digits, sizeof digits, "%.0f", number);
    put_thousands(out, digits);
}

/* As the dashboard has it: "16 min 40 s", "3 h 31 min"; from a hundred hours on "250 h". */
static void put_clock(double seconds, struct sta_buffer *out)
{
    const bool hours = fabs(seconds) >= 3599.5;
    const double whole = round(hours ? seconds / 60 : seconds), count = trunc(whole / 60);
    const double rest = hours && fabs(count) >= 100 ? 0 : fabs(fmod(whole, 60));
    put_whole(count, out);
    sta_put_text(out, hours ? " h" : " min");
    if (rest > 0)
        sta_put_format(out, " %.0f %s", rest, hours ? "min" : "s");
}

static void put_time(double seconds, struct sta_buffer *out)
{
    const double size = fabs(seconds);
    if (size >= 599.5)
        put_clock(seconds, out);
    else if (size >= 100)
        sta_put_format(out, "%.0f s", seconds);
    else if (size >= 10)
        sta_put_format(out, "%.1f s", seconds);
    else if (size >= 1)
        sta_put_format(out, "%.2f s", seconds);
    else if (size >= 1e-3)
        sta_put_format(out, "%.1f ms", seconds * 1e3);
    else
        sta_put_format(out, "%.0f us", seconds * 1e6);
}

static void put_share(double percent, struct sta_buffer *out)
{
    if (fabs(percent) >= 999.5)
        put_whole(percent, out);
    else
        sta_put_format(out, "%.1f", percent);
    sta_put_text(out, " %");
}

static void put_ratio(double ratio, struct sta_buffer *out)
{
    if (fabs(ratio) >= 99.95)
        put_whole(ratio, out);
    else
        sta_put_format(out, fabs(ratio) >= 9.995 ? "%.1f" : "%.2f", ratio);
    sta_put_text(out, " x");
}

static void put_bytes(double bytes, bool rate, struct sta_buffer *out)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; fabs(bytes) >= 1024 && unit + 1 < STA_COUNT_OF(units); unit++)
        bytes /= 1024;
    sta_put_format(out, unit == 0 ? "%.0f" : "%.1f", bytes);
    sta_put_format(out, " %s%s", units[unit], rate ? "/s" : "");
}

static bool is_word(const char *unit, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(unit, word, length) == 0;
}

bool sta_is_unit(const char *unit, size_t length)
{
    static const char *const units[] = {"%", "s", "n", "x", "B", "B/s", "t"};
    for (size_t i = 0; i < STA_COUNT_OF(units); i++)
        if (is_word(unit, length, units[i]))
            return true;
    return length == 0;
}

void sta_figure_put(const struct sta_figure *figure, const char *unit, size_t length, struct sta_buffer *out)
{
    if (figure == NULL || figure->missing)
        sta_put_text(out, "unknown");
    else if (figure->type == STA_TYPE_TEXT)
        sta_put_text(out, figure->text);
    else if (is_word(unit, length, "%"))
        put_share(figure->number * 100, out);
    else if (is_word(unit, length, "s"))
        put_time(figure->number, out);
    else if (is_word(unit, length, "B") || is_word(unit, length, "B/s"))
        put_bytes(figure->number, length > 1, out);
    else if (is_word(unit, length, "x"))
        put_ratio(figure->number, out);
    else
        put_count(figure, out);
}

const char *sta_next_slot(const char *sentence, const char *at, struct sta_slot *slot)
{
    const char *open = strchr(at, '{');
    const char *end = open != NULL ? strchr(open, '}') : NULL;
    if (end == NULL)
        return NULL;
    const char *colon = memchr(open, ':', (size_t)(end - open));
    *slot = (struct sta_slot){.at = (size_t)(open - sentence), .name = open + 1};
    slot->name_length = (size_t)((colon != NULL ? colon : end) - slot->name);
    slot->unit = colon != NULL ? colon + 1 : end;
    slot->unit_length = (size_t)(end - slot->unit);
    return end + 1;
}

void sta_figures_put(const struct sta_figure_list *figures, const char *sentence, struct sta_buffer *out)
{
    const char *at = sentence, *next;
    struct sta_slot slot;
    while ((next = sta_next_slot(sentence, at, &slot)) != NULL) {
        sta_put(out, at, (size_t)(sentence + slot.at - at));
        sta_figure_put(sta_figure_find(figures, slot.name, slot.name_length), slot.unit, slot.unit_length,
                       out);
        at = next;
    }
    sta_put_text(out, at);
}
