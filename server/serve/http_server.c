/* The HTTP server as a whole: opened, run, quieted and closed. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "serve/http_private.h"
#include "serve/reply.h"

#define POOL_EXTRA 32768 /* of a connection's memory, beyond the header */
#define OTHER_FILES 4096 /* descriptors that the rest of the program may need */

static void on_connection(void *closure, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct sta_http *http = closure;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct sta_exchange *exchange = sta_alloc(sizeof *exchange);
        exchange->http = http;
        exchange->connection = connection;
        exchange->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        exchange->client = sta_client_number(
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
        sta_buffer_init(&exchange->body);
        sta_gate_add(exchange);
        sta_gate_expect_request(exchange, http->options.request_timeout_s);
        *context = exchange;
    } else if (*context != NULL) {
        struct sta_exchange *exchange = *context;
        sta_gate_remove(exchange);
        sta_buffer_fini(&exchange->body);
        free(exchange->target);
        free(exchange);
    }
}

/* What libmicrohttpd complains about is mostly what clients do. */
static void on_complaint(void *closure, const char *format, va_list arguments)
{
    char text[300];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    sta_log(STA_LOG_DEBUG, "HTTP complaint", "text", text, NULL);
}

static struct MHD_Daemon *start_daemon(struct sta_http *http)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG;
    return MHD_start_daemon(flags, 0, NULL, NULL, sta_request_access, http, MHD_OPTION_EXTERNAL_LOGGER,
                            on_complaint, NULL, MHD_OPTION_URI_LOG_CALLBACK, sta_request_begins, http,
                            MHD_OPTION_UNESCAPE_CALLBACK, sta_request_keep_escapes, http,
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_NOTIFY_COMPLETED,
                            sta_request_completed, http, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)(http->options.request_header + POOL_EXTRA), MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)http->options.connections + 16, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)http->options.request_timeout_s, MHD_OPTION_END);
}

/* Room for as many sockets as the limit promises. */
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

static struct sta_answer *failure_answer(void)
{
    struct sta_buffer body;
    sta_buffer_init(&body);
    sta_put_problem(&body, &(struct sta_problem){
                               .status = 500, .detail = "The request was not answered.", .position = -1});
    return sta_answer_create(&(struct sta_answer_parts){
        .status = 500, .content_type = "application/problem+json", .body = body.data, .size = body.size});
}

int sta_http_open(const struct sta_http_options *options, struct sta_http **opened, struct sta_error *err)
{
    struct sta_http *http = sta_alloc(sizeof *http);
    http->options = *options;
    http->listener = http->epoll = http->wake = -1;
    uv_mutex_init(&http->lock);
    uv_mutex_init(&http->stream_lock);
    http->failure = failure_answer();
    int status = sta_http_listen(http, err);
    if (status != STA_OK) {
        sta_http_close(http);
        return status;
    }
    *opened = http;
    return STA_OK;
}

int sta_http_run(struct sta_http *http, struct sta_error *err)
{
    raise_file_limit(http->options.connections);
    sta_thread_be_prompt(); /* the caller waits for signals; the threads that it starts here must answer while
                               others compute */
    http->daemons = sta_alloc_array(http->options.threads, sizeof(struct MHD_Daemon *));
    while (http->daemon_count < http->options.threads) {
        struct MHD_Daemon *daemon = start_daemon(http);
        if (daemon == NULL)
            return sta_fail(err, STA_EINTERNAL, "Cannot start an HTTP thread");
        http->daemons[http->daemon_count++] = daemon;
    }
    return sta_gate_start(http, err);
}

const char *sta_http_address(const struct sta_http *http)
{
    return http->address;
}

const char *sta_http_host(const struct sta_http *http)
{
    return http->host;
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
    uint64_t count = http->count;
    uv_mutex_unlock(&http->lock);
    return count;
}

uint64_t sta_http_refused(struct sta_http *http)
{
    return atomic_load(&http->refused);
}

void sta_http_quiesce(struct sta_http *http, unsigned grace_ms)
{
    uint64_t end = uv_hrtime() + grace_ms * UINT64_C(1000000);
    atomic_store(&http->stopping, true);
    if (http->gate_runs)
        sta_gate_stop_accepting(http);
    sta_streams_end(http, false);
    while (atomic_load(&http->active) > 0 && uv_hrtime() < end)
        usleep(5000);
}

void sta_http_close(struct sta_http *http)
{
    sta_gate_stop(http);
    sta_streams_end(http, true);
    for (unsigned i = 0; i < http->daemon_count; i++)
        MHD_stop_daemon(http->daemons[i]);
    free(http->daemons);
    int files[] = {http->listener, http->epoll, http->wake};
    for (size_t i = 0; i < STA_COUNT_OF(files); i++)
        if (files[i] >= 0)
            close(files[i]);
    sta_answer_release(http->failure);
    free(http->clients);
    free(http->refusal_client);
    free(http->refusal_total);
    free(http->address);
    free(http->host);
    uv_mutex_destroy(&http->lock);
    uv_mutex_destroy(&http->stream_lock);
    free(http);
}
