/* serve.h - responses to HTTP requests. */
#ifndef STA_SERVE_SERVE_H
#define STA_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "server/library.h"

struct sta_account;
struct sta_buffer;
struct sta_peers;
struct sta_server;

struct sta_setting_value {
    const char *name, *value, *help;
};

struct sta_server_options {
    const char *listen;          /* HOST:PORT */
    struct sta_library *library; /* borrowed */
    struct sta_jobs *jobs;       /* borrowed */
    struct sta_store *store;     /* borrowed */
    struct sta_account *account; /* of the daemon: what requests and caches hold is charged to it; borrowed */
    const char *web;             /* folder of the dashboard */
    const char *store_path;      /* folder of the store */
    const char *tokens;          /* file, or "" */
    bool loopback_anyone;        /* without tokens: serve every user of this machine */
    const char *const *trusted_proxies;
    size_t trusted_proxy_count;
    const char *const *hosts; /* further allowed names */
    size_t host_count;
    const char *const *cors_origins;
    size_t cors_origin_count;
    uint64_t connections, connections_per_client, request_body, request_header, request_timeout, send_rate;
    uint64_t first_page_events;
    uint64_t rows, cache, running_queries, queued_queries, query_memory, query_timeout, timeline_cells;
    unsigned workers;
    const char *spill;             /* folder for what does not fit the memory */
    const struct sta_peers *peers; /* other processes of the daemon, which share queries; NULL: none */
    /** Appends what is known of these processes (ranks) as a JSON list.  Return: one that has not been heard
     * of for long, -1: none.  NULL: the daemon is no job of ranks. */
    int (*put_ranks)(void *context, struct sta_buffer *out);
    void (*put_rank_metrics)(void *context, struct sta_buffer *out);
    void *ranks_context;
    const struct sta_setting_value *settings; /* for GET /settings; borrowed */
    size_t setting_count;
    const char *version;
};

/**
 * sta_server_start - open the socket and serve on threads of its own
 * Refuses (STA_EINPUT) an address that is not loopback without a tokens file.
 * Context: main thread.  Return: 0, STA_EINPUT (bad address, bad tokens file), STA_EIO (address in use, ..).
 */
STA_MUSTCHECK int sta_server_start(const struct sta_server_options *options, struct sta_server **server,
                                   struct sta_error *err);
/** "http://127.0.0.1:7878", valid until the server is stopped. */
const char *sta_server_address(const struct sta_server *server);
/** Reads the tokens file again; on failure the old tokens stay valid. */
STA_MUSTCHECK int sta_server_reload(struct sta_server *server, struct sta_error *err);
/** Frees about so many bytes of responses that are kept for whoever asks next.  Return: bytes freed. Context:
 * any thread, until the server is stopped. */
size_t sta_server_shrink(struct sta_server *server, size_t bytes);
/** Cancels the responses that are prepared while nobody waits for them.  Return: how many have not ended yet.
 * Context: as sta_server_shrink. */
size_t sta_server_cancel_prepared(struct sta_server *server);
/** Whether queries are worked on or wait, or long responses are under way.  Context: any thread, until the
 * server is stopped. */
bool sta_server_is_busy(const struct sta_server *server);
/** No new connections; responses in flight may finish for @grace_ms; then everything is closed and freed. */
void sta_server_stop(struct sta_server *server, unsigned grace_ms);

#endif
