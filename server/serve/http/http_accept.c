/* The acceptor: one thread that takes connections, refuses those past a limit, finds out whose they are, and
 * hands them to the loops in turn.
 *
 * A connection past a limit is handed over too, marked: its client shall get 429 or 503 and not merely find
 * the connection closed. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/log.h"
#include "common/memory.h"
#include "serve/http/http_private.h"

#define TICK_MS 100
#define ACCEPTS_AT_ONCE 64
#define REFUSED_AT_ONCE 256 /* past that they are closed without a word */

/* ---- how many connections each client has */

/* Under the lock. */
static struct sta_connection_count *find_count(struct sta_http *http, uint64_t client)
{
    for (size_t i = 0; i < http->count_count; i++)
        if (http->counts[i].client == client)
            return &http->counts[i];
    return NULL;
}

void sta_connection_count_out(struct sta_exchange *exchange)
{
    struct sta_http *http = exchange->http;
    uv_mutex_lock(&http->lock);
    struct sta_connection_count *count = find_count(http, exchange->peer.number);
    http->connections--;
    if (--count->connections == 0)
        *count = http->counts[--http->count_count];
    uv_mutex_unlock(&http->lock);
}

/* Counts the connection in.  A trusted proxy connects for many clients.  Return: 0, or the status that
 * refuses it. */
static int count_in(struct sta_http *http, const struct sta_exchange *exchange)
{
    int refusal = 0;
    bool proxy =
        http->options.proxies != NULL && sta_networks_hold(http->options.proxies, &exchange->address);
    uv_mutex_lock(&http->lock);
    struct sta_connection_count *count = find_count(http, exchange->peer.number);
    if (http->connections >= http->options.connections) {
        refusal = 503;
    } else if (!proxy && count != NULL && count->connections >= http->options.connections_per_client) {
        refusal = 429;
    } else {
        if (count == NULL) {
            STA_GROW(http->counts, http->count_capacity, http->count_count + 1);
            count = &http->counts[http->count_count++];
            *count = (struct sta_connection_count){exchange->peer.number, 0};
        }
        count->connections++;
        http->connections++;
    }
    uv_mutex_unlock(&http->lock);
    return refusal;
}

/* ---- accepting */

static void hand_over(struct sta_http *http, struct sta_exchange *exchange)
{
    exchange->loop = &http->loops[http->next_loop++ % http->loop_count];
    sta_loop_post(exchange);
}

/* Clients on this machine are distinguished by their users, as far as those are known. */
static void find_owner(struct sta_http *http, struct sta_exchange *exchange)
{
    struct sta_client *peer = &exchange->peer;
    if (http->options.ask_owner || http->socket_path != NULL)
        peer->owner = sta_owner_find(exchange->fd, &http->netlink, &peer->uid);
    if (peer->owner != STA_OWNER_UNKNOWN)
        peer->number = XXH3_64bits(&peer->uid, sizeof peer->uid);
}

static void admit(struct sta_http *http, int fd, const union sta_address *address)
{
    int one = 1;
    struct sta_exchange *exchange = sta_exchange_create(http, fd, address);
    if (http->socket_path == NULL)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    find_owner(http, exchange);
    exchange->refusal = count_in(http, exchange);
    exchange->counted = exchange->refusal == 0;
    if (!exchange->counted) {
        atomic_fetch_add(&http->refused, 1);
        if (atomic_fetch_add(&http->refused_open, 1) >= REFUSED_AT_ONCE) {
            sta_exchange_destroy(exchange);
            return;
        }
    }
    hand_over(http, exchange);
}

static void accept_some(struct sta_http *http)
{
    for (unsigned i = 0; i < ACCEPTS_AT_ONCE; i++) {
        union sta_address address = {0};
        socklen_t size = sizeof address;
        int fd = accept4(http->listener, &address.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            admit(http, fd, &address);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE) {
            sta_log(STA_LOG_ERROR, "Cannot accept a connection", "cause", strerror(errno), NULL);
            usleep(TICK_MS * 1000);
        }
        return;
    }
}

static void acceptor_main(void *argument)
{
    struct sta_http *http = argument;
    uint64_t next_tick = 0;
    for (bool goes_on = true; goes_on;) {
        struct epoll_event events[2];
        int count = epoll_wait(http->epoll, events, STA_COUNT_OF(events), TICK_MS);
        for (int i = 0; i < count; i++)
            if (events[i].data.fd == http->listener)
                accept_some(http);
            else
                goes_on = false;
        if (http->options.tick != NULL && uv_hrtime() >= next_tick) {
            http->options.tick(http->options.context);
            next_tick = uv_hrtime() + TICK_MS * UINT64_C(1000000);
        }
    }
}

/* ---- start and stop */

static bool watch(struct sta_http *http, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(http->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

int sta_acceptor_start(struct sta_http *http, struct sta_error *err)
{
    http->epoll = epoll_create1(EPOLL_CLOEXEC);
    http->wake = eventfd(0, EFD_CLOEXEC);
    if (http->epoll < 0 || http->wake < 0 || !watch(http, http->listener) || !watch(http, http->wake))
        return sta_fail_errno(err, errno, "Cannot watch the listening socket");
    http->accepts = uv_thread_create(&http->acceptor, acceptor_main, http) == 0;
    return http->accepts ? STA_OK : sta_fail(err, STA_EINTERNAL, "Cannot start a thread");
}

void sta_acceptor_pause(struct sta_http *http)
{
    epoll_ctl(http->epoll, EPOLL_CTL_DEL, http->listener, NULL);
    shutdown(http->listener, SHUT_RDWR);
}

void sta_acceptor_stop(struct sta_http *http)
{
    uint64_t one = 1;
    if (http->accepts && write(http->wake, &one, sizeof one) == sizeof one)
        uv_thread_join(&http->acceptor);
    http->accepts = false;
}
