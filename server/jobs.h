/* jobs.h - long work with a state that clients can watch: queued, running, done, failed, cancelled.
 *
 * A bounded queue, a bounded number of runners (threads of their own, so that no job can starve requests).
 * When all runners are busy, one more thread, the small slot, begins with jobs that may be small; one that
 * turns out not to be goes back into the queue, for an ordinary runner.  So a large job does not keep small
 * ones waiting.  What is nobody's concern runs in the background: one at a time, on a thread of the least
 * priority, beside all others and beyond the limit of the queue.  Finished jobs are remembered for a while.
 * All calls: any thread. */
#ifndef STA_SERVER_JOBS_H
#define STA_SERVER_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

enum sta_job_state { STA_JOB_QUEUED, STA_JOB_RUNNING, STA_JOB_DONE, STA_JOB_FAILED, STA_JOB_CANCELLED };
const char *sta_job_state_name(enum sta_job_state state);
static inline bool sta_job_state_ends(enum sta_job_state state)
{
    return state >= STA_JOB_DONE;
}

#define STA_JOB_ID_SIZE 17

/* A copy of a job's figures at one moment. */
struct sta_job_view {
    char id[STA_JOB_ID_SIZE];
    const char *kind; /* static: "ingest", "refresh", "query", .. */
    char trace[17];   /* "" when it has none */
    enum sta_job_state state;
    char phase[32];  /* "reading", "publishing", .. */
    double progress; /* 0 .. 1 */
    uint64_t bytes, total_bytes, events;
    double rate;                                /* events per second so far; 0 before it is known */
    double eta;                                 /* seconds left; negative when not known */
    int64_t queued_us, started_us, finished_us; /* Unix time; 0: not yet */
    struct sta_error error;                     /* of a failed job */
    char note[256];                             /* "resumed after a crash", "" */
    bool in_background;                         /* see sta_job_request */
    uint64_t change;                            /* counts up with every change, for watching */
};

struct sta_jobs;
struct sta_job; /* of a running job, for its own function */

/** @running: ordinary runners; the small slot comes on top.  @queued: jobs that may wait. */
struct sta_jobs *sta_jobs_create(unsigned running, unsigned queued);
/** Cancels what runs, waits for it, frees. */
void sta_jobs_destroy(struct sta_jobs *jobs);

struct sta_job_request {
    const char *kind;                                                      /* static */
    const char *trace;                                                     /* copied; may be NULL */
    const char *note;                                                      /* copied; may be NULL */
    int (*run)(void *context, struct sta_job *job, struct sta_error *err); /* on a runner's thread */
    void (*release)(void *context); /* once, after the last run or when it never ran */
    void *context;
    bool may_be_small;   /* run may begin in the small slot, and knows sta_job_leave_small_slot */
    bool in_background;  /* one of many that nobody asked for: not logged at the level of what an operator
                            wants to see, and forgotten once it has ended */
    bool least_priority; /* sta_jobs_of_trace does not find it */
};
/** Return: 0 and the job's id; STA_EBUSY when the queue is full (release has then been called). */
STA_MUSTCHECK int sta_jobs_submit(struct sta_jobs *jobs, const struct sta_job_request *request,
                                  char id[STA_JOB_ID_SIZE], struct sta_error *err);
/**
 * sta_jobs_adopt - make work that runs elsewhere visible as a running job
 * @kind: static.  @cancel: becomes true when someone cancels the job; must live until sta_jobs_release
 * @age_ns: how long ago it began
 * It is none of those that sta_jobs_of_trace finds.
 */
struct sta_job *sta_jobs_adopt(struct sta_jobs *jobs, const char *kind, const char *trace,
                               _Atomic bool *cancel, uint64_t age_ns);
/** The work has ended; @err: why, when @status is a failure. */
void sta_jobs_release(struct sta_job *job, int status, const struct sta_error *err);
bool sta_jobs_view(struct sta_jobs *jobs, const char *id, struct sta_job_view *view);
/** Newest first; free() it. */
struct sta_job_view *sta_jobs_list(struct sta_jobs *jobs, size_t *count);
/** The queued or running job of a trace, if there is one. */
bool sta_jobs_of_trace(struct sta_jobs *jobs, const char *trace, struct sta_job_view *view);
/** The same of those of the least priority. */
bool sta_jobs_of_least_priority(struct sta_jobs *jobs, const char *trace, struct sta_job_view *view);
/** Whether any job but those of the least priority waits or runs. */
bool sta_jobs_are_busy(struct sta_jobs *jobs);
/** Asks it to stop; a queued one ends at once.  Return: STA_ENOTFOUND, or 0 also for a job that has ended. */
STA_MUSTCHECK int sta_jobs_cancel(struct sta_jobs *jobs, const char *id, struct sta_error *err);
/** Blocks until the job has ended (used by main at start-up and by delete). */
void sta_jobs_wait(struct sta_jobs *jobs, const char *id);
/** Calls @changed(context) on some thread whenever any job's view has changed, at most some ten times a
 * second per job; one listener.  Returns when no call of the listener before is under way, so that it may
 * then be freed. */
void sta_jobs_on_change(struct sta_jobs *jobs, void (*changed)(void *context), void *context);

/* For the function of a running job. */
bool sta_job_in_small_slot(const struct sta_job *job);
/** The job is not small: run gives up what it did and returns what this returns, and will be called again by
 * an ordinary runner.  Only in the small slot. */
STA_MUSTCHECK int sta_job_leave_small_slot(struct sta_job *job, struct sta_error *err);
/** Whether it has called that, so that its end is none. */
bool sta_job_leaves_small_slot(const struct sta_job *job);
const _Atomic bool *sta_job_cancel_flag(struct sta_job *job);
void sta_job_phase(struct sta_job *job, const char *phase);
void sta_job_progress(struct sta_job *job, double progress, uint64_t bytes, uint64_t total_bytes,
                      uint64_t events);

#endif
