/* Compaction of traces: in the background, one at a time, while nobody waits for an answer or an ingest. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/account.h"
#include "common/log.h"
#include "common/memory.h"
#include "server/library_private.h"

#define MEMORY_SHARE 4            /* of the memory, what one may hold */
#define REST_NS 20000000          /* between two looks whether it may go on */
#define LOOK_NS UINT64_C(2000000) /* it works so long before it looks again */

struct task {
    struct sta_library *library;
    char id[STA_TRACE_ID_SIZE];
    bool all;
    struct sta_job *job; /* while it runs */
    uint64_t looked_ns;
};

static int check_cancelled(struct sta_job *job, struct sta_error *err)
{
    return atomic_load(sta_job_cancel_flag(job)) ? sta_fail(err, STA_ECANCELLED, "cancelled") : STA_OK;
}

int sta_library_give_way(const struct sta_library *library, struct sta_job *job, uint64_t *looked_ns,
                         struct sta_error *err)
{
    int status = check_cancelled(job, err);
    if (uv_hrtime() < *looked_ns + LOOK_NS)
        return status;
    while (status == STA_OK && ((library->is_busy != NULL && library->is_busy(library->is_busy_context)) ||
                                sta_jobs_are_busy(library->jobs))) {
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
        status = check_cancelled(job, err);
    }
    *looked_ns = uv_hrtime();
    return status;
}

static int on_step(void *context, uint64_t rows, uint64_t total, struct sta_error *err)
{
    struct task *task = context;
    sta_job_progress(task->job, total > 0 ? 0.99 * (double)rows / (double)total : 0, 0, 0, rows);
    return sta_library_give_way(task->library, task->job, &task->looked_ns, err);
}

/* Whoever opens the trace next, and whoever listens, gets the new version. */
static void put_in_force(const struct task *task, uint64_t bytes_before)
{
    struct sta_library *library = task->library;
    struct sta_snapshot *snapshot;
    struct sta_error ignored = STA_ERROR_INIT;
    sta_library_forget_version(library, task->id);
    sta_library_tell_published(library, task->id, NULL);
    if (sta_library_snapshot(library, task->id, &snapshot, &ignored) != STA_OK)
        return;
    sta_log(STA_LOG_INFO, "A trace was compacted", "trace", task->id, "bytes_before",
            sta_log_int((int64_t)bytes_before), "bytes",
            sta_log_int((int64_t)sta_snapshot_info(snapshot)->store_bytes), NULL);
    sta_snapshot_release(snapshot);
}

static int compact(struct task *task, struct sta_error *err)
{
    struct sta_library *library = task->library;
    struct sta_account account;
    struct sta_snapshot *base;
    bool merged;
    int status = sta_library_snapshot(library, task->id, &base, err);
    if (status != STA_OK)
        return status;
    sta_account_init(&account, library->memory / MEMORY_SHARE, "memory", library->account);
    const struct sta_compaction compaction = {
        .all = task->all, .account = &account, .step = on_step, .context = task};
    const uint64_t bytes = sta_snapshot_info(base)->store_bytes;
    sta_job_phase(task->job, "merging");
    status = sta_store_compact(library->store, task->id, base, &compaction, &merged, err);
    sta_snapshot_release(base);
    sta_account_close(&account);
    if (status == STA_OK && merged)
        put_in_force(task, bytes);
    return status;
}

static int run(void *context, struct sta_job *job, struct sta_error *err)
{
    struct task *task = context;
    struct sta_job_view ingest;
    task->job = job;
    sta_job_phase(job, "waiting");
    int status = sta_library_give_way(task->library, job, &task->looked_ns, err); /* an ingest cancels this */
    if (status == STA_OK && sta_jobs_of_trace(task->library->jobs, task->id, &ingest))
        status =
            sta_fail(err, STA_ECANCELLED, "the trace is being read"); /* what it publishes is looked at */
    if (status == STA_OK)
        status = compact(task, err);
    sta_memory_trim_grown(task->library->memory / MEMORY_SHARE);
    return status;
}

static int start(struct sta_library *library, const char *id, bool all, char job[STA_JOB_ID_SIZE],
                 struct sta_error *err)
{
    struct task *task = sta_alloc(sizeof *task);
    task->library = library;
    task->all = all;
    snprintf(task->id, sizeof task->id, "%s", id);
    const struct sta_job_request request = {
        .kind = "compact", .trace = id, .run = run, .release = free, .context = task, .least_priority = true};
    return sta_jobs_submit(library->jobs, &request, job, err);
}

void sta_library_start_compaction(struct sta_library *library, const char *id)
{
    char job[STA_JOB_ID_SIZE];
    struct sta_job_view running;
    struct sta_error err = STA_ERROR_INIT;
    if (!sta_jobs_of_least_priority(library->jobs, id, &running) &&
        start(library, id, false, job, &err) != STA_OK)
        sta_log(STA_LOG_DEBUG, "Cannot compact a trace", "trace", id, "cause", err.text, NULL);
}

int sta_library_compact(struct sta_library *library, const char *id, char job[STA_JOB_ID_SIZE],
                        struct sta_error *err)
{
    struct sta_trace_entry entry;
    struct sta_job_view running;
    uv_mutex_lock(&library->changing);
    int status = sta_store_find(library->store, id, &entry, err);
    if (status == STA_OK)
        sta_trace_entry_fini(&entry);
    if (status == STA_OK && sta_jobs_of_least_priority(library->jobs, id, &running))
        memcpy(job, running.id, sizeof running.id);
    else if (status == STA_OK)
        status = start(library, id, true, job, err);
    uv_mutex_unlock(&library->changing);
    return status;
}

void sta_library_end_compaction(struct sta_library *library, const char *id)
{
    struct sta_job_view running;
    struct sta_error ignored = STA_ERROR_INIT;
    while (sta_jobs_of_least_priority(library->jobs, id, &running))
        if (sta_jobs_cancel(library->jobs, running.id, &ignored) == STA_OK)
            sta_jobs_wait(library->jobs, running.id);
}
