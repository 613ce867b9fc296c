/* main.c - runs the tasks of the workload on threads and prints the totals.  What a task writes does not
 * depend on the others. */
#include "generator.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct work {
    const struct options *options;
    _Atomic unsigned next;
    pthread_mutex_t lock;
    struct totals totals; /* guarded by lock */
};

static void *run(void *context)
{
    struct work *work = context;
    unsigned task;
    while ((task = atomic_fetch_add(&work->next, 1)) < workload_tasks(work->options)) {
        struct totals totals;
        totals_init(&totals);
        workload_run(work->options, task, &totals);
        pthread_mutex_lock(&work->lock);
        totals_add(&work->totals, &totals);
        pthread_mutex_unlock(&work->lock);
        totals_fini(&totals);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct options options;
    options_read(&options, argc, argv);
    if (mkdir(options.folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "strata-generate: cannot create %s: %s\n", options.folder, strerror(errno));
        return 1;
    }
    struct work work = {.options = &options, .lock = PTHREAD_MUTEX_INITIALIZER};
    totals_init(&work.totals);
    pthread_t threads[256];
    for (unsigned i = 0; i < options.threads; i++)
        if (pthread_create(&threads[i], NULL, run, &work) != 0)
            abort();
    for (unsigned i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    totals_print(&work.totals, &options, options.hosts, workload_outputs(&options));
    totals_fini(&work.totals);
    return fflush(stdout) == 0 ? 0 : 1;
}
