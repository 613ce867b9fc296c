/* What the columns of layered tables mean. */
#include <string.h>

#include "serve/api/routes.h"

static void put_definitions(struct sta_buffer *out, const struct sta_table *table)
{
    sta_put_member(out, "definitions");
    sta_put_char(out, '[');
    for (size_t row = 0; row < table->rows; row++) {
        sta_put_text(out, row > 0 ? ",\n{" : "\n{");
        for (size_t c = 0; c < table->column_count; c++) {
            const struct sta_table_column *column = &table->columns[c];
            sta_put_member_text(out, column->name, column->missing[row] ? NULL : column->texts[row].bytes);
        }
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

/* @name: NULL: all. */
static int explain(struct sta_call *call, const char *name, struct sta_response *response,
                   struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    struct sta_table table;
    int status = STA_OK;
    sta_metrics_explain(presets, name, &table);
    sta_put_char(&response->body, '{');
    if (name != NULL)
        sta_put_member_text(&response->body, "name", name);
    put_definitions(&response->body, &table);
    sta_put_char(&response->body, '}');
    if (table.rows == 0)
        status = sta_fail(err, STA_ENOTFOUND,
                          "No layered table has a column \"%.60s\"; /api/v1/metrics lists all", name);
    sta_table_fini(&table);
    sta_presets_release(presets);
    return status;
}

int sta_api_metrics_explained(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    return explain(call, NULL, response, err);
}

int sta_api_metric_explained(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    return explain(call, call->captures[0], response, err);
}
