/* What every request passes before its handler: host, route, access, origin, parameters; and what every
 * response passes after. */
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/memory.h"
#include "serve/api/routes.h"
#include "serve/responses/views.h"

/* ---- responding */

/* What a client did wrong is no news; what this daemon could not do is. */
static void log_failure(const struct sta_call *call, int http_status, const char *detail)
{
    if (http_status == 500 || http_status == 507)
        sta_log(STA_LOG_ERROR, "Request failed", "call", call->route->id, "cause", detail, NULL);
}

void sta_call_respond(struct sta_call *call, int status, struct sta_response *response,
                      const struct sta_error *err, bool parked)
{
    if (status != STA_OK) {
        struct sta_problem problem = sta_problem_of(err);
        log_failure(call, problem.status, problem.detail);
        sta_response_problem(response, &problem);
    } else if (response->body.failed) {
        sta_response_problem(
            response, &(struct sta_problem){503, "The response does not fit into memory", NULL, -1, NULL});
    }
    struct sta_http_response *sealed = sta_response_seal(response, call->exchange);
    sta_response_fini(response);
    if (parked)
        sta_exchange_finish(call->exchange, sealed);
    else
        sta_exchange_response(call->exchange, sealed);
}

void sta_call_fail(struct sta_call *call, const struct sta_error *err, bool parked)
{
    struct sta_response response;
    sta_response_init(&response);
    sta_call_respond(call, err->status, &response, err, parked);
}

static void refuse(struct sta_call *call, const struct sta_problem *problem, const char *header,
                   const char *value)
{
    struct sta_response response;
    sta_response_init(&response);
    sta_response_problem(&response, problem);
    if (header != NULL)
        sta_response_header(&response, header, value);
    sta_exchange_response(call->exchange, sta_response_seal(&response, call->exchange));
    sta_response_fini(&response);
}

static void refuse_simply(struct sta_call *call, int status, const char *detail)
{
    refuse(call, &(struct sta_problem){status, detail, NULL, -1, NULL}, NULL, NULL);
}

/* ---- running handlers */

/* @account: is charged with the response; NULL: nobody is. */
static void handle(struct sta_call *call, struct sta_account *account, bool parked)
{
    struct sta_response response;
    struct sta_error err = STA_ERROR_INIT;
    sta_response_init(&response);
    response.no_store = call->route->no_store;
    response.body.account = account;
    int status = call->route->handle(call, &response, &err);
    sta_call_respond(call, status, &response, &err, parked);
}

static void run_io_task(void *context, bool dropped)
{
    struct sta_call *call = context;
    struct sta_error err = STA_ERROR_INIT;
    if (!dropped) {
        handle(call, call->server->options.account, true);
    } else {
        sta_fail(&err, STA_EBUSY, "The daemon is stopping");
        sta_call_fail(call, &err, true);
    }
    free(call);
}

static void send_io_task(const struct sta_call *given)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_call *call = sta_alloc(sizeof *call);
    *call = *given;
    sta_exchange_park(call->exchange, NULL, NULL);
    if (sta_workers_submit(call->server->tasks, run_io_task, call, &err) == STA_OK)
        return;
    sta_call_fail(call, &err, true);
    free(call);
}

static void run(struct sta_call *call)
{
    switch (call->route->place) {
    case STA_INLINE:
        handle(call, NULL, false);
        break;
    case STA_IO_TASK:
        send_io_task(call);
        break;
    case STA_QUESTION:
        sta_view_respond(call);
        break;
    case STA_CUSTOM:
        call->route->arrange(call);
        break;
    }
}

/* ---- what is checked before; each returns false when it has responded */

static bool check_host(struct sta_call *call)
{
    const char *host = sta_exchange_host(call->exchange);
    if (sta_access_host_known(call->server->access, host))
        return true;
    refuse_simply(call, 421,
                  "The Host header does not name this daemon; further names are the setting hosts");
    return false;
}

/* Without a tokens file other users of the machine learn only whether the daemon lives. */
static bool check_client(struct sta_call *call, const char *path)
{
    char detail[240], owner[80] = "whose connection this is could not be found out";
    const struct sta_client *client = sta_exchange_client(call->exchange);
    if (sta_access_serves(call->server->access, client) || strcmp(path, STA_HEALTH_PATH) == 0)
        return true;
    if (client->owner == STA_OWNER_OTHER)
        snprintf(owner, sizeof owner, "this connection belongs to uid %u", (unsigned)client->uid);
    snprintf(detail, sizeof detail,
             "Without a tokens file this daemon serves only its own user and root, and %s (settings tokens, "
             "loopback)",
             owner);
    refuse_simply(call, 401, detail);
    return false;
}

/* Marks the response for the browser when the origin may read it. */
static bool is_allowed_origin(struct sta_call *call)
{
    const char *origin = sta_exchange_header(call->exchange, "Origin");
    if (origin == NULL || !sta_access_origin_allowed(call->server->access, origin))
        return false;
    sta_exchange_add_header(call->exchange, "Access-Control-Allow-Origin", origin);
    sta_exchange_add_header(
        call->exchange, "Access-Control-Expose-Headers",
        "Content-Disposition, ETag, Link, Location, Retry-After, Server-Timing, X-Request-Id");
    return true;
}

static void send_options(struct sta_call *call, unsigned allowed, bool cors)
{
    char methods[STA_METHODS_TEXT];
    struct sta_response response;
    sta_route_methods(allowed, methods);
    sta_response_init(&response);
    response.status = 204;
    sta_response_header(&response, "Allow", methods);
    if (cors) {
        sta_response_header(&response, "Access-Control-Allow-Methods", methods);
        sta_response_header(&response, "Access-Control-Allow-Headers",
                            "Authorization, Content-Type, If-None-Match");
        sta_response_header(&response, "Access-Control-Max-Age", "600");
    }
    sta_exchange_response(call->exchange, sta_response_seal(&response, call->exchange));
    sta_response_fini(&response);
}

static bool is_reading(enum sta_method method)
{
    return method == STA_GET || method == STA_HEAD || method == STA_OPTIONS;
}

static bool check_role(struct sta_call *call)
{
    char detail[200];
    struct sta_exchange *exchange = call->exchange;
    enum sta_role needed = call->route->role;
    call->identity = sta_access_identify(call->server->access, sta_exchange_client(exchange),
                                         sta_exchange_header(exchange, "Authorization"),
                                         sta_exchange_header(exchange, "Cookie"));
    sta_call_note_user(call);
    if (call->identity.role >= needed)
        return true;
    bool known = call->identity.role != STA_ROLE_NONE;
    if (known)
        snprintf(detail, sizeof detail, "This needs the role %s; the token \"%s\" has the role %s",
                 sta_role_name(needed), call->identity.name, sta_role_name(call->identity.role));
    else
        snprintf(detail, sizeof detail,
                 "This needs the role %s: send a token as \"Authorization: Bearer ..\", or sign in",
                 sta_role_name(needed));
    refuse_simply(call, known ? 403 : 401, detail);
    return false;
}

static bool check_origin(struct sta_call *call)
{
    struct sta_exchange *exchange = call->exchange;
    if (is_reading(sta_exchange_method(exchange)) ||
        sta_access_origin_may_write(call->server->access, sta_exchange_header(exchange, "Origin"),
                                    sta_exchange_host(exchange),
                                    sta_exchange_header(exchange, "Sec-Fetch-Site")))
        return true;
    refuse_simply(call, 403, "Pages of this origin may not change anything here (setting cors_origins)");
    return false;
}

static bool fail_call(struct sta_call *call, const struct sta_error *err)
{
    struct sta_problem problem = sta_problem_of(err);
    refuse(call, &problem, NULL, NULL);
    return false;
}

static bool copy_captures(struct sta_call *call, const struct sta_capture captures[STA_CAPTURES])
{
    struct sta_error err = STA_ERROR_INIT;
    for (size_t i = 0; i < STA_CAPTURES && captures[i].text; i++) {
        char *to = call->captures[i];
        if (captures[i].length >= sizeof call->captures[i]) {
            sta_fail(&err, STA_ENOTFOUND, "A part of the path has more than %zu characters",
                     sizeof call->captures[i] - 1);
            return fail_call(call, &err);
        }
        memcpy(to, captures[i].text, captures[i].length);
        to[captures[i].length] = '\0';
        if (sta_percent_decode(to, false, &err) != STA_OK) {
            sta_error_wrap(&err, "Cannot read the path");
            return fail_call(call, &err);
        }
    }
    return true;
}

static bool check_parameters(struct sta_call *call, char *query)
{
    struct sta_error err = STA_ERROR_INIT;
    if (call->route->tabular && sta_exchange_method(call->exchange) != STA_POST)
        sta_exchange_keep_query(call->exchange, query != NULL ? query : "");
    return sta_parameters_read(query, sta_route_parameters(call->route), call->values, &call->repeats,
                               &err) == STA_OK ||
           fail_call(call, &err);
}

/* ---- routes */

static void refuse_method(struct sta_call *call, unsigned allowed)
{
    char methods[STA_METHODS_TEXT], detail[160];
    sta_route_methods(allowed, methods);
    snprintf(detail, sizeof detail, "%s is not allowed here; allowed: %s",
             sta_method_name(sta_exchange_method(call->exchange)), methods);
    refuse(call, &(struct sta_problem){405, detail, NULL, -1, NULL}, "Allow", methods);
}

/* Outside the API a path is a file of the dashboard. */
static void serve_file(struct sta_call *call, char *path)
{
    enum sta_method method = sta_exchange_method(call->exchange);
    struct sta_error ignored = STA_ERROR_INIT;
    bool decoded = sta_percent_decode(path, false, &ignored) == STA_OK;
    struct sta_representation *content = decoded ? sta_assets_find(call->server->assets, path) : NULL;
    if (content == NULL) {
        refuse_simply(call, 404,
                      "There is nothing at this path; the API is described at /api/v1/openapi.json");
    } else if (method == STA_OPTIONS) {
        send_options(call, 1u << STA_GET, false);
    } else if (!is_reading(method)) {
        refuse_method(call, 1u << STA_GET);
    } else {
        sta_exchange_response(call->exchange, sta_representation_choose(content, call->exchange));
    }
    sta_representation_release(content);
}

static bool is_of_api(const char *path)
{
    return strncmp(path, "/api/", 5) == 0 || strcmp(path, "/api") == 0;
}

static void go_by_route(struct sta_call *call, char *path, char *query)
{
    struct sta_capture captures[STA_CAPTURES] = {{0}};
    unsigned allowed;
    bool cors = is_allowed_origin(call);
    call->route = sta_route_find(path, sta_exchange_method(call->exchange), captures, &allowed);
    sta_exchange_note(call->exchange)->about = call->route;
    if (call->route == NULL && allowed == 0 && !is_of_api(path))
        serve_file(call, path);
    else if (call->route == NULL && allowed == 0)
        refuse_simply(call, 404, "There is no such call; /api/v1/openapi.json lists all");
    else if (call->route == NULL && sta_exchange_method(call->exchange) == STA_OPTIONS)
        send_options(call, allowed, cors);
    else if (call->route == NULL)
        refuse_method(call, allowed);
    else if (check_role(call) && check_origin(call) && copy_captures(call, captures) &&
             check_parameters(call, query))
        run(call);
}

void sta_dispatch(void *context, struct sta_exchange *exchange)
{
    struct sta_call call = {.server = context, .exchange = exchange};
    char *path = sta_exchange_target(exchange), *query = sta_target_split(path);
    if (atomic_load(&call.server->stopping))
        refuse_simply(&call, 503, "The daemon is stopping");
    else if (check_host(&call) && check_client(&call, path))
        go_by_route(&call, path, query);
}
