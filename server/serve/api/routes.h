/* routes.h - the API as a table.  Dispatch, checks, HEAD, OPTIONS, 404 and 405, and the OpenAPI document are
 * all made from it. */
#ifndef STA_SERVE_ROUTES_H
#define STA_SERVE_ROUTES_H

#include "serve/server.h"

/* Where a handler runs. */
enum sta_served_place {
    STA_INLINE,   /* on the HTTP thread: touches memory only */
    STA_IO_TASK,  /* on an I/O thread: may touch a disk */
    STA_QUESTION, /* a view: looked up among the responses, else computed (views.h) */
    STA_CUSTOM    /* on the HTTP thread; ends the exchange itself (streams) */
};

struct sta_view_kind;

/** Fills the response, or fails. */
typedef int sta_handler(struct sta_call *call, struct sta_response *response, struct sta_error *err);

#define STA_HEALTH_PATH "/healthz" /* answered even to those whom the daemon does not serve */

struct sta_route {
    enum sta_method method; /* GET answers HEAD too */
    enum sta_role role;     /* NONE: for all */
    enum sta_served_place place;
    sta_parameter_set parameters; /* beside those of its view */
    int status;                   /* of the success; 0: 200 */
    int other_status;             /* of a success that had less or more to do, or 0 */
    bool no_store;                /* secrets or moments: without an ETag, not to be kept by anyone */
    bool tabular;                 /* the success may be CSV and NDJSON too */
    const char *path;             /* pattern */
    const char *id;               /* operationId */
    const char *tag;
    union {
        sta_handler *handle;
        void (*arrange)(struct sta_call *call);
        const struct sta_view_kind *view;
    };
    uint64_t body_limit;  /* bytes of the request body, where more than the setting request_body; else 0 */
    const char *body;     /* schema of the request body, or NULL */
    const char *response; /* schema of the success, or NULL when it has no JSON body */
    const char *content_type; /* of the success when it is not JSON, or can be something else too */
    const char *summary, *text;
    const char *audit; /* what is logged of each such request; NULL: it changes nothing */
};

/** All parameters of a route: its own, and those of its view. */
sta_parameter_set sta_route_parameters(const struct sta_route *route);

extern const struct sta_route sta_routes[];
extern const size_t sta_route_count;

/** The route of a path and method.  NULL: none; then *allowed holds a bit per method that the path has (0: no
 * such path). */
const struct sta_route *sta_route_find(const char *path, enum sta_method method,
                                       struct sta_capture captures[STA_CAPTURES], unsigned *allowed);
/** "GET, HEAD, OPTIONS" */
#define STA_METHODS_TEXT 64
void sta_route_methods(unsigned allowed, char text[STA_METHODS_TEXT]);

/** Every request comes in here; fits sta_http_options. */
void sta_dispatch(void *server, struct sta_exchange *exchange);

/** The document, as text owned by the caller. */
char *sta_openapi_create(const char *version, const char *cookie);

/* handlers, one file per topic */
sta_handler sta_api_health, sta_api_metrics, sta_api_version, sta_api_settings, sta_api_tokens,
    sta_api_session, sta_api_session_create, sta_api_session_delete, sta_api_traces, sta_api_trace,
    sta_api_trace_create, sta_api_trace_patch, sta_api_trace_delete, sta_api_trace_refresh,
    sta_api_trace_compact, sta_api_browse, sta_api_jobs, sta_api_job, sta_api_job_delete, sta_api_presets,
    sta_api_preset, sta_api_metrics_explained, sta_api_metric_explained, sta_api_preset_put,
    sta_api_preset_delete, sta_api_language, sta_api_align_log, sta_api_notes, sta_api_note_create,
    sta_api_note_delete, sta_api_queries, sta_api_saved, sta_api_saved_put, sta_api_saved_delete,
    sta_api_rules, sta_api_rule, sta_api_rule_put, sta_api_rule_delete;
void sta_api_openapi(struct sta_call *);
void sta_api_job_events(struct sta_call *);
extern const struct sta_view_kind sta_view_whatif, sta_view_align, sta_view_timeline_lanes,
    sta_view_timeline_events, sta_view_timeline_density, sta_view_timeline_event, sta_view_timeline_search,
    sta_view_timeline_statistics, sta_view_call_tree, sta_view_gaps, sta_view_dasf, sta_view_utilisation,
    sta_view_stragglers, sta_view_access, sta_view_findings, sta_view_findings_preview,
    sta_view_compare_findings, sta_view_run_report, sta_view_overlap, sta_view_overlap_intervals,
    sta_view_overlap_page, sta_view_summary, sta_view_timeseries, sta_view_hlm, sta_view_main, sta_view_layer,
    sta_view_flat, sta_view_preset_preview, sta_view_report, sta_view_columns, sta_view_column_values,
    sta_view_query, sta_view_events, sta_view_query_traces, sta_view_compare;

#endif
