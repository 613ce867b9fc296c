/* running.h - running queries: those that take long become jobs, which clients can see and cancel. */
#ifndef STA_SERVE_RUNNING_H
#define STA_SERVE_RUNNING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "analyse/analyse.h"
#include "common/error.h"
#include "server/jobs.h"

struct sta_running;

/* One query; the memory is its maker's, until it has left. */
struct sta_running_query {
    struct sta_running_query *next, *previous;
    const char *kind;                 /* static */
    const char *trace;                /* "" when there are several */
    _Atomic bool *cancel;             /* of its budget */
    struct sta_progress progress;     /* for its budget */
    uint64_t started_ns, bytes, rows; /* what has gone out */
    struct sta_job *job;              /* NULL: not long enough yet */
};

/** @jobs: borrowed. */
struct sta_running *sta_running_create(struct sta_jobs *jobs);
void sta_running_destroy(struct sta_running *running); /* with no query in it */
/** Sets started_ns.  Context: any thread, like all. */
void sta_running_enter(struct sta_running *running, struct sta_running_query *query);
/** @status, @err: how it ended. */
void sta_running_leave(struct sta_running *running, struct sta_running_query *query, int status,
                       const struct sta_error *err);
/** What has gone out so far: its job reports it. */
void sta_running_progress(struct sta_running *running, struct sta_running_query *query, uint64_t bytes,
                          uint64_t rows);
/** Makes jobs of those that have taken long, and reports their progress; to be called some times a second. */
void sta_running_tick(struct sta_running *running);

#endif
