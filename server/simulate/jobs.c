/* Jobs: what a worker does without pause, and how much of it is storage and preprocessing. */
#include <stdlib.h>
#include <string.h>

#include "simulate/extract.h"

/* Bytes past which sizes are not believed: sums of them must not overflow. */
#define LARGEST_READ (INT64_C(1) << 53)
#define LARGEST_FILE (INT64_C(1) << 60)

/* Sums disjoint parts of intervals that come in the order of their starts. */
struct covered {
    int64_t sum, end;
};

static void cover(struct covered *covered, int64_t ts, int64_t te)
{
    ts = STA_MAX(ts, covered->end);
    if (te > ts) {
        covered->sum += te - ts;
        covered->end = te;
    }
}

/* The file's entry among those of the job that is being made, which are the last ones. */
static int file_of(struct sta_extraction *extraction, uint32_t file, size_t first,
                   struct sta_job_file **found, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    size_t at = extraction->place_of_file[file];
    if (at >= first && at < model->job_file_count && model->files[at].file == file) {
        *found = &model->files[at];
        return STA_OK;
    }
    int rc = STA_ACCOUNT_GROW(model->account, model->files, model->job_file_capacity,
                              model->job_file_count + 1, "the files of batches", err);
    if (rc != STA_OK)
        return rc;
    extraction->place_of_file[file] = model->job_file_count;
    *found = &model->files[model->job_file_count++];
    **found = (struct sta_job_file){.file = file};
    return STA_OK;
}

/* Storage calls by file.  A file's time counts each moment once; where its calls ended so far is kept in
 * end_of_file. */
static int add_files(struct sta_extraction *extraction, const struct sta_role_event *calls, size_t count,
                     int64_t te, size_t first, struct sta_error *err)
{
    for (size_t i = 0; i < count && calls[i].ts < te; i++) {
        struct sta_job_file *file;
        if (calls[i].file == STA_NO_CODE)
            continue;
        size_t before = extraction->model->job_file_count;
        if (file_of(extraction, calls[i].file, first, &file, err) != STA_OK)
            return err->status;
        if (extraction->model->job_file_count > before)
            extraction->end_of_file[calls[i].file] = INT64_MIN;
        struct covered covered = {0, extraction->end_of_file[calls[i].file]};
        cover(&covered, calls[i].ts, STA_MIN(calls[i].te, te));
        extraction->end_of_file[calls[i].file] = covered.end;
        file->time += covered.sum;
        file->bytes = STA_MIN(file->bytes + STA_MIN(calls[i].value, LARGEST_READ), LARGEST_FILE);
    }
    return STA_OK;
}

/* Files of which nothing was read do not matter to a cache. */
static void drop_unread_files(struct sta_model *model, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < model->job_file_count; i++)
        if (model->files[i].bytes > 0)
            model->files[kept++] = model->files[i];
    model->job_file_count = kept;
}

/* Time that storage calls or preprocessing take, each moment once. */
static int64_t both_time(const struct sta_role_event *calls, size_t call_count,
                         const struct sta_role_event *work, size_t work_count, int64_t te)
{
    struct covered covered = {0, INT64_MIN};
    size_t c = 0, w = 0;
    while (true) {
        bool more_calls = c < call_count && calls[c].ts < te, more_work = w < work_count && work[w].ts < te;
        if (!more_calls && !more_work)
            return covered.sum;
        const struct sta_role_event *next =
            more_calls && (!more_work || calls[c].ts <= work[w].ts) ? &calls[c++] : &work[w++];
        cover(&covered, next->ts, STA_MIN(next->te, te));
    }
}

static int64_t storage_time(const struct sta_role_event *calls, size_t count, int64_t te)
{
    return both_time(calls, count, NULL, 0, te);
}

int sta_add_job(struct sta_extraction *extraction, const struct sta_role_thread *thread, int64_t ts,
                int64_t te, uint32_t lane, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    int rc = STA_ACCOUNT_GROW(model->account, model->jobs, model->job_capacity, model->job_count + 1,
                              "the batches of a training", err);
    if (rc != STA_OK)
        return rc;
    size_t call = sta_first_event(thread->events[STA_EVENT_STORAGE], thread->counts[STA_EVENT_STORAGE], ts);
    size_t work =
        sta_first_event(thread->events[STA_EVENT_PREPROCESS], thread->counts[STA_EVENT_PREPROCESS], ts);
    const size_t call_count = thread->counts[STA_EVENT_STORAGE] - call;
    const size_t work_count = thread->counts[STA_EVENT_PREPROCESS] - work;
    const struct sta_role_event *calls = call_count > 0 ? thread->events[STA_EVENT_STORAGE] + call : NULL;
    const struct sta_role_event *works = work_count > 0 ? thread->events[STA_EVENT_PREPROCESS] + work : NULL;
    struct sta_model_job job = {.ts = ts, .te = te, .lane = lane, .file_first = model->job_file_count};
    job.storage = storage_time(calls, call_count, te);
    job.preprocess = both_time(calls, call_count, works, work_count, te) - job.storage;
    rc = add_files(extraction, calls, call_count, te, job.file_first, err);
    drop_unread_files(model, job.file_first);
    job.file_count = (uint32_t)(model->job_file_count - job.file_first);
    model->jobs[model->job_count++] = job;
    return rc == STA_OK ? sta_budget_check_step(extraction->budget, model->job_count, err) : rc;
}
