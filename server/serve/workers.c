/* A bounded number of threads, a bounded queue. */
#include "serve/workers.h"

#include <stdlib.h>
#include <uv.h>

#include "common/memory.h"

struct task {
    struct task *next;
    void (*run)(void *context, bool dropped);
    void *context;
};

struct sta_workers {
    uv_mutex_t lock;
    uv_cond_t changed;
    struct task *first, **last;
    uint64_t waiting, limit, running;
    uv_thread_t *threads;
    unsigned count;
    bool stopping;
};

static struct task *take(struct sta_workers *workers)
{
    struct task *task = workers->first;
    workers->first = task->next;
    if (workers->first == NULL)
        workers->last = &workers->first;
    workers->waiting--;
    return task;
}

static void worker_main(void *argument)
{
    struct sta_workers *workers = argument;
    uv_mutex_lock(&workers->lock);
    for (;;) {
        while (workers->first == NULL && !workers->stopping)
            uv_cond_wait(&workers->changed, &workers->lock);
        if (workers->first == NULL)
            break;
        struct task *task = take(workers);
        bool dropped = workers->stopping;
        workers->running++;
        uv_mutex_unlock(&workers->lock);
        task->run(task->context, dropped);
        free(task);
        uv_mutex_lock(&workers->lock);
        workers->running--;
    }
    uv_mutex_unlock(&workers->lock);
}

struct sta_workers *sta_workers_create(unsigned threads, uint64_t limit)
{
    struct sta_workers *workers = sta_alloc(sizeof *workers);
    workers->limit = limit;
    workers->last = &workers->first;
    workers->threads = sta_alloc_array(threads, sizeof *workers->threads);
    uv_mutex_init(&workers->lock);
    uv_cond_init(&workers->changed);
    while (workers->count < threads &&
           uv_thread_create(&workers->threads[workers->count], worker_main, workers) == 0)
        workers->count++;
    STA_ASSERT(workers->count > 0);
    return workers;
}

int sta_workers_submit(struct sta_workers *workers, void (*run)(void *context, bool dropped), void *context,
                       struct sta_error *err)
{
    uv_mutex_lock(&workers->lock);
    bool stopping = workers->stopping;
    bool full = stopping || workers->waiting >= workers->limit + (workers->count - workers->running);
    if (!full) {
        struct task *task = sta_alloc(sizeof *task);
        *task = (struct task){NULL, run, context};
        *workers->last = task;
        workers->last = &task->next;
        workers->waiting++;
        uv_cond_signal(&workers->changed);
    }
    uv_mutex_unlock(&workers->lock);
    if (stopping)
        return sta_fail(err, STA_EBUSY, "the daemon is stopping");
    if (full)
        return sta_fail(err, STA_EBUSY, "%llu questions wait already; ask again in a moment",
                        (unsigned long long)workers->limit);
    return STA_OK;
}

void sta_workers_count(struct sta_workers *workers, uint64_t *running, uint64_t *waiting)
{
    uv_mutex_lock(&workers->lock);
    *running = workers->running;
    *waiting = workers->waiting;
    uv_mutex_unlock(&workers->lock);
}

void sta_workers_stop(struct sta_workers *workers)
{
    uv_mutex_lock(&workers->lock);
    workers->stopping = true;
    uv_cond_broadcast(&workers->changed);
    uv_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->count; i++)
        uv_thread_join(&workers->threads[i]);
    workers->count = 0;
}

void sta_workers_destroy(struct sta_workers *workers)
{
    sta_workers_stop(workers);
    uv_cond_destroy(&workers->changed);
    uv_mutex_destroy(&workers->lock);
    free(workers->threads);
    free(workers);
}
