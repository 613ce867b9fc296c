/* The columns that a query may name, and the values of one. */
#include <string.h>

#include "serve/views.h"

static struct sta_columns_question question_of(const struct sta_view *view)
{
    return (struct sta_columns_question){.snapshot = view->snapshot,
                                         .label = view->traces[0].label,
                                         .presets = view->presets,
                                         .preset = view->values[STA_PARAMETER_TRACED_PRESET].text};
}

static int describe(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                    struct sta_error *err)
{
    struct sta_columns_question question = question_of(view);
    struct sta_table table;
    int status = sta_columns_describe(&question, budget, &table, err);
    if (status == STA_OK)
        *result = sta_result_of_table(&table, NULL, NULL);
    return status;
}

const struct sta_view_kind sta_view_columns = {.name = "columns",
                                               .labelled = true,
                                               .arranged = true,
                                               .key_values = STA_HAS(TRACED_PRESET),
                                               .result = describe};

static int list_values(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                       struct sta_error *err)
{
    struct sta_columns_question question = question_of(view);
    struct sta_table table;
    int status = sta_column_values(&question, view->part, view->values[STA_PARAMETER_PREFIX].text,
                                   view->server->options.rows, budget, &table, err);
    if (status == STA_OK)
        *result = sta_result_of_table(&table, NULL, NULL);
    return status;
}

const struct sta_view_kind sta_view_column_values = {.name = "column_values",
                                                     .labelled = true,
                                                     .arranged = true,
                                                     .key_values = STA_HAS(TRACED_PRESET) | STA_HAS(PREFIX),
                                                     .result = list_values};
