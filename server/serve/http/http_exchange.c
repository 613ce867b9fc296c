/* A connection: what it does with its requests, one after the other.
 *
 * DESIGN.  sta_exchange_advance goes from state to state until it would have to wait: for bytes, for the
 * socket's buffer, for the handler's response.  The loop calls it again when there is news.  A request that
 * breaks the rules gets a response and the connection is closed, since nobody knows where the next would
 * begin. Before it is closed it is drained: closing a socket with unread bytes would destroy the response on
 * its way. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/account.h"
#include "common/memory.h"
#include "serve/http/http_private.h"
#include "serve/api/response.h"

#define RECEIVE_BYTES 4096 /* least capacity of the buffer for a call */
#define BODY_BYTES 65536
#define SMALL_BODY 16384
#define IDLE_BYTES 16384 /* of input that a connection keeps between requests */
#define LINGER_NS UINT64_C(2000000000)
#define REQUESTS_AT_ONCE 16 /* of a connection before others have their turn */

static const char continue_text[] = "HTTP/1.1 100 Continue\r\n\r\n";

static void expect_request(struct sta_exchange *exchange)
{
    exchange->deadline_ns = uv_hrtime() + exchange->http->options.request_timeout_s * UINT64_C(1000000000);
}

struct sta_exchange *sta_exchange_create(struct sta_http *http, int fd, const union sta_address *address)
{
    struct sta_exchange *exchange = sta_alloc(sizeof *exchange);
    exchange->http = http;
    exchange->fd = fd;
    exchange->address = *address;
    exchange->peer = exchange->client = sta_client_of(address);
    exchange->next = exchange; /* in no loop yet */
    sta_buffer_init(&exchange->in);
    sta_buffer_init(&exchange->head_bytes);
    sta_buffer_init(&exchange->body);
    sta_buffer_init(&exchange->out.head);
    expect_request(exchange);
    return exchange;
}

/* ---- the end of a request */

static void clear_body(struct sta_exchange *exchange)
{
    sta_account_release(&exchange->http->bodies, exchange->charged);
    exchange->charged = 0;
    sta_buffer_fini(&exchange->body);
}

static void clear_request(struct sta_exchange *exchange)
{
    for (unsigned i = 0; i < exchange->header_count; i++) {
        free((char *)exchange->headers[i].name);
        free((char *)exchange->headers[i].value);
    }
    if (exchange->stream != NULL)
        sta_stream_destroy(exchange->stream);
    sta_http_response_release(exchange->response);
    exchange->header_count = exchange->success_headers = 0;
    free(exchange->query);
    exchange->query = NULL;
    exchange->stream = NULL;
    exchange->response = NULL;
    exchange->status = 0;
    exchange->note = (struct sta_exchange_note){0};
    clear_body(exchange);
}

static void complete(struct sta_exchange *exchange, bool aborted)
{
    struct sta_http *http = exchange->http;
    if (!exchange->in_request)
        return;
    exchange->in_request = false;
    http->options.completed(http->options.context, exchange, exchange->status,
                            (double)(uv_hrtime() - exchange->started_ns) / 1e9, aborted);
    clear_request(exchange);
    atomic_fetch_sub(&http->active, 1);
}

static bool end(struct sta_exchange *exchange)
{
    complete(exchange, true);
    exchange->state = STA_EXCHANGE_ENDED;
    return false;
}

void sta_exchange_destroy(struct sta_exchange *exchange)
{
    complete(exchange, true);
    close(exchange->fd);
    if (exchange->counted)
        sta_connection_count_out(exchange);
    if (exchange->refusal != 0)
        atomic_fetch_sub(&exchange->http->refused_open, 1);
    sta_buffer_fini(&exchange->in);
    sta_buffer_fini(&exchange->head_bytes);
    clear_body(exchange);
    sta_buffer_fini(&exchange->out.head);
    free(exchange);
}

/* ---- a request begins */

static void name_client(struct sta_exchange *exchange)
{
    const struct sta_networks *proxies = exchange->http->options.proxies;
    exchange->client = exchange->peer;
    if (proxies == NULL || !sta_networks_hold(proxies, &exchange->address))
        return;
    for (size_t i = exchange->head.field_count; i-- > 0;) /* the last one is the nearest proxy's */
        if (strcasecmp(exchange->head.fields[i].name, "X-Forwarded-For") == 0) {
            (void)sta_client_forwarded(proxies, exchange->head.fields[i].value, &exchange->client);
            return;
        }
}

static void begin_request(struct sta_exchange *exchange)
{
    struct sta_http *http = exchange->http;
    exchange->in_request = true;
    exchange->started_ns = uv_hrtime();
    exchange->sent_bytes = 0;
    exchange->window_ns = 0;
    exchange->head.target = NULL;
    exchange->head.method = STA_METHODS;
    exchange->head.http_1_0 = false;
    exchange->head.field_count = 0;
    exchange->client = exchange->peer;
    snprintf(exchange->id, sizeof exchange->id, "%08x-%llx", http->id_prefix,
             (unsigned long long)atomic_fetch_add(&http->next_id, 1));
    atomic_fetch_add(&http->active, 1);
}

/* Responds to a request that is not for the handler, and ends the connection. */
static bool refuse(struct sta_exchange *exchange, int status, const char *detail)
{
    struct sta_response response;
    if (!exchange->in_request)
        begin_request(exchange);
    sta_response_init(&response);
    sta_response_problem(&response,
                         &(struct sta_problem){.status = status, .detail = detail, .position = -1});
    sta_response_name_request(&response, exchange->id);
    sta_response_header(&response, "Cache-Control", "no-store");
    exchange->response =
        sta_http_response_create(&(struct sta_http_response_parts){.status = status,
                                                                   .content_type = response.content_type,
                                                                   .headers = response.headers,
                                                                   .header_count = response.header_count,
                                                                   .body = response.body.data,
                                                                   .size = response.body.size});
    sta_buffer_init(&response.body);
    sta_response_fini(&response);
    exchange->close_after = true;
    exchange->deadline_ns = 0;
    sta_exchange_begin_response(exchange);
    return true;
}

static uint64_t body_limit(struct sta_exchange *exchange)
{
    const struct sta_http_options *options = &exchange->http->options;
    uint64_t own = options->body_limit != NULL
                       ? options->body_limit(options->context, sta_exchange_target(exchange))
                       : 0;
    return STA_MAX(own, options->request_body);
}

static bool refuse_size(struct sta_exchange *exchange, bool body)
{
    char detail[160];
    const struct sta_http_options *options = &exchange->http->options;
    snprintf(detail, sizeof detail, "The request %s is larger than %llu bytes (setting %s)",
             body ? "body" : "header",
             (unsigned long long)(body ? body_limit(exchange) : options->request_header),
             body ? "request_body" : "request_header");
    return refuse(exchange, body ? 413 : 431, detail);
}

static bool refuse_connection(struct sta_exchange *exchange)
{
    return refuse(exchange, exchange->refusal,
                  exchange->refusal == 429
                      ? "This address has as many connections open as one client may (setting "
                        "connections_per_client)."
                      : "As many connections are open as may be (setting connections).");
}

/* ---- reading */

static enum sta_io receive(struct sta_exchange *exchange, size_t capacity)
{
    struct sta_buffer *in = &exchange->in;
    if (!exchange->readable)
        return STA_IO_BLOCKED;
    if (exchange->taken > 0) { /* what was consumed is dropped */
        memmove(in->data, in->data + exchange->taken, in->size - exchange->taken);
        in->size -= exchange->taken;
        exchange->taken = 0;
    }
    char *to = sta_buffer_reserve(in, capacity);
    if (to == NULL)
        return STA_IO_BROKEN;
    ssize_t got = recv(exchange->fd, to, capacity, MSG_DONTWAIT);
    if (got > 0) {
        in->size += (size_t)got;
        exchange->readable = (size_t)got == capacity || exchange->hung_up;
        return STA_IO_DONE;
    }
    if (got < 0 && errno == EINTR)
        return STA_IO_DONE;
    exchange->readable = false;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? STA_IO_BLOCKED : STA_IO_BROKEN;
}

static bool handle(struct sta_exchange *exchange)
{
    struct sta_http *http = exchange->http;
    exchange->state = STA_EXCHANGE_HANDLED;
    exchange->deadline_ns = 0;
    http->options.handle(http->options.context, exchange);
    if (!exchange->parked) {
        sta_exchange_begin_response(exchange);
        return true;
    }
    if (exchange->hung_up)
        sta_exchange_hung_up(exchange);
    return exchange->state == STA_EXCHANGE_ENDED;
}

/* Who asks before sending gets 100 Continue; a body that is too large is refused before it is sent. */
static bool begin_body(struct sta_exchange *exchange)
{
    const struct sta_head *head = &exchange->head;
    if (head->content_length > body_limit(exchange))
        return refuse_size(exchange, true);
    if (head->content_length == 0 && !head->chunked)
        return handle(exchange);
    if (head->expects_continue && exchange->in.size == exchange->taken &&
        send(exchange->fd, continue_text, strlen(continue_text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return end(exchange);
    sta_body_reader_init(&exchange->body_reader, head);
    exchange->state = STA_EXCHANGE_BODY;
    return true;
}

static bool take_head(struct sta_exchange *exchange)
{
    struct sta_error err = STA_ERROR_INIT;
    begin_request(exchange);
    sta_buffer_clear(&exchange->head_bytes);
    sta_put(&exchange->head_bytes, exchange->in.data + exchange->taken, exchange->scanned);
    exchange->taken += exchange->scanned;
    exchange->scanned = 0;
    if (exchange->head_bytes.failed)
        return end(exchange);
    int status = sta_head_parse(exchange->head_bytes.data, exchange->head_bytes.size, &exchange->head, &err);
    if (status != 0)
        return refuse(exchange, status, err.text);
    exchange->close_after = !exchange->head.keep_alive;
    name_client(exchange);
    return begin_body(exchange);
}

/* An empty line before a request is left over from the one before, as some clients send it. */
static void skip_empty_line(struct sta_exchange *exchange)
{
    const struct sta_buffer *in = &exchange->in;
    if (exchange->scanned == 0 && in->size - exchange->taken >= 2 &&
        memcmp(in->data + exchange->taken, "\r\n", 2) == 0)
        exchange->taken += 2;
}

static bool read_head(struct sta_exchange *exchange)
{
    struct sta_error err = STA_ERROR_INIT;
    if (exchange->refusal != 0)
        return refuse_connection(exchange);
    skip_empty_line(exchange);
    size_t size = exchange->in.size - exchange->taken, limit = exchange->http->options.request_header;
    enum sta_head_state state = STA_HEAD_MORE;
    if (size > 0)
        state = sta_head_scan(exchange->in.data + exchange->taken, size, &exchange->scanned, &err);
    if (state == STA_HEAD_BAD)
        return refuse(exchange, 400, err.text);
    if (exchange->scanned > limit || (state == STA_HEAD_MORE && size > limit))
        return refuse_size(exchange, false);
    if (state == STA_HEAD_WHOLE)
        return take_head(exchange);
    enum sta_io io = receive(exchange, RECEIVE_BYTES);
    return io == STA_IO_BROKEN ? end(exchange) : io == STA_IO_DONE;
}

/* Caches may fill the memory, and give way to who charges.  That takes long for this thread, so a small body
 * is only counted: caches give way when what it asks for is computed. */
static bool charge_body(struct sta_exchange *exchange)
{
    struct sta_account *bodies = &exchange->http->bodies;
    struct sta_error err = STA_ERROR_INIT;
    const size_t more = exchange->body.capacity - exchange->charged;
    if (exchange->body.failed)
        return false;
    if (exchange->body.capacity <= SMALL_BODY)
        sta_account_overdraw(bodies, more);
    else if (sta_account_charge(bodies, more, "the body", &err) != STA_OK)
        return false;
    exchange->charged += more;
    return true;
}

static bool read_body(struct sta_exchange *exchange)
{
    struct sta_error err = STA_ERROR_INIT;
    size_t taken;
    enum sta_body_state state =
        sta_body_read_input(&exchange->body_reader, exchange->in.data + exchange->taken,
                            exchange->in.size - exchange->taken, &taken, &exchange->body, &err);
    exchange->taken += taken;
    if (state == STA_BODY_BAD)
        return refuse(exchange, 400, err.text);
    if (exchange->body.size > body_limit(exchange))
        return refuse_size(exchange, true);
    if (!charge_body(exchange))
        return refuse(exchange, 503, "There is no memory for the body at the moment (setting memory)");
    if (state == STA_BODY_WHOLE)
        return handle(exchange);
    enum sta_io io = receive(exchange, BODY_BYTES);
    return io == STA_IO_BROKEN ? end(exchange) : io == STA_IO_DONE;
}

/* ---- responding */

static bool has_body(const struct sta_exchange *exchange)
{
    return exchange->status >= 200 && exchange->status != 204 && exchange->status != 304;
}

void sta_exchange_begin_response(struct sta_exchange *exchange)
{
    bool to_head = exchange->head.method == STA_HEAD;
    exchange->parked = false;
    exchange->close_after |= atomic_load(&exchange->http->stopping);
    if (exchange->stream != NULL) {
        sta_stream_begin(exchange);
        exchange->state = to_head ? STA_EXCHANGE_SENDS : STA_EXCHANGE_STREAMS;
        return;
    }
    if (exchange->response == NULL) { /* the client has gone */
        (void)end(exchange);
        return;
    }
    struct sta_http_response *response = exchange->response;
    exchange->status = sta_http_response_status(response);
    sta_exchange_put_head(exchange, sta_http_response_headers(response), has_body(exchange),
                          sta_http_response_size(response));
    if (has_body(exchange) && !to_head) {
        exchange->out.body = sta_http_response_body(response);
        exchange->out.body_size = sta_http_response_size(response);
    }
    exchange->state = STA_EXCHANGE_SENDS;
}

/* The response is out: the next request, or the end. */
static bool end_response(struct sta_exchange *exchange)
{
    complete(exchange, false);
    exchange->state = STA_EXCHANGE_HEAD;
    expect_request(exchange);
    if (exchange->taken == exchange->in.size && exchange->in.capacity > IDLE_BYTES) {
        sta_buffer_fini(&exchange->in);
        sta_buffer_init(&exchange->in);
        exchange->taken = 0;
    }
    if (!exchange->close_after)
        return true;
    shutdown(exchange->fd, SHUT_WR);
    exchange->state = STA_EXCHANGE_DRAINS;
    exchange->deadline_ns = uv_hrtime() + LINGER_NS;
    return true;
}

static bool send_response(struct sta_exchange *exchange)
{
    enum sta_io io = sta_exchange_send(exchange);
    if (io == STA_IO_BROKEN)
        return end(exchange);
    return io == STA_IO_DONE && end_response(exchange);
}

static bool send_stream(struct sta_exchange *exchange)
{
    bool ended = false;
    enum sta_io io = sta_exchange_send(exchange);
    if (io == STA_IO_DONE)
        io = sta_stream_produce(exchange, &ended);
    if (io == STA_IO_BROKEN)
        return end(exchange);
    return ended ? end_response(exchange) : io == STA_IO_DONE;
}

static bool drain(struct sta_exchange *exchange)
{
    exchange->taken = exchange->in.size;
    enum sta_io io = receive(exchange, BODY_BYTES);
    return io == STA_IO_BROKEN ? end(exchange) : io == STA_IO_DONE;
}

/* ---- driven by the loop */

static bool step(struct sta_exchange *exchange)
{
    switch (exchange->state) {
    case STA_EXCHANGE_HEAD:
        return read_head(exchange);
    case STA_EXCHANGE_BODY:
        return read_body(exchange);
    case STA_EXCHANGE_SENDS:
        return send_response(exchange);
    case STA_EXCHANGE_STREAMS:
        return send_stream(exchange);
    case STA_EXCHANGE_DRAINS:
        return drain(exchange);
    case STA_EXCHANGE_HANDLED:
    case STA_EXCHANGE_ENDED:
        break;
    }
    return false;
}

void sta_exchange_advance(struct sta_exchange *exchange)
{
    unsigned requests = 0;
    while (requests < REQUESTS_AT_ONCE) {
        bool was_in_request = exchange->in_request;
        if (!step(exchange))
            return;
        requests += was_in_request && !exchange->in_request;
    }
    sta_loop_post(exchange);
}

void sta_exchange_hung_up(struct sta_exchange *exchange)
{
    exchange->hung_up = true;
    if (exchange->state == STA_EXCHANGE_STREAMS) {
        (void)end(exchange);
        return;
    }
    if (exchange->state != STA_EXCHANGE_HANDLED)
        return;
    uv_mutex_lock(&exchange->loop->lock);
    bool (*gone)(void *context) = exchange->gone;
    exchange->gone = NULL;
    bool ends = gone != NULL && gone(exchange->gone_context);
    uv_mutex_unlock(&exchange->loop->lock);
    if (ends)
        (void)end(exchange);
}

bool sta_exchange_tick(struct sta_exchange *exchange, uint64_t now_ns)
{
    bool overdue = exchange->deadline_ns != 0 && now_ns >= exchange->deadline_ns;
    bool sends = exchange->state == STA_EXCHANGE_SENDS || exchange->state == STA_EXCHANGE_STREAMS;
    if (overdue || (sends && sta_exchange_is_slow(exchange, now_ns))) {
        (void)end(exchange);
        return true;
    }
    return exchange->state == STA_EXCHANGE_STREAMS && sta_stream_is_quiet(exchange, now_ns);
}
