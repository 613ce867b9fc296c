/* What a job does while it runs: it says how far it is, asks whether it should stop, and may leave the small
 * slot. */
#include "server/jobs.h"

#include "common/log.h"
#include "common/memory.h"
#include "server/jobs_private.h"

#define NOTIFY_INTERVAL_NS UINT64_C(100000000)
#define LOG_INTERVAL_NS UINT64_C(5000000000)

const _Atomic bool *sta_job_cancel_flag(struct sta_job *job)
{
    return &job->cancel;
}

bool sta_job_in_small_slot(const struct sta_job *job)
{
    return job->in_small_slot;
}

int sta_job_leave_small_slot(struct sta_job *job, struct sta_error *err)
{
    STA_ASSERT(job->in_small_slot);
    job->leaves_small_slot = true;
    return sta_fail(err, STA_EBUSY, "it is too large for the small slot");
}

bool sta_job_leaves_small_slot(const struct sta_job *job)
{
    return job->leaves_small_slot;
}

void sta_job_phase(struct sta_job *job, const char *phase)
{
    uv_mutex_lock(&job->jobs->lock);
    snprintf(job->view.phase, sizeof job->view.phase, "%s", phase);
    job->view.change++;
    uv_mutex_unlock(&job->jobs->lock);
    sta_log(STA_LOG_DEBUG, "Job goes on", "job", job->view.id, "phase", phase, NULL);
    sta_jobs_notify(job->jobs);
}

/* Under the lock. */
static void estimate(struct sta_job *job, uint64_t now)
{
    double elapsed = (double)(now - job->started_ns) / 1e9;
    struct sta_job_view *view = &job->view;
    view->rate = elapsed > 0 ? (double)view->events / elapsed : 0;
    view->eta = view->progress > 0.01 ? elapsed * (1 - view->progress) / view->progress : -1;
}

static bool is_due(uint64_t *last, uint64_t now, uint64_t interval)
{
    bool due = now - *last >= interval;
    if (due)
        *last = now;
    return due;
}

void sta_job_progress(struct sta_job *job, double progress, uint64_t bytes, uint64_t total_bytes,
                      uint64_t events)
{
    uint64_t now = uv_hrtime();
    uv_mutex_lock(&job->jobs->lock);
    struct sta_job_view *view = &job->view;
    view->progress = progress;
    view->bytes = bytes;
    view->total_bytes = total_bytes;
    view->events = events;
    view->change++;
    estimate(job, now);
    bool tell = is_due(&job->notified_ns, now, NOTIFY_INTERVAL_NS);
    bool log = is_due(&job->logged_ns, now, LOG_INTERVAL_NS);
    struct sta_job_view copy = *view;
    uv_mutex_unlock(&job->jobs->lock);
    if (log)
        sta_log(STA_LOG_INFO, "Job runs", "job", copy.id, "trace", copy.trace, "percent",
                sta_log_number(copy.progress * 100), "events", sta_log_int((int64_t)copy.events),
                "events_per_second", sta_log_number(copy.rate), "seconds_left", sta_log_number(copy.eta),
                NULL);
    if (tell)
        sta_jobs_notify(job->jobs);
}
