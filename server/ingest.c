/* The pump: a plan of what to read, decode into the store, publish.
 *
 * DESIGN.  A watcher thread carries progress to the job and the job's cancel flag to decode, so that neither
 * depends on batches coming.  When a file is rewritten while it is read, the lines before it may be of the
 * old content and those behind it of the new: nothing of that is published, and all is read once more. */
#include "server/ingest.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/log.h"
#include "common/memory.h"
#include "server/ingest_plan.h"
#include "server/ingest_preset.h"

#define WATCH_INTERVAL_NS UINT64_C(50000000)
#define SMALL_FILE_BYTES (UINT64_C(64) << 20)  /* of a job that runs in the small slot, on disk */
#define BYTES_PER_WORKER (UINT64_C(4) << 20)   /* of what is read of a followed trace: each makes a segment */
#define SMALL_JSON_BYTES (UINT64_C(256) << 20) /* and decompressed: past that it is none */

/* ---- running it */

struct run {
    struct sta_writer *writer;
    const char *trace;                        /* id */
    const struct sta_fellow_readers *readers; /* NULL: this process reads alone */
    const struct sta_ingest_plan *plan;
    struct sta_job *job;
    struct sta_decode_progress progress;
    const uint32_t *source_numbers; /* by file of the decode request */
    _Atomic int64_t *latest_us;     /* by file of the decode request; NULL: not wanted */
    uint64_t total_bytes;
    bool small;             /* it runs in the small slot */
    _Atomic bool too_large; /* for that, and was stopped */
    _Atomic bool over;
    uv_mutex_t lock;
    uv_cond_t ended;
};

static void note_latest(_Atomic int64_t *latest_us, const struct sta_batch *batch)
{
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < batch->count; i++)
        latest = STA_MAX(latest, batch->ts[i]);
    int64_t before = atomic_load(latest_us);
    while (before < latest && !atomic_compare_exchange_weak(latest_us, &before, latest))
        ;
}

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    struct run *run = context;
    if (run->latest_us != NULL)
        note_latest(&run->latest_us[batch->source], batch);
    return sta_writer_add(run->writer, worker, run->source_numbers[batch->source], batch, err);
}

static int take_counters(void *context, unsigned worker, const char *chunk, size_t size,
                         struct sta_error *err)
{
    struct run *run = context;
    return sta_writer_add_counters(run->writer, worker, chunk, size, err);
}

static void report(struct run *run)
{
    uint64_t bytes = atomic_load(&run->progress.bytes);
    double share = run->total_bytes ? (double)bytes / (double)run->total_bytes : 0;
    sta_job_progress(run->job, 0.95 * STA_MIN(share, 1.0), bytes, run->total_bytes,
                     atomic_load(&run->progress.events));
}

static void watcher_main(void *argument)
{
    struct run *run = argument;
    uv_mutex_lock(&run->lock);
    while (!atomic_load(&run->over)) {
        if (run->small && atomic_load(&run->progress.json_bytes) > SMALL_JSON_BYTES)
            atomic_store(&run->too_large, true);
        if (atomic_load(&run->too_large) || atomic_load(sta_job_cancel_flag(run->job)))
            atomic_store(&run->progress.cancel, true);
        uv_mutex_unlock(&run->lock);
        report(run);
        uv_mutex_lock(&run->lock);
        if (!atomic_load(&run->over))
            uv_cond_timedwait(&run->ended, &run->lock, WATCH_INTERVAL_NS);
    }
    uv_mutex_unlock(&run->lock);
}

static int decode(struct run *run, const struct sta_decode_request *request, struct sta_error *err)
{
    if (run->readers == NULL)
        return sta_decode_run(request, err);
    uint64_t *bytes = sta_alloc_array(request->file_count, sizeof *bytes);
    for (size_t i = 0; i < request->file_count; i++)
        bytes[i] = run->plan->items[i].bytes_to_read;
    const struct sta_shared_reading reading = {run->trace, run->writer, request, run->source_numbers, bytes};
    int status = run->readers->read(run->readers->context, &reading, err);
    free(bytes);
    return status;
}

static int decode_watched(struct run *run, const struct sta_decode_request *request, struct sta_error *err)
{
    uv_thread_t watcher;
    uv_mutex_init(&run->lock);
    uv_cond_init(&run->ended);
    bool watched = uv_thread_create(&watcher, watcher_main, run) == 0;
    int status = decode(run, request, err);
    uv_mutex_lock(&run->lock);
    atomic_store(&run->over, true);
    uv_cond_signal(&run->ended);
    uv_mutex_unlock(&run->lock);
    if (watched)
        uv_thread_join(&watcher);
    uv_cond_destroy(&run->ended);
    uv_mutex_destroy(&run->lock);
    report(run);
    return status;
}

/* The sources that the plan reads, and those that it only tells of. */
static void add_sources(struct sta_writer *writer, const struct sta_ingest_plan *plan,
                        struct sta_decode_file *files, uint32_t *numbers)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct sta_plan_item *item = &plan->items[i];
        if (!sta_writer_find_source(writer, item->path, &numbers[i]))
            numbers[i] = sta_writer_add_source(writer, item->path);
        files[i] = (struct sta_decode_file){.file = item->file,
                                            .source = sta_writer_source(writer, numbers[i]),
                                            .resume = item->resume,
                                            .known = item->known,
                                            .range = {.end = item->end}};
    }
    for (size_t i = 0; i < plan->record_count; i++) {
        const struct sta_plan_record *record = &plan->records[i];
        struct sta_source *source = sta_writer_source(writer, sta_writer_add_source(writer, record->path));
        source->state = record->state;
        source->reason = sta_strdup(record->reason);
    }
}

/* A first ingest in which no file is one fails. */
static int check_any_read(const struct sta_decode_file *files, size_t count, struct sta_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (files[i].source->state != STA_SOURCE_REJECTED && files[i].source->state != STA_SOURCE_VANISHED)
            return STA_OK;
    if (count == 1)
        return sta_fail(err, STA_EIO, "its one file cannot be read: %s", files[0].source->reason);
    return sta_fail(err, STA_EIO, "none of %zu files can be read; the first: %s", count,
                    files[0].source->reason);
}

/* For who follows the trace: the time of the last event that was read of each file. */
static _Atomic int64_t *begin_clocks(size_t count)
{
    _Atomic int64_t *latest_us = sta_alloc_array(count, sizeof *latest_us);
    for (size_t i = 0; i < count; i++)
        atomic_store(&latest_us[i], INT64_MIN);
    return latest_us;
}

static void take_clocks(struct sta_ingest_found *found, const struct sta_ingest_plan *plan,
                        const _Atomic int64_t *latest_us)
{
    found->clocks = sta_alloc_array(plan->count, sizeof *found->clocks);
    found->clock_count = plan->count;
    for (size_t i = 0; i < plan->count; i++)
        found->clocks[i] = (struct sta_file_clock){sta_strdup(plan->items[i].path), latest_us[i]};
}

void sta_ingest_found_fini(struct sta_ingest_found *found)
{
    sta_listing_fini(&found->listing);
    for (size_t i = 0; i < found->clock_count; i++)
        free(found->clocks[i].path);
    free(found->clocks);
    *found = (struct sta_ingest_found){0};
}

/* Whether other processes may have read parts of it. */
static bool can_be_shared(const struct sta_ingest *ingest, enum sta_trace_kind kind, struct sta_job *job)
{
    return kind == STA_TRACE_EVENTS && ingest->growth == NULL && !sta_job_in_small_slot(job);
}

/* Who reads along; NULL: nobody.  Of one file alone others can read ranges, if it is large. */
static const struct sta_fellow_readers *readers_of(const struct sta_ingest *ingest,
                                                   const struct sta_ingest_plan *plan,
                                                   enum sta_trace_kind kind, struct sta_job *job)
{
    const struct sta_fellow_readers *readers = ingest->readers;
    const bool worth_it = readers != NULL && (plan->count > 1 || plan->bytes >= readers->least);
    return worth_it && can_be_shared(ingest, kind, job) ? readers : NULL;
}

static int read_files(const struct sta_ingest *ingest, struct sta_writer *writer,
                      const struct sta_ingest_plan *plan, const char *trace, enum sta_trace_kind kind,
                      bool first, struct sta_job *job, struct sta_error *err)
{
    struct sta_decode_file *files = sta_alloc_array(plan->count, sizeof *files);
    uint32_t *numbers = sta_alloc_array(plan->count, sizeof *numbers);
    add_sources(writer, plan, files, numbers);
    struct run run = {.writer = writer,
                      .trace = trace,
                      .readers = ingest->readers,
                      .plan = plan,
                      .job = job,
                      .source_numbers = numbers,
                      .latest_us = ingest->found != NULL ? begin_clocks(plan->count) : NULL,
                      .total_bytes = plan->bytes,
                      .small = sta_job_in_small_slot(job)};
    struct sta_decode_request request = {
        .roots = ingest->roots,
        .kind = kind,
        .files = files,
        .file_count = plan->count,
        .json_limit = ingest->json_bytes_per_file,
        .accept_rewritten = ingest->accept_rewritten,
        .tables = sta_writer_tables(writer),
        .workers = ingest->workers,
        .account = ingest->account,
        .progress = &run.progress,
        .batch = take_batch,
        .counters = take_counters,
        .context = &run,
    };
    sta_job_phase(job, "reading");
    int status = plan->count > 0 ? decode_watched(&run, &request, err) : STA_OK;
    if (status == STA_ECANCELLED && atomic_load(&run.too_large))
        status = sta_job_leave_small_slot(job, err);
    if (status == STA_OK && first)
        status = check_any_read(files, plan->count, err);
    if (status == STA_OK && ingest->found != NULL)
        take_clocks(ingest->found, plan, run.latest_us);
    free(run.latest_us);
    free(files);
    free(numbers);
    return status;
}

/* Publishes what the writer has; looks for the preset, and notes it, while its files are synced.  *noted: it
 * is. */
static int publish(const struct sta_ingest *ingest, struct sta_writer *writer, struct sta_trace_entry *entry,
                   bool *noted, struct sta_job *job, struct sta_error *err)
{
    struct sta_snapshot **version = ingest->version;
    struct sta_error ignored = STA_ERROR_INIT; /* it is looked for, and noted, again */
    sta_job_phase(job, "publishing");
    int status = sta_writer_preview(writer, version, err);
    if (status != STA_OK) {
        sta_writer_abort(writer);
        return status;
    }
    bool found = *version != NULL &&
                 sta_ingest_find_preset(ingest, entry, sta_job_cancel_flag(job), version, &ignored) == STA_OK;
    *noted = found && sta_ingest_note_outcome(ingest, entry, false, &ignored) == STA_OK;
    status = sta_writer_publish(writer, err);
    if (status == STA_OK && ingest->found != NULL)
        ingest->found->published = true;
    if (status != STA_OK || !found) {
        sta_snapshot_release(*version);
        *version = NULL;
    }
    return status;
}

static int write_version(const struct sta_ingest *all, struct sta_trace_entry *entry,
                         struct sta_snapshot *base, struct sta_ingest_plan *plan, uint64_t began, bool *noted,
                         struct sta_job *job, struct sta_error *err)
{
    struct sta_ingest own = *all, *ingest = &own;
    if (own.growth != NULL)
        own.workers = (unsigned)STA_MIN(own.workers, 1 + plan->bytes / BYTES_PER_WORKER);
    struct sta_writer *writer;
    size_t memory = ingest->memory / (sta_job_in_small_slot(job) ? 8 : 2);
    struct sta_writer_options options = {.workers = ingest->workers,
                                         .memory = memory,
                                         .account = ingest->account,
                                         .cancel = sta_job_cancel_flag(job)};
    size_t skipped = 0;
    int status =
        sta_writer_begin(ingest->store, entry->id, base, base ? plan->drop : NULL, &options, &writer, err);
    if (status != STA_OK)
        return status;
    ingest->readers = readers_of(ingest, plan, entry->kind, job);
    if (can_be_shared(ingest, entry->kind, job))
        status = sta_ingest_plan_resume(plan, ingest->roots, ingest->readers != NULL, entry->path, writer,
                                        &skipped, err);
    const uint64_t planned = uv_hrtime();
    if (status == STA_OK)
        status =
            read_files(ingest, writer, plan, entry->id, entry->kind, base == NULL && skipped == 0, job, err);
    if (status == STA_OK && atomic_load(sta_job_cancel_flag(job)))
        status = sta_fail(err, STA_ECANCELLED, "cancelled");
    if (status != STA_OK) {
        if (ingest->stopping != NULL && atomic_load(ingest->stopping))
            sta_writer_suspend(writer);
        else
            sta_writer_abort(writer);
        return status;
    }
    const uint64_t read = uv_hrtime();
    status = publish(ingest, writer, entry, noted, job, err);
    if (ingest->readers != NULL)
        ingest->readers->note_alone(ingest->readers->context, planned - began, uv_hrtime() - read);
    return status;
}

static int nothing_here(const struct sta_listing *listing, const char *path, struct sta_error *err)
{
    const char *unlisted = listing->unlisted_count > 0 ? listing->unlisted[0].reason : NULL;
    char others[64];
    snprintf(others, sizeof others, listing->others == 1 ? "is %zu other file" : "are %zu other files",
             listing->others);
    return sta_fail(
        err, STA_EINPUT,
        "nothing in %s is a trace: looked for *.pfw and *.pfw.gz files, for others that begin like "
        "one, for record files of DASF (msgpack), and for training logs with sim_conf.json, in all folders "
        "below; there %s%s%s",
        path, others, unlisted ? "; one of them: " : "", unlisted ? unlisted : "");
}

static void put_kind(void *context, struct sta_trace_entry *entry)
{
    entry->kind = *(const enum sta_trace_kind *)context;
}

/* Recognises what the files are, and notes it in the catalogue, which the outcome's update writes. */
static int recognise(const struct sta_ingest *ingest, struct sta_trace_entry *entry,
                     const struct sta_listing *listing, struct sta_error *err)
{
    enum sta_trace_kind kind;
    int status = sta_listing_kind(listing, &kind, err);
    if (status != STA_OK || kind == entry->kind)
        return status;
    entry->kind = kind;
    return sta_store_note(ingest->store, entry->id, put_kind, &kind, err);
}

static int ingest_listing(const struct sta_ingest *ingest, struct sta_trace_entry *entry,
                          const struct sta_listing *listing, struct sta_snapshot *base, uint64_t began,
                          struct sta_job *job, struct sta_error *err)
{
    struct sta_ingest_plan plan;
    bool noted = false;
    if (listing->count == 0 && ingest->growth != NULL && base == NULL)
        return STA_OK;
    if (listing->count == 0)
        return nothing_here(listing, entry->path, err);
    int status = recognise(ingest, entry, listing, err);
    if (status != STA_OK)
        return status;
    status = sta_ingest_plan_make(&plan, ingest->roots, listing, entry->path, base, ingest->growth,
                                  sta_job_cancel_flag(job), err);
    if (status == STA_OK && sta_job_in_small_slot(job) && plan.bytes > SMALL_FILE_BYTES)
        status = sta_job_leave_small_slot(job, err);
    bool differs = sta_ingest_plan_differs(&plan);
    if (status == STA_OK && (differs || (base == NULL && ingest->growth == NULL)))
        status = write_version(ingest, entry, base, &plan, began, &noted, job, err);
    if (status == STA_OK && ingest->found != NULL)
        ingest->found->rewritten += plan.rewritten;
    sta_ingest_plan_fini(&plan);
    if (status != STA_OK || (ingest->growth != NULL && !differs))
        return status;
    sta_job_phase(job, "looking for a preset");
    if (*ingest->version == NULL)
        status = sta_ingest_find_preset(ingest, entry, sta_job_cancel_flag(job), ingest->version, err);
    if (status != STA_OK || (noted && entry->failure == NULL))
        return status;
    return sta_ingest_note_outcome(ingest, entry, true, err);
}

/* Stores of before sources were noted do not know whose definitions, or counter records, are whose. */
static bool knows_sources(const struct sta_snapshot *base)
{
    return !sta_snapshot_counters_lack_sources(base) &&
           (sta_snapshot_source_count(base) == 0 ||
            sta_dictionary_count(sta_tables_sources(sta_snapshot_tables(base))) > 0);
}

/* The version to go on from: NULL when there is none yet, or when it is damaged, so that all is to be read.
 * One that cannot be opened for another reason, such as a disk that does not answer, fails. */
static int open_base(const struct sta_ingest *ingest, const char *trace, struct sta_snapshot **base,
                     struct sta_error *err)
{
    *base = NULL;
    int status = sta_snapshot_open(ingest->store, trace, base, err);
    if (*base != NULL && (sta_snapshot_info(*base)->damaged > 0 || !knows_sources(*base))) {
        sta_snapshot_release(*base);
        *base = NULL;
    }
    return status == STA_ENOTFOUND || status == STA_ECORRUPT ? STA_OK : status;
}

static int ingest_once(const struct sta_ingest *ingest, struct sta_trace_entry *entry, struct sta_job *job,
                       struct sta_error *err)
{
    const uint64_t began = uv_hrtime();
    struct sta_listing listing;
    sta_job_phase(job, "listing");
    int status = sta_listing_create(&listing, ingest->roots, entry->path, sta_job_cancel_flag(job), err);
    if (status != STA_OK)
        return status;
    struct sta_snapshot *base;
    status = open_base(ingest, entry->id, &base, err);
    if (status == STA_OK)
        status = ingest_listing(ingest, entry, &listing, base, began, job, err);
    sta_snapshot_release(base);
    if (ingest->found != NULL)
        ingest->found->listing = listing;
    else
        sta_listing_fini(&listing);
    return status;
}

int sta_ingest_run(const struct sta_ingest *ingest, const char *trace, struct sta_job *job,
                   struct sta_error *err)
{
    struct sta_trace_entry entry;
    int status = sta_store_find(ingest->store, trace, &entry, err);
    if (status != STA_OK)
        return status;
    status = ingest_once(ingest, &entry, job, err);
    if (status == STA_EOUTDATED) {
        if (ingest->found != NULL)
            sta_ingest_found_fini(ingest->found);
        struct sta_ingest last = *ingest;
        last.accept_rewritten = true;
        sta_log(STA_LOG_WARNING, "Reads a trace once more, since a file changed", "trace", entry.path,
                "cause", err->text, NULL);
        status = ingest_once(&last, &entry, job, err);
    }
    if (status != STA_OK)
        sta_error_wrap(err, "cannot ingest %s", entry.path);
    sta_trace_entry_fini(&entry);
    return status;
}
