/* workers.h - a bounded number of threads, a bounded queue: for what must not be done on an HTTP thread. */
#ifndef STA_SERVE_WORKERS_H
#define STA_SERVE_WORKERS_H

#include <stdbool.h>
#include <stdint.h>
#include "common/error.h"

struct sta_workers;

/* As sta_thread_lower_priority takes them. */
enum sta_workers_priority {
    STA_WORKERS_NORMAL = 0,
    STA_WORKERS_BEHIND = 5, /* a third of the time of a normal thread that wants the same core */
    STA_WORKERS_LOW = 10    /* a tenth */
};

/** @limit: tasks that may wait.  At least one thread is started, or the program ends. */
struct sta_workers *sta_workers_create(unsigned threads, uint64_t limit, enum sta_workers_priority priority);
/** Runs @run(context, false) on some thread, soon.  STA_EBUSY when as many wait as may, or all is over. */
STA_MUSTCHECK int sta_workers_submit(struct sta_workers *workers, void (*run)(void *context, bool dropped),
                                     void *context, struct sta_error *err);
/** Tasks at work, and waiting. */
void sta_workers_count(struct sta_workers *workers, uint64_t *running, uint64_t *waiting);
/** What waits is called with dropped = true instead; what runs is waited for.  Later submissions fail. */
void sta_workers_stop(struct sta_workers *workers);
void sta_workers_destroy(struct sta_workers *workers);

#endif
