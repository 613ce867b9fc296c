/* jobs_private.h - shared by the jobs*.c files only. */
#ifndef STA_SERVER_JOBS_PRIVATE_H
#define STA_SERVER_JOBS_PRIVATE_H

#include <uv.h>

#include "server/jobs.h"

struct sta_job {
    struct sta_jobs *jobs;
    struct sta_job *older; /* list of all jobs, newest first */
    struct sta_job_request request;
    struct sta_job_view view;
    _Atomic bool cancel;
    _Atomic bool *adopted;                 /* cancels work that runs elsewhere; NULL: it is ours */
    bool in_small_slot, leaves_small_slot; /* of the run that is under way */
    bool large;                            /* it has left the small slot once */
    uint64_t started_ns, notified_ns, logged_ns;
};

struct sta_jobs {
    uv_mutex_t lock;
    uv_cond_t changed; /* a job was queued, a job ended, the listener returned, or all is over */
    struct sta_job *newest;
    unsigned queued, queue_limit;
    uv_thread_t *runners; /* the ordinary ones */
    unsigned runner_count, busy_runners;
    uv_thread_t small_slot;
    bool has_small_slot;
    uv_thread_t least_priority;
    bool has_least_priority;
    bool closing;
    void (*on_change)(void *context);
    void *on_change_context;
    unsigned callbacks; /* calls of the listener under way */
};

/** Calls the listener for changes.  Context: any thread, without the lock. */
void sta_jobs_notify(struct sta_jobs *jobs);

#endif
