/* The HTTP server as a whole, and what a handler asks of an exchange. */
#include "serve/http/http.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "serve/http/http_private.h"

#define OTHER_FILES 4096 /* descriptors that the rest of the program may need */

/* ---- what a handler asks of an exchange */

enum sta_method sta_exchange_method(const struct sta_exchange *exchange)
{
    return exchange->head.method;
}

char *sta_exchange_target(struct sta_exchange *exchange)
{
    return exchange->head.target;
}

const char *sta_exchange_header(struct sta_exchange *exchange, const char *name)
{
    return sta_head_find(&exchange->head, name);
}

const char *sta_exchange_host(const struct sta_exchange *exchange)
{
    return exchange->head.host;
}

const struct sta_buffer *sta_exchange_body(const struct sta_exchange *exchange)
{
    return &exchange->body;
}

const struct sta_client *sta_exchange_client(const struct sta_exchange *exchange)
{
    return &exchange->client;
}

const char *sta_exchange_id(const struct sta_exchange *exchange)
{
    return exchange->id;
}

uint64_t sta_exchange_sent(const struct sta_exchange *exchange)
{
    return exchange->sent_bytes;
}

struct sta_exchange_note *sta_exchange_note(struct sta_exchange *exchange)
{
    return &exchange->note;
}

/* ---- responding */

void sta_exchange_add_header(struct sta_exchange *exchange, const char *name, const char *value)
{
    STA_ASSERT(exchange->header_count < STA_HTTP_HEADERS);
    exchange->headers[exchange->header_count++] = (struct sta_header){sta_strdup(name), sta_strdup(value)};
}

void sta_exchange_add_success_header(struct sta_exchange *exchange, const char *name, const char *value)
{
    exchange->success_headers |= 1u << exchange->header_count;
    sta_exchange_add_header(exchange, name, value);
}

void sta_exchange_keep_query(struct sta_exchange *exchange, const char *query)
{
    free(exchange->query);
    exchange->query = sta_strdup(query);
}

const char *sta_exchange_query(const struct sta_exchange *exchange)
{
    return exchange->query;
}

void sta_exchange_response(struct sta_exchange *exchange, struct sta_http_response *response)
{
    exchange->response = response;
}

void sta_exchange_park(struct sta_exchange *exchange, bool (*gone)(void *context), void *context)
{
    exchange->parked = true;
    uv_mutex_lock(&exchange->loop->lock);
    exchange->gone = gone;
    exchange->gone_context = context;
    uv_mutex_unlock(&exchange->loop->lock);
}

void sta_exchange_finish(struct sta_exchange *exchange, struct sta_http_response *response)
{
    sta_loop_finish(exchange, response, NULL);
}

/* ---- the server */

int sta_http_open(const struct sta_http_options *options, struct sta_http **opened, struct sta_error *err)
{
    struct sta_http *http = sta_alloc(sizeof *http);
    http->options = *options;
    sta_account_init_part(&http->bodies, options->account);
    http->bodies.yields = true;
    http->listener = http->epoll = http->wake = http->netlink = -1;
    uv_mutex_init(&http->lock);
    STA_ASSERT(getrandom(&http->id_prefix, sizeof http->id_prefix, 0) == sizeof http->id_prefix);
    int status = sta_http_listen(http, err);
    if (status != STA_OK) {
        sta_http_close(http);
        return status;
    }
    *opened = http;
    return STA_OK;
}

/* Descriptors for as many sockets as the limit promises. */
static void raise_file_limit(uint64_t connections)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= connections + OTHER_FILES)
        return;
    limit.rlim_cur = STA_MIN(limit.rlim_max, connections + OTHER_FILES);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < connections + OTHER_FILES)
        sta_log(STA_LOG_WARNING, "The limit of open files is low for so many connections", "files",
                sta_log_int((int64_t)limit.rlim_cur), "connections", sta_log_int((int64_t)connections), NULL);
}

int sta_http_run(struct sta_http *http, struct sta_error *err)
{
    int status = STA_OK;
    raise_file_limit(http->options.connections);
    sta_thread_set_time_slice(); /* the caller waits for signals; the threads that it starts here must respond
                               while others compute */
    http->loops = sta_alloc_array(http->options.threads, sizeof *http->loops);
    while (http->loop_count < http->options.threads && status == STA_OK)
        status = sta_loop_start(&http->loops[http->loop_count++], http, err);
    return status == STA_OK ? sta_acceptor_start(http, err) : status;
}

const char *sta_http_address(const struct sta_http *http)
{
    return http->address;
}

const char *sta_http_host(const struct sta_http *http)
{
    return http->host;
}

unsigned sta_http_port(const struct sta_http *http)
{
    return http->port;
}

bool sta_http_is_loopback(const struct sta_http *http)
{
    return http->loopback;
}

bool sta_http_is_wildcard(const struct sta_http *http)
{
    return http->wildcard;
}

uint64_t sta_http_connections(struct sta_http *http)
{
    uv_mutex_lock(&http->lock);
    uint64_t count = http->connections;
    uv_mutex_unlock(&http->lock);
    return count;
}

uint64_t sta_http_refused(struct sta_http *http)
{
    return atomic_load(&http->refused);
}

static void end_streams(struct sta_http *http, enum sta_stream_ending ending)
{
    atomic_store(&http->streams_ending, (int)ending);
    sta_http_wake_streams(http);
}

void sta_http_quiesce(struct sta_http *http, unsigned grace_ms)
{
    uint64_t end = uv_hrtime() + grace_ms * UINT64_C(1000000);
    atomic_store(&http->stopping, true);
    if (http->accepts)
        sta_acceptor_pause(http);
    end_streams(http, STA_STREAMS_END_PARTIAL);
    while (atomic_load(&http->active) > 0 && uv_hrtime() < end)
        usleep(5000);
}

void sta_http_close(struct sta_http *http)
{
    sta_acceptor_stop(http);
    end_streams(http, STA_STREAMS_END_ALL);
    for (unsigned i = 0; i < http->loop_count; i++)
        sta_loop_stop(&http->loops[i]);
    free(http->loops);
    int files[] = {http->listener, http->epoll, http->wake, http->netlink};
    for (size_t i = 0; i < STA_COUNT_OF(files); i++)
        if (files[i] >= 0)
            close(files[i]);
    if (http->socket_path != NULL && http->listener >= 0)
        unlink(http->socket_path);
    sta_account_fini(&http->bodies);
    free(http->counts);
    free(http->address);
    free(http->host);
    free(http->socket_path);
    uv_mutex_destroy(&http->lock);
    free(http);
}
