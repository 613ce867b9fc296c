/* Work sharing by one counter; the failures are kept by worker, so that no lock is needed. */
#include "analyse/exec/tasks.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"
#include "common/parallel.h"

struct tasks {
    const struct sta_budget *budget;
    sta_task run;
    void *context;
    size_t count;
    atomic_size_t next;
    atomic_bool stop;
    struct {
        size_t task;
        int status;
        struct sta_error err;
    } * failures; /* by worker */
};

static void work(void *context, unsigned worker)
{
    struct tasks *tasks = context;
    size_t task;
    while (!atomic_load(&tasks->stop) && (task = atomic_fetch_add(&tasks->next, 1)) < tasks->count) {
        struct sta_error err = STA_ERROR_INIT;
        int rc = sta_budget_check(tasks->budget, &err);
        if (rc == 0)
            rc = tasks->run(tasks->context, worker, task, &err);
        sta_budget_step(tasks->budget);
        if (rc == 0)
            continue;
        tasks->failures[worker].task = task;
        tasks->failures[worker].status = rc;
        tasks->failures[worker].err = err;
        atomic_store(&tasks->stop, true);
    }
}

int sta_tasks_run(const struct sta_budget *budget, size_t count, sta_task run, void *context,
                  struct sta_error *err)
{
    unsigned workers = (unsigned)STA_MIN((size_t)sta_budget_workers(budget), STA_MAX(count, 1));
    struct tasks tasks = {.budget = budget, .run = run, .context = context, .count = count};
    sta_budget_expect(budget, count);
    tasks.failures = sta_alloc_array(workers, sizeof *tasks.failures);
    sta_parallel_run(workers, work, &tasks);
    int rc = 0;
    size_t first = SIZE_MAX;
    for (unsigned w = 0; w < workers; w++)
        if (tasks.failures[w].status != 0 && tasks.failures[w].task < first) {
            first = tasks.failures[w].task;
            rc = tasks.failures[w].status;
            *err = tasks.failures[w].err;
        }
    free(tasks.failures);
    return rc;
}
