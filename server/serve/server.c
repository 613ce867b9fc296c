/* The serve stage as a whole: started, reloaded, stopped. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/account.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "serve/api/routes.h"
#include "serve/responses/views.h"

#define IO_THREADS 4
#define IO_TASKS_WAITING 1000
#define BACKGROUND_WAITING 1000
#define HTTP_THREADS_MOST 4
#define LAST_WORDS_MS 1000 /* for refusals on their way out */

static void on_completed(void *context, struct sta_exchange *exchange, int status, double seconds,
                         bool aborted)
{
    struct sta_server *server = context;
    const struct sta_route *route = sta_exchange_note(exchange)->about;
    size_t index = route ? (size_t)(route - sta_routes) : sta_route_count;
    sta_metrics_request(server->metrics, index, aborted && status == 0 ? 0 : status, seconds);
    sta_log_request(exchange, status, seconds, aborted);
}

static void on_tick(void *context)
{
    struct sta_server *server = context;
    sta_running_tick(server->running);
}

static bool needs_owner(const struct sta_server_options *options)
{
    return (options->tokens == NULL || options->tokens[0] == '\0') && !options->loopback_anyone;
}

/* A training log that is not registered comes as a body. */
static uint64_t body_limit(void *context, const char *target)
{
    struct sta_capture captures[STA_CAPTURES];
    char path[64];
    unsigned allowed;
    size_t length = strcspn(target, "?");
    if (length >= sizeof path)
        return 0;
    snprintf(path, sizeof path, "%.*s", (int)length, target);
    const struct sta_route *route = sta_route_find(path, STA_POST, captures, &allowed);
    return route != NULL ? route->body_limit : 0;
}

static int open_http(struct sta_server *server, struct sta_error *err)
{
    const struct sta_server_options *options = &server->options;
    unsigned cores = sta_usable_cores();
    int status =
        sta_networks_parse(options->trusted_proxies, options->trusted_proxy_count, &server->proxies, err);
    if (status != STA_OK)
        return status;
    struct sta_http_options http = {
        .listen = options->listen,
        .threads = STA_MIN(STA_MAX(cores, 2), HTTP_THREADS_MOST),
        .connections = options->connections,
        .connections_per_client = options->connections_per_client,
        .request_body = options->request_body,
        .body_limit = body_limit,
        .request_header = options->request_header,
        .request_timeout_s = options->request_timeout,
        .send_rate = options->send_rate,
        .account = options->account,
        .ask_owner = needs_owner(options),
        .proxies = &server->proxies,
        .handle = sta_dispatch,
        .completed = on_completed,
        .tick = on_tick,
        .context = server,
    };
    return sta_http_open(&http, &server->http, err);
}

/* Browsers send a cookie to every port of its host, and a proxy may have several daemons at one.  The store
 * tells daemons apart: it has one at a time. */
static void name_cookie(const struct sta_server *server, char name[STA_COOKIE_NAME_SIZE])
{
    const char *store = server->options.store_path;
    snprintf(name, STA_COOKIE_NAME_SIZE, "strata_session_%u_%016llx", sta_http_port(server->http),
             (unsigned long long)XXH3_64bits(store, strlen(store)));
}

static int open_access(struct sta_server *server, struct sta_error *err)
{
    const struct sta_server_options *options = &server->options;
    char cookie[STA_COOKIE_NAME_SIZE];
    name_cookie(server, cookie);
    struct sta_access_options access = {
        .tokens = options->tokens,
        .anyone = options->loopback_anyone,
        .cookie = cookie,
        .listen_host = sta_http_host(server->http),
        .wildcard = sta_http_is_wildcard(server->http),
        .hosts = options->hosts,
        .host_count = options->host_count,
        .origins = options->cors_origins,
        .origin_count = options->cors_origin_count,
    };
    int status = sta_access_create(&access, &server->access, err);
    if (status != STA_OK)
        return status;
    if (!sta_http_is_loopback(server->http) && !sta_access_has_tokens(server->access))
        return sta_fail(err, STA_EINPUT,
                        "listen: %s is not a loopback address; without a tokens file only loopback is served",
                        options->listen);
    if (options->loopback_anyone && !sta_access_has_tokens(server->access))
        sta_log(STA_LOG_WARNING,
                "Every user of this machine is admin here: there is no tokens file, and loopback is anyone",
                NULL);
    return STA_OK;
}

static void make_openapi(struct sta_server *server)
{
    struct sta_response response;
    sta_response_init(&response);
    char *text = sta_openapi_create(server->options.version, sta_access_cookie(server->access));
    sta_put_text(&response.body, text);
    free(text);
    server->openapi = sta_representation_create(&response, "private, no-cache");
    sta_response_fini(&response);
}

static void server_free(struct sta_server *server)
{
    if (server->http != NULL)
        sta_http_close(server->http);
    if (server->access != NULL)
        sta_access_destroy(server->access);
    if (server->assets != NULL)
        sta_assets_destroy(server->assets);
    if (server->queries != NULL)
        sta_workers_destroy(server->queries);
    if (server->prepared != NULL)
        sta_workers_destroy(server->prepared);
    if (server->background != NULL)
        sta_workers_destroy(server->background);
    if (server->tasks != NULL)
        sta_workers_destroy(server->tasks);
    if (server->streams != NULL)
        sta_workers_destroy(server->streams);
    if (server->stream_places != NULL)
        sta_shares_destroy(server->stream_places);
    if (server->response_cache != NULL)
        sta_response_cache_destroy(server->response_cache);
    if (server->results != NULL)
        sta_result_cache_destroy(server->results);
    if (server->models != NULL)
        sta_models_destroy(server->models);
    if (server->timelines != NULL)
        sta_timelines_destroy(server->timelines);
    if (server->running != NULL)
        sta_running_destroy(server->running);
    sta_networks_fini(&server->proxies);
    sta_metrics_destroy(server->metrics);
    sta_representation_release(server->openapi);
    free(server);
}

int sta_server_start(const struct sta_server_options *options, struct sta_server **started,
                     struct sta_error *err)
{
    struct sta_server *server = sta_alloc(sizeof *server);
    server->options = *options;
    server->metrics = sta_metrics_create();
    int status = open_http(server, err);
    if (status == STA_OK)
        status = open_access(server, err);
    if (status == STA_OK)
        status = sta_assets_load(options->web, &server->assets, err);
    if (status == STA_OK) {
        make_openapi(server);
        server->response_cache = sta_response_cache_create(options->cache / 2, options->account);
        server->results = sta_result_cache_create(options->cache - options->cache / 2);
        server->models = sta_models_create(options->query_memory, options->account);
        server->timelines = sta_timelines_create(options->account);
        server->queries = sta_workers_create((unsigned)options->running_queries, options->queued_queries,
                                             STA_WORKERS_NORMAL);
        server->running = sta_running_create(options->jobs);
        server->streams =
            sta_workers_create((unsigned)options->running_queries, options->connections, STA_WORKERS_NORMAL);
        server->prepared = sta_workers_create(1, BACKGROUND_WAITING, STA_WORKERS_BEHIND);
        server->background = sta_workers_create(1, BACKGROUND_WAITING, STA_WORKERS_LOW);
        server->stream_places = sta_shares_create(STA_STREAMS_PER_THREAD * options->running_queries);
        server->tasks = sta_workers_create(IO_THREADS, IO_TASKS_WAITING, STA_WORKERS_NORMAL);
        status = sta_http_run(server->http, err);
    }
    if (status != STA_OK) {
        server_free(server);
        return status;
    }
    sta_server_watch_jobs(server);
    *started = server;
    return STA_OK;
}

const char *sta_server_address(const struct sta_server *server)
{
    return sta_http_address(server->http);
}

size_t sta_server_shrink(struct sta_server *server, size_t bytes)
{
    size_t freed = sta_result_cache_shrink(server->results, bytes);
    if (freed < bytes)
        freed += sta_models_shrink(server->models, bytes - freed);
    if (freed < bytes)
        freed += sta_response_cache_shrink(server->response_cache, bytes - freed);
    return freed < bytes ? freed + sta_timelines_shrink(server->timelines, bytes - freed) : freed;
}

void sta_server_trim(const struct sta_server *server)
{
    const struct sta_account *account = server->options.account;
    const uint64_t keep = atomic_load(&account->used) + server->options.query_memory;
    sta_memory_trim_grown(STA_MIN(keep, account->limit));
}

size_t sta_server_cancel_prepared(struct sta_server *server)
{
    return sta_response_cache_cancel_prepared(server->response_cache);
}

bool sta_server_is_busy(const struct sta_server *server)
{
    struct sta_workers *const all[] = {server->queries, server->prepared, server->background};
    uint64_t work = sta_shares_taken(server->stream_places);
    for (size_t i = 0; i < STA_COUNT_OF(all); i++) {
        uint64_t running, waiting;
        sta_workers_count(all[i], &running, &waiting);
        work += running + waiting;
    }
    return work > 0;
}

int sta_server_reload(struct sta_server *server, struct sta_error *err)
{
    return sta_access_reload(server->access, err);
}

/* First the clients that are at work, within the grace; then what still computes is cancelled; then nothing
 * is parked any more. */
void sta_server_stop(struct sta_server *server, unsigned grace_ms)
{
    atomic_store(&server->stopping, true);
    sta_jobs_on_change(server->options.jobs, NULL, NULL);
    sta_library_on_publish(server->options.library, NULL, NULL);
    sta_http_quiesce(server->http, grace_ms);
    sta_response_cache_cancel(server->response_cache);
    sta_workers_stop(server->queries);
    sta_workers_stop(server->prepared);
    sta_workers_stop(server->background);
    sta_workers_stop(server->streams);
    sta_workers_stop(server->tasks);
    sta_http_quiesce(server->http, LAST_WORDS_MS);
    server_free(server);
}
