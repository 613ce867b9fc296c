/* Questions at work. */
#include "serve/responses/running.h"

#include <stdlib.h>
#include <uv.h>

#include "common/memory.h"

#define LONG_NS UINT64_C(1000000000) /* from here on a question is a job */

struct sta_running {
    struct sta_jobs *jobs;
    uv_mutex_t
        lock; /* guards the list; held while a job is made, so that its question does not leave meanwhile */
    struct sta_running_question *first;
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

void sta_running_enter(struct sta_running *running, struct sta_running_question *question)
{
    question->started_ns = uv_hrtime();
    question->job = NULL;
    question->previous = NULL;
    uv_mutex_lock(&running->lock);
    question->next = running->first;
    if (running->first != NULL)
        running->first->previous = question;
    running->first = question;
    uv_mutex_unlock(&running->lock);
}

void sta_running_leave(struct sta_running *running, struct sta_running_question *question, int status,
                       const struct sta_error *err)
{
    uv_mutex_lock(&running->lock);
    *(question->previous ? &question->previous->next : &running->first) = question->next;
    if (question->next != NULL)
        question->next->previous = question->previous;
    uv_mutex_unlock(&running->lock);
    if (question->job != NULL)
        sta_jobs_release(question->job, status, err);
}

static double share_of(struct sta_running_question *question)
{
    uint64_t steps = atomic_load(&question->progress.steps), done = atomic_load(&question->progress.done);
    return steps > 0 ? (double)STA_MIN(done, steps) / (double)steps : 0;
}

void sta_running_progress(struct sta_running *running, struct sta_running_question *question, uint64_t bytes,
                          uint64_t rows)
{
    uv_mutex_lock(&running->lock);
    question->bytes = bytes;
    question->rows = rows;
    struct sta_job *job = question->job;
    uv_mutex_unlock(&running->lock);
    if (job != NULL)
        sta_job_progress(job, share_of(question), bytes, 0, rows);
}

void sta_running_tick(struct sta_running *running)
{
    uint64_t now = uv_hrtime();
    uv_mutex_lock(&running->lock);
    for (struct sta_running_question *at = running->first; at != NULL; at = at->next) {
        if (at->job == NULL && now - at->started_ns >= LONG_NS)
            at->job = sta_jobs_adopt(running->jobs, at->kind, at->trace, at->cancel, now - at->started_ns);
        if (at->job != NULL)
            sta_job_progress(at->job, share_of(at), at->bytes, 0, at->rows);
    }
    uv_mutex_unlock(&running->lock);
}
