/* Long work: a queue, runners, and what clients may know of both.
 *
 * DESIGN.  One mutex guards the list and every job's view.  A job's function runs without it and reports
 * through sta_job_progress, which takes it for the time of a few stores.  A job that ended stays in the list,
 * so that its outcome can be asked for, until KEPT_JOBS younger ones have ended. */
#include "server/jobs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "common/log.h"
#include "common/memory.h"
#include "server/jobs_private.h"

#define KEPT_JOBS 1000
#define NICENESS 19

const char *sta_job_state_name(enum sta_job_state state)
{
    static const char *const names[] = {"queued", "running", "done", "failed", "cancelled"};
    return names[state];
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Called without the lock: the listener may take locks of its own. */
void sta_jobs_notify(struct sta_jobs *jobs)
{
    uv_mutex_lock(&jobs->lock);
    void (*on_change)(void *) = jobs->on_change;
    void *context = jobs->on_change_context;
    jobs->callbacks++;
    uv_mutex_unlock(&jobs->lock);
    if (on_change != NULL)
        on_change(context);
    uv_mutex_lock(&jobs->lock);
    if (--jobs->callbacks == 0)
        uv_cond_broadcast(&jobs->changed);
    uv_mutex_unlock(&jobs->lock);
}

static void job_free(struct sta_job *job)
{
    free((char *)job->request.trace);
    free(job);
}

static void forget_oldest(struct sta_jobs *jobs)
{
    unsigned ended = 0;
    for (struct sta_job **at = &jobs->newest; *at != NULL;) {
        struct sta_job *job = *at;
        if (sta_job_state_ends(job->view.state) && (job->view.in_background || ++ended > KEPT_JOBS)) {
            *at = job->older;
            job_free(job);
        } else {
            at = &job->older;
        }
    }
}

/* What a runner takes. */
enum runner { ORDINARY, SMALL_SLOT, LEAST_PRIORITY };

static struct sta_job *oldest_queued(struct sta_jobs *jobs, enum runner runner)
{
    struct sta_job *found = NULL;
    for (struct sta_job *job = jobs->newest; job != NULL; job = job->older)
        if (job->view.state == STA_JOB_QUEUED && job->request.least_priority == (runner == LEAST_PRIORITY) &&
            (runner != SMALL_SLOT || (job->request.may_be_small && !job->large)))
            found = job;
    return found;
}

static enum sta_log_level level_of(const struct sta_job_view *view)
{
    return view->in_background ? STA_LOG_DEBUG : STA_LOG_INFO;
}

/* What a client asked for and failed is no failure of the daemon. */
static void log_end(const struct sta_job_view *view, bool adopted)
{
    if (view->state == STA_JOB_FAILED && !adopted && !view->in_background)
        sta_log(STA_LOG_ERROR, "Job failed", "job", view->id, "kind", view->kind, "trace", view->trace,
                "cause", view->error.text, NULL);
    else
        sta_log(level_of(view),
                view->state == STA_JOB_DONE     ? "Job done"
                : view->state == STA_JOB_FAILED ? "Job failed"
                                                : "Job cancelled",
                "job", view->id, "kind", view->kind, "trace", view->trace, "events",
                sta_log_int((int64_t)view->events), "seconds",
                sta_log_number((double)(view->finished_us - view->started_us) / 1e6), NULL);
}

/* Under the lock. */
static void end_job(struct sta_job *job, int status, const struct sta_error *err)
{
    struct sta_job_view *view = &job->view;
    view->state = status == STA_OK           ? STA_JOB_DONE
                  : status == STA_ECANCELLED ? STA_JOB_CANCELLED
                                             : STA_JOB_FAILED;
    view->finished_us = now_us();
    view->eta = status == STA_OK ? 0 : -1;
    if (status == STA_OK)
        view->progress = 1;
    else
        view->error = *err;
    view->change++;
    uv_cond_broadcast(&job->jobs->changed);
}

static void start_job(struct sta_job *job)
{
    job->view.state = STA_JOB_RUNNING;
    job->view.started_us = now_us();
    job->view.change++;
    job->started_ns = uv_hrtime();
    job->logged_ns = job->started_ns;
    job->jobs->queued -= !job->request.least_priority;
}

/* Under the lock.  Puts a job that left the small slot back where it was in the queue.  Return: false when it
 * was cancelled meanwhile. */
static bool queue_again(struct sta_job *job)
{
    if (!job->leaves_small_slot || job->jobs->closing || atomic_load(&job->cancel))
        return false;
    job->large = true;
    job->view.state = STA_JOB_QUEUED;
    job->view.started_us = 0;
    job->view.progress = 0;
    job->view.bytes = job->view.events = 0;
    job->view.eta = -1;
    snprintf(job->view.phase, sizeof job->view.phase, "waiting");
    job->view.change++;
    job->jobs->queued++;
    uv_cond_broadcast(&job->jobs->changed);
    return true;
}

/* Under the lock.  A job that is cancelled on its way back into the queue ends as cancelled. */
static void end_run(struct sta_job *job, int status, struct sta_error *err)
{
    if (job->leaves_small_slot)
        status = sta_fail(err, STA_ECANCELLED, "cancelled");
    end_job(job, status, err);
}

static void run_job(struct sta_job *job)
{
    struct sta_jobs *jobs = job->jobs;
    struct sta_error err = STA_ERROR_INIT;
    sta_log(level_of(&job->view), "Job started", "job", job->view.id, "kind", job->view.kind, "trace",
            job->view.trace, NULL);
    int status = job->request.run(job->request.context, job, &err);
    uv_mutex_lock(&jobs->lock);
    bool again = queue_again(job);
    uv_mutex_unlock(&jobs->lock);
    if (!again) {
        if (job->request.release != NULL)
            job->request.release(job->request.context);
        uv_mutex_lock(&jobs->lock);
        end_run(job, status, &err);
        struct sta_job_view view = job->view;
        uv_mutex_unlock(&jobs->lock);
        log_end(&view, false);
    }
    sta_jobs_notify(jobs);
}

/* Takes jobs until all is over.  The small slot takes what may be small, while no ordinary runner is free. */
static void take_jobs(struct sta_jobs *jobs, enum runner runner)
{
    uv_mutex_lock(&jobs->lock);
    while (!jobs->closing) {
        bool may_take = runner != SMALL_SLOT || jobs->busy_runners == jobs->runner_count;
        struct sta_job *job = may_take ? oldest_queued(jobs, runner) : NULL;
        if (job == NULL) {
            uv_cond_wait(&jobs->changed, &jobs->lock);
            continue;
        }
        start_job(job);
        job->in_small_slot = runner == SMALL_SLOT;
        job->leaves_small_slot = false;
        jobs->busy_runners += runner == ORDINARY;
        uv_cond_broadcast(&jobs->changed); /* for the small slot, which waits for all to be busy */
        uv_mutex_unlock(&jobs->lock);
        sta_jobs_notify(jobs);
        run_job(job);
        uv_mutex_lock(&jobs->lock);
        jobs->busy_runners -= runner == ORDINARY;
    }
    uv_mutex_unlock(&jobs->lock);
}

static void runner_main(void *argument)
{
    take_jobs(argument, ORDINARY);
}

static void small_slot_main(void *argument)
{
    take_jobs(argument, SMALL_SLOT);
}

static void least_priority_main(void *argument)
{
    /* Of this thread alone: on Linux a thread has a niceness of its own. */
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
    take_jobs(argument, LEAST_PRIORITY);
}

struct sta_jobs *sta_jobs_create(unsigned running, unsigned queued)
{
    struct sta_jobs *jobs = sta_alloc(sizeof *jobs);
    jobs->queue_limit = queued;
    jobs->runners = sta_alloc_array(running, sizeof *jobs->runners);
    uv_mutex_init(&jobs->lock);
    uv_cond_init(&jobs->changed);
    uv_mutex_lock(&jobs->lock); /* the count is what the small slot compares with */
    while (jobs->runner_count < running &&
           uv_thread_create(&jobs->runners[jobs->runner_count], runner_main, jobs) == 0)
        jobs->runner_count++;
    jobs->has_small_slot = uv_thread_create(&jobs->small_slot, small_slot_main, jobs) == 0;
    jobs->has_least_priority = uv_thread_create(&jobs->least_priority, least_priority_main, jobs) == 0;
    uv_mutex_unlock(&jobs->lock);
    return jobs;
}

/* Under the lock, so a release function may not call jobs. */
static void cancel_job(struct sta_job *job)
{
    atomic_store(job->adopted != NULL ? job->adopted : &job->cancel, true);
    if (job->view.state != STA_JOB_QUEUED)
        return;
    struct sta_error err = STA_ERROR_INIT;
    job->jobs->queued -= !job->request.least_priority;
    end_job(job, sta_fail(&err, STA_ECANCELLED, "cancelled before it began"), &err);
    if (job->request.release != NULL)
        job->request.release(job->request.context);
}

void sta_jobs_destroy(struct sta_jobs *jobs)
{
    uv_mutex_lock(&jobs->lock);
    jobs->closing = true;
    for (struct sta_job *job = jobs->newest; job != NULL; job = job->older)
        if (!sta_job_state_ends(job->view.state))
            cancel_job(job);
    uv_cond_broadcast(&jobs->changed);
    uv_mutex_unlock(&jobs->lock);
    for (unsigned i = 0; i < jobs->runner_count; i++)
        uv_thread_join(&jobs->runners[i]);
    if (jobs->has_small_slot)
        uv_thread_join(&jobs->small_slot);
    if (jobs->has_least_priority)
        uv_thread_join(&jobs->least_priority);
    while (jobs->newest != NULL) {
        struct sta_job *job = jobs->newest;
        jobs->newest = job->older;
        job_free(job);
    }
    uv_cond_destroy(&jobs->changed);
    uv_mutex_destroy(&jobs->lock);
    free(jobs->runners);
    free(jobs);
}

static void make_id(char id[STA_JOB_ID_SIZE])
{
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        bits = uv_hrtime();
    snprintf(id, STA_JOB_ID_SIZE, "%016llx", (unsigned long long)bits);
}

static struct sta_job *job_create(struct sta_jobs *jobs, const struct sta_job_request *request)
{
    struct sta_job *job = sta_alloc(sizeof *job);
    job->jobs = jobs;
    job->request = *request;
    job->request.trace = request->trace ? sta_strdup(request->trace) : NULL;
    job->view = (struct sta_job_view){.kind = request->kind,
                                      .eta = -1,
                                      .queued_us = now_us(),
                                      .error = STA_ERROR_INIT,
                                      .in_background = request->in_background};
    make_id(job->view.id);
    snprintf(job->view.trace, sizeof job->view.trace, "%s", request->trace ? request->trace : "");
    snprintf(job->view.note, sizeof job->view.note, "%s", request->note ? request->note : "");
    return job;
}

/* Under the lock.  What ended long ago is forgotten here and not when something ends, since that still looks
 * at its job. */
static void put_in(struct sta_jobs *jobs, struct sta_job *job)
{
    forget_oldest(jobs);
    job->older = jobs->newest;
    jobs->newest = job;
}

int sta_jobs_submit(struct sta_jobs *jobs, const struct sta_job_request *request, char id[STA_JOB_ID_SIZE],
                    struct sta_error *err)
{
    uv_mutex_lock(&jobs->lock);
    bool full = jobs->closing || (!request->least_priority && jobs->queued >= jobs->queue_limit);
    if (!full) {
        struct sta_job *job = job_create(jobs, request);
        put_in(jobs, job);
        jobs->queued += !request->least_priority;
        memcpy(id, job->view.id, STA_JOB_ID_SIZE);
        uv_cond_broadcast(&jobs->changed);
    }
    uv_mutex_unlock(&jobs->lock);
    if (!full) {
        sta_jobs_notify(jobs);
        return STA_OK;
    }
    if (request->release != NULL)
        request->release(request->context);
    return sta_fail(err, STA_EBUSY, "%u jobs are waiting already, which is the limit (queued_jobs)",
                    jobs->queue_limit);
}

struct sta_job *sta_jobs_adopt(struct sta_jobs *jobs, const char *kind, const char *trace,
                               _Atomic bool *cancel, uint64_t age_ns)
{
    struct sta_job *job = job_create(jobs, &(struct sta_job_request){.kind = kind, .trace = trace});
    job->adopted = cancel;
    uv_mutex_lock(&jobs->lock);
    jobs->queued++;
    start_job(job);
    job->view.queued_us = job->view.started_us -= (int64_t)(age_ns / 1000);
    job->started_ns -= age_ns;
    put_in(jobs, job);
    uv_mutex_unlock(&jobs->lock);
    sta_jobs_notify(jobs);
    return job;
}

void sta_jobs_release(struct sta_job *job, int status, const struct sta_error *err)
{
    struct sta_jobs *jobs = job->jobs;
    uv_mutex_lock(&jobs->lock);
    end_job(job, status, err);
    struct sta_job_view view = job->view;
    uv_mutex_unlock(&jobs->lock);
    log_end(&view, true);
    sta_jobs_notify(jobs);
}

static struct sta_job *find(struct sta_jobs *jobs, const char *id)
{
    struct sta_job *job = jobs->newest;
    while (job != NULL && strcmp(job->view.id, id) != 0)
        job = job->older;
    return job;
}

bool sta_jobs_view(struct sta_jobs *jobs, const char *id, struct sta_job_view *view)
{
    uv_mutex_lock(&jobs->lock);
    const struct sta_job *job = find(jobs, id);
    if (job != NULL)
        *view = job->view;
    uv_mutex_unlock(&jobs->lock);
    return job != NULL;
}

struct sta_job_view *sta_jobs_list(struct sta_jobs *jobs, size_t *count)
{
    struct sta_job_view *views = NULL;
    size_t capacity = 0;
    *count = 0;
    uv_mutex_lock(&jobs->lock);
    for (const struct sta_job *job = jobs->newest; job != NULL; job = job->older) {
        STA_GROW(views, capacity, *count + 1);
        views[(*count)++] = job->view;
    }
    uv_mutex_unlock(&jobs->lock);
    return views;
}

static bool find_of_trace(struct sta_jobs *jobs, const char *trace, bool least_priority,
                          struct sta_job_view *view)
{
    bool found = false;
    uv_mutex_lock(&jobs->lock);
    for (const struct sta_job *job = jobs->newest; job != NULL && !found; job = job->older) {
        found = job->adopted == NULL && !sta_job_state_ends(job->view.state) &&
                job->request.least_priority == least_priority && strcmp(job->view.trace, trace) == 0;
        if (found)
            *view = job->view;
    }
    uv_mutex_unlock(&jobs->lock);
    return found;
}

bool sta_jobs_of_trace(struct sta_jobs *jobs, const char *trace, struct sta_job_view *view)
{
    return find_of_trace(jobs, trace, false, view);
}

bool sta_jobs_of_least_priority(struct sta_jobs *jobs, const char *trace, struct sta_job_view *view)
{
    return find_of_trace(jobs, trace, true, view);
}

bool sta_jobs_are_busy(struct sta_jobs *jobs)
{
    bool busy = false;
    uv_mutex_lock(&jobs->lock);
    for (const struct sta_job *job = jobs->newest; job != NULL && !busy; job = job->older)
        busy = !sta_job_state_ends(job->view.state) && !job->request.least_priority;
    uv_mutex_unlock(&jobs->lock);
    return busy;
}

int sta_jobs_cancel(struct sta_jobs *jobs, const char *id, struct sta_error *err)
{
    uv_mutex_lock(&jobs->lock);
    struct sta_job *job = find(jobs, id);
    if (job != NULL && !sta_job_state_ends(job->view.state))
        cancel_job(job);
    uv_mutex_unlock(&jobs->lock);
    if (job == NULL)
        return sta_fail(err, STA_ENOTFOUND, "there is no job %s", id);
    sta_jobs_notify(jobs);
    return STA_OK;
}

void sta_jobs_wait(struct sta_jobs *jobs, const char *id)
{
    uv_mutex_lock(&jobs->lock);
    for (struct sta_job *job = find(jobs, id); job != NULL && !sta_job_state_ends(job->view.state);
         job = find(jobs, id))
        uv_cond_wait(&jobs->changed, &jobs->lock);
    uv_mutex_unlock(&jobs->lock);
}

void sta_jobs_on_change(struct sta_jobs *jobs, void (*changed)(void *context), void *context)
{
    uv_mutex_lock(&jobs->lock);
    jobs->on_change = changed;
    jobs->on_change_context = context;
    while (jobs->callbacks > 0)
        uv_cond_wait(&jobs->changed, &jobs->lock);
    uv_mutex_unlock(&jobs->lock);
}
