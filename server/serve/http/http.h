/* http.h - HTTP/1.1 over sockets: exchanges come in, responses go out.
 *
 * An exchange is one request and its response.  When the request is complete its handler is called on an HTTP
 * thread, which must not wait for anything: the handler responds at once, or parks the exchange, has the work
 * done elsewhere, and finishes it from there. */
#ifndef STA_SERVE_HTTP_H
#define STA_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/error.h"
#include "serve/http/client.h"
#include "serve/http/head.h"

struct sta_http;
struct sta_exchange;

/* ---- responses: ready to be sent, any number of times; counted references; any thread */

struct sta_http_response;

struct sta_header {
    const char *name, *value;
};

struct sta_http_response_parts {
    int status;
    const char *content_type;         /* NULL: none */
    const struct sta_header *headers; /* copied */
    size_t header_count;
    char *body; /* malloc'd, taken over; may be NULL when empty */
    size_t size;
    struct sta_account *account; /* NULL: not counted */
    size_t counted;              /* bytes that the body is charged with there; released with the response */
};

/** The headers that every response carries for safety are added, but for those that @parts gives.  Control
 * characters in values are left out. */
struct sta_http_response *sta_http_response_create(const struct sta_http_response_parts *parts);
struct sta_http_response *sta_http_response_retain(struct sta_http_response *response);
void sta_http_response_release(struct sta_http_response *response); /* NULL allowed */
size_t sta_http_response_size(const struct sta_http_response *response);

/* ---- the server */

struct sta_http_options {
    const char *listen; /* HOST:PORT, [ADDRESS]:PORT, unix:PATH */
    unsigned threads;
    uint64_t connections, connections_per_client, request_body, request_header, request_timeout_s;
    uint64_t send_rate;                 /* bytes per second that a client must take of a response */
    struct sta_account *account;        /* bodies of requests are charged to it */
    bool ask_owner;                     /* find out whose process each client is */
    const struct sta_networks *proxies; /* whose X-Forwarded-For counts; borrowed */
    void (*handle)(void *context, struct sta_exchange *exchange);
    /** Largest body of a request to @target, path and query, if it may be larger than request_body; NULL:
     * none may. */
    uint64_t (*body_limit)(void *context, const char *target);
    /** After the last byte of an response; @aborted: the client had gone before.  Not for what never was a
     * request. */
    void (*completed)(void *context, struct sta_exchange *exchange, int status, double seconds, bool aborted);
    /** Some ten times a second, briefly, on a thread of http's own; NULL: not wanted. */
    void (*tick)(void *context);
    void *context;
};

/** Opens the socket; no request is taken before sta_http_run. */
STA_MUSTCHECK int sta_http_open(const struct sta_http_options *options, struct sta_http **http,
                                struct sta_error *err);
STA_MUSTCHECK int sta_http_run(struct sta_http *http, struct sta_error *err);
const char *sta_http_address(const struct sta_http *http); /* "http://127.0.0.1:7878", "unix:/run/strata" */
const char *sta_http_host(const struct sta_http *http);    /* the host of `listen`, without brackets, or "" */
unsigned sta_http_port(const struct sta_http *http);       /* 0: a socket in the file system */
bool sta_http_is_loopback(const struct sta_http *http);
bool sta_http_is_wildcard(const struct sta_http *http);
uint64_t sta_http_connections(struct sta_http *http);
uint64_t sta_http_refused(struct sta_http *http);
/** No new connections; streams end; waits until no exchange is at work, at most @grace_ms. */
void sta_http_quiesce(struct sta_http *http, unsigned grace_ms);
/** Closes every connection and frees.  No exchange may be parked any more. */
void sta_http_close(struct sta_http *http);

/* ---- the request; valid until the response has gone out.  Any thread */

enum sta_method sta_exchange_method(const struct sta_exchange *exchange); /* STA_METHODS: none of these */
char *sta_exchange_target(
    struct sta_exchange *exchange); /* as sent: path and query; the handler may write into it */
const char *sta_exchange_header(struct sta_exchange *exchange, const char *name); /* NULL: absent */
const struct sta_buffer *sta_exchange_body(const struct sta_exchange *exchange);
/** By which host the client calls: of a target in absolute form, else the Host header; NULL: none. */
const char *sta_exchange_host(const struct sta_exchange *exchange);
/** Who asks: the other end of the connection, or whom a trusted proxy names. */
const struct sta_client *sta_exchange_client(const struct sta_exchange *exchange);
/** Names the request in logs, problem documents and the header X-Request-Id. */
const char *sta_exchange_id(const struct sta_exchange *exchange);
/** Bytes that have been sent for the request so far.  Context: `completed`. */
uint64_t sta_exchange_sent(const struct sta_exchange *exchange);

/* What the handler notes about the exchange, for `completed`; empty at first. */
struct sta_exchange_note {
    const void *about;
    char user[64];
    char subject[256];
};
struct sta_exchange_note *sta_exchange_note(struct sta_exchange *exchange);

/* ---- responding: exactly one of response, park + finish, stream */

/** Context: the handler's call.  Takes over the reference. */
void sta_exchange_response(struct sta_exchange *exchange, struct sta_http_response *response);

/**
 * sta_exchange_park - keep the client waiting until sta_exchange_finish
 * @gone: called (once at most, on a thread of http's own, briefly, never after finish began) when the client
 * has left; NULL: not
 *        watched.  Returns true when the exchange shall end now, so that finish will not be called.
 * Context: the handler's call.
 */
void sta_exchange_park(struct sta_exchange *exchange, bool (*gone)(void *context), void *context);
/** Context: any thread, also before the handler returned.  Takes over the reference.  The exchange must not
 * be used after. */
void sta_exchange_finish(struct sta_exchange *exchange, struct sta_http_response *response);

/* Headers for this exchange alone, on top of those of a shared response: for CORS.  Copied.  Context: before
 * response or finish. */
void sta_exchange_add_header(struct sta_exchange *exchange, const char *name, const char *value);
/** The same, of a response with status 200 only. */
void sta_exchange_add_success_header(struct sta_exchange *exchange, const char *name, const char *value);
/** Keeps a copy of the query of a target that the handler takes apart, and gives it; NULL: none was kept. */
void sta_exchange_keep_query(struct sta_exchange *exchange, const char *query);
const char *sta_exchange_query(const struct sta_exchange *exchange);

/* A body that comes piece by piece: server-sent events, long tables. */
struct sta_stream;
enum sta_stream_state {
    STA_STREAM_OPEN,
    STA_STREAM_END,
    STA_STREAM_FAILED /* the connection is cut, so that nobody takes what came for the whole */
};
struct sta_stream_source {
    /** Appends what is new, nothing when nothing is.  @heartbeat: nothing has been sent for a while. */
    enum sta_stream_state (*produce)(void *context, struct sta_buffer *out, bool heartbeat);
    void (*release)(void *context);
    void *context;
    const struct sta_header *headers; /* copied; none: Cache-Control: no-store */
    size_t header_count;
    bool whole; /* to cut it short is a failure: at a stop it may go on for the time of grace */
};
/** Context: the handler's call. */
void sta_exchange_stream(struct sta_exchange *exchange, const char *content_type,
                         const struct sta_stream_source *source);
/**
 * sta_exchange_finish_stream - the same for an exchange that is parked
 * @stream: set, before the source is asked for the first time, to what sta_stream_wake wants
 * Context: any thread.  The exchange must not be used after.
 */
void sta_exchange_finish_stream(struct sta_exchange *exchange, const char *content_type,
                                const struct sta_stream_source *source, struct sta_stream **stream);
/** Has the stream's source asked again.  Context: any thread, before the source is released. */
void sta_stream_wake(struct sta_stream *stream);
/** Every stream is asked again.  Context: any thread. */
void sta_http_wake_streams(struct sta_http *http);

#endif
