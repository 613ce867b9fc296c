/* Counters: as columns of a time series, and as a list beside the columns of events. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/response.h"
#include "serve/responses/views.h"

int sta_counters_result(struct sta_view *view, const struct sta_series *series,
                        const struct sta_budget *budget, struct sta_result **result, struct sta_error *err)
{
    static const struct {
        unsigned parameter;
        const char *pointer;
    } others[] = {{STA_PARAMETER_LAYERS, "/layer"},
                  {STA_PARAMETER_METRICS, "/metrics"},
                  {STA_PARAMETER_FILTER, "/filter"}};
    struct sta_view_query query = sta_view_query_of(view);
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    size_t count;
    if (strcmp(view->values[STA_PARAMETER_SEMANTICS].text, "exact") != 0)
        return sta_fail_at(err, STA_EINPUT, "/semantics", "Counters are exact; there are no compatible ones");
    for (size_t i = 0; i < STA_COUNT_OF(others); i++)
        if (view->values[others[i].parameter].given)
            return sta_fail_at(err, STA_EINPUT, others[i].pointer,
                               "Counters are of no layer and no event; ask without %s",
                               others[i].pointer + 1);
    const char **counters = sta_view_list(view, view->values[STA_PARAMETER_COUNTERS].text, &count);
    int status = sta_counter_series(&query, series, counters, count, budget, &table, &facts, err);
    if (status == STA_OK)
        *result = sta_view_result(view, &table, &facts);
    free(counters);
    return status;
}

/* ---- the list */

static void put_rows(const struct sta_table *table, struct sta_buffer *out)
{
    for (size_t row = 0; row < table->rows; row++) {
        sta_put_text(out, row > 0 ? ", {" : "{");
        for (size_t c = 0; c < table->column_count; c++) {
            const struct sta_table_column *column = &table->columns[c];
            sta_put_format(out, "%s\"%s\": ", c > 0 ? ", " : "", column->name);
            if (column->missing[row]) /* a mean that does not fit a double */
                sta_put_text(out, "null");
            else if (column->type == STA_TYPE_TEXT)
                sta_put_json_string(out, column->texts[row].bytes, column->texts[row].length);
            else if (column->type == STA_TYPE_INT)
                sta_put_int(out, column->integers[row]);
            else
                sta_put_double(out, column->numbers[row]);
        }
        sta_put_char(out, '}');
    }
}

int sta_put_counters(const struct sta_view *view, const struct sta_budget *budget, struct sta_buffer *out,
                     struct sta_error *err)
{
    struct sta_table table = {0};
    int status = STA_OK;
    if (sta_snapshot_has_counters(view->snapshot))
        status = sta_counters_list(view->snapshot, budget, &table, err);
    if (status != STA_OK)
        return status;
    sta_begin_list(out, "counters");
    put_rows(&table, out);
    sta_put_char(out, ']');
    sta_table_fini(&table);
    return STA_OK;
}
