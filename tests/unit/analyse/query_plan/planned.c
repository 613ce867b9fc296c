/* Requests planned without a trace. */
#include "planned.h"

#include <stdio.h>
#include <string.h>

#include "analyse/sources/columns.h"
#include "serve/formats/document_json.h"

static const struct sta_schema_column columns[] = {
#define X(name, type, unit, caseless, ticks_of) {#name, STA_TYPE_##type, unit, caseless, ticks_of, 0},
    STA_LOGICAL_LIST(X)
#undef X
#define X(name, text) {text, STA_TYPE_INT, NULL, false, NULL, 0},
        STA_LOGICAL_TICKS_LIST(X)
#undef X
            {.name = "args.flag", .type = STA_TYPE_BOOL},
    {.name = "args.ratio", .type = STA_TYPE_FLOAT},
    {.name = "args.epoch", .type = STA_TYPE_TEXT},
    {.name = "args.big", .type = STA_TYPE_TEXT},
    {.name = "args.some-key", .type = STA_TYPE_TEXT},
    {.name = "args.cmd_hash", .type = STA_TYPE_TEXT},
    {.name = "args.whence", .type = STA_TYPE_INT},
    {.name = "args.ret", .type = STA_TYPE_INT},
};
const struct sta_schema planned_events = {columns, STA_COUNT_OF(columns)};

struct sta_document *planned_read(struct planned *planned, const char *json, size_t size)
{
    struct sta_document *document = NULL;
    planned->err = STA_ERROR_INIT;
    planned->status =
        sta_document_parse(json, size, "The request", &planned->memory, &document, &planned->err);
    return document;
}

void planned_request(struct planned *planned, const struct sta_document *request, const char *const *labels,
                     size_t label_count)
{
    struct sta_query_trace *runs =
        sta_arena_alloc(&planned->memory, label_count * sizeof *runs, _Alignof(struct sta_query_trace));
    for (size_t i = 0; i < label_count; i++)
        runs[i] = (struct sta_query_trace){.label = labels[i]};
    struct sta_query query = {.traces = runs, .trace_count = label_count, .request = request};
    planned->status = sta_plan_begin(&query, &planned->plan, &planned->err);
    if (planned->status == 0)
        planned->status = sta_plan_stages(&query, &planned_events, &planned->plan, &planned->err);
}

void planned_init(struct planned *planned, const char *json)
{
    static const char *const labels[] = {"base", "next"};
    *planned = (struct planned){.status = 0};
    const struct sta_document *request = planned_read(planned, json, strlen(json));
    if (request != NULL)
        planned_request(planned, request, labels, STA_COUNT_OF(labels));
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
