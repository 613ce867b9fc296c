/* What follows from changes of jobs: streams are woken, ingest is counted, and what the first page shows of a
 * new version is computed before anyone asks. */
#include "serve/server.h"
#include "serve/responses/views.h"

static void on_change(void *context)
{
    struct sta_server *server = context;
    sta_http_wake_streams(server->http);
}

static void count_ingest(struct sta_server *server, const char *trace)
{
    struct sta_job_view job;
    if (sta_jobs_of_trace(server->options.jobs, trace, &job))
        sta_metrics_ingest(server->metrics, job.bytes, job.events);
}

/* Of a live trace the next version comes soon: responses are made on request. */
static void on_publish(void *context, const char *trace)
{
    struct sta_server *server = context;
    count_ingest(server, trace);
    sta_response_cache_forget(server->response_cache, trace);
    sta_result_cache_forget(server->results, trace);
    sta_timelines_forget(server->timelines, trace);
    if (!sta_library_is_live(server->options.library, trace))
        sta_view_prepare(server, trace);
}

void sta_server_watch_jobs(struct sta_server *server)
{
    sta_jobs_on_change(server->options.jobs, on_change, server);
    sta_library_on_publish(server->options.library, on_publish, server);
}
