/* Running queries. */
#include "serve/responses/running.h"

#include <stdlib.h>
#include <uv.h>

#include "common/memory.h"

#define LONG_NS UINT64_C(1000000000) /* from here on a query is a job */

struct sta_running {
    struct sta_jobs *jobs;
    uv_mutex_t
        lock; /* guards the list; held while a job is made, so that its query does not leave meanwhile */
    struct sta_running_query *first;
};

struct sta_running *sta_running_create(struct sta_jobs *jobs)
{
    struct sta_running *running = sta_alloc(sizeof *running);
    running->jobs = jobs;
    uv_mutex_init(&running->lock);
    return running;
}

void sta_running_destroy(struct sta_running *running)
{
    STA_ASSERT(running->first == NULL);
    uv_mutex_destroy(&running->lock);
    free(running);
}

void sta_running_enter(struct sta_running *running, struct sta_running_query *query)
{
    query->started_ns = uv_hrtime();
    query->job = NULL;
    query->previous = NULL;
    uv_mutex_lock(&running->lock);
    query->next = running->first;
    if (running->first != NULL)
        running->first->previous = query;
    running->first = query;
    uv_mutex_unlock(&running->lock);
}

void sta_running_leave(struct sta_running *running, struct sta_running_query *query, int status,
                       const struct sta_error *err)
{
    uv_mutex_lock(&running->lock);
    *(query->previous ? &query->previous->next : &running->first) = query->next;
    if (query->next != NULL)
        query->next->previous = query->previous;
    uv_mutex_unlock(&running->lock);
    if (query->job != NULL)
        sta_jobs_release(query->job, status, err);
}

static double share_of(struct sta_running_query *query)
{
    uint64_t steps = atomic_load(&query->progress.steps), done = atomic_load(&query->progress.done);
    return steps > 0 ? (double)STA_MIN(done, steps) / (double)steps : 0;
}

void sta_running_progress(struct sta_running *running, struct sta_running_query *query, uint64_t bytes,
                          uint64_t rows)
{
    uv_mutex_lock(&running->lock);
    query->bytes = bytes;
    query->rows = rows;
    struct sta_job *job = query->job;
    uv_mutex_unlock(&running->lock);
    if (job != NULL)
        sta_job_progress(job, share_of(query), bytes, 0, rows);
}

void sta_running_tick(struct sta_running *running)
{
    uint64_t now = uv_hrtime();
    uv_mutex_lock(&running->lock);
    for (struct sta_running_query *at = running->first; at != NULL; at = at->next) {
        if (at->job == NULL && now - at->started_ns >= LONG_NS)
            at->job = sta_jobs_adopt(running->jobs, at->kind, at->trace, at->cancel, now - at->started_ns);
        if (at->job != NULL)
            sta_job_progress(at->job, share_of(at), at->bytes, 0, at->rows);
    }
    uv_mutex_unlock(&running->lock);
}
