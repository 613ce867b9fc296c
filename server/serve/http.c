/* Requests come in through libmicrohttpd and go out as answers.
 *
 * DESIGN.  A few daemons of libmicrohttpd, one thread each, none listening: the gate gives them sockets.
 * Each connection has one struct sta_exchange for all its requests, one after the other.  A parked exchange
 * is a suspended connection; finishing it resumes the connection, and libmicrohttpd calls the access handler
 * again, which queues the answer that lies ready.  An answer is never queued in the access handler's first
 * call: libmicrohttpd would take that for a refusal and close the connection. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/http_private.h"

#define DISCARD_LIMIT                                                                                        \
    UINT64_C(16777216) /* of a body that is too large: what is read away so that the client hears why */

static const char *const method_names[STA_METHODS] = {
    [STA_GET] = "GET",     [STA_HEAD] = "HEAD",     [STA_POST] = "POST",       [STA_PUT] = "PUT",
    [STA_PATCH] = "PATCH", [STA_DELETE] = "DELETE", [STA_OPTIONS] = "OPTIONS",
};

const char *sta_method_name(enum sta_method method)
{
    return method == STA_METHODS ? "OTHER" : method_names[method];
}

static enum sta_method method_of(const char *name)
{
    enum sta_method method = STA_GET;
    while (method < STA_METHODS && strcmp(method_names[method], name) != 0)
        method++;
    return method;
}

/* ---- what a handler asks of an exchange */

enum sta_method sta_exchange_method(const struct sta_exchange *exchange)
{
    return exchange->method;
}

char *sta_exchange_target(struct sta_exchange *exchange)
{
    return exchange->target;
}

const char *sta_exchange_header(struct sta_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const struct sta_buffer *sta_exchange_body(const struct sta_exchange *exchange)
{
    return &exchange->body;
}

int sta_exchange_refusal(const struct sta_exchange *exchange)
{
    return exchange->refusal;
}

uint64_t sta_exchange_client(const struct sta_exchange *exchange)
{
    return exchange->client;
}

void **sta_exchange_note(struct sta_exchange *exchange)
{
    return &exchange->note;
}

void sta_exchange_add_header(struct sta_exchange *exchange, const char *name, const char *value)
{
    STA_ASSERT(exchange->header_count < STA_HTTP_HEADERS);
    exchange->headers[exchange->header_count++] = (struct sta_header){sta_strdup(name), sta_strdup(value)};
}

/* ---- answering */

void sta_exchange_reply(struct sta_exchange *exchange, struct sta_answer *answer)
{
    exchange->answer = answer;
}

void sta_exchange_park(struct sta_exchange *exchange, bool (*gone)(void *context), void *context)
{
    exchange->parked = true;
    if (gone != NULL)
        sta_gate_watch(exchange, gone, context);
    MHD_suspend_connection(exchange->connection);
}

void sta_exchange_finish(struct sta_exchange *exchange, struct sta_answer *answer)
{
    sta_gate_unwatch(exchange);
    exchange->answer = answer;
    MHD_resume_connection(exchange->connection);
}

static enum MHD_Result queue_answer(struct sta_exchange *exchange)
{
    struct sta_answer *answer = exchange->answer;
    if (answer == NULL)
        return MHD_NO; /* the client has gone: close */
    exchange->phase = STA_PHASE_QUEUED;
    exchange->status = sta_answer_status(answer);
    if (atomic_load(&exchange->http->stopping) && exchange->header_count < STA_HTTP_HEADERS)
        sta_exchange_add_header(exchange, "Connection", "close");
    if (exchange->header_count == 0)
        return MHD_queue_response(exchange->connection, (unsigned)exchange->status,
                                  sta_answer_response(answer));
    struct MHD_Response *variant = sta_answer_variant(answer, exchange->headers, exchange->header_count);
    enum MHD_Result result = MHD_queue_response(exchange->connection, (unsigned)exchange->status, variant);
    MHD_destroy_response(variant);
    return result;
}

/* ---- a request comes in */

void *sta_request_begins(void *closure, const char *uri, struct MHD_Connection *connection)
{
    struct sta_exchange *exchange =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    size_t size = strlen(uri) + 1;
    STA_GROW(exchange->target, exchange->target_capacity, size);
    memcpy(exchange->target, uri, size);
    exchange->phase = STA_PHASE_HEADERS;
    return exchange;
}

/* The URL is taken apart elsewhere, from the target as it was sent. */
size_t sta_request_keep_escapes(void *closure, struct MHD_Connection *connection, char *text)
{
    return strlen(text);
}

static void begin_request(struct sta_exchange *exchange, const char *method)
{
    const struct sta_http_options *options = &exchange->http->options;
    exchange->method = method_of(method);
    exchange->phase = STA_PHASE_BODY;
    exchange->started_ns = uv_hrtime();
    exchange->refusal = 0;
    exchange->discarded = 0;
    exchange->note = NULL;
    atomic_fetch_add(&exchange->http->active, 1);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info != NULL && info->header_size > options->request_header)
        exchange->refusal = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
    const char *length = sta_exchange_header(exchange, "Content-Length");
    if (length != NULL && strtoull(length, NULL, 10) > options->request_body)
        exchange->refusal = MHD_HTTP_CONTENT_TOO_LARGE;
}

static enum MHD_Result take_body(struct sta_exchange *exchange, const char *data, size_t *size)
{
    if (exchange->body.size + *size > exchange->http->options.request_body)
        exchange->refusal = MHD_HTTP_CONTENT_TOO_LARGE;
    if (exchange->refusal != 0)
        exchange->discarded += *size;
    else
        sta_put(&exchange->body, data, *size);
    *size = 0;
    return exchange->discarded > DISCARD_LIMIT ? MHD_NO : MHD_YES;
}

static enum MHD_Result handle_request(struct sta_exchange *exchange)
{
    struct sta_http *http = exchange->http;
    exchange->phase = STA_PHASE_HANDLED;
    sta_gate_expect_request(exchange, 0);
    http->options.handle(http->options.context, exchange);
    if (exchange->parked)
        return MHD_YES; /* perhaps finished already: then the handler is called again */
    if (exchange->stream != NULL) {
        exchange->phase = STA_PHASE_QUEUED;
        return sta_stream_queue(exchange);
    }
    if (exchange->answer == NULL)
        exchange->answer = sta_answer_retain(http->failure);
    return queue_answer(exchange);
}

enum MHD_Result sta_request_access(void *closure, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *data, size_t *size,
                                   void **request)
{
    struct sta_exchange *exchange = *request;
    switch (exchange->phase) {
    case STA_PHASE_HEADERS:
        begin_request(exchange, method);
        /* Who asks before sending is refused before sending. */
        if (exchange->refusal != 0 && sta_exchange_header(exchange, "Expect") != NULL)
            return handle_request(exchange);
        return MHD_YES;
    case STA_PHASE_BODY:
        return *size > 0 ? take_body(exchange, data, size) : handle_request(exchange);
    case STA_PHASE_HANDLED:
        exchange->parked = false;
        if (exchange->stream == NULL)
            return queue_answer(exchange);
        exchange->phase = STA_PHASE_QUEUED;
        return sta_stream_queue(exchange);
    default:
        return MHD_NO;
    }
}

void sta_request_completed(void *closure, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode code)
{
    struct sta_http *http = closure;
    struct sta_exchange *exchange = *request;
    if (exchange == NULL || exchange->phase < STA_PHASE_BODY)
        return;
    sta_gate_unwatch(exchange);
    if (exchange->phase == STA_PHASE_HANDLED && exchange->stream != NULL)
        sta_stream_abandon(exchange);
    if (exchange->phase >= STA_PHASE_HANDLED)
        http->options.completed(http->options.context, exchange, exchange->status,
                                (double)(uv_hrtime() - exchange->started_ns) / 1e9,
                                code != MHD_REQUEST_TERMINATED_COMPLETED_OK);
    sta_answer_release(exchange->answer);
    for (unsigned i = 0; i < exchange->header_count; i++) {
        free((char *)exchange->headers[i].name);
        free((char *)exchange->headers[i].value);
    }
    exchange->answer = NULL;
    exchange->stream = NULL;
    exchange->parked = false;
    exchange->header_count = 0;
    exchange->status = 0;
    exchange->phase = STA_PHASE_IDLE;
    sta_buffer_clear(&exchange->body);
    sta_gate_expect_request(exchange, http->options.request_timeout_s);
    atomic_fetch_sub(&http->active, 1);
}
