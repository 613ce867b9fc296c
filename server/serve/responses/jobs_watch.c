/* What follows from changes of jobs: streams are woken, ingest is counted, and what the first page shows of a
 * new version is computed before anyone asks. */
#include <uv.h>

#include "serve/server.h"
#include "serve/responses/views.h"

#define WAIT_MS 10
#define READ_SHARE 0.95 /* of an ingest's progress, when its version is published */

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

static uint64_t events_of(struct sta_server *server, const char *trace)
{
    struct sta_snapshot *snapshot;
    struct sta_error ignored = STA_ERROR_INIT;
    if (sta_library_snapshot(server->options.library, trace, &snapshot, &ignored) != STA_OK)
        return 0;
    const uint64_t events = sta_snapshot_info(snapshot)->events;
    sta_snapshot_release(snapshot);
    return events;
}

/* The last phase of an ingest of a large trace, whose first page takes seconds.  A job that is cancelled
 * meanwhile ends at once: its version is published. */
static void wait_for_first_page(struct sta_server *server, struct sta_job *job, const char *trace,
                                const struct sta_preparation *preparation)
{
    struct sta_job_view view = {0};
    double share;
    (void)sta_jobs_of_trace(server->options.jobs, trace, &view);
    sta_job_phase(job, "preparing");
    while ((share = sta_preparation_progress(preparation)) < 1 && !atomic_load(sta_job_cancel_flag(job)) &&
           !atomic_load(&server->stopping)) {
        sta_job_progress(job, READ_SHARE + (1 - READ_SHARE) * share, view.bytes, view.total_bytes,
                         view.events);
        uv_sleep(WAIT_MS);
    }
}

/* Of a live trace the next version comes soon: responses are made on request. */
static void on_publish(void *context, const char *trace, struct sta_job *job)
{
    struct sta_server *server = context;
    count_ingest(server, trace);
    sta_response_cache_forget(server->response_cache, trace);
    sta_result_cache_forget(server->results, trace);
    sta_timelines_forget(server->timelines, trace);
    if (sta_library_is_live(server->options.library, trace))
        return;
    struct sta_preparation *preparation = sta_view_prepare(server, trace);
    if (job != NULL && events_of(server, trace) >= server->options.first_page_events)
        wait_for_first_page(server, job, trace, preparation);
    sta_preparation_release(preparation);
}

void sta_server_watch_jobs(struct sta_server *server)
{
    sta_jobs_on_change(server->options.jobs, on_change, server);
    sta_library_on_publish(server->options.library, on_publish, server);
}
