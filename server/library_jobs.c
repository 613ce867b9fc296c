/* What changes a registered trace: register, refresh, remove, resume; each by way of a job. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/account.h"
#include "common/memory.h"
#include "decode/decode.h"
#include "server/follow.h"
#include "server/ingest.h"
#include "server/library_private.h"

/* ---- ingest jobs */

struct ingest_task {
    struct sta_library *library;
    char id[STA_TRACE_ID_SIZE];
};

static void put_failure(void *context, struct sta_trace_entry *entry)
{
    free(entry->failure);
    entry->failure = sta_strdup(context);
}

static void note_failure(struct sta_library *library, const char *id, const struct sta_error *cause)
{
    char text[sizeof cause->text];
    struct sta_error err = STA_ERROR_INIT;
    memcpy(text, cause->text, sizeof text);
    int status = sta_store_update(library->store, id, put_failure, text, &err);
    if (status != STA_OK && status != STA_ENOTFOUND)
        sta_log(STA_LOG_ERROR, "Cannot note that an ingest failed", "trace", id, "cause", err.text, NULL);
}

void sta_library_tell_published(struct sta_library *library, const char *id, struct sta_job *job)
{
    uv_mutex_lock(&library->lock);
    sta_published published = library->on_publish;
    void *context = library->on_publish_context;
    library->callbacks++;
    uv_mutex_unlock(&library->lock);
    if (published != NULL)
        published(context, id, job);
    uv_mutex_lock(&library->lock);
    if (--library->callbacks == 0)
        uv_cond_broadcast(&library->callbacks_done);
    uv_mutex_unlock(&library->lock);
}

/* A job whose trace was removed did not fail: it was stopped. */
static int end_of_removed(struct sta_library *library, const char *id, int status, struct sta_error *err)
{
    struct sta_trace_entry entry;
    struct sta_error ignored = STA_ERROR_INIT;
    if (status == STA_OK)
        return STA_OK;
    if (sta_store_find(library->store, id, &entry, &ignored) == STA_ENOTFOUND)
        return sta_fail(err, STA_ECANCELLED, "the trace was removed");
    sta_trace_entry_fini(&entry);
    return status;
}

/* @live: NULL: the trace is not followed */
static void end_step(struct sta_library *library, struct sta_live *live, uint64_t started,
                     struct sta_ingest_found *found, int status, const struct sta_error *err)
{
    if (live == NULL)
        return;
    sta_live_note(library, live, started, found, status, err);
    sta_ingest_found_fini(found);
    sta_live_release(library, live);
}

/* The version stays open for the first questions to it.  Steps of a trace that nobody asks about make many
 * small segments: opening a version finds out whether they are to be merged. */
static void look_at_version(struct sta_library *library, const char *id)
{
    struct sta_snapshot *snapshot;
    struct sta_error ignored = STA_ERROR_INIT;
    size_t unread = 0;
    if (sta_library_snapshot(library, id, &snapshot, &ignored) != STA_OK)
        return;
    for (size_t i = 0; i < sta_snapshot_source_count(snapshot); i++)
        unread += sta_source_is_unread(sta_snapshot_source(snapshot, i));
    if (unread > 0)
        sta_log(STA_LOG_WARNING, "Files of a trace gave no event; its report names them", "trace", id,
                "files", sta_log_int((int64_t)unread), NULL);
    sta_snapshot_release(snapshot);
}

/* After an ingest: its version is the trace's, or its failure is noted. */
static void announce(struct sta_library *library, const char *id, struct sta_job *job, int status,
                     bool is_live, const struct sta_error *err)
{
    sta_library_forget_version(library, id);
    uv_mutex_lock(&library->lock);
    bool stopping = library->stopping;
    uv_mutex_unlock(&library->lock);
    if (status == STA_OK) {
        sta_library_tell_published(library, id, job);
        look_at_version(library, id);
    } else if (!stopping && !is_live) {
        note_failure(library, id, err);
    }
}

static int run_ingest(void *context, struct sta_job *job, struct sta_error *err)
{
    struct ingest_task *task = context;
    struct sta_library *library = task->library;
    struct sta_presets *presets = sta_library_presets(library);
    struct sta_account account;
    struct sta_live *live = sta_live_of(library, task->id);
    struct sta_ingest_found found = {0};
    struct sta_snapshot *version = NULL;
    uint64_t started = uv_hrtime();
    sta_library_end_compaction(library, task->id); /* one writer at a time */
    sta_account_init(&account, library->memory, "memory", library->account);
    struct sta_ingest ingest = {
        .store = library->store,
        .presets = presets,
        .roots = library->roots,
        .workers = library->workers,
        .memory = library->memory,
        .account = &account,
        .stopping = &library->stopping,
        .json_bytes_per_file = library->json_bytes_per_file,
        .readers = library->readers,
        .growth = live != NULL ? sta_live_growth(live) : NULL,
        .found = live != NULL ? &found : NULL,
        .version = &version,
    };
    int status = sta_ingest_run(&ingest, task->id, job, err);
    sta_account_close(&account);
    sta_presets_release(presets);
    if (sta_job_leaves_small_slot(job)) {
        end_step(library, live, started, &found, STA_ECANCELLED, err);
        return status;
    }
    status = end_of_removed(library, task->id, status, err);
    if (live == NULL || found.published)
        announce(library, task->id, job, status, live != NULL, err);
    end_step(library, live, started, &found, status, err);
    sta_snapshot_release(version);
    sta_memory_trim_grown(library->memory / 4);
    return status;
}

/* Queues an ingest of the trace.  @kind: static; @note: copied, may be NULL. */
static int start_ingest(struct sta_library *library, const char *id, const char *kind, const char *note,
                        char job[STA_JOB_ID_SIZE], struct sta_error *err)
{
    struct ingest_task *task = sta_alloc(sizeof *task);
    task->library = library;
    snprintf(task->id, sizeof task->id, "%s", id);
    struct sta_job_request request = {.kind = kind,
                                      .trace = id,
                                      .note = note,
                                      .run = run_ingest,
                                      .release = free,
                                      .context = task,
                                      .may_be_small = true,
                                      .in_background = strcmp(kind, "follow") == 0};
    return sta_jobs_submit(library->jobs, &request, job, err);
}

int sta_library_start_job(struct sta_library *library, const char *id, const char *kind,
                          char job[STA_JOB_ID_SIZE], struct sta_error *err)
{
    return start_ingest(library, id, kind, NULL, job, err);
}

/* ---- register, refresh, remove */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* Under `changing`.  Starts a job unless the trace has one; *job names it. */
static int ensure_job(struct sta_library *library, const char *id, const char *kind, const char *note,
                      char job[STA_JOB_ID_SIZE], struct sta_error *err)
{
    struct sta_job_view running;
    if (!sta_jobs_of_trace(library->jobs, id, &running))
        return start_ingest(library, id, kind, note, job, err);
    memcpy(job, running.id, sizeof running.id);
    return STA_OK;
}

/* Whoever has `changing` may be this thread, which opens the trace to see whether it needs a job. */
void sta_library_start_rebuild(struct sta_library *library, const char *id)
{
    char job[STA_JOB_ID_SIZE];
    struct sta_error err = STA_ERROR_INIT;
    bool locked = uv_mutex_trylock(&library->changing) == 0;
    if (ensure_job(library, id, "ingest", "reads the sources again: store files were damaged", job, &err) !=
        STA_OK)
        sta_log(STA_LOG_ERROR, "Cannot read a damaged trace again", "trace", id, "cause", err.text, NULL);
    if (locked)
        uv_mutex_unlock(&library->changing);
}

/* Under `changing`. */
static int start_first_ingest(struct sta_library *library, const struct sta_trace_entry *entry, bool follow,
                              struct sta_registration *registration, struct sta_error *err)
{
    struct sta_error ignored = STA_ERROR_INIT;
    memcpy(registration->trace, entry->id, sizeof entry->id);
    registration->created = true;
    int status = follow ? sta_live_begin(library, entry->id, err) : STA_OK;
    if (status == STA_OK)
        status = start_ingest(library, entry->id, "ingest", NULL, registration->job, err);
    if (status != STA_OK)
        sta_live_forget(library, entry->id);
    if (status != STA_OK && sta_store_remove(library->store, entry->id, &ignored) != STA_OK)
        sta_log(STA_LOG_WARNING, "Cannot take back a registration", "path", entry->path, "cause",
                ignored.text, NULL);
    return status;
}

/* Whether the trace needs no ingest: there is a version and no file differs from it. */
static bool is_current(struct sta_library *library, const struct sta_trace_entry *entry)
{
    struct sta_snapshot *snapshot;
    struct sta_error ignored = STA_ERROR_INIT;
    if (entry->failure != NULL || sta_library_snapshot(library, entry->id, &snapshot, &ignored) != STA_OK)
        return false;
    bool current =
        sta_snapshot_info(snapshot)->damaged == 0 && !sta_library_is_stale(library, entry, snapshot);
    sta_snapshot_release(snapshot);
    return current;
}

static int register_again(struct sta_library *library, const char *id, struct sta_registration *registration,
                          struct sta_error *err)
{
    struct sta_trace_entry entry;
    struct sta_job_view job;
    int status = sta_store_find(library->store, id, &entry, err);
    if (status != STA_OK)
        return status;
    memcpy(registration->trace, id, sizeof entry.id);
    if (sta_jobs_of_trace(library->jobs, id, &job) || !is_current(library, &entry))
        status = sta_library_refresh(library, id, registration->job, err);
    sta_trace_entry_fini(&entry);
    return status;
}

static int register_resolved(struct sta_library *library, const char *path, const char *name, bool follow,
                             struct sta_registration *registration, struct sta_error *err)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct sta_trace_entry entry = {.path = sta_strdup(path),
                                    .name = sta_strdup(name ? name : last_part(path)),
                                    .created_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000};
    uv_mutex_lock(&library->changing);
    int status = sta_store_add(library->store, &entry, err);
    if (status == STA_OK)
        status = start_first_ingest(library, &entry, follow, registration, err);
    uv_mutex_unlock(&library->changing);
    if (status == STA_EEXISTS) {
        status = follow ? sta_library_follow(library, entry.id, true, err) : STA_OK;
        if (status == STA_OK || !follow)
            status = register_again(library, entry.id, registration, err);
    }
    sta_trace_entry_fini(&entry);
    return status;
}

int sta_library_register(struct sta_library *library, const char *path, const char *name, bool follow,
                         struct sta_registration *registration, struct sta_error *err)
{
    char *resolved;
    int fd;
    *registration = (struct sta_registration){0};
    if (path[0] != '/')
        return sta_fail(err, STA_EINPUT, "%s is not an absolute path", path);
    int status = sta_roots_open(library->roots, path, O_PATH, &resolved, &fd, err);
    if (status != STA_OK)
        return status;
    close(fd);
    do /* again when the trace that has the path is removed meanwhile */
        status = register_resolved(library, resolved, name, follow, registration, err);
    while (status == STA_ENOTFOUND && !registration->created);
    free(resolved);
    return status;
}

int sta_library_follow(struct sta_library *library, const char *id, bool follow, struct sta_error *err)
{
    struct sta_trace_entry entry;
    uv_mutex_lock(&library->changing);
    int status = sta_store_find(library->store, id, &entry, err);
    if (status == STA_OK) {
        sta_trace_entry_fini(&entry);
        if (follow)
            status = sta_live_begin(library, id, err);
        else
            sta_live_end(library, id);
    }
    uv_mutex_unlock(&library->changing);
    return status;
}

int sta_library_refresh(struct sta_library *library, const char *id, char job[STA_JOB_ID_SIZE],
                        struct sta_error *err)
{
    struct sta_trace_entry entry;
    uv_mutex_lock(&library->changing);
    int status = sta_store_find(library->store, id, &entry, err);
    if (status == STA_OK) {
        status = ensure_job(library, id, "refresh", NULL, job, err);
        sta_trace_entry_fini(&entry);
    }
    uv_mutex_unlock(&library->changing);
    return status;
}

int sta_library_remove(struct sta_library *library, const char *id, struct sta_error *err)
{
    struct sta_job_view job;
    uv_mutex_lock(&library->changing); /* a retired trace gets no further job */
    int status = sta_store_retire(library->store, id, err);
    if (status == STA_OK)
        sta_live_forget(library, id);
    uv_mutex_unlock(&library->changing);
    if (status != STA_OK)
        return status;
    while (sta_jobs_of_trace(library->jobs, id, &job)) {
        struct sta_error ignored = STA_ERROR_INIT;
        if (sta_jobs_cancel(library->jobs, job.id, &ignored) == STA_OK)
            sta_jobs_wait(library->jobs, job.id);
    }
    sta_library_end_compaction(library, id);
    sta_library_forget(library, id);
    return sta_store_remove(library->store, id, err);
}

/* Why a trace must be ingested again at start, or NULL. */
static const char *reason_to_resume(struct sta_library *library, const struct sta_trace_entry *entry)
{
    struct sta_trace_view view;
    struct sta_error ignored = STA_ERROR_INIT;
    if (entry->failure != NULL || sta_library_describe(library, entry->id, &view, &ignored) != STA_OK)
        return NULL;
    bool published = view.published; /* looking has started the rebuild of a version that is damaged */
    sta_trace_view_fini(&view);
    return published ? NULL : "started again: the last ingest was interrupted";
}

void sta_library_resume(struct sta_library *library)
{
    size_t count;
    struct sta_trace_entry *entries = sta_store_list(library->store, &count);
    for (size_t i = 0; i < count; i++) {
        const char *reason = reason_to_resume(library, &entries[i]);
        char job[STA_JOB_ID_SIZE];
        struct sta_error err = STA_ERROR_INIT;
        uv_mutex_lock(&library->changing);
        int status =
            reason != NULL ? ensure_job(library, entries[i].id, "ingest", reason, job, &err) : STA_OK;
        uv_mutex_unlock(&library->changing);
        if (status != STA_OK)
            sta_log(STA_LOG_ERROR, "Cannot resume an ingest", "trace", entries[i].id, "cause", err.text,
                    NULL);
        sta_trace_entry_fini(&entries[i]);
    }
    free(entries);
    sta_follow_start(library);
    sta_library_start_warming(library); /* after the compactions, which make other segments */
}
