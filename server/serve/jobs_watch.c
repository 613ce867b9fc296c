/* What follows from changes of jobs: streams are told, ingest is counted, and the summary of a new version is
 * computed before anyone asks. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/server.h"
#include "serve/views.h"

static void on_change(void *context)
{
    struct sta_server *server = context;
    sta_http_wake_streams(server->http);
}

struct errand {
    struct sta_server *server;
    char trace[STA_TRACE_ID_SIZE];
};

static void prepare(void *context, bool dropped)
{
    struct errand *errand = context;
    if (!dropped)
        sta_view_prepare(errand->server, errand->trace);
    free(errand);
}

static void count_ingest(struct sta_server *server, const char *trace)
{
    struct sta_job_view job;
    if (sta_jobs_of_trace(server->options.jobs, trace, &job))
        sta_metrics_ingest(server->metrics, job.bytes, job.events);
}

static void on_publish(void *context, const char *trace)
{
    struct errand *errand = sta_alloc(sizeof *errand);
    struct sta_error ignored = STA_ERROR_INIT;
    errand->server = context;
    snprintf(errand->trace, sizeof errand->trace, "%s", trace);
    count_ingest(context, trace);
    sta_kept_results_forget(errand->server->results, trace);
    if (sta_workers_submit(errand->server->errands, prepare, errand, &ignored) != STA_OK)
        free(errand);
}

void sta_server_watch_jobs(struct sta_server *server)
{
    sta_jobs_on_change(server->options.jobs, on_change, server);
    sta_library_on_publish(server->options.library, on_publish, server);
}
