/* http_private.h - shared by the http_*.c files only. */
#ifndef STA_SERVE_HTTP_PRIVATE_H
#define STA_SERVE_HTTP_PRIVATE_H

#include <stdatomic.h>
#include <uv.h>

#include "common/account.h"
#include "serve/http/body_reader.h"
#include "serve/http/http.h"

#define STA_HTTP_HEADERS 6 /* of one exchange */
#define STA_REQUEST_ID_SIZE 24

enum sta_exchange_state {
    STA_EXCHANGE_HEAD,    /* between requests, or the head of one comes in */
    STA_EXCHANGE_BODY,    /* the body comes in */
    STA_EXCHANGE_HANDLED, /* the handler has been called and the response is not there yet */
    STA_EXCHANGE_SENDS,   /* a response goes out */
    STA_EXCHANGE_STREAMS, /* a response goes out piece by piece */
    STA_EXCHANGE_DRAINS,  /* the last response is out; what the client still sends is read away */
    STA_EXCHANGE_ENDED
};

/* What is on its way to the client: two pieces of memory, of which so much has been sent. */
struct sta_outgoing {
    struct sta_buffer head;
    const char *body; /* borrowed */
    size_t body_size, sent;
};

/* One connection and the request on it. */
struct sta_exchange {
    struct sta_http *http;
    struct sta_loop *loop;
    int fd;
    union sta_address address;
    struct sta_client peer; /* the other end of the connection */
    bool counted;           /* among the connections */
    /* the rest up to `next_posted`: thread of the loop */
    enum sta_exchange_state state;
    bool readable, writable; /* the last call did not say otherwise */
    bool hung_up;            /* the client sends no more */
    bool parked, in_request, close_after;
    struct sta_buffer in; /* received, of which `taken` belongs to requests before */
    size_t taken, scanned;
    struct sta_buffer head_bytes; /* that `head` points into */
    struct sta_head head;
    struct sta_body_reader body_reader;
    struct sta_buffer body;
    size_t charged; /* bytes, for the body */
    char id[STA_REQUEST_ID_SIZE];
    struct sta_client client; /* of this request */
    struct sta_exchange_note note;
    struct sta_header headers[STA_HTTP_HEADERS]; /* owned texts */
    unsigned header_count, success_headers;      /* the latter: bits of those that are only for status 200 */
    char *query;                                 /* sta_exchange_keep_query, or NULL */
    struct sta_http_response *response;
    struct sta_stream *stream;
    int status;
    struct sta_outgoing out;
    uint64_t sent_bytes; /* of the response */
    uint64_t started_ns;
    uint64_t deadline_ns;                 /* by which the request must be there, or draining ends; 0: none */
    uint64_t window_ns, window_delivered; /* since when, and after how many bytes, the rate is measured */
    int refusal;                          /* HTTP status with which the connection is refused; 0: it is not */
    struct sta_exchange *next, *previous; /* of the loop */
    /* under the loop's lock */
    struct sta_exchange *next_posted;
    bool posted, finished;
    bool (*gone)(void *context); /* NULL: not watched */
    void *gone_context;
};

/* A thread that serves its share of the connections. */
struct sta_loop {
    struct sta_http *http;
    uv_thread_t thread;
    bool runs;
    int epoll, wake;
    struct sta_exchange *exchanges; /* thread of the loop */
    uv_mutex_t lock;
    struct sta_exchange *first_posted, **last_posted; /* to be looked at */
    bool wake_streams, stopping;
};

struct sta_connection_count {
    uint64_t client, connections;
};

enum sta_stream_ending { STA_STREAMS_GO_ON, STA_STREAMS_END_PARTIAL, STA_STREAMS_END_ALL };

struct sta_http {
    struct sta_http_options options;
    struct sta_account bodies; /* of requests; yields */
    char *host, *address;
    char *socket_path; /* in the file system; NULL: TCP */
    unsigned port;
    bool loopback, wildcard;
    struct sta_loop *loops;
    unsigned loop_count, next_loop;
    uint32_t id_prefix; /* of request ids, so that those of two runs differ */
    _Atomic uint64_t next_id;
    _Atomic unsigned active; /* requests between their head and the end of the response */
    _Atomic bool stopping;
    _Atomic int streams_ending; /* enum sta_stream_ending */
    _Atomic uint64_t refused;
    _Atomic unsigned refused_open; /* connections that are being sent why they are refused */
    /* acceptor */
    int listener, epoll, wake, netlink;
    uv_thread_t acceptor;
    bool accepts;
    uv_mutex_t lock; /* guards the counts of connections */
    uint64_t connections;
    struct sta_connection_count *counts; /* of clients with connections */
    size_t count_count, count_capacity;
};

/* http_listen.c */
STA_MUSTCHECK int sta_http_listen(struct sta_http *http, struct sta_error *err);

/* http_accept.c */
STA_MUSTCHECK int sta_acceptor_start(struct sta_http *http, struct sta_error *err);
void sta_acceptor_pause(struct sta_http *http); /* takes no more connections */
void sta_acceptor_stop(struct sta_http *http);
void sta_connection_count_out(struct sta_exchange *exchange);

/* http_loop.c */
STA_MUSTCHECK int sta_loop_start(struct sta_loop *loop, struct sta_http *http, struct sta_error *err);
void sta_loop_stop(struct sta_loop *loop); /* closes its connections */
/** Has the loop look at an exchange.  Context: any thread. */
void sta_loop_post(struct sta_exchange *exchange);
/** Gives a parked exchange its response, a response or a stream (NULL: neither, the client has gone).
 * Context: any thread, which must not use the exchange after. */
void sta_loop_finish(struct sta_exchange *exchange, struct sta_http_response *response,
                     struct sta_stream *stream);
/** Has the loop look at all its streams.  Context: any thread. */
void sta_loop_wake_streams(struct sta_loop *loop);

/* http_exchange.c; context: thread of the loop */
struct sta_exchange *sta_exchange_create(struct sta_http *http, int fd, const union sta_address *address);
/** Does all that can be done without waiting. */
void sta_exchange_advance(struct sta_exchange *exchange);
/** The client sends no more: who watches it is called, and a stream ends. */
void sta_exchange_hung_up(struct sta_exchange *exchange);
/** Return: whether it must be advanced. */
bool sta_exchange_tick(struct sta_exchange *exchange, uint64_t now_ns);
void sta_exchange_destroy(struct sta_exchange *exchange);
/** Begins the response once it is there: the response, or the stream, or, with neither, the end. */
void sta_exchange_begin_response(struct sta_exchange *exchange);

/* http_send.c */
enum sta_io { STA_IO_DONE, STA_IO_BLOCKED, STA_IO_BROKEN };
/** Sends what is outgoing, as far as the socket takes it. */
enum sta_io sta_exchange_send(struct sta_exchange *exchange);
/** Writes the head of a response with the response's headers, those of the exchange, and its length. */
void sta_exchange_put_head(struct sta_exchange *exchange, const char *headers, bool has_length,
                           uint64_t length);
/** Whether the client takes less than it must. */
bool sta_exchange_is_slow(struct sta_exchange *exchange, uint64_t now_ns);

/* http_response.c */
int sta_http_response_status(const struct sta_http_response *response);
const char *sta_http_response_headers(const struct sta_http_response *response);
const char *sta_http_response_body(const struct sta_http_response *response);
void sta_put_headers(struct sta_buffer *out, const struct sta_header *headers, size_t count);
extern const struct sta_header sta_safety_headers[];
extern const size_t sta_safety_header_count;

/* http_stream.c; context: thread of the loop */
/** Puts the stream's head into what is outgoing. */
void sta_stream_begin(struct sta_exchange *exchange);
/** Puts the next piece into what is outgoing.  Return: DONE: there is one, or *ended; BLOCKED: not yet;
 * BROKEN: the connection must be cut. */
enum sta_io sta_stream_produce(struct sta_exchange *exchange, bool *ended);
/** Whether its source shall be called although nothing woke it. */
bool sta_stream_is_quiet(struct sta_exchange *exchange, uint64_t now_ns);
void sta_stream_destroy(struct sta_stream *stream);

#endif
