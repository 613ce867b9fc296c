/* snapshot.c - one version of a trace, open for reading.
 *
 * DESIGN: opening reads the manifest, loads tables and sources, maps every segment and checks its directory;
 * from then on the snapshot needs no file by name, so that later versions may remove them.  One open snapshot
 * of the newest version is shared by all who ask for it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "store/format/envelope.h"
#include "store/versions/private.h"

#define SEGMENTS_OF_THREAD 16 /* to open as many takes several times as long as to start one */

/* ---- loading */

static int load_tables(struct sta_snapshot *snapshot, const char *folder, struct sta_error *err)
{
    char *path = sta_trace_file(folder, STA_FILE_TABLES, snapshot->manifest.tables_file), *content;
    size_t size;
    int status = sta_envelope_read(path, STA_ENVELOPE_TABLES, &content, &size, err);
    if (status == STA_OK) {
        status = sta_tables_get(content, size, NULL, NULL, &snapshot->account, &snapshot->tables, err);
        free(content);
    }
    free(path);
    return status;
}

static int load_sources(struct sta_snapshot *snapshot, const char *folder, struct sta_error *err)
{
    char *path = sta_trace_file(folder, STA_FILE_SOURCES, snapshot->manifest.sources_file), *content;
    size_t size;
    int status = sta_envelope_read(path, STA_ENVELOPE_SOURCES, &content, &size, err);
    if (status == STA_OK) {
        status = sta_sources_get(content, size, &snapshot->sources, &snapshot->source_count, err);
        free(content);
    }
    free(path);
    return status;
}

/* The place of the source, whose ids ascend.  Return: source_count when there is none. */
static uint32_t find_source(const struct sta_snapshot *snapshot, uint32_t id)
{
    uint32_t low = 0, high = (uint32_t)snapshot->source_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (snapshot->sources[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < snapshot->source_count && snapshot->sources[low]->id == id;
    return found ? low : (uint32_t)snapshot->source_count;
}

/* The chunks of a segment by the places of their sources in this version. */
static int name_chunks(const struct sta_snapshot *snapshot, struct sta_open_segment *open,
                       struct sta_error *err)
{
    uint32_t count = open->segment.header.chunk_count;
    open->chunks = sta_account_calloc(NULL, count, sizeof *open->chunks, "the chunks of a segment", err);
    if (open->chunks == NULL)
        return err->status;
    for (uint32_t c = 0, at = 0; c < count; c++) {
        const struct sta_disk_chunk *chunk = &open->segment.chunks[c];
        if (c == 0 || chunk->source != open->segment.chunks[c - 1].source)
            at = find_source(snapshot, chunk->source);
        if (at == snapshot->source_count)
            return sta_fail(err, STA_ECORRUPT,
                            "the segment holds events of a source that the trace does not have");
        open->chunks[c] = (struct sta_chunk){.source = at, .first_line = chunk->first_line};
    }
    return STA_OK;
}

static void close_segment(struct sta_open_segment *open)
{
    sta_segment_detach(&open->segment);
    sta_unmap_file(&open->mapping);
    free(open->chunks);
}

static int open_segment(const struct sta_snapshot *snapshot, const char *path, struct sta_open_segment *open,
                        struct sta_error *err)
{
    int status = sta_map_file(path, &open->mapping, err);
    if (status != STA_OK)
        return status;
    status =
        sta_segment_attach(&open->segment, open->mapping.bytes, open->mapping.size, snapshot->tables, err);
    if (status == STA_OK && open->segment.header.header_checksum != open->named.checksum)
        status = sta_fail(err, STA_ECORRUPT, "it is not the segment that the manifest names");
    if (status == STA_OK)
        status = name_chunks(snapshot, open, err);
    if (status != STA_OK)
        close_segment(open);
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "cannot use %s", path);
}

/* Segments being opened, by several threads. */
struct loading {
    struct sta_snapshot *snapshot; /* its segments: by place in the manifest, until all are done */
    const char *folder;
    int *statuses; /* likewise */
    _Atomic size_t next;
    pthread_mutex_t lock;
    size_t failed;        /* the first one that could not be opened though it may be whole; SIZE_MAX: none */
    struct sta_error why; /* of that one */
};

static bool is_lost(int status)
{
    return status == STA_ECORRUPT || status == STA_ENOTFOUND;
}

/* A damaged segment is quarantined; a missing one was, earlier. */
static int load_segment(struct loading *loading, size_t number)
{
    const struct sta_manifest_segment named = loading->snapshot->manifest.segments[number];
    struct sta_open_segment *open = &loading->snapshot->segments[number];
    struct sta_error why = STA_ERROR_INIT;
    char *path = sta_trace_file(loading->folder, STA_FILE_SEGMENT, named.file);
    *open = (struct sta_open_segment){.named = named};
    const int status = open_segment(loading->snapshot, path, open, &why);
    if (status == STA_ECORRUPT)
        sta_quarantine(path, &why);
    free(path);
    pthread_mutex_lock(&loading->lock);
    if (status != STA_OK && !is_lost(status) && number < loading->failed) {
        loading->failed = number;
        loading->why = why;
    }
    pthread_mutex_unlock(&loading->lock);
    return status;
}

static void load_some(void *context, unsigned thread)
{
    struct loading *loading = context;
    (void)thread;
    for (size_t i; (i = atomic_fetch_add(&loading->next, 1)) < loading->snapshot->manifest.segment_count;)
        loading->statuses[i] = load_segment(loading, i);
}

/* Those that are open, side by side; the lost ones are counted. */
static void keep_open(struct sta_snapshot *snapshot, const int *statuses)
{
    for (size_t i = 0; i < snapshot->manifest.segment_count; i++)
        if (statuses[i] == STA_OK) {
            snapshot->segments[snapshot->segment_count++] = snapshot->segments[i];
        } else if (is_lost(statuses[i])) {
            snapshot->info.damaged++;
            snapshot->info.missing_events += snapshot->manifest.segments[i].rows;
        }
}

static int load_segments(struct sta_snapshot *snapshot, const char *folder, struct sta_error *err)
{
    static const char what[] = "the segments of the trace";
    const size_t count = snapshot->manifest.segment_count;
    struct loading loading = {.snapshot = snapshot, .folder = folder, .failed = SIZE_MAX};
    snapshot->segments = sta_account_calloc(NULL, count, sizeof *snapshot->segments, what, err);
    loading.statuses = sta_account_calloc(NULL, count, sizeof *loading.statuses, what, err);
    if (snapshot->segments == NULL || loading.statuses == NULL) {
        free(loading.statuses);
        return err->status;
    }
    pthread_mutex_init(&loading.lock, NULL);
    sta_parallel_run((unsigned)STA_MIN(1 + count / SEGMENTS_OF_THREAD, sta_usable_cores()), load_some,
                     &loading);
    pthread_mutex_destroy(&loading.lock);
    keep_open(snapshot, loading.statuses);
    free(loading.statuses);
    if (loading.failed == SIZE_MAX)
        return STA_OK;
    *err = loading.why;
    return err->status;
}

/* Times of all segments in one unit, from one origin. */
static int place_row_groups(struct sta_snapshot *snapshot, struct sta_error *err)
{
    struct sta_snapshot_info *info = &snapshot->info;
    int64_t end = 0;
    info->ticks_per_us = 1;
    for (uint32_t s = 0; s < snapshot->segment_count; s++)
        info->ticks_per_us = STA_MAX(info->ticks_per_us, snapshot->segments[s].segment.header.ticks_per_us);
    for (uint32_t s = 0; s < snapshot->segment_count; s++) {
        struct sta_open_segment *open = &snapshot->segments[s];
        open->factor = info->ticks_per_us / open->segment.header.ticks_per_us;
        int64_t first = open->segment.ts_min * open->factor, last = open->segment.te_max * open->factor;
        snapshot->origin = s == 0 ? first : STA_MIN(snapshot->origin, first);
        end = s == 0 ? last : STA_MAX(end, last);
        snapshot->row_group_count += open->segment.header.row_group_count;
        info->events += open->segment.header.rows;
    }
    info->end_ticks = end - snapshot->origin;
    info->origin_ticks = snapshot->origin;
    info->origin_us =
        snapshot->origin / (int64_t)info->ticks_per_us - (snapshot->origin % (int64_t)info->ticks_per_us < 0);
    snapshot->row_groups = sta_account_calloc(NULL, snapshot->row_group_count, sizeof *snapshot->row_groups,
                                              "the row groups of the trace", err);
    if (snapshot->row_groups == NULL)
        return err->status;
    size_t at = 0;
    for (uint32_t s = 0; s < snapshot->segment_count; s++) {
        const struct sta_open_segment *open = &snapshot->segments[s];
        for (uint32_t b = 0; b < open->segment.header.row_group_count; b++) {
            const struct sta_disk_row_group *row_group = &open->segment.row_groups[b];
            snapshot->row_groups[at++] =
                (struct sta_row_group){.segment = s,
                                       .index = b,
                                       .rows = row_group->rows,
                                       .ts_min = row_group->ts_min * open->factor - snapshot->origin,
                                       .ts_max = row_group->ts_max * open->factor - snapshot->origin,
                                       .te_max = row_group->te_max * open->factor - snapshot->origin};
        }
    }
    return STA_OK;
}

/* @manifest: taken over, also on failure */
static int load(const char *folder, struct sta_manifest manifest, struct sta_account *account,
                struct sta_snapshot **snapshot, struct sta_error *err)
{
    struct sta_snapshot *made = sta_alloc(sizeof *made);
    sta_account_init_part(&made->account, account);
    pthread_mutex_init(&made->chunk_order_lock, NULL);
    made->manifest = manifest;
    int status = load_tables(made, folder, err);
    if (status == STA_OK)
        status = load_sources(made, folder, err);
    if (status == STA_OK)
        status = load_segments(made, folder, err);
    if (status == STA_OK)
        status = sta_counters_open(made, folder, err);
    if (status == STA_ENOTFOUND) /* what the manifest names and is gone is damage too */
        err->status = status = STA_ECORRUPT;
    if (status == STA_OK)
        status = place_row_groups(made, err);
    if (status != STA_OK) {
        sta_snapshot_destroy(made);
        return status;
    }
    made->info.version = made->manifest.version;
    made->info.published_us = made->manifest.published_us;
    made->info.segments = made->segment_count;
    *snapshot = made;
    return STA_OK;
}

void sta_snapshot_destroy(struct sta_snapshot *snapshot)
{
    for (uint32_t s = 0; s < snapshot->segment_count; s++)
        close_segment(&snapshot->segments[s]);
    free(snapshot->segments);
    sta_counters_close(snapshot);
    free(snapshot->row_groups);
    sta_stored_sources_free(snapshot->sources, snapshot->source_count);
    sta_tables_destroy(snapshot->tables);
    sta_entities_destroy(snapshot->entities, &snapshot->account);
    sta_chunk_order_destroy(atomic_load(&snapshot->chunk_order));
    sta_account_free(&snapshot->account, atomic_load(&snapshot->parents));
    sta_manifest_fini(&snapshot->manifest);
    sta_account_close(&snapshot->account);
    pthread_mutex_destroy(&snapshot->chunk_order_lock);
    free(snapshot);
}

/* ---- sharing */

/* The open snapshot of the newest version, with one more reference; NULL: none is open. */
static struct sta_snapshot *find_open(struct sta_store *store, const char *id)
{
    pthread_mutex_lock(&store->lock);
    const struct sta_known_trace *trace = sta_store_listed(store, id);
    struct sta_snapshot *open = trace != NULL ? trace->current : NULL;
    if (open != NULL)
        open->references++;
    pthread_mutex_unlock(&store->lock);
    return open;
}

int sta_snapshot_open_files(struct sta_store *store, const char *trace, const char *folder,
                            struct sta_manifest manifest, struct sta_snapshot **snapshot,
                            struct sta_error *err)
{
    int status = load(folder, manifest, store->account, snapshot, err);
    if (status != STA_OK)
        return status;
    struct sta_snapshot *made = *snapshot;
    made->store = store;
    made->references = 1;
    snprintf(made->id, sizeof made->id, "%s", trace);
    status = sta_entities_create(made, &made->account, &made->entities, err);
    if (status != STA_OK) {
        sta_snapshot_destroy(made);
        *snapshot = NULL;
    }
    return status;
}

/* Context: the trace is held. */
static int open_published(struct sta_store *store, const char *trace, struct sta_known_trace *known,
                          struct sta_snapshot **snapshot, struct sta_error *err)
{
    struct sta_manifest manifest;
    char *folder = sta_trace_folder(store, trace);
    int status = sta_manifest_read(folder, &manifest, err);
    if (status == STA_OK)
        status = sta_snapshot_open_files(store, trace, folder, manifest, snapshot, err);
    if (status == STA_OK)
        sta_snapshot_share(*snapshot, known, folder);
    free(folder);
    return status;
}

void sta_snapshot_share(struct sta_snapshot *snapshot, struct sta_known_trace *known, const char *folder)
{
    snapshot->info.store_bytes = sta_tree_size(folder);
    pthread_mutex_lock(&snapshot->store->lock);
    snapshot->info.kind = known->entry.kind;
    known->current = snapshot;
    pthread_mutex_unlock(&snapshot->store->lock);
}

int sta_snapshot_open(struct sta_store *store, const char *trace, struct sta_snapshot **snapshot,
                      struct sta_error *err)
{
    *snapshot = find_open(store, trace);
    if (*snapshot != NULL)
        return STA_OK;
    struct sta_known_trace *known = sta_store_hold(store, trace, err);
    if (known == NULL)
        return sta_error_wrap(err, "cannot open trace %s", trace);
    int status = STA_OK;
    *snapshot = find_open(store, trace); /* another thread may have opened it meanwhile */
    if (*snapshot == NULL)
        status = open_published(store, trace, known, snapshot, err);
    sta_store_let_go(store, known);
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "cannot open trace %s", trace);
}

/* What was open before is of no use to who asks for another version. */
static void forget_others(struct sta_store *store, const char *trace, uint64_t version)
{
    pthread_mutex_lock(&store->lock);
    struct sta_known_trace *known = sta_store_trace(store, trace);
    if (known == NULL) {
        struct sta_trace_entry entry = {0};
        memcpy(entry.id, trace, STA_TRACE_ID_SIZE);
        sta_store_know(store, &entry);
    } else if (known->current != NULL && known->current->info.version != version) {
        known->current = NULL;
    }
    pthread_mutex_unlock(&store->lock);
}

int sta_snapshot_open_version(struct sta_store *store, const char *trace, uint64_t version,
                              struct sta_snapshot **snapshot, struct sta_error *err)
{
    if (!sta_is_trace_id(trace))
        return sta_fail(err, STA_ENOTFOUND, "there is no trace %s", trace);
    forget_others(store, trace, version);
    int status = sta_snapshot_open(store, trace, snapshot, err);
    if (status != STA_OK || (*snapshot)->info.version == version)
        return status;
    sta_snapshot_release(*snapshot);
    *snapshot = NULL;
    return sta_fail(err, STA_EOUTDATED, "trace %s has another version by now", trace);
}

struct sta_snapshot *sta_snapshot_retain(struct sta_snapshot *snapshot)
{
    pthread_mutex_lock(&snapshot->store->lock);
    snapshot->references++;
    pthread_mutex_unlock(&snapshot->store->lock);
    return snapshot;
}

/* Kept columns are those of open segments; opened again, these have other serials. */
static void forget_columns(const struct sta_snapshot *snapshot)
{
    if (snapshot->store->cache == NULL)
        return;
    uint64_t *serials = sta_alloc_array(snapshot->segment_count, sizeof *serials);
    for (uint32_t s = 0; s < snapshot->segment_count; s++)
        serials[s] = snapshot->segments[s].segment.serial;
    sta_column_cache_forget(snapshot->store->cache, serials, snapshot->segment_count);
    free(serials);
}

void sta_snapshot_release(struct sta_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    pthread_mutex_lock(&snapshot->store->lock);
    bool last = --snapshot->references == 0;
    struct sta_known_trace *trace = sta_store_trace(snapshot->store, snapshot->id);
    if (last && trace != NULL && trace->current == snapshot)
        trace->current = NULL;
    pthread_mutex_unlock(&snapshot->store->lock);
    if (last) {
        forget_columns(snapshot);
        sta_snapshot_destroy(snapshot);
    }
}

void sta_snapshot_note_damage(const struct sta_snapshot *snapshot, enum sta_file_kind kind, uint32_t file,
                              const struct sta_error *why)
{
    struct sta_snapshot *own = (struct sta_snapshot *)snapshot; /* constant, but for what it finds out */
    struct sta_store *store = own->store;
    if (atomic_exchange(&own->damage_found, true))
        return; /* more of it is found by who reads on without the first */
    char *folder = sta_trace_folder(store, own->id), *path = sta_trace_file(folder, kind, file);
    sta_quarantine(path, why);
    pthread_mutex_lock(&store->lock);
    struct sta_known_trace *known = sta_store_trace(store, own->id);
    if (known != NULL && known->current == own)
        known->current = NULL;
    pthread_mutex_unlock(&store->lock);
    if (store->on_damage != NULL)
        store->on_damage(store->on_damage_context, own->id);
    free(path);
    free(folder);
}

/* ---- looks */

const char *sta_snapshot_trace(const struct sta_snapshot *snapshot)
{
    return snapshot->id;
}

const struct sta_snapshot_info *sta_snapshot_info(const struct sta_snapshot *snapshot)
{
    return &snapshot->info;
}

const struct sta_tables *sta_snapshot_tables(const struct sta_snapshot *snapshot)
{
    return snapshot->tables;
}

size_t sta_snapshot_source_count(const struct sta_snapshot *snapshot)
{
    return snapshot->source_count;
}

const struct sta_source *sta_snapshot_source(const struct sta_snapshot *snapshot, size_t number)
{
    return &snapshot->sources[number]->source;
}

const struct sta_entities *sta_snapshot_entities(const struct sta_snapshot *snapshot)
{
    return snapshot->entities;
}

struct sta_account *sta_snapshot_account(const struct sta_snapshot *snapshot)
{
    return &((struct sta_snapshot *)snapshot)->account;
}

size_t sta_snapshot_row_group_count(const struct sta_snapshot *snapshot)
{
    return snapshot->row_group_count;
}

const struct sta_row_group *sta_snapshot_row_group(const struct sta_snapshot *snapshot, size_t index)
{
    return &snapshot->row_groups[index];
}

const struct sta_chunk *sta_snapshot_chunks(const struct sta_snapshot *snapshot, uint32_t segment,
                                            size_t *count)
{
    *count = snapshot->segments[segment].segment.header.chunk_count;
    return snapshot->segments[segment].chunks;
}
