/* The gate: one thread that accepts connections, refuses those past a limit, ends those that take too long to
 * ask, and notices clients that leave while they wait.
 *
 * DESIGN.  libmicrohttpd has limits of its own, but past them it closes the socket or stops accepting;
 * clients shall be told 503 or 429.  Its timeout starts anew with every byte, so a client that trickles holds
 * a connection for ever; here the whole request has one deadline.  And a suspended connection is watched by
 * nobody.  So this thread accepts, hands sockets over to the HTTP threads in turn, and keeps a list of all
 * connections.
 *
 * `lock` guards the list and the fields of exchanges that say so.  The socket of a listed exchange is open,
 * since an exchange leaves the list before libmicrohttpd closes it.  Callbacks to those who watch are made
 * under the lock; what they lock in turn is never held around a call in here. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/log.h"
#include "common/memory.h"
#include "serve/http_private.h"
#include "serve/reply.h"

#define TICK_MS 100
#define LINGER_NS UINT64_C(1000000000)
#define ACCEPTS_AT_ONCE 64

/* What an epoll event is about: below FIRST_SERIAL one of these, else the serial number of an exchange. */
enum { EVENT_LISTENER, EVENT_WAKE, EVENT_LINGERER, FIRST_SERIAL };

static void epoll_add(struct sta_http *http, int fd, uint32_t events, uint64_t about)
{
    struct epoll_event event = {.events = events, .data.u64 = about};
    if (epoll_ctl(http->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        sta_log(STA_LOG_WARNING, "Cannot watch a connection", "cause", strerror(errno), NULL);
}

/* ---- the list, and how many connections each client has */

uint64_t sta_client_number(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return XXH3_64bits(&((const struct sockaddr_in *)address)->sin_addr, 4);
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six))
        return XXH3_64bits(six->s6_addr + 12, 4);
    return XXH3_64bits(six->s6_addr, 8);
}

/* Under the lock. */
static struct sta_client *find_client(struct sta_http *http, uint64_t number)
{
    for (size_t i = 0; i < http->client_count; i++)
        if (http->clients[i].number == number)
            return &http->clients[i];
    return NULL;
}

/* Under the lock. */
static void count_out(struct sta_http *http, uint64_t number)
{
    struct sta_client *client = find_client(http, number);
    http->count--;
    if (--client->connections == 0)
        *client = http->clients[--http->client_count];
}

void sta_gate_add(struct sta_exchange *exchange)
{
    struct sta_http *http = exchange->http;
    uv_mutex_lock(&http->lock);
    exchange->serial = FIRST_SERIAL + http->serial++;
    exchange->next = http->exchanges;
    if (http->exchanges)
        http->exchanges->previous = exchange;
    http->exchanges = exchange;
    uv_mutex_unlock(&http->lock);
}

void sta_gate_remove(struct sta_exchange *exchange)
{
    struct sta_http *http = exchange->http;
    uv_mutex_lock(&http->lock);
    if (exchange->previous)
        exchange->previous->next = exchange->next;
    else
        http->exchanges = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
    count_out(http, exchange->client);
    uv_mutex_unlock(&http->lock);
}

void sta_gate_expect_request(struct sta_exchange *exchange, uint64_t seconds)
{
    uv_mutex_lock(&exchange->http->lock);
    exchange->deadline_ns = seconds ? uv_hrtime() + seconds * UINT64_C(1000000000) : 0;
    uv_mutex_unlock(&exchange->http->lock);
}

void sta_gate_watch(struct sta_exchange *exchange, bool (*gone)(void *context), void *context)
{
    struct sta_http *http = exchange->http;
    uv_mutex_lock(&http->lock);
    exchange->gone = gone;
    exchange->gone_context = context;
    exchange->watched = true;
    epoll_add(http, exchange->fd, EPOLLRDHUP | EPOLLONESHOT, exchange->serial);
    uv_mutex_unlock(&http->lock);
}

void sta_gate_unwatch(struct sta_exchange *exchange)
{
    struct sta_http *http = exchange->http;
    uv_mutex_lock(&http->lock);
    if (exchange->watched)
        epoll_ctl(http->epoll, EPOLL_CTL_DEL, exchange->fd, NULL);
    exchange->watched = false;
    uv_mutex_unlock(&http->lock);
}

static void client_left(struct sta_http *http, uint64_t serial)
{
    bool finish = false;
    uv_mutex_lock(&http->lock);
    struct sta_exchange *exchange = http->exchanges;
    while (exchange != NULL && exchange->serial != serial)
        exchange = exchange->next;
    if (exchange != NULL && exchange->watched) {
        epoll_ctl(http->epoll, EPOLL_CTL_DEL, exchange->fd, NULL);
        exchange->watched = false;
        finish = exchange->gone(exchange->gone_context);
    }
    uv_mutex_unlock(&http->lock);
    if (finish)
        MHD_resume_connection(exchange->connection);
}

/* Cuts connections whose request did not come in time; libmicrohttpd then closes them. */
static void end_overdue(struct sta_http *http)
{
    uint64_t now = uv_hrtime();
    uv_mutex_lock(&http->lock);
    for (struct sta_exchange *exchange = http->exchanges; exchange; exchange = exchange->next)
        if (exchange->deadline_ns != 0 && now >= exchange->deadline_ns) {
            exchange->deadline_ns = 0;
            shutdown(exchange->fd, SHUT_RDWR);
        }
    uv_mutex_unlock(&http->lock);
}

/* ---- refusing */

static char *refusal_text(int status, const char *phrase, const char *detail)
{
    struct sta_buffer body, out;
    sta_buffer_init(&body);
    sta_buffer_init(&out);
    sta_put_problem(&body, &(struct sta_problem){.status = status, .detail = detail, .position = -1});
    sta_put_format(&out, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n",
                   status, phrase);
    for (size_t i = 0; i < sta_safety_header_count; i++)
        sta_put_format(&out, "%s: %s\r\n", sta_safety_headers[i].name, sta_safety_headers[i].value);
    sta_put_format(&out, "Content-Length: %zu\r\nConnection: close\r\n\r\n", body.size);
    sta_put(&out, body.data, body.size);
    sta_buffer_fini(&body);
    return sta_buffer_take_text(&out);
}

/* The answer is sent without having read the request, so the socket lingers: closing at once could destroy
 * the answer. */
static void refuse(struct sta_http *http, int fd, const char *text)
{
    atomic_fetch_add(&http->refused, 1);
    ssize_t sent = send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
    if (sent < 0 || http->lingerer_count == STA_LINGERERS) {
        close(fd);
        return;
    }
    http->lingerers[http->lingerer_count++] = (struct sta_lingerer){fd, uv_hrtime() + LINGER_NS};
    epoll_add(http, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, EVENT_LINGERER);
}

/* Reads away what lingerers send; closes those that are done or have had their time. */
static void tend_lingerers(struct sta_http *http)
{
    char sink[4096];
    uint64_t now = uv_hrtime();
    for (unsigned i = 0; i < http->lingerer_count;) {
        struct sta_lingerer *one = &http->lingerers[i];
        ssize_t got = recv(one->fd, sink, sizeof sink, MSG_DONTWAIT);
        bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
        if ((got > 0 || waits) && now < one->until_ns) {
            i += waits;
            continue;
        }
        close(one->fd);
        *one = http->lingerers[--http->lingerer_count];
    }
}

/* ---- accepting */

/* Counts the connection in, or says which text refuses it. */
static const char *admit(struct sta_http *http, uint64_t number)
{
    const char *refusal = NULL;
    uv_mutex_lock(&http->lock);
    struct sta_client *client = find_client(http, number);
    if (http->count >= http->options.connections) {
        refusal = http->refusal_total;
    } else if (client != NULL && client->connections >= http->options.connections_per_client) {
        refusal = http->refusal_client;
    } else {
        if (client == NULL) {
            STA_GROW(http->clients, http->client_capacity, http->client_count + 1);
            client = &http->clients[http->client_count++];
            *client = (struct sta_client){number, 0};
        }
        client->connections++;
        http->count++;
    }
    uv_mutex_unlock(&http->lock);
    return refusal;
}

static void hand_over(struct sta_http *http, int fd, const union sta_address *address, socklen_t size)
{
    struct MHD_Daemon *daemon = http->daemons[http->next_daemon++ % http->daemon_count];
    if (MHD_add_connection(daemon, fd, &address->any, size) == MHD_YES)
        return; /* on failure it has closed the socket */
    uv_mutex_lock(&http->lock);
    count_out(http, sta_client_number(&address->any));
    uv_mutex_unlock(&http->lock);
}

static void accept_some(struct sta_http *http)
{
    for (unsigned i = 0; i < ACCEPTS_AT_ONCE; i++) {
        union sta_address address = {0};
        socklen_t size = sizeof address;
        int fd = accept4(http->listener, &address.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE) {
                sta_log(STA_LOG_ERROR, "Cannot accept a connection", "cause", strerror(errno), NULL);
                usleep(TICK_MS * 1000);
            }
            return;
        }
        const char *refusal = admit(http, sta_client_number(&address.any));
        if (refusal == NULL)
            hand_over(http, fd, &address, size);
        else
            refuse(http, fd, refusal);
    }
}

static void gate_main(void *argument)
{
    struct sta_http *http = argument;
    uint64_t next_tick = 0;
    for (bool stop = false; !stop;) {
        struct epoll_event events[64];
        int count = epoll_wait(http->epoll, events, STA_COUNT_OF(events), TICK_MS);
        for (int i = 0; i < count; i++) {
            uint64_t about = events[i].data.u64;
            if (about == EVENT_LISTENER)
                accept_some(http);
            else if (about == EVENT_WAKE)
                stop = true;
            else if (about != EVENT_LINGERER)
                client_left(http, about);
        }
        tend_lingerers(http);
        if (uv_hrtime() < next_tick)
            continue;
        next_tick = uv_hrtime() + TICK_MS * UINT64_C(1000000);
        end_overdue(http);
        sta_streams_tick(http);
        if (http->options.tick != NULL)
            http->options.tick(http->options.context);
    }
    while (http->lingerer_count > 0)
        close(http->lingerers[--http->lingerer_count].fd);
}

int sta_gate_start(struct sta_http *http, struct sta_error *err)
{
    http->refusal_client = refusal_text(429, "Too Many Requests",
                                        "This address has as many connections open as one client may "
                                        "(setting connections_per_client).");
    http->refusal_total = refusal_text(503, "Service Unavailable",
                                       "As many connections are open as may be (setting connections).");
    http->epoll = epoll_create1(EPOLL_CLOEXEC);
    http->wake = eventfd(0, EFD_CLOEXEC);
    if (http->epoll < 0 || http->wake < 0)
        return sta_fail_errno(err, errno, "Cannot watch connections");
    epoll_add(http, http->listener, EPOLLIN, EVENT_LISTENER);
    epoll_add(http, http->wake, EPOLLIN, EVENT_WAKE);
    if (uv_thread_create(&http->gate, gate_main, http) != 0)
        return sta_fail(err, STA_EINTERNAL, "Cannot start a thread");
    http->gate_runs = true;
    return STA_OK;
}

void sta_gate_stop_accepting(struct sta_http *http)
{
    epoll_ctl(http->epoll, EPOLL_CTL_DEL, http->listener, NULL);
    shutdown(http->listener, SHUT_RDWR);
}

void sta_gate_stop(struct sta_http *http)
{
    uint64_t one = 1;
    if (http->gate_runs && write(http->wake, &one, sizeof one) == sizeof one)
        uv_thread_join(&http->gate);
    http->gate_runs = false;
}
