/* What changes a registered trace: register, refresh, remove, resume; each by way of a job. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/log.h"
#include "common/memory.h"
#include "decode/decode.h"
#include "server/ingest.h"
#include "server/library_private.h"

/* ---- paths inside the roots */

bool sta_library_allowed(void *context, const char *resolved_path)
{
    const struct sta_library *library = context;
    for (size_t i = 0; i < library->root_count; i++) {
        size_t length = strlen(library->roots[i]);
        bool whole_disk = length == 1;
        if (strncmp(resolved_path, library->roots[i], length) == 0 &&
            (whole_disk || resolved_path[length] == '/' || resolved_path[length] == '\0'))
            return true;
    }
    return false;
}

/* Whether a path that is not there would lie inside a root, judged by the nearest thing above it that is
 * there: a link that leads out of the roots must not tell what is missing behind it. */
static bool missing_inside(struct sta_library *library, const char *path)
{
    struct stat about;
    char *above = sta_strdup(path);
    for (char *slash; lstat(above, &about) != 0 && (slash = strrchr(above, '/')) > above;)
        *slash = '\0';
    char *real = realpath(above, NULL);
    bool inside = real != NULL && strstr(path, "/..") == NULL && sta_library_allowed(library, real);
    free(real);
    free(above);
    return inside;
}

int sta_library_resolve(struct sta_library *library, const char *path, char **resolved, struct sta_error *err)
{
    char *real = path[0] == '/' ? realpath(path, NULL) : NULL;
    if (real != NULL && sta_library_allowed(library, real)) {
        *resolved = real;
        return STA_OK;
    }
    bool inside = real == NULL && errno == ENOENT && missing_inside(library, path);
    free(real);
    if (path[0] != '/')
        return sta_fail(err, STA_EINPUT, "%s is not an absolute path", path);
    if (inside)
        return sta_fail(err, STA_ENOTFOUND, "there is no %s", path);
    return sta_fail(err, STA_EFORBIDDEN, "%s is not inside a folder that this daemon may read (roots)", path);
}

bool sta_library_is_stale(struct sta_library *library, const struct sta_trace_entry *entry,
                          struct sta_snapshot *snapshot)
{
    struct sta_listing listing;
    struct sta_error ignored = STA_ERROR_INIT;
    if (sta_listing_create(&listing, entry->path, sta_library_allowed, library, &ignored) != STA_OK)
        return true;
    bool stale = sta_ingest_differs(entry->path, &listing, snapshot);
    sta_listing_fini(&listing);
    return stale;
}

/* ---- ingest jobs */

struct ingest_task {
    struct sta_library *library;
    char id[STA_TRACE_ID_SIZE];
    bool again;
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

static void tell_published(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    void (*published)(void *, const char *) = library->on_publish;
    void *context = library->on_publish_context;
    library->telling++;
    uv_mutex_unlock(&library->lock);
    if (published != NULL)
        published(context, id);
    uv_mutex_lock(&library->lock);
    if (--library->telling == 0)
        uv_cond_broadcast(&library->told);
    uv_mutex_unlock(&library->lock);
}

static int run_ingest(void *context, struct sta_job *job, struct sta_error *err)
{
    struct ingest_task *task = context;
    struct sta_library *library = task->library;
    struct sta_presets *presets = sta_library_presets(library);
    struct sta_ingest ingest = {
        .store = library->store,
        .presets = presets,
        .allowed = sta_library_allowed,
        .allowed_context = library,
        .workers = library->workers,
        .memory = library->memory,
    };
    int status = sta_ingest_run(&ingest, task->id, task->again, job, err);
    sta_presets_release(presets);
    sta_library_forget_version(library, task->id);
    uv_mutex_lock(&library->lock);
    bool stopping = library->stopping;
    uv_mutex_unlock(&library->lock);
    if (status == STA_OK)
        tell_published(library, task->id);
    else if (!stopping)
        note_failure(library, task->id, err);
    sta_memory_give_back(library->memory / 4);
    return status;
}

int sta_library_start_ingest(struct sta_library *library, const char *id, const char *kind, bool again,
                             const char *note, char job[STA_JOB_ID_SIZE], struct sta_error *err)
{
    struct ingest_task *task = sta_alloc(sizeof *task);
    task->library = library;
    task->again = again;
    snprintf(task->id, sizeof task->id, "%s", id);
    struct sta_job_request request = {
        .kind = kind, .trace = id, .note = note, .run = run_ingest, .release = free, .context = task};
    return sta_jobs_submit(library->jobs, &request, job, err);
}

/* ---- register, refresh, remove */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static int start_first_ingest(struct sta_library *library, const struct sta_trace_entry *entry,
                              struct sta_registration *registration, struct sta_error *err)
{
    struct sta_error ignored = STA_ERROR_INIT;
    memcpy(registration->trace, entry->id, sizeof entry->id);
    registration->created = true;
    int status = sta_library_start_ingest(library, entry->id, "ingest", false, NULL, registration->job, err);
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
    if (sta_jobs_of_trace(library->jobs, id, &job))
        memcpy(registration->job, job.id, sizeof job.id);
    else if (!is_current(library, &entry))
        status = sta_library_start_ingest(library, id, "refresh", false, NULL, registration->job, err);
    sta_trace_entry_fini(&entry);
    return status;
}

int sta_library_register(struct sta_library *library, const char *path, const char *name,
                         struct sta_registration *registration, struct sta_error *err)
{
    char *resolved;
    struct timespec now;
    *registration = (struct sta_registration){0};
    int status = sta_library_resolve(library, path, &resolved, err);
    if (status != STA_OK)
        return status;
    clock_gettime(CLOCK_REALTIME, &now);
    struct sta_trace_entry entry = {.path = resolved,
                                    .name = sta_strdup(name ? name : last_part(resolved)),
                                    .created_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000};
    status = sta_store_add(library->store, &entry, err);
    if (status == STA_OK)
        status = start_first_ingest(library, &entry, registration, err);
    else if (status == STA_EEXISTS)
        status = register_again(library, entry.id, registration, err);
    sta_trace_entry_fini(&entry);
    return status;
}

int sta_library_refresh(struct sta_library *library, const char *id, char job[STA_JOB_ID_SIZE],
                        struct sta_error *err)
{
    struct sta_trace_entry entry;
    struct sta_job_view running;
    int status = sta_store_find(library->store, id, &entry, err);
    if (status != STA_OK)
        return status;
    sta_trace_entry_fini(&entry);
    if (sta_jobs_of_trace(library->jobs, id, &running)) {
        memcpy(job, running.id, sizeof running.id);
        return STA_OK;
    }
    return sta_library_start_ingest(library, id, "refresh", false, NULL, job, err);
}

int sta_library_remove(struct sta_library *library, const char *id, struct sta_error *err)
{
    struct sta_job_view job;
    int status =
        sta_store_retire(library->store, id, err); /* so that no work on it begins while this waits */
    if (status != STA_OK)
        return status;
    while (sta_jobs_of_trace(library->jobs, id, &job)) {
        struct sta_error ignored = STA_ERROR_INIT;
        if (sta_jobs_cancel(library->jobs, job.id, &ignored) == STA_OK)
            sta_jobs_wait(library->jobs, job.id);
    }
    sta_library_forget_version(library, id);
    return sta_store_remove(library->store, id, err);
}

/* Why a trace must be ingested again at start, or NULL. */
static const char *reason_to_resume(struct sta_library *library, const struct sta_trace_entry *entry)
{
    struct sta_trace_view view;
    struct sta_error ignored = STA_ERROR_INIT;
    if (entry->failure != NULL || sta_library_describe(library, entry->id, &view, &ignored) != STA_OK)
        return NULL;
    bool published = view.published;
    sta_trace_view_fini(&view);
    uv_mutex_lock(&library->lock);
    bool damaged = sta_library_shelf(library, entry->id)->damaged;
    uv_mutex_unlock(&library->lock);
    if (!published)
        return "started again: the last ingest was interrupted";
    return damaged ? "reads the sources again: store files were damaged" : NULL;
}

void sta_library_resume(struct sta_library *library)
{
    size_t count;
    struct sta_trace_entry *entries = sta_store_list(library->store, &count);
    for (size_t i = 0; i < count; i++) {
        const char *reason = reason_to_resume(library, &entries[i]);
        char job[STA_JOB_ID_SIZE];
        struct sta_error err = STA_ERROR_INIT;
        if (reason != NULL &&
            sta_library_start_ingest(library, entries[i].id, "ingest", false, reason, job, &err) != STA_OK)
            sta_log(STA_LOG_ERROR, "Cannot resume an ingest", "trace", entries[i].id, "cause", err.text,
                    NULL);
        sta_trace_entry_fini(&entries[i]);
    }
    free(entries);
}
