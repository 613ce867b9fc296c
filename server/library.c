/* The registered traces: views of them, and their open snapshots.
 *
 * DESIGN.  The store's catalogue is the truth; beside it a record per trace remembers the figures of its
 * published version and keeps its snapshot open.  At most OPEN_SNAPSHOTS stay open, of at most OPEN_SEGMENTS
 * segments together: the one longest unused is let go (who still reads it holds a reference of his own). */
#include "server/library.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "server/library_private.h"

#define OPEN_SNAPSHOTS 64
#define OPEN_SEGMENTS 32768 /* half of the maps that a process may have */

static void on_damage(void *context, const char *trace);

struct sta_library *sta_library_create(const struct sta_library_options *options)
{
    struct sta_library *library = sta_alloc(sizeof *library);
    library->store = options->store;
    library->jobs = options->jobs;
    library->workers = options->workers;
    library->memory = options->memory;
    library->account = options->account;
    library->presets = sta_presets_retain(options->presets);
    library->roots = options->roots;
    library->json_bytes_per_file = options->json_bytes_per_file;
    library->folders = options->folders;
    library->compacts = options->compacts;
    library->warms = options->warms;
    library->readers = options->readers;
    library->is_busy = options->is_busy;
    library->is_busy_context = options->is_busy_context;
    uv_mutex_init(&library->editing);
    uv_mutex_init(&library->changing);
    uv_mutex_init(&library->lock);
    uv_cond_init(&library->callbacks_done);
    library->follow = (struct sta_following){.interval_ns = options->follow_interval * UINT64_C(1000000000),
                                             .poll_ns = options->follow_poll * UINT64_C(1000000000),
                                             .quiet_ns = options->follow_quiet * UINT64_C(1000000000),
                                             .polls = options->follow_polls,
                                             .wake_fd = -1};
    sta_store_on_damage(library->store, on_damage, library);
    sta_library_load_live(library);
    sta_library_start_checker(library);
    return library;
}

void sta_library_stop(struct sta_library *library)
{
    uv_mutex_lock(&library->lock);
    library->stopping = true;
    uv_cond_broadcast(&library->check_wanted);
    uv_mutex_unlock(&library->lock);
    sta_live_wake(library);
}

/* Return: the snapshot (NULL: it had none), to be released without the lock, since the last one to let go
 * closes files. */
static struct sta_snapshot *take_snapshot(struct sta_library *library, struct sta_trace_record *record)
{
    struct sta_snapshot *snapshot = record->snapshot;
    record->snapshot = NULL;
    if (snapshot != NULL) {
        library->open_snapshots--;
        library->open_segments -= sta_snapshot_info(snapshot)->segments;
    }
    return snapshot;
}

static void record_destroy(struct sta_trace_record *record)
{
    sta_stale_check_fini(&record->check);
    free(record);
}

void sta_library_destroy(struct sta_library *library)
{
    sta_library_stop_following(library);
    sta_library_stop_checker(library);
    sta_library_keep_columns(library);
    while (library->records != NULL) {
        struct sta_trace_record *record = library->records;
        library->records = record->next;
        sta_snapshot_release(take_snapshot(library, record));
        record_destroy(record);
    }
    sta_presets_release(library->presets);
    uv_cond_destroy(&library->callbacks_done);
    uv_mutex_destroy(&library->lock);
    uv_mutex_destroy(&library->changing);
    uv_mutex_destroy(&library->editing);
    free(library);
}

void sta_library_on_publish(struct sta_library *library, sta_published published, void *context)
{
    uv_mutex_lock(&library->lock);
    library->on_publish = published;
    library->on_publish_context = context;
    while (library->callbacks > 0)
        uv_cond_wait(&library->callbacks_done, &library->lock);
    uv_mutex_unlock(&library->lock);
}

/* ---- records */

struct sta_trace_record *sta_library_trace_record(struct sta_library *library, const char *id)
{
    struct sta_trace_record *record = library->records;
    while (record != NULL && strcmp(record->id, id) != 0)
        record = record->next;
    if (record == NULL) {
        record = sta_alloc(sizeof *record);
        memcpy(record->id, id, sizeof record->id);
        record->next = library->records;
        library->records = record;
    }
    record->used = ++library->turn;
    return record;
}

void sta_library_forget_version(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    struct sta_trace_record *record = sta_library_trace_record(library, id);
    struct sta_snapshot *old = take_snapshot(library, record);
    record->version_changes++;
    record->known = false;
    record->published = false;
    record->stale = false;
    uv_mutex_unlock(&library->lock);
    sta_snapshot_release(old);
}

void sta_library_forget(struct sta_library *library, const char *id)
{
    struct sta_snapshot *snapshot = NULL;
    uv_mutex_lock(&library->lock);
    struct sta_trace_record **at = &library->records;
    while (*at != NULL && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    struct sta_trace_record *record = *at;
    if (record != NULL) {
        *at = record->next;
        snapshot = take_snapshot(library, record);
        record_destroy(record);
    }
    uv_mutex_unlock(&library->lock);
    sta_snapshot_release(snapshot);
}

static struct sta_snapshot *take_longest_unused(struct sta_library *library)
{
    struct sta_trace_record *oldest = NULL;
    for (struct sta_trace_record *record = library->records; record != NULL; record = record->next)
        if (record->snapshot != NULL && (oldest == NULL || record->used < oldest->used))
            oldest = record;
    return oldest != NULL ? take_snapshot(library, oldest) : NULL;
}

/* Lets go of what was longest unused until one more of so many segments may be open.  Return: how many, to be
 * released without the lock. */
static size_t take_unused(struct sta_library *library, uint64_t segments,
                          struct sta_snapshot *unused[OPEN_SNAPSHOTS])
{
    size_t count = 0;
    while (library->open_snapshots > 0 &&
           (library->open_snapshots >= OPEN_SNAPSHOTS || library->open_segments + segments > OPEN_SEGMENTS))
        unused[count++] = take_longest_unused(library);
    return count;
}

static void read_sources(struct sta_trace_record *record, const struct sta_snapshot *snapshot)
{
    record->files = 0;
    record->bytes = 0;
    record->problems = 0;
    for (size_t i = 0; i < sta_snapshot_source_count(snapshot); i++) {
        const struct sta_source *source = sta_snapshot_source(snapshot, i);
        record->files += source->state != STA_SOURCE_VANISHED;
        record->stale |= source->state == STA_SOURCE_STALE;
        record->bytes += source->counts.bytes;
        record->problems += source->counts.malformed + source->counts.repaired +
                            (source->state != STA_SOURCE_COMPLETE || sta_source_is_unread(source));
    }
}

static void read_figures(struct sta_trace_record *record, const struct sta_snapshot *snapshot)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(snapshot);
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    read_sources(record, snapshot);
    record->known = true;
    record->published = true;
    record->damaged = info->damaged > 0;
    record->problems += info->damaged;
    record->version = info->version;
    record->events = info->events;
    record->store_bytes = info->store_bytes;
    record->start_us = info->origin_us;
    record->ingested_us = info->published_us;
    record->job_time = (double)info->end_ticks / (info->ticks_per_us * 1e6);
    record->hosts = entities->host_count;
    record->processes = entities->process_count;
    record->threads = entities->thread_count;
}

/* A damaged version is read again from its sources, once.  Return: whether that is to be started now.
 * Context: under the lock. */
static bool needs_rebuild(const struct sta_library *library, struct sta_trace_record *record)
{
    bool needs = record->damaged && record->rebuilt != record->version && !library->stopping;
    if (needs)
        record->rebuilt = record->version;
    return needs;
}

/* A fragmented version is compacted once, unless that is not wanted.  Return: whether that is to be started
 * now.  Context: under the lock. */
static bool needs_compaction(const struct sta_library *library, struct sta_trace_record *record,
                             const struct sta_snapshot *snapshot)
{
    bool needs = library->compacts && record->compacted != record->version && !library->stopping &&
                 sta_snapshot_is_fragmented(snapshot);
    if (needs)
        record->compacted = record->version;
    return needs;
}

/* Puts the version that was opened (NULL: there is none to open) in its record, unless another has been
 * published meanwhile.  A version published so late that nobody has forgotten the one before yet is forgotten
 * right after. */
static void record_snapshot(struct sta_library *library, const char *id, uint64_t version_changes,
                            struct sta_snapshot *snapshot)
{
    struct sta_snapshot *unused[OPEN_SNAPSHOTS];
    size_t unused_count = 0;
    bool rebuild = false, compact = false;
    uv_mutex_lock(&library->lock);
    struct sta_trace_record *record = sta_library_trace_record(library, id);
    bool current = record->version_changes == version_changes;
    record->known |= current;
    if (current && snapshot != NULL)
        read_figures(record, snapshot);
    if (current && snapshot != NULL)
        rebuild = needs_rebuild(library, record);
    if (current && snapshot != NULL)
        compact = needs_compaction(library, record, snapshot);
    if (current && snapshot != NULL && record->snapshot == NULL) {
        unused_count = take_unused(library, sta_snapshot_info(snapshot)->segments, unused);
        record->snapshot = sta_snapshot_retain(snapshot);
        library->open_snapshots++;
        library->open_segments += sta_snapshot_info(snapshot)->segments;
    }
    uv_mutex_unlock(&library->lock);
    for (size_t i = 0; i < unused_count; i++)
        sta_snapshot_release(unused[i]);
    if (rebuild)
        sta_library_start_rebuild(library, id);
    if (compact)
        sta_library_start_compaction(library, id);
}

/* The record's snapshot, retained for the caller; opens it when it is not open.  Opening happens without the
 * lock. */
static int borrow_snapshot(struct sta_library *library, const char *id, struct sta_snapshot **snapshot,
                           struct sta_error *err)
{
    uv_mutex_lock(&library->lock);
    struct sta_trace_record *record = sta_library_trace_record(library, id);
    uint64_t version_changes = record->version_changes;
    *snapshot = record->snapshot ? sta_snapshot_retain(record->snapshot) : NULL;
    uv_mutex_unlock(&library->lock);
    if (*snapshot != NULL)
        return STA_OK;
    int status = sta_snapshot_open(library->store, id, snapshot, err);
    record_snapshot(library, id, version_changes, status == STA_OK ? *snapshot : NULL);
    return status;
}

/* The version is opened anew, without what is damaged, and so its rebuild begins. */
static void on_damage(void *context, const char *trace)
{
    struct sta_library *library = context;
    struct sta_snapshot *snapshot;
    struct sta_error ignored = STA_ERROR_INIT;
    sta_library_forget_version(library, trace);
    if (borrow_snapshot(library, trace, &snapshot, &ignored) == STA_OK)
        sta_snapshot_release(snapshot);
}

int sta_library_snapshot(struct sta_library *library, const char *id, struct sta_snapshot **snapshot,
                         struct sta_error *err)
{
    struct sta_trace_entry entry;
    int status = sta_store_find(library->store, id, &entry, err);
    if (status != STA_OK)
        return status;
    status = borrow_snapshot(library, id, snapshot, err);
    struct sta_job_view job;
    if (status == STA_ENOTFOUND && sta_jobs_of_trace(library->jobs, id, &job))
        status = sta_fail(err, STA_EBUSY, "%s is still being ingested (job %s)", entry.name, job.id);
    else if (status == STA_ENOTFOUND)
        status = sta_fail(err, STA_ENOTFOUND, "%s has no ingested version%s%s", entry.name,
                          entry.failure ? ": " : "", entry.failure ? entry.failure : "");
    sta_trace_entry_fini(&entry);
    return status;
}

bool sta_library_is_open(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    const struct sta_trace_record *record = library->records;
    while (record != NULL && strcmp(record->id, id) != 0)
        record = record->next;
    bool open = record != NULL && record->snapshot != NULL;
    uv_mutex_unlock(&library->lock);
    return open;
}

int sta_library_preset_of(struct sta_library *library, const char *id, char name[64], struct sta_error *err)
{
    struct sta_trace_entry entry;
    int status = sta_store_find(library->store, id, &entry, err);
    if (status != STA_OK)
        return status;
    struct sta_presets *presets = sta_library_presets(library);
    bool known = entry.preset != NULL && sta_presets_find(presets, entry.preset) != NULL;
    snprintf(name, 64, "%s", known ? entry.preset : "generic"); /* one's own may have been deleted since */
    sta_presets_release(presets);
    sta_trace_entry_fini(&entry);
    return STA_OK;
}

/* ---- views */

const char *sta_trace_state_name(enum sta_trace_state state)
{
    static const char *const names[] = {"ingesting", "ready", "failed", "stale"};
    return names[state];
}

/* Locks the library when the figures of the trace's version are known: opens it, again when another was
 * published meanwhile. */
static const struct sta_trace_record *lock_known(struct sta_library *library, const char *id)
{
    uv_mutex_lock(&library->lock);
    while (!sta_library_trace_record(library, id)->known) {
        struct sta_snapshot *snapshot;
        struct sta_error ignored = STA_ERROR_INIT;
        uv_mutex_unlock(&library->lock);
        if (borrow_snapshot(library, id, &snapshot, &ignored) == STA_OK)
            sta_snapshot_release(snapshot);
        uv_mutex_lock(&library->lock);
    }
    return sta_library_trace_record(library, id);
}

/* An entry that was copied while the first ingest ran does not know yet why that failed. */
static void read_again(struct sta_library *library, struct sta_trace_entry *entry)
{
    struct sta_trace_entry fresh;
    struct sta_error ignored = STA_ERROR_INIT;
    if (sta_store_find(library->store, entry->id, &fresh, &ignored) != STA_OK)
        return;
    sta_trace_entry_fini(entry);
    *entry = fresh;
}

/* Takes over the entry. */
static void fill_view(struct sta_library *library, struct sta_trace_entry entry, struct sta_trace_view *view)
{
    struct sta_job_view job = {0};
    bool working = sta_jobs_of_trace(library->jobs, entry.id, &job) && !job.in_background;
    if (!working && entry.failure == NULL && entry.preset == NULL)
        read_again(library, &entry);
    const struct sta_trace_record *record = lock_known(library, entry.id);
    *view = (struct sta_trace_view){
        .entry = entry,
        .published = record->published,
        .version = record->version,
        .files = record->files,
        .bytes = record->bytes,
        .events = record->events,
        .store_bytes = record->store_bytes,
        .problems = record->problems,
        .start_us = record->start_us,
        .job_time = record->job_time,
        .hosts = record->hosts,
        .processes = record->processes,
        .threads = record->threads,
        .ingested_us = record->ingested_us,
        .state = working             ? STA_TRACE_INGESTING
                 : entry.failure     ? STA_TRACE_FAILED
                 : record->published ? (record->stale || record->damaged ? STA_TRACE_STALE : STA_TRACE_READY)
                                     : STA_TRACE_FAILED,
    };
    if (working)
        memcpy(view->job, job.id, sizeof view->job);
    sta_live_describe(library, view);
    uv_mutex_unlock(&library->lock);
}

void sta_trace_view_fini(struct sta_trace_view *view)
{
    free(view->live.slowest);
    free(view->live.problem);
    sta_trace_entry_fini(&view->entry);
}

struct sta_trace_view *sta_library_list(struct sta_library *library, size_t *count)
{
    struct sta_trace_entry *entries = sta_store_list(library->store, count);
    struct sta_trace_view *views = sta_alloc_array(*count, sizeof *views);
    for (size_t i = 0; i < *count; i++)
        fill_view(library, entries[i], &views[i]);
    free(entries);
    return views;
}

int sta_library_describe(struct sta_library *library, const char *id, struct sta_trace_view *view,
                         struct sta_error *err)
{
    struct sta_trace_entry entry;
    int status = sta_store_find(library->store, id, &entry, err);
    if (status != STA_OK)
        return status;
    if (!sta_library_is_live(library, id))
        sta_library_check_stale(library, &entry);
    fill_view(library, entry, view);
    return STA_OK;
}

struct naming {
    const char *name;
    const char *const *tags;
    size_t tag_count;
};

static void put_naming(void *context, struct sta_trace_entry *entry)
{
    const struct naming *naming = context;
    if (naming->name != NULL) {
        free(entry->name);
        entry->name = sta_strdup(naming->name);
    }
    if (naming->tags == NULL)
        return;
    for (size_t i = 0; i < entry->tag_count; i++)
        free(entry->tags[i]);
    entry->tags = sta_realloc_array(entry->tags, naming->tag_count, sizeof *entry->tags);
    for (size_t i = 0; i < naming->tag_count; i++)
        entry->tags[i] = sta_strdup(naming->tags[i]);
    entry->tag_count = naming->tag_count;
}

int sta_library_rename(struct sta_library *library, const char *id, const char *name, const char *const *tags,
                       size_t tag_count, struct sta_error *err)
{
    struct naming naming = {name, tags, tag_count};
    return sta_store_update(library->store, id, put_naming, &naming, err);
}
