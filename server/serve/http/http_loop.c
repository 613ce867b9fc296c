/* A loop: one thread that serves its share of the connections, by epoll.
 *
 * DESIGN.  All that a connection does, its loop's thread does, without locks.  Other threads hand something
 * over by posting the exchange: `lock` guards the list of those posted, and what an exchange has "under the
 * loop's lock".  `gone` is called under it, so that it never runs once the exchange is being finished.  Every
 * socket is registered once, edge-triggered; an exchange remembers what its socket last said. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"
#include "serve/http/http_private.h"

#define TICK_MS 100
#define EVENTS_AT_ONCE 64

static void wake(const struct sta_loop *loop)
{
    uint64_t one = 1;
    if (write(loop->wake, &one, sizeof one) < 0 && errno != EAGAIN)
        sta_log(STA_LOG_ERROR, "Cannot wake an HTTP thread", "cause", strerror(errno), NULL);
}

/* Under the lock. */
static void post(struct sta_loop *loop, struct sta_exchange *exchange)
{
    bool first = loop->first_posted == NULL;
    if (!exchange->posted) {
        exchange->posted = true;
        exchange->next_posted = NULL;
        *loop->last_posted = exchange;
        loop->last_posted = &exchange->next_posted;
    }
    if (first)
        wake(loop);
}

void sta_loop_post(struct sta_exchange *exchange)
{
    struct sta_loop *loop = exchange->loop;
    uv_mutex_lock(&loop->lock);
    post(loop, exchange);
    uv_mutex_unlock(&loop->lock);
}

/* In one step: once it can be seen that the exchange is finished it may be sent, and gone. */
void sta_loop_finish(struct sta_exchange *exchange, struct sta_http_response *response,
                     struct sta_stream *stream)
{
    struct sta_loop *loop = exchange->loop;
    uv_mutex_lock(&loop->lock);
    exchange->gone = NULL;
    exchange->response = response;
    exchange->stream = stream;
    exchange->finished = true;
    post(loop, exchange);
    uv_mutex_unlock(&loop->lock);
}

void sta_loop_wake_streams(struct sta_loop *loop)
{
    uv_mutex_lock(&loop->lock);
    loop->wake_streams = true;
    wake(loop);
    uv_mutex_unlock(&loop->lock);
}

/* ---- thread of the loop */

static void link_exchange(struct sta_loop *loop, struct sta_exchange *exchange)
{
    exchange->previous = NULL;
    exchange->next = loop->exchanges;
    if (loop->exchanges)
        loop->exchanges->previous = exchange;
    loop->exchanges = exchange;
}

static void unlink_exchange(struct sta_loop *loop, struct sta_exchange *exchange)
{
    if (exchange->previous)
        exchange->previous->next = exchange->next;
    else
        loop->exchanges = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
}

/* Under the lock. */
static struct sta_exchange *take_posted(struct sta_loop *loop)
{
    struct sta_exchange *exchange = loop->first_posted;
    if (exchange == NULL)
        return NULL;
    loop->first_posted = exchange->next_posted;
    if (loop->first_posted == NULL)
        loop->last_posted = &loop->first_posted;
    exchange->posted = false;
    return exchange;
}

/* Under the lock: one that ends may have been posted. */
static void forget_posted(struct sta_loop *loop, struct sta_exchange *exchange)
{
    struct sta_exchange **at = &loop->first_posted;
    while (exchange->posted && *at != exchange)
        at = &(*at)->next_posted;
    if (!exchange->posted)
        return;
    *at = exchange->next_posted;
    if (loop->last_posted == &exchange->next_posted)
        loop->last_posted = at;
    exchange->posted = false;
}

static void advance(struct sta_loop *loop, struct sta_exchange *exchange)
{
    sta_exchange_advance(exchange);
    if (exchange->state != STA_EXCHANGE_ENDED)
        return;
    uv_mutex_lock(&loop->lock);
    forget_posted(loop, exchange);
    uv_mutex_unlock(&loop->lock);
    unlink_exchange(loop, exchange);
    sta_exchange_destroy(exchange);
}

/* A connection that the acceptor hands over comes as posted, before it is registered. */
static void adopt(struct sta_loop *loop, struct sta_exchange *exchange)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = exchange};
    link_exchange(loop, exchange);
    exchange->readable = exchange->writable = true;
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, exchange->fd, &event) != 0) {
        sta_log(STA_LOG_ERROR, "Cannot watch a connection", "cause", strerror(errno), NULL);
        exchange->state = STA_EXCHANGE_ENDED;
    }
}

static void serve_posted(struct sta_loop *loop)
{
    for (;;) {
        uv_mutex_lock(&loop->lock);
        struct sta_exchange *exchange = take_posted(loop);
        bool finished = exchange != NULL && exchange->finished;
        if (finished)
            exchange->finished = false;
        uv_mutex_unlock(&loop->lock);
        if (exchange == NULL)
            return;
        if (exchange->next == exchange)
            adopt(loop, exchange);
        if (finished)
            sta_exchange_begin_response(exchange);
        advance(loop, exchange);
    }
}

static void serve_event(struct sta_loop *loop, const struct epoll_event *event)
{
    struct sta_exchange *exchange = event->data.ptr;
    exchange->readable |= (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    exchange->writable |= (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        sta_exchange_hung_up(exchange);
    advance(loop, exchange);
}

static void serve_streams(struct sta_loop *loop)
{
    for (struct sta_exchange *exchange = loop->exchanges, *next; exchange; exchange = next) {
        next = exchange->next;
        if (exchange->state == STA_EXCHANGE_STREAMS)
            advance(loop, exchange);
    }
}

static void tick(struct sta_loop *loop)
{
    uint64_t now = uv_hrtime();
    for (struct sta_exchange *exchange = loop->exchanges, *next; exchange; exchange = next) {
        next = exchange->next;
        if (sta_exchange_tick(exchange, now))
            advance(loop, exchange);
    }
}

/* Takes and clears the flags.  Return: whether the loop goes on. */
static bool take_flags(struct sta_loop *loop, bool *streams)
{
    uint64_t ignored;
    if (read(loop->wake, &ignored, sizeof ignored) < 0 && errno != EAGAIN)
        sta_log(STA_LOG_ERROR, "Cannot read a wake-up", "cause", strerror(errno), NULL);
    uv_mutex_lock(&loop->lock);
    *streams = loop->wake_streams;
    loop->wake_streams = false;
    bool stopping = loop->stopping;
    uv_mutex_unlock(&loop->lock);
    return !stopping;
}

static void loop_main(void *argument)
{
    struct sta_loop *loop = argument;
    uint64_t next_tick = 0;
    for (bool goes_on = true; goes_on;) {
        struct epoll_event events[EVENTS_AT_ONCE];
        bool streams = false;
        int count = epoll_wait(loop->epoll, events, EVENTS_AT_ONCE, TICK_MS);
        for (int i = 0; i < count; i++)
            if (events[i].data.ptr != NULL)
                serve_event(loop, &events[i]);
            else
                goes_on = take_flags(loop, &streams);
        serve_posted(loop);
        if (streams)
            serve_streams(loop);
        if (uv_hrtime() >= next_tick) {
            tick(loop);
            next_tick = uv_hrtime() + TICK_MS * UINT64_C(1000000);
        }
    }
    serve_posted(loop); /* connections that were handed over last are in the list then */
    while (loop->exchanges != NULL) {
        struct sta_exchange *exchange = loop->exchanges;
        exchange->state = STA_EXCHANGE_ENDED;
        advance(loop, exchange);
    }
}

/* ---- start and stop */

int sta_loop_start(struct sta_loop *loop, struct sta_http *http, struct sta_error *err)
{
    *loop = (struct sta_loop){.http = http, .epoll = -1, .wake = -1};
    loop->last_posted = &loop->first_posted;
    uv_mutex_init(&loop->lock);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (loop->epoll < 0 || loop->wake < 0 || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &event) != 0)
        return sta_fail_errno(err, errno, "Cannot watch connections");
    loop->runs = uv_thread_create(&loop->thread, loop_main, loop) == 0;
    return loop->runs ? STA_OK : sta_fail(err, STA_EINTERNAL, "Cannot start an HTTP thread");
}

void sta_loop_stop(struct sta_loop *loop)
{
    uv_mutex_lock(&loop->lock);
    loop->stopping = true;
    if (loop->runs)
        wake(loop);
    uv_mutex_unlock(&loop->lock);
    if (loop->runs)
        uv_thread_join(&loop->thread);
    if (loop->epoll >= 0)
        close(loop->epoll);
    if (loop->wake >= 0)
        close(loop->wake);
    uv_mutex_destroy(&loop->lock);
}
