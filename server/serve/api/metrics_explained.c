/* What the columns of layered tables mean. */
#include <string.h>

#include "serve/api/routes.h"

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
    sta_put_member_rows(&response->body, "definitions", &table);
    sta_put_char(&response->body, '}');
    if (name != NULL && table.rows == 0)
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
