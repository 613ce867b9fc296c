/* Requests planned without a trace. */
#include "planned.h"

#include <stdio.h>
#include <string.h>

#include "analyse/columns.h"
#include "serve/document_json.h"

static const struct sta_schema_column columns[] = {
#define X(name, type, unit, caseless, ticks_of) {#name, STA_TYPE_##type, unit, caseless, ticks_of},
    STA_LOGICAL_LIST(X)
#undef X
        {.name = "args.a~/b", .type = STA_TYPE_INT},
    {.name = "args.flag", .type = STA_TYPE_BOOL},
    {.name = "args.ratio", .type = STA_TYPE_FLOAT},
    {.name = "args.tag", .type = STA_TYPE_TEXT},
};
const struct sta_schema planned_events = {columns, STA_COUNT_OF(columns)};

static const struct sta_query_trace runs[] = {{.label = "base"}, {.label = "next"}};

void planned_init(struct planned *planned, const char *json, const struct sta_schema *schema)
{
    struct sta_document *request;
    *planned = (struct planned){.err = STA_ERROR_INIT};
    planned->status =
        sta_document_parse(json, strlen(json), "The request", &planned->memory, &request, &planned->err);
    if (planned->status != 0)
        return;
    struct sta_query query = {.traces = runs, .trace_count = STA_COUNT_OF(runs), .request = request};
    planned->status = sta_plan_begin(&query, &planned->plan, &planned->err);
    if (planned->status == 0)
        planned->status = sta_plan_stages(&query, schema, &planned->plan, &planned->err);
}

void planned_fini(struct planned *planned)
{
    sta_plan_fini(&planned->plan);
    sta_arena_fini(&planned->memory);
}

const char *planned_mistake(const struct planned *planned)
{
    static char line[512];
    const struct sta_error *err = &planned->err;
    if (planned->status == 0)
        return "";
    if (err->position < 0)
        snprintf(line, sizeof line, "%s %s", sta_status_name(err->status), err->parameter);
    else
        snprintf(line, sizeof line, "%s %s %lld", sta_status_name(err->status), err->parameter,
                 (long long)err->position);
    return line;
}
