/* A bounded number of threads, a bounded queue.
 *
 * DESIGN.  `lock` guards the queue and the counts, for some pointer work only.  `work` counts what is to be
 * taken: a task each, and at the end one for each thread.  It is raised without the lock, and it is no
 * condition variable: who signals one of those may have to wait until threads woken before get a processor,
 * and who submits is mostly an HTTP thread. */
#include "serve/http/workers.h"

#include <stdlib.h>
#include <uv.h>

#include "common/memory.h"
#include "common/parallel.h"

struct task {
    struct task *next;
    void (*run)(void *context, bool dropped);
    void *context;
};

struct sta_workers {
    uv_mutex_t lock;
    uv_sem_t work;
    struct task *first, **last;
    uint64_t waiting, limit, running;
    uv_thread_t *threads;
    unsigned count;
    bool stopping;
    enum sta_workers_priority priority;
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

/* Waits for the next; NULL when all is over. */
static struct task *next_task(struct sta_workers *workers, bool *dropped)
{
    uv_sem_wait(&workers->work);
    uv_mutex_lock(&workers->lock);
    struct task *task = workers->first != NULL ? take(workers) : NULL;
    workers->running += task != NULL;
    *dropped = workers->stopping;
    uv_mutex_unlock(&workers->lock);
    return task;
}

static void worker_main(void *argument)
{
    struct sta_workers *workers = argument;
    bool dropped;
    if (workers->priority != STA_WORKERS_NORMAL)
        sta_thread_lower_priority((int)workers->priority);
    for (struct task *task; (task = next_task(workers, &dropped)) != NULL;) {
        task->run(task->context, dropped);
        free(task);
        uv_mutex_lock(&workers->lock);
        workers->running--;
        uv_mutex_unlock(&workers->lock);
    }
}

struct sta_workers *sta_workers_create(unsigned threads, uint64_t limit, enum sta_workers_priority priority)
{
    struct sta_workers *workers = sta_alloc(sizeof *workers);
    workers->priority = priority;
    workers->limit = limit;
    workers->last = &workers->first;
    workers->threads = sta_alloc_array(threads, sizeof *workers->threads);
    uv_mutex_init(&workers->lock);
    uv_sem_init(&workers->work, 0);
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
    }
    uv_mutex_unlock(&workers->lock);
    if (!full)
        uv_sem_post(&workers->work);
    if (stopping)
        return sta_fail(err, STA_EBUSY, "the daemon is stopping");
    if (full)
        return sta_fail(err, STA_EBUSY, "%llu queries wait already; ask again in a moment",
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
    uv_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->count; i++)
        uv_sem_post(&workers->work);
    for (unsigned i = 0; i < workers->count; i++)
        uv_thread_join(&workers->threads[i]);
    workers->count = 0;
}

void sta_workers_destroy(struct sta_workers *workers)
{
    sta_workers_stop(workers);
    uv_sem_destroy(&workers->work);
    uv_mutex_destroy(&workers->lock);
    free(workers->threads);
    free(workers);
}
