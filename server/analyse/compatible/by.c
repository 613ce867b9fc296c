/* Values of a view, and the rows of a layer in their order. */
#include "analyse/compatible/by.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/layers/conditions.h"
#include "analyse/operators/radix.h"
#include "common/buffer.h"
#include "common/memory.h"

/* What each preset has of these, unless it says otherwise. */
static const struct sta_named_expression standard_views[] = {
    {(char *)"host_name", (char *)"part(proc_name, \"#\", 1)"},
    {(char *)"proc_id", (char *)"part(proc_name, \"#\", 2)"},
    {(char *)"thread_id", (char *)"part(proc_name, \"#\", 3)"}};

static const struct sta_named_expression *find_view(const struct sta_named_expression *views, size_t count,
                                                    const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}

/* Text of a view's expression, or NULL: there is no such view. */
static const char *expression_of(const struct sta_preset *preset, const char *name)
{
    const struct sta_named_expression *view = find_view(preset->views, preset->view_count, name);
    if (view == NULL)
        view = find_view(standard_views, STA_COUNT_OF(standard_views), name);
    return view != NULL ? view->expression : NULL;
}

/* ---- expressions */

/* Parses the expression of a view; what is no text becomes one. */
static int parse(const char *text, struct sta_expression **expression, struct sta_error *err)
{
    int rc = sta_expression_parse(text, strlen(text), &sta_standard_schema, expression, err);
    if (rc != 0 || (*expression)->type == STA_TYPE_TEXT)
        return rc;
    sta_expression_destroy(*expression);
    char *as_text = sta_sprintf("str(%s)", text);
    rc = sta_expression_parse(as_text, strlen(as_text), &sta_standard_schema, expression, err);
    free(as_text);
    return rc;
}

/* The axis that an expression is derived from, STA_AXES when it is from none. */
static enum sta_axis axis_of(const struct sta_expression *expression)
{
    if (expression->column_count != 1)
        return STA_AXES;
    if (expression->columns[0] == STA_LOGICAL_file_name)
        return STA_AXIS_FILE;
    return expression->columns[0] == STA_LOGICAL_proc_name ? STA_AXIS_PROC : STA_AXES;
}

/* The names of an axis, as a column: codes first .. first + rows - 1. */
struct names {
    const struct sta_axes *axes;
    enum sta_axis axis;
    uint32_t *codes;
};

static int give_names(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct names *names = context;
    *vector = (struct sta_vector){
        .type = STA_TYPE_TEXT, .codes = names->codes, .texts = names->axes->texts[names->axis]};
    return 0;
}

/* Sets by->value_of_rank to codes of what was interned. */
static int evaluate(struct sta_by *by, const struct sta_axes *axes, struct sta_program *program,
                    const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_evaluator *evaluator = sta_evaluator_create();
    struct names names = {axes, by->axis, NULL};
    uint32_t count = axes->count[by->axis];
    int rc = 0;
    for (uint32_t first = 0; rc == 0 && first < count; first += STA_VECTOR_ROWS) {
        struct sta_vector result;
        uint32_t rows = STA_MIN(count - first, (uint32_t)STA_VECTOR_ROWS);
        names.codes = axes->values[by->axis] + first;
        rc = sta_program_run(program, evaluator, rows, give_names, &names, &result, err);
        for (uint32_t i = 0; rc == 0 && i < rows; i++) {
            uint32_t code =
                result.type == STA_TYPE_NULL ? STA_NO_CODE : result.codes[result.constant ? 0 : i];
            if (code != STA_NO_CODE) {
                struct sta_text text = sta_dictionary_text(result.texts, code);
                code = sta_dictionary_intern(by->texts, text.bytes, text.length);
            }
            by->value_of_rank[first + i] = code;
        }
        if (rc == 0)
            rc = sta_budget_check(budget, err);
    }
    sta_evaluator_destroy(evaluator);
    return rc;
}

static int derive(struct sta_by *by, const struct sta_axes *axes, const struct sta_expression *expression,
                  const struct sta_budget *budget, struct sta_error *err)
{
    const size_t ranks = axes->count[by->axis];
    by->texts = sta_dictionary_create_in(budget->account);
    by->value_of_rank = sta_pool_take(&by->pool, ranks + 1, sizeof *by->value_of_rank, "names", err);
    if (by->value_of_rank == NULL)
        return sta_error_wrap(err, "view %s", by->name);
    struct sta_program *program = sta_program_create(expression);
    int rc = evaluate(by, axes, program, budget, err);
    sta_program_destroy(program);
    if (rc == 0)
        rc = sta_rank_texts(by->texts, by->value_of_rank, ranks, &by->codes, &by->count, &by->pool, err);
    return rc == 0 ? 0 : sta_error_wrap(err, "view %s", by->name);
}

struct sta_text sta_by_text(const struct sta_by *by, const struct sta_axes *axes, uint32_t value)
{
    return by->logical ? sta_dictionary_text(by->texts, by->codes[value])
                       : sta_axes_text(axes, by->axis, value);
}

/* ---- names */

/* The axis of a view, or STA_AXES when the tables at hand do not know it. */
static enum sta_axis axis_of_name(const struct sta_axes *axes, const struct sta_preset *preset,
                                  const char *name)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_expression *expression;
    for (int axis = 0; axis < STA_AXES; axis++)
        if (strcmp(sta_axis_names[axis], name) == 0)
            return axes->grouped[axis] ? (enum sta_axis)axis : STA_AXES;
    const char *text = expression_of(preset, name);
    if (text == NULL || parse(text, &expression, &ignored) != 0)
        return STA_AXES;
    enum sta_axis axis = axis_of(expression);
    sta_expression_destroy(expression);
    return axis != STA_AXES && axes->grouped[axis] ? axis : STA_AXES;
}

static int unknown(const struct sta_axes *axes, const struct sta_preset *preset, const char *name,
                   struct sta_error *err)
{
    size_t count = 0;
    const char **allowed =
        sta_alloc_array(STA_AXES + preset->view_count + STA_COUNT_OF(standard_views), sizeof *allowed);
    for (int axis = 0; axis < STA_AXES; axis++)
        if (axes->grouped[axis])
            allowed[count++] = sta_axis_names[axis];
    for (size_t i = 0; i < preset->view_count; i++)
        if (axis_of_name(axes, preset, preset->views[i].name) != STA_AXES)
            allowed[count++] = preset->views[i].name;
    for (size_t i = 0; i < STA_COUNT_OF(standard_views); i++)
        if (find_view(preset->views, preset->view_count, standard_views[i].name) == NULL)
            allowed[count++] = standard_views[i].name;
    int rc = sta_not_among(err, "/by", "view", name, allowed, sizeof *allowed, count);
    free(allowed);
    return rc;
}

int sta_by_init(struct sta_by *by, const char *name, const struct sta_axes *axes,
                const struct sta_preset *preset, const struct sta_budget *budget, struct sta_error *err)
{
    *by = (struct sta_by){.name = name,
                          .pool = {.budget = budget},
                          .axis = name != NULL ? axis_of_name(axes, preset, name) : STA_AXES};
    if (by->axis == STA_AXES)
        return unknown(axes, preset, name, err);
    by->logical = strcmp(sta_axis_names[by->axis], name) != 0;
    by->count = axes->count[by->axis];
    if (!by->logical)
        return 0;
    struct sta_expression *expression;
    int rc = parse(expression_of(preset, name), &expression, err);
    if (rc != 0)
        return rc;
    rc = derive(by, axes, expression, budget, err);
    sta_expression_destroy(expression);
    return rc;
}

void sta_by_fini(struct sta_by *by)
{
    sta_dictionary_destroy(by->texts);
    sta_pool_fini(&by->pool);
}

/* ---- rows */

/* Rows as (value, process and row): those of one process keep the order of the main view. */
static size_t list_rows(const struct sta_by *by, const struct sta_main_rows *rows,
                        struct sta_word_pair *items)
{
    const struct sta_axes *axes = rows->hlm->axes;
    size_t count = 0;
    for (size_t row = 0; row < rows->count; row++) {
        uint32_t rank = sta_axes_of(axes, by->axis, rows->keys[row]);
        uint32_t value = by->logical ? by->value_of_rank[rank] : rank;
        uint64_t process = sta_axes_of(axes, STA_AXIS_PROC, rows->keys[row]);
        if (value != STA_NO_CODE)
            items[count++] = (struct sta_word_pair){value, process << 32 | row};
    }
    return count;
}

/* Groups rows that are in order. */
static void group_rows(struct sta_by_rows *by_rows, const struct sta_by *by,
                       const struct sta_word_pair *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool new_value = i == 0 || items[i].major != items[i - 1].major;
        by_rows->order[i] = (uint32_t)items[i].minor;
        if (new_value || sta_by_units_are_rows(by) || items[i].minor >> 32 != items[i - 1].minor >> 32)
            by_rows->unit_start[by_rows->unit_count++] = (uint32_t)i;
        if (!new_value)
            continue;
        by_rows->value_start[by_rows->count] = (uint32_t)by_rows->unit_count - 1;
        by_rows->values[by_rows->count++] = (uint32_t)items[i].major;
    }
    by_rows->unit_start[by_rows->unit_count] = (uint32_t)count;
    by_rows->value_start[by_rows->count] = (uint32_t)by_rows->unit_count;
}

int sta_by_rows_init(struct sta_by_rows *by_rows, const struct sta_by *by, struct sta_main_rows *rows,
                     const struct sta_budget *budget, struct sta_error *err)
{
    static const char what[] = "the rows of a view";
    const size_t most = rows->count + 1;
    *by_rows = (struct sta_by_rows){0};
    by_rows->order = sta_pool_take(&rows->pool, most, sizeof *by_rows->order, what, err);
    by_rows->unit_start = sta_pool_take(&rows->pool, most, sizeof *by_rows->unit_start, what, err);
    by_rows->value_start = sta_pool_take(&rows->pool, most, sizeof *by_rows->value_start, what, err);
    by_rows->values = sta_pool_take(&rows->pool, most, sizeof *by_rows->values, what, err);
    struct sta_word_pair *items = sta_account_alloc(budget->account, most, 2 * sizeof *items, what, err);
    int rc = by_rows->order == NULL || by_rows->unit_start == NULL || by_rows->value_start == NULL ||
                     by_rows->values == NULL || items == NULL
                 ? err->status
                 : 0;
    if (rc == 0) {
        size_t count = list_rows(by, rows, items);
        rc = sta_radix_failed(sta_radix_sort_pairs(items, items + most, count, budget->cancel), "rows", count,
                              err);
        if (rc == 0)
            group_rows(by_rows, by, items, count);
    }
    sta_account_free(budget->account, items);
    return rc;
}
