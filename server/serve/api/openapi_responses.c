/* The responses of an operation in the OpenAPI document: which statuses it may have, and which headers. */
#include "serve/api/openapi.h"

#include <string.h>

#include "common/memory.h"
#include "serve/api/schemas.h"

/* ---- which */

static bool is_always(const struct sta_route *route)
{
    return true;
}

static bool has_path_part(const struct sta_route *route)
{
    return strchr(route->path, '{') != NULL;
}

static bool needs_token(const struct sta_route *route)
{
    return route->role != STA_ROLE_NONE || route->method == STA_POST;
}

/* A role that not every token has, a page of another origin that wants to change something, or a folder
 * outside the roots. */
static bool may_be_forbidden(const struct sta_route *route)
{
    return route->role > STA_ROLE_VIEWER || route->method != STA_GET ||
           (route->parameters & STA_HAS(PATH)) != 0;
}

static bool is_query(const struct sta_route *route)
{
    return route->place == STA_QUESTION;
}

static bool may_conflict(const struct sta_route *route)
{
    return is_query(route) || (route->audit != NULL && has_path_part(route)) || route->status == 202;
}

static bool has_pages(const struct sta_route *route)
{
    return (sta_route_parameters(route) & STA_HAS(CURSOR)) != 0;
}

static bool has_body(const struct sta_route *route)
{
    return route->body != NULL;
}

static bool writes_files(const struct sta_route *route)
{
    return is_query(route) || route->body != NULL;
}

/* A limit that the request meets by itself is 413, 422 or 431: the same again meets it again.  One that it
 * meets since others are at work, or since time is over, is 429 or 503. */
static const char past_limit[] = "A limit was exceeded: what is asked for takes more than a setting allows, "
                                 "which the detail names; or the "
                                 "trace lacks what the response needs, and `reason` says what";
static const char later[] =
    "Try again later: others use the memory or the places, the system has no memory, the "
    "time of `query_timeout` is over, or the daemon is stopping";

/* Headers beside X-Request-Id, which every response has; a text where the title does not say enough. */
static const struct problem {
    int status;
    bool (*applies)(const struct sta_route *route);
    const char *header, *text;
} problems[] = {
    {400, is_always, NULL, NULL},          {401, needs_token, "WWW-Authenticate", NULL},
    {403, may_be_forbidden, NULL, NULL},   {404, has_path_part, NULL, NULL},
    {409, may_conflict, NULL, NULL},       {410, has_pages, NULL, NULL},
    {413, has_body, NULL, NULL},           {415, has_body, NULL, NULL},
    {421, is_always, NULL, NULL},          {422, is_query, NULL, past_limit},
    {429, is_always, "Retry-After", NULL}, {431, is_always, NULL, NULL},
    {500, is_always, NULL, NULL},          {503, is_always, "Retry-After", later},
    {507, writes_files, NULL, NULL},
};

/* ---- headers */

static const struct header {
    const char *name, *text, *example;
} headers[] = {
    {"X-Request-Id", "Names the request in the daemon's log.", "5f3a9c21-12b"},
    {"ETag", "Of these very bytes; If-None-Match with it gives 304 while they are the same.",
     "\\\"0123456789abcdef0123456789abcdef\\\""},
    {"Location", "Where the trace is described.", "/api/v1/traces/0f1e2d3c4b5a6978"},
    {"Retry-After", "Seconds after which to ask again.", "1"},
    {"WWW-Authenticate", "How to say who calls.", "Bearer realm=\\\"strata\\\""},
    {"Strata-Missing", "What the response lacks, which was asked for with partial=true.",
     "segments=1, events=65536"},
    {"Link", "Of a page of a table that has a next one, asked by GET: its address.",
     "<?limit=1000&cursor=AYarYolpw8xI>; rel=\\\"next\\\""},
    {"Content-Disposition", "Of a form that is no JSON: the name of its file.",
     "attachment; filename=\\\"unet3d-summary.csv\\\""},
    {"Server-Timing", "Milliseconds from the request to the response.", "total;dur=12.5"},
    {"Set-Cookie", "The session; its name holds this daemon's port and store.",
     "strata_session_7878_0123456789abcdef=..; Path=/; HttpOnly; SameSite=Strict"},
};

static void put_header(struct sta_buffer *out, const char *name)
{
    sta_put_member(out, name);
    sta_put_format(out, "{\"$ref\":\"#/components/headers/%s\"}", name);
}

static bool has_etag(const struct sta_route *route)
{
    return is_query(route) || (route->method == STA_GET && !route->no_store);
}

static void put_success_headers(struct sta_buffer *out, const struct sta_route *route, int status)
{
    sta_put_text(out, ",\"headers\":{");
    put_header(out, "X-Request-Id");
    put_header(out, "Server-Timing");
    if (route->tabular)
        put_header(out, "Content-Disposition");
    if (route->tabular && route->method == STA_GET)
        put_header(out, "Link");
    if (has_etag(route))
        put_header(out, "ETag");
    if (is_query(route))
        put_header(out, "Strata-Missing");
    if (route->response != NULL && strcmp(route->response, "trace_accepted") == 0)
        put_header(out, "Location");
    if (strcmp(route->path, "/api/v1/session") == 0 && route->method != STA_GET)
        put_header(out, "Set-Cookie");
    sta_put_char(out, '}');
}

/* ---- responses */

static const char *describe(int status)
{
    switch (status) {
    case 201:
        return "Created";
    case 202:
        return "Accepted: work goes on in a job";
    case 204:
        return "Done";
    case 304:
        return "What the client has is what there is";
    default:
        return "The response";
    }
}

/* A form beside JSON that is text. */
static void put_text_media(struct sta_buffer *out, const char *content_type)
{
    sta_put_char(out, ',');
    sta_put_json_string(out, content_type, strcspn(content_type, ";"));
    sta_put_text(out, ":{\"schema\":{\"type\":\"string\"}}");
}

static void put_content(struct sta_buffer *out, const struct sta_route *route)
{
    if (route->response != NULL) {
        sta_put_text(out, ",\"content\":{\"application/json\":");
        sta_openapi_put_media(out, route->response);
        if (route->tabular)
            sta_put_text(out, ",\"text/csv\":{\"schema\":{\"type\":\"string\"}},"
                              "\"application/x-ndjson\":{\"schema\":{\"type\":\"string\"}},"
                              "\"application/vnd.apache.arrow.stream\":{\"schema\":{\"type\":\"string\"}}");
        if (route->content_type != NULL)
            put_text_media(out, route->content_type);
        sta_put_char(out, '}');
    } else if (route->content_type != NULL) {
        size_t length = strcspn(route->content_type, ";");
        sta_put_text(out, ",\"content\":{");
        sta_put_json_string(out, route->content_type, length);
        sta_put_text(out, ":{\"schema\":{\"type\":\"string\"}}}");
    }
}

static void put_success(struct sta_buffer *out, const struct sta_route *route, int status)
{
    sta_put_format(out, "\"%d\":{\"description\":", status);
    sta_put_json_text(out, describe(status));
    put_success_headers(out, route, status);
    if (status != 304)
        put_content(out, route);
    sta_put_char(out, '}');
}

void sta_openapi_put_responses(struct sta_buffer *out, const struct sta_route *route)
{
    const int statuses[] = {route->status ? route->status : 200, route->other_status,
                            has_etag(route) && route->method == STA_GET ? 304 : 0};
    sta_begin_object(out, "responses");
    for (size_t i = 0; i < STA_COUNT_OF(statuses); i++)
        if (statuses[i] != 0) {
            sta_put_text(out, i > 0 ? "," : "");
            put_success(out, route, statuses[i]);
        }
    for (size_t i = 0; i < STA_COUNT_OF(problems); i++)
        if (problems[i].applies(route))
            sta_put_format(out, ",\"%d\":{\"$ref\":\"#/components/responses/problem_%d\"}",
                           problems[i].status, problems[i].status);
    sta_put_text(out, ",\"default\":{\"$ref\":\"#/components/responses/problem\"}}");
}

/* ---- what operations refer to */

static void put_problem(struct sta_buffer *out, const char *name, const char *title, const char *header)
{
    sta_begin_object(out, name);
    sta_put_member_text(out, "description", title);
    sta_put_text(out, ",\"headers\":{");
    put_header(out, "X-Request-Id");
    put_header(out, "Server-Timing");
    if (header != NULL)
        put_header(out, header);
    sta_put_text(out, "},\"content\":{\"application/problem+json\":");
    sta_openapi_put_media(out, "problem");
    sta_put_text(out, "}}");
}

void sta_openapi_put_shared_responses(struct sta_buffer *out)
{
    sta_put_text(out, "\"headers\":{");
    for (size_t i = 0; i < STA_COUNT_OF(headers); i++) {
        sta_put_member(out, headers[i].name);
        sta_put_format(out, "{\"description\":\"%s\",\"schema\":{\"type\":\"string\"},\"example\":\"%s\"}",
                       headers[i].text, headers[i].example);
    }
    sta_put_text(out, "},\"responses\":{");
    put_problem(out, "problem", "What went wrong (RFC 9457)", NULL);
    for (size_t i = 0; i < STA_COUNT_OF(problems); i++) {
        char name[32];
        snprintf(name, sizeof name, "problem_%d", problems[i].status);
        const char *title = sta_problem_title(problems[i].status);
        put_problem(out, name, problems[i].text != NULL ? problems[i].text : title, problems[i].header);
    }
    sta_put_char(out, '}');
}
