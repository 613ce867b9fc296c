/* http_private.h - shared by the http_*.c files only. */
#ifndef STA_SERVE_HTTP_PRIVATE_H
#define STA_SERVE_HTTP_PRIVATE_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <uv.h>

#include "serve/http.h"

#define STA_HTTP_HEADERS 4 /* of one exchange */

struct sta_stream;

enum sta_exchange_phase {
    STA_PHASE_IDLE,    /* between requests */
    STA_PHASE_HEADERS, /* the request line is there */
    STA_PHASE_BODY,
    STA_PHASE_HANDLED, /* the handler has been called */
    STA_PHASE_QUEUED   /* the answer is being sent */
};

/* One connection and the request on it. */
struct sta_exchange {
    struct sta_http *http;
    struct MHD_Connection *connection;
    int fd;
    uint64_t client;
    /* the request; HTTP thread of the connection */
    enum sta_exchange_phase phase;
    enum sta_method method;
    char *target;
    size_t target_capacity;
    struct sta_buffer body;
    uint64_t discarded; /* bytes of a body that is too large */
    int refusal;
    uint64_t started_ns;
    void *note;
    struct sta_header headers[STA_HTTP_HEADERS]; /* owned texts */
    unsigned header_count;
    bool parked;
    struct sta_answer *answer;
    int status;
    struct sta_stream *stream;
    /* of the gate, under its lock */
    struct sta_exchange *next, *previous;
    uint64_t serial;
    uint64_t deadline_ns; /* 0: none runs */
    bool watched;
    bool (*gone)(void *context);
    void *gone_context;
};

/* A socket that was refused and is kept a moment, so that its client can read why. */
struct sta_lingerer {
    int fd;
    uint64_t until_ns;
};
#define STA_LINGERERS 256

union sta_address {
    struct sockaddr_in6 six; /* first: the longest, so that {0} clears all */
    struct sockaddr_in four;
    struct sockaddr any;
};

struct sta_client {
    uint64_t number, connections;
};

struct sta_http {
    struct sta_http_options options;
    char *host, *address;
    bool loopback, wildcard;
    struct MHD_Daemon **daemons;
    unsigned daemon_count, next_daemon;
    _Atomic unsigned active; /* exchanges between the handler's call and the end of the answer */
    _Atomic bool stopping;
    _Atomic uint64_t refused;
    struct sta_answer *failure; /* 500, for a handler that did not answer */
    /* gate */
    int listener, epoll, wake;
    uv_thread_t gate;
    bool gate_runs;
    uv_mutex_t lock; /* guards the list of connections and their fields of the gate */
    struct sta_exchange *exchanges;
    uint64_t count, serial;
    struct sta_client *clients; /* those with connections */
    size_t client_count, client_capacity;
    struct sta_lingerer lingerers[STA_LINGERERS]; /* gate thread only */
    unsigned lingerer_count;
    char *refusal_client, *refusal_total; /* ready texts */
    /* streams */
    uv_mutex_t stream_lock;
    struct sta_stream *streams;
};

/* http.c: called by libmicrohttpd */
void *sta_request_begins(void *http, const char *uri, struct MHD_Connection *connection);
size_t sta_request_keep_escapes(void *http, struct MHD_Connection *connection, char *text);
enum MHD_Result sta_request_access(void *http, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *data, size_t *size,
                                   void **request);
void sta_request_completed(void *http, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode code);

/* http_listen.c */
STA_MUSTCHECK int sta_http_listen(struct sta_http *http, struct sta_error *err);

/* http_gate.c: accepts, counts, and watches connections */
STA_MUSTCHECK int sta_gate_start(struct sta_http *http, struct sta_error *err);
void sta_gate_stop_accepting(struct sta_http *http);
void sta_gate_stop(struct sta_http *http);
uint64_t sta_client_number(const struct sockaddr *address);
void sta_gate_add(struct sta_exchange *exchange);
void sta_gate_remove(struct sta_exchange *exchange);
/** Starts (or, with 0 seconds, ends) the time in which the next request must have come. */
void sta_gate_expect_request(struct sta_exchange *exchange, uint64_t seconds);
void sta_gate_watch(struct sta_exchange *exchange, bool (*gone)(void *context), void *context);
void sta_gate_unwatch(struct sta_exchange *exchange);

/* http_answer.c */
struct MHD_Response *sta_answer_response(const struct sta_answer *answer);
int sta_answer_status(const struct sta_answer *answer);
/** A response with the answer's bytes and headers and with more; destroy it after queueing. */
struct MHD_Response *sta_answer_variant(struct sta_answer *answer, const struct sta_header *headers,
                                        size_t count);
extern const struct sta_header sta_safety_headers[];
extern const size_t sta_safety_header_count;

/* http_stream.c */
/** Queues the stream as the answer of its exchange.  Context: access handler. */
enum MHD_Result sta_stream_queue(struct sta_exchange *exchange);
/** Frees the stream of an exchange that ends before it was queued. */
void sta_stream_abandon(struct sta_exchange *exchange);
void sta_streams_tick(struct sta_http *http); /* heartbeats; gate thread */
/** Ends those that may be cut, or all, soon. */
void sta_streams_end(struct sta_http *http, bool all);

#endif
