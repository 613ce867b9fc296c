/* server.h - what the handlers of this stage share (private). */
#ifndef STA_SERVE_SERVER_H
#define STA_SERVE_SERVER_H

#include "serve/api/access.h"
#include "serve/responses/response_cache.h"
#include "serve/api/assets.h"
#include "serve/http/representation.h"
#include "serve/http/http.h"
#include "serve/responses/result_cache.h"
#include "serve/api/metrics.h"
#include "serve/api/parameters.h"
#include "serve/api/response.h"
#include "serve/http/request.h"
#include "serve/responses/running.h"
#include "serve/serve.h"
#include "serve/http/shares.h"
#include "serve/responses/timelines.h"
#include "serve/http/workers.h"
#include "simulate/simulate.h"

struct sta_server {
    struct sta_server_options options;
    struct sta_networks proxies; /* trusted */
    struct sta_http *http;
    struct sta_access *access;
    struct sta_response_cache *response_cache;
    struct sta_result_cache *results; /* of which pages are cut */
    struct sta_models *models;        /* of data loading, for the next query to them */
    struct sta_timelines *timelines;
    struct sta_running *running; /* queries at work */
    struct sta_assets *assets;
    struct sta_metrics *metrics;
    struct sta_workers *queries;    /* what scans traces */
    struct sta_workers *prepared;   /* what the first page of a new version will ask */
    struct sta_workers *background; /* what is computed for later: gives way to all others */
    struct sta_workers *streams;    /* what writes long responses, piece by piece */
    struct sta_shares *stream_places;
    struct sta_workers *tasks;          /* what may touch a disk: register, browse, list, .. */
    struct sta_representation *openapi; /* made once */
    _Atomic bool stopping;
};

/* One request on its way through a handler. */
struct sta_call {
    struct sta_server *server;
    struct sta_exchange *exchange;
    const struct sta_route *route;
    char captures[STA_CAPTURES][STA_HOST_SIZE]; /* decoded parts of the path, in order */
    struct sta_parameter_value values[STA_PARAMETERS];
    struct sta_repeats repeats;
    struct sta_identity identity;
};

/** Answers the exchange of a call with the response, or with the problem when @status says so; empties the
 * response.
 * Context: the handler's call (parked: false), else any thread. */
void sta_call_respond(struct sta_call *call, int status, struct sta_response *response,
                      const struct sta_error *err, bool parked);
/** The same with nothing but the problem that the error is. */
void sta_call_fail(struct sta_call *call, const struct sta_error *err, bool parked);

/* audit.c: who did what */
/** Notes for the log who the call's identity is. */
void sta_call_note_user(struct sta_call *call);
/** Notes for the log what the call is about, where its path does not say that. */
void sta_call_note_subject(struct sta_call *call, const char *subject);
/** Logs a request that has ended: one that changes something, or signs in, as a line of audit; each as a line
 * of access. */
void sta_log_request(struct sta_exchange *exchange, int status, double seconds, bool aborted);

/* server.c */
/** Trims memory that queries freed, but for what the next one can use: as much as one may hold.  Context: any
 * thread, when nobody waits for it. */
void sta_server_trim(const struct sta_server *server);

/* jobs_watch.c: what follows from changes of jobs */
void sta_server_watch_jobs(struct sta_server *server);

/* trace_json.c */
void sta_put_trace(struct sta_server *server, struct sta_buffer *out, const struct sta_trace_view *view);
void sta_put_job(struct sta_buffer *out, const struct sta_job_view *view);
/** The member "trace" or an element: describes the trace, or fails. */
STA_MUSTCHECK int sta_put_trace_by_id(struct sta_server *server, struct sta_buffer *out, const char *id,
                                      struct sta_error *err);

#endif
