/* The pump: a plan of what to read, decode into the store, publish.
 *
 * DESIGN.  The listing of the trace's files is compared with the sources of the published version: what is
 * the same stays, what has grown is read on from where it ended, what changed or is new is read, what
 * vanished leaves.  A watcher thread carries progress to the job and the job's cancel flag to decode, so that
 * neither depends on batches coming. */
#include "server/ingest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uv.h>

#include "common/files.h"
#include "common/log.h"
#include "common/memory.h"

#define WATCH_INTERVAL_NS UINT64_C(50000000)

struct plan_item {
    char *file;       /* absolute path */
    const char *path; /* inside the trace; borrowed from the listing */
    bool resume;
    uint64_t bytes_to_read;
};

struct plan {
    struct plan_item *items;
    size_t count;
    bool *drop; /* by source of the base */
    size_t dropped;
    uint64_t bytes;
};

static void plan_fini(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->items[i].file);
    free(plan->items);
    free(plan->drop);
}

/* A trace of one file is named by the file itself, one of a folder by what lies below it. */
static char *absolute(const char *trace_path, const char *inside)
{
    struct stat st;
    bool folder = stat(trace_path, &st) == 0 && S_ISDIR(st.st_mode);
    return folder ? sta_path_join(trace_path, inside) : sta_strdup(trace_path);
}

/* Paths of the base's sources, so that a path's code is the source's number. */
static struct sta_dictionary *index_sources(const struct sta_snapshot *base)
{
    struct sta_dictionary *index = sta_dictionary_create();
    for (size_t i = 0; base != NULL && i < sta_snapshot_source_count(base); i++) {
        const char *path = sta_snapshot_source(base, i)->path;
        sta_dictionary_intern(index, path, strlen(path));
    }
    return index;
}

static void plan_file(struct plan *plan, const struct sta_listed_file *listed, const char *trace_path,
                      const struct sta_snapshot *base, const struct sta_dictionary *index, bool *seen)
{
    struct plan_item item = {
        .file = absolute(trace_path, listed->path), .path = listed->path, .bytes_to_read = listed->size};
    uint32_t known = sta_dictionary_find(index, listed->path, strlen(listed->path));
    if (known != STA_NO_CODE) {
        const struct sta_source *source = sta_snapshot_source(base, known);
        enum sta_source_change change = sta_source_compare(source, item.file);
        seen[known] = true;
        if (change == STA_SOURCE_SAME) {
            free(item.file);
            return;
        }
        item.resume = change == STA_SOURCE_GREW;
        plan->drop[known] = !item.resume;
        plan->dropped += !item.resume;
        if (item.resume)
            item.bytes_to_read = listed->size - source->size;
    }
    plan->bytes += item.bytes_to_read;
    plan->items[plan->count++] = item;
}

static void plan_make(struct plan *plan, const struct sta_listing *listing, const char *trace_path,
                      const struct sta_snapshot *base)
{
    size_t known = base ? sta_snapshot_source_count(base) : 0;
    bool *seen = sta_alloc_array(known, sizeof *seen);
    struct sta_dictionary *index = index_sources(base);
    *plan = (struct plan){.items = sta_alloc_array(listing->count, sizeof *plan->items),
                          .drop = sta_alloc_array(known, sizeof *plan->drop)};
    for (size_t i = 0; i < listing->count; i++)
        plan_file(plan, &listing->files[i], trace_path, base, index, seen);
    for (size_t i = 0; i < known; i++) {
        if (seen[i])
            continue;
        sta_log(STA_LOG_WARNING, "A source vanished; its events leave the store", "trace", trace_path, "file",
                sta_snapshot_source(base, i)->path, NULL);
        plan->drop[i] = true;
        plan->dropped++;
    }
    sta_dictionary_destroy(index);
    free(seen);
}

bool sta_ingest_differs(const char *trace_path, const struct sta_listing *listing,
                        const struct sta_snapshot *snapshot)
{
    size_t known = sta_snapshot_source_count(snapshot);
    struct sta_dictionary *index = index_sources(snapshot);
    bool differs = listing->count != known;
    for (size_t i = 0; i < listing->count && !differs; i++) {
        const char *path = listing->files[i].path;
        uint32_t number = sta_dictionary_find(index, path, strlen(path));
        char *file = absolute(trace_path, path);
        differs = number == STA_NO_CODE ||
                  sta_source_compare(sta_snapshot_source(snapshot, number), file) != STA_SOURCE_SAME;
        free(file);
    }
    sta_dictionary_destroy(index);
    return differs;
}

/* ---- running it */

struct run {
    struct sta_writer *writer;
    struct sta_job *job;
    struct sta_decode_progress progress;
    const uint32_t *source_numbers; /* by file of the decode request */
    uint64_t total_bytes;
    _Atomic bool over;
    uv_mutex_t lock;
    uv_cond_t ended;
};

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    struct run *run = context;
    return sta_writer_add(run->writer, worker, run->source_numbers[batch->source], batch, err);
}

static int take_counters(void *context, unsigned worker, const char *lines, size_t size,
                         struct sta_error *err)
{
    struct run *run = context;
    return sta_writer_add_counters(run->writer, worker, lines, size, err);
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
        if (atomic_load(sta_job_cancel_flag(run->job)))
            atomic_store(&run->progress.cancel, true);
        uv_mutex_unlock(&run->lock);
        report(run);
        uv_mutex_lock(&run->lock);
        if (!atomic_load(&run->over))
            uv_cond_timedwait(&run->ended, &run->lock, WATCH_INTERVAL_NS);
    }
    uv_mutex_unlock(&run->lock);
}

static int decode_watched(struct run *run, const struct sta_decode_request *request, struct sta_error *err)
{
    uv_thread_t watcher;
    uv_mutex_init(&run->lock);
    uv_cond_init(&run->ended);
    bool watched = uv_thread_create(&watcher, watcher_main, run) == 0;
    int status = sta_decode_run(request, err);
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

static int read_files(const struct sta_ingest *ingest, struct sta_writer *writer, const struct plan *plan,
                      struct sta_job *job, struct sta_error *err)
{
    struct sta_decode_file *files = sta_alloc_array(plan->count, sizeof *files);
    uint32_t *numbers = sta_alloc_array(plan->count, sizeof *numbers);
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_item *item = &plan->items[i];
        if (!item->resume || !sta_writer_find_source(writer, item->path, &numbers[i]))
            numbers[i] = sta_writer_add_source(writer, item->path);
    }
    for (size_t i = 0; i < plan->count; i++)
        files[i] = (struct sta_decode_file){plan->items[i].file, sta_writer_source(writer, numbers[i]),
                                            plan->items[i].resume};
    struct run run = {.writer = writer, .job = job, .source_numbers = numbers, .total_bytes = plan->bytes};
    struct sta_decode_request request = {
        .files = files,
        .file_count = plan->count,
        .tables = sta_writer_tables(writer),
        .workers = ingest->workers,
        .progress = &run.progress,
        .batch = take_batch,
        .counters = take_counters,
        .context = &run,
    };
    sta_job_phase(job, "reading");
    int status = plan->count > 0 ? decode_watched(&run, &request, err) : STA_OK;
    free(files);
    free(numbers);
    return status;
}

static int write_version(const struct sta_ingest *ingest, const char *trace, struct sta_snapshot *base,
                         const struct plan *plan, struct sta_job *job, struct sta_error *err)
{
    struct sta_writer *writer;
    struct sta_writer_options options = {
        .workers = ingest->workers, .memory = ingest->memory / 2, .cancel = sta_job_cancel_flag(job)};
    int status =
        sta_writer_begin(ingest->store, trace, base, base ? plan->drop : NULL, &options, &writer, err);
    if (status != STA_OK)
        return status;
    status = read_files(ingest, writer, plan, job, err);
    if (status == STA_OK && atomic_load(sta_job_cancel_flag(job)))
        status = sta_fail(err, STA_ECANCELLED, "cancelled");
    if (status != STA_OK) {
        sta_writer_abort(writer);
        return status;
    }
    sta_job_phase(job, "publishing");
    return sta_writer_publish(writer, err);
}

static int choose_preset(const struct sta_ingest *ingest, struct sta_trace_entry *entry,
                         const _Atomic bool *cancel, struct sta_error *err)
{
    struct sta_snapshot *snapshot;
    const char *name;
    char *why;
    int status = sta_snapshot_open(ingest->store, entry->id, &snapshot, err);
    if (status != STA_OK)
        return status;
    struct sta_budget budget = {.workers = ingest->workers, .memory = ingest->memory / 2, .cancel = cancel};
    status = sta_preset_choose(ingest->presets, snapshot, &budget, &name, &why, err);
    if (status == STA_OK) {
        free(entry->preset);
        free(entry->preset_why);
        entry->preset = sta_strdup(name);
        entry->preset_why = why;
    }
    sta_snapshot_release(snapshot);
    return status;
}

struct outcome {
    const struct sta_trace_entry *entry;
    bool ingested; /* what failed before has succeeded */
};

static void put_outcome(void *context, struct sta_trace_entry *entry)
{
    const struct outcome *outcome = context;
    free(entry->preset);
    free(entry->preset_why);
    entry->preset = outcome->entry->preset ? sta_strdup(outcome->entry->preset) : NULL;
    entry->preset_why = outcome->entry->preset_why ? sta_strdup(outcome->entry->preset_why) : NULL;
    if (outcome->ingested) {
        free(entry->failure);
        entry->failure = NULL;
    }
}

static int note_outcome(const struct sta_ingest *ingest, const struct sta_trace_entry *entry, bool ingested,
                        struct sta_error *err)
{
    struct outcome outcome = {entry, ingested};
    return sta_store_update(ingest->store, entry->id, put_outcome, &outcome, err);
}

int sta_ingest_choose_preset(const struct sta_ingest *ingest, const char *trace, struct sta_error *err)
{
    struct sta_trace_entry entry;
    int status = sta_store_find(ingest->store, trace, &entry, err);
    if (status != STA_OK)
        return status;
    status = choose_preset(ingest, &entry, NULL, err);
    if (status == STA_OK)
        status = note_outcome(ingest, &entry, false, err);
    sta_trace_entry_fini(&entry);
    return status == STA_ENOTFOUND ? STA_OK : status;
}

static int nothing_here(const struct sta_listing *listing, const char *path, struct sta_error *err)
{
    return sta_fail(err, STA_EINPUT,
                    "nothing in %s is a trace: looked for *.pfw and *.pfw.gz files, and for others that "
                    "begin like one, in all "
                    "folders below; there are %zu other files",
                    path, listing->others);
}

static int ingest_listing(const struct sta_ingest *ingest, struct sta_trace_entry *entry,
                          const struct sta_listing *listing, struct sta_snapshot *base, struct sta_job *job,
                          struct sta_error *err)
{
    struct plan plan;
    if (listing->count == 0 && base == NULL)
        return nothing_here(listing, entry->path, err);
    plan_make(&plan, listing, entry->path, base);
    bool changed = base == NULL || plan.count > 0 || plan.dropped > 0;
    int status = changed ? write_version(ingest, entry->id, base, &plan, job, err) : STA_OK;
    plan_fini(&plan);
    if (status == STA_OK)
        sta_job_phase(job, "looking for a preset");
    if (status == STA_OK)
        status = choose_preset(ingest, entry, sta_job_cancel_flag(job), err);
    return status == STA_OK ? note_outcome(ingest, entry, true, err) : status;
}

/* The version to go on from: NULL when there is none yet, when it is damaged, or when all is to be read
 * again.  One that cannot be opened for another reason, such as a disk that does not answer, fails. */
static int open_base(const struct sta_ingest *ingest, const char *trace, bool again,
                     struct sta_snapshot **base, struct sta_error *err)
{
    *base = NULL;
    int status = again ? STA_OK : sta_snapshot_open(ingest->store, trace, base, err);
    if (*base != NULL && sta_snapshot_info(*base)->damaged > 0) {
        sta_snapshot_release(*base);
        *base = NULL;
    }
    return status == STA_ENOTFOUND || status == STA_ECORRUPT ? STA_OK : status;
}

int sta_ingest_run(const struct sta_ingest *ingest, const char *trace, bool again, struct sta_job *job,
                   struct sta_error *err)
{
    struct sta_trace_entry entry;
    struct sta_listing listing;
    int status = sta_store_find(ingest->store, trace, &entry, err);
    if (status != STA_OK)
        return status;
    sta_job_phase(job, "listing");
    status = sta_listing_create(&listing, entry.path, ingest->allowed, ingest->allowed_context, err);
    if (status == STA_OK) {
        struct sta_snapshot *base;
        status = open_base(ingest, trace, again, &base, err);
        if (status == STA_OK)
            status = ingest_listing(ingest, &entry, &listing, base, job, err);
        sta_snapshot_release(base);
        sta_listing_fini(&listing);
    }
    if (status != STA_OK)
        sta_because(err, "cannot ingest %s", entry.path);
    sta_trace_entry_fini(&entry);
    return status;
}
