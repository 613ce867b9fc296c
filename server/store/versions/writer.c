/* writer.c - rows of the next version, gathered by each worker and sealed as segments.
 *
 * DESIGN: batches are kept as decode made them, by swapping arrays; a worker that has enough rows for a
 * segment, or its share of memory, sorts and encodes them on its own thread and writes the file.  Workers
 * share only the lists of files and sources.  Nothing of it is visible to readers before publish. */
#include "store/versions/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/account.h"
#include "common/memory.h"
#include "store/format/envelope.h"
#include "store/versions/merge.h"

#define REWRITE_ROWS (256 * 1024) /* of a segment that is made of what stays of others */

/* ---- beginning */

static bool path_is_dropped(const void *context, const char *path)
{
    const struct sta_writer *writer = context;
    const uint32_t code = sta_dictionary_find(writer->paths, path, strlen(path));
    return code == STA_NO_CODE || writer->number_of_path[code] == STA_NO_CODE;
}

/* The tables of the base once more: the snapshot's own never change. */
static int copy_tables(struct sta_writer *writer, const struct sta_snapshot *base, const bool *drop,
                       struct sta_error *err)
{
    char *path = sta_trace_file(writer->folder, STA_FILE_TABLES, base->manifest.tables_file), *content;
    size_t size;
    int status = sta_envelope_read(path, STA_ENVELOPE_TABLES, &content, &size, err);
    if (status == STA_OK) {
        status = sta_tables_get(content, size, drop ? path_is_dropped : NULL, writer, writer->account,
                                &writer->tables, err);
        free(content);
    }
    free(path);
    return status;
}

static struct sta_stored_source *append_source(struct sta_writer *writer, uint32_t id)
{
    struct sta_stored_source *stored = sta_alloc(sizeof *stored);
    stored->id = id;
    STA_GROW(writer->sources, writer->source_capacity, writer->source_count + 1);
    writer->sources[writer->source_count++] = stored;
    return stored;
}

static void copy_sources(struct sta_writer *writer, const struct sta_snapshot *base, const bool *drop)
{
    for (size_t i = 0; i < base->source_count; i++)
        if (drop == NULL || !drop[i])
            sta_source_copy(&append_source(writer, base->sources[i]->id)->source, &base->sources[i]->source);
    writer->next_source = base->manifest.next_source;
}

/* So that a path among many thousands is found at once.  Context: under the lock, or nobody else has the
 * writer. */
static void index_path(struct sta_writer *writer, const char *path, uint32_t number)
{
    const uint32_t code = sta_dictionary_intern(writer->paths, path, strlen(path));
    const size_t before = writer->path_capacity;
    STA_GROW(writer->number_of_path, writer->path_capacity, (size_t)code + 1);
    sta_account_overdraw(writer->account, (writer->path_capacity - before) * sizeof *writer->number_of_path);
    writer->number_of_path[code] = number;
}

static void index_base(struct sta_writer *writer, const struct sta_snapshot *base, const bool *drop)
{
    uint32_t number = 0;
    for (size_t i = 0; i < base->source_count; i++)
        index_path(writer, base->sources[i]->source.path, drop != NULL && drop[i] ? STA_NO_CODE : number++);
}

void sta_writer_name_segment(struct sta_writer *writer, struct sta_manifest_segment segment)
{
    pthread_mutex_lock(&writer->lock);
    STA_GROW(writer->manifest.segments, writer->segment_capacity, writer->manifest.segment_count + 1);
    writer->manifest.segments[writer->manifest.segment_count++] = segment;
    pthread_mutex_unlock(&writer->lock);
}

static bool holds_dropped(const struct sta_open_segment *open, const bool *drop)
{
    for (uint32_t c = 0; drop != NULL && c < open->segment.header.chunk_count; c++)
        if (drop[open->chunks[c].source])
            return true;
    return false;
}

static bool drops_any(const struct sta_snapshot *base, const bool *drop)
{
    for (size_t i = 0; drop != NULL && i < base->source_count; i++)
        if (drop[i])
            return true;
    return false;
}

static int on_step(void *context, uint64_t rows, struct sta_error *err)
{
    const struct sta_writer *writer = context;
    return writer->cancel != NULL && atomic_load(writer->cancel) ? sta_fail(err, STA_ECANCELLED, "cancelled")
                                                                 : STA_OK;
}

static int on_segment(void *context, const struct sta_buffer *bytes, uint32_t rows, struct sta_error *err)
{
    return sta_writer_put_segment(context, bytes, rows, err);
}

/* The rows of segments that stay, as new ones in their place. */
static int keep_rows(struct sta_writer *writer, const struct sta_snapshot *base, uint32_t first,
                     uint32_t count, const bool *drop, struct sta_error *err)
{
    const struct sta_merge merge = {.base = base,
                                    .first = first,
                                    .count = count,
                                    .rows = REWRITE_ROWS,
                                    .drop = drop,
                                    .tables = writer->tables,
                                    .account = writer->account,
                                    .step = on_step,
                                    .take = on_segment,
                                    .context = writer};
    return sta_merge_run(&merge, err);
}

static int keep_segment(struct sta_writer *writer, const struct sta_snapshot *base, uint32_t segment,
                        const bool *drop, struct sta_error *err)
{
    if (holds_dropped(&base->segments[segment], drop))
        return keep_rows(writer, base, segment, 1, drop, err);
    sta_writer_name_segment(writer, base->segments[segment].named);
    return drop != NULL ? sta_writer_note_kinds(writer, base, segment, err) : STA_OK;
}

static int go_on_from(struct sta_writer *writer, const struct sta_snapshot *base, const bool *drop,
                      struct sta_error *err)
{
    if (!drops_any(base, drop))
        drop = NULL;
    index_base(writer, base, drop);
    int status = copy_tables(writer, base, drop, err);
    if (status != STA_OK)
        return status;
    copy_sources(writer, base, drop);
    status = sta_writer_keep_counters(writer, base, drop ? path_is_dropped : NULL, writer, err);
    const uint32_t merged = sta_refresh_merges_from(base);
    for (uint32_t s = 0; s < merged && status == STA_OK; s++)
        status = keep_segment(writer, base, s, drop, err);
    if (status == STA_OK && merged < base->segment_count)
        status = keep_rows(writer, base, merged, base->segment_count - merged, drop, err);
    return status;
}

/* Return: STA_EBUSY when another writer has the trace. */
static int claim(struct sta_store *store, const char *trace, struct sta_known_trace **claimed,
                 struct sta_error *err)
{
    pthread_mutex_lock(&store->lock);
    struct sta_known_trace *known = sta_store_listed(store, trace);
    int status = known == NULL    ? sta_fail(err, STA_ENOTFOUND, "there is no trace %s", trace)
                 : known->writing ? sta_fail(err, STA_EBUSY, "trace %s is being written already", trace)
                                  : STA_OK;
    if (status == STA_OK)
        known->writing = true;
    pthread_mutex_unlock(&store->lock);
    *claimed = known;
    return status;
}

/* Reads what the folder has, to go on from it; a damaged manifest counts as none: all of it is replaced. */
static int read_folder(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_manifest last;
    int status = sta_next_file_number(writer->folder, &writer->next_file, err);
    if (status != STA_OK)
        return status;
    status = sta_manifest_read(writer->folder, &last, err);
    if (status == STA_OK) {
        writer->last_version = last.version;
        sta_manifest_fini(&last);
    }
    return status == STA_ENOTFOUND || status == STA_ECORRUPT ? STA_OK : status;
}

/* @known's entry may be replaced by another thread meanwhile, so the id is the caller's. */
static struct sta_writer *writer_create(struct sta_store *store, struct sta_known_trace *known,
                                        const char *id, const struct sta_writer_options *options)
{
    struct sta_writer *writer = sta_alloc(sizeof *writer);
    writer->store = store;
    writer->known = known;
    writer->cancel = options->cancel;
    snprintf(writer->id, sizeof writer->id, "%s", id);
    writer->folder = sta_trace_folder(store, writer->id);
    writer->worker_count = STA_MAX(options->workers, 1U);
    writer->worker_memory = options->memory / writer->worker_count;
    writer->account = options->account;
    writer->workers = sta_alloc_array(writer->worker_count, sizeof *writer->workers);
    writer->paths = sta_dictionary_create();
    writer->journal_fd = -1;
    pthread_mutex_init(&writer->lock, NULL);
    return writer;
}

int sta_writer_open(struct sta_store *store, const char *trace, const struct sta_snapshot *base,
                    const struct sta_writer_options *options, struct sta_writer **writer,
                    struct sta_error *err)
{
    struct sta_known_trace *known;
    if (claim(store, trace, &known, err) != STA_OK)
        return err->status;
    *writer = writer_create(store, known, trace, options);
    int status = read_folder(*writer, err);
    if (status == STA_OK && base != NULL && base->info.version != (*writer)->last_version)
        status = sta_fail(err, STA_EBUSY, "trace %s has a newer version than the one to go on from", trace);
    if (status != STA_OK)
        sta_writer_abort(*writer);
    return status;
}

int sta_writer_begin(struct sta_store *store, const char *trace, struct sta_snapshot *base, const bool *drop,
                     const struct sta_writer_options *options, struct sta_writer **writer,
                     struct sta_error *err)
{
    struct sta_writer *made;
    int status = sta_writer_open(store, trace, base, options, &made, err);
    if (status != STA_OK)
        return sta_error_wrap(err, "cannot write trace %s", trace);
    if (base == NULL)
        made->tables = sta_tables_create(made->account);
    else
        status = go_on_from(made, base, drop, err);
    made->base_version = base != NULL ? made->last_version : 0;
    if (status != STA_OK) {
        sta_writer_abort(made);
        return sta_error_wrap(err, "cannot write trace %s", trace);
    }
    *writer = made;
    return STA_OK;
}

int sta_writer_begin_same(struct sta_store *store, const char *trace, const struct sta_snapshot *base,
                          const struct sta_writer_options *options, struct sta_writer **writer,
                          struct sta_error *err)
{
    int status = sta_writer_open(store, trace, base, options, writer, err);
    if (status != STA_OK)
        return status;
    struct sta_manifest *manifest = &(*writer)->manifest;
    (*writer)->same_rows = true;
    (*writer)->next_source = base->manifest.next_source;
    manifest->published_us = base->manifest.published_us;
    manifest->tables_file = base->manifest.tables_file;
    manifest->sources_file = base->manifest.sources_file;
    for (size_t i = 0; i < base->manifest.counters_count; i++)
        sta_writer_note_counters(*writer, base->manifest.counters[i]);
    return STA_OK;
}

struct sta_tables *sta_writer_tables(struct sta_writer *writer)
{
    return writer->tables;
}

/* ---- sources */

uint32_t sta_writer_add_source(struct sta_writer *writer, const char *path)
{
    pthread_mutex_lock(&writer->lock);
    uint32_t number = (uint32_t)writer->source_count;
    append_source(writer, writer->next_source++)->source.path = sta_strdup(path);
    index_path(writer, path, number);
    pthread_mutex_unlock(&writer->lock);
    return number;
}

struct sta_source *sta_writer_source(struct sta_writer *writer, uint32_t number)
{
    pthread_mutex_lock(&writer->lock);
    struct sta_source *source = &writer->sources[number]->source;
    pthread_mutex_unlock(&writer->lock);
    return source;
}

bool sta_writer_find_source(const struct sta_writer *writer, const char *path, uint32_t *number)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&writer->lock;
    pthread_mutex_lock(lock);
    const uint32_t code = sta_dictionary_find(writer->paths, path, strlen(path));
    const bool found = code != STA_NO_CODE && writer->number_of_path[code] != STA_NO_CODE;
    if (found)
        *number = writer->number_of_path[code];
    pthread_mutex_unlock(lock);
    return found;
}

/* ---- rows */

static size_t bytes_held(const struct sta_batch *batch)
{
    size_t row =
        2 * sizeof(int64_t) + 4 * sizeof(uint32_t) + (batch->ts_ns != NULL ? 2 * sizeof(uint16_t) : 0);
    size_t bytes = batch->capacity * row;
    for (uint32_t a = 0; a < batch->args_count; a++)
        bytes += batch->args[a].capacity * (sizeof(uint32_t) + 1 + sizeof(union sta_value));
    return bytes;
}

int sta_writer_take(struct sta_writer *writer, unsigned worker, const struct sta_stored_source *source,
                    struct sta_batch *batch, struct sta_error *err)
{
    struct sta_writer_worker *own = &writer->workers[worker];
    if (batch->count == 0)
        return STA_OK;
    if (own->pending_rows > 0 && own->pending_rows + batch->count > STA_SEGMENT_ROWS) {
        int status = sta_writer_seal(writer, worker, err);
        if (status != STA_OK)
            return status;
    }
    STA_GROW(own->pending, own->pending_capacity, own->pending_count + 1);
    own->pending[own->pending_count++] = (struct sta_pending){
        .batch = *batch, .source = source->id, .path = source->source.path, .first_line = batch->first_line};
    size_t bytes = bytes_held(batch);
    own->pending_bytes += bytes;
    sta_account_overdraw(writer->account, bytes);
    own->pending_rows += batch->count;
    sta_batch_init(batch);
    if (own->free_count > 0)
        *batch = own->free_list[--own->free_count];
    int status = sta_account_check(writer->account, 0, "the rows and names of the trace", err);
    if (status != STA_OK)
        return status;
    bool full = own->pending_bytes + own->pending_rows * STA_BUILDER_ROW_BYTES >= writer->worker_memory;
    return full ? sta_writer_seal(writer, worker, err) : STA_OK;
}

int sta_writer_add(struct sta_writer *writer, unsigned worker, uint32_t source, struct sta_batch *batch,
                   struct sta_error *err)
{
    STA_ASSERT(worker < writer->worker_count);
    pthread_mutex_lock(&writer->lock);
    STA_ASSERT(source < writer->source_count);
    const struct sta_stored_source *stored = writer->sources[source];
    pthread_mutex_unlock(&writer->lock);
    return sta_writer_take(writer, worker, stored, batch, err);
}

static void clear_pending(const struct sta_writer *writer, struct sta_writer_worker *own)
{
    sta_account_release(writer->account, own->pending_bytes);
    for (size_t i = 0; i < own->pending_count; i++) {
        STA_GROW(own->free_list, own->free_capacity, own->free_count + 1);
        sta_batch_clear(&own->pending[i].batch);
        own->free_list[own->free_count++] = own->pending[i].batch;
    }
    own->pending_count = 0;
    own->pending_bytes = 0;
    own->pending_rows = 0;
}

char *sta_writer_new_file(struct sta_writer *writer, enum sta_file_kind kind, uint32_t *number)
{
    pthread_mutex_lock(&writer->lock);
    *number = writer->next_file++;
    pthread_mutex_unlock(&writer->lock);
    return sta_trace_file(writer->folder, kind, *number);
}

int sta_writer_create_file(struct sta_writer *writer, enum sta_file_kind kind,
                           enum sta_envelope_kind envelope, const struct sta_buffer *content,
                           uint32_t *number, struct sta_error *err)
{
    int fd;
    char *path = sta_writer_new_file(writer, kind, number);
    int status = sta_envelope_create(path, envelope, content, &fd, err);
    if (status == STA_OK)
        return sta_writer_note_file(writer, path, fd, err);
    free(path);
    return status;
}

int sta_writer_put_segment(struct sta_writer *writer, const struct sta_buffer *bytes, uint64_t rows,
                           struct sta_error *err)
{
    struct sta_manifest_segment segment = {.size = bytes->size, .rows = rows};
    struct sta_disk_header header;
    int fd;
    memcpy(&header, bytes->data, sizeof header);
    segment.checksum = header.header_checksum;
    char *path = sta_writer_new_file(writer, STA_FILE_SEGMENT, &segment.file);
    int status = sta_file_create(path, bytes->data, bytes->size, &fd, err);
    if (status != STA_OK) {
        free(path);
        return status;
    }
    sta_writer_name_segment(writer, segment);
    return sta_writer_note_file(writer, path, fd, err);
}

/* Of a part: the codes become those of the tables that readers will have. */
static int translate_pending(const struct sta_writer *writer, struct sta_writer_worker *own,
                             struct sta_error *err)
{
    int status = STA_OK;
    for (size_t i = 0; writer->part != NULL && i < own->pending_count && status == STA_OK; i++)
        status = writer->part->translate(writer->part->context, &own->pending[i].batch, err);
    return status;
}

int sta_writer_seal(struct sta_writer *writer, unsigned worker, struct sta_error *err)
{
    struct sta_writer_worker *own = &writer->workers[worker];
    const struct sta_buffer *bytes;
    if (own->pending_count == 0)
        return STA_OK;
    if (own->builder == NULL)
        own->builder = sta_builder_create(STA_EFFORT_FAST, writer->account);
    int status = translate_pending(writer, own, err);
    if (status == STA_OK)
        status = sta_builder_build(own->builder, own->pending, own->pending_count, &bytes, err);
    if (status == STA_OK)
        status = sta_writer_put_segment(writer, bytes, own->pending_rows, err);
    if (status == STA_OK)
        clear_pending(writer, own);
    return status;
}

/* ---- ending */

static void worker_fini(const struct sta_writer *writer, struct sta_writer_worker *own)
{
    clear_pending(writer, own);
    for (size_t i = 0; i < own->free_count; i++)
        sta_batch_fini(&own->free_list[i]);
    free(own->free_list);
    free(own->pending);
    sta_buffer_fini(&own->counters);
    sta_builder_destroy(own->builder);
}

void sta_writer_end_rows(struct sta_writer *writer)
{
    if (writer->known == NULL)
        return;
    for (unsigned w = 0; w < writer->worker_count; w++)
        worker_fini(writer, &writer->workers[w]);
    pthread_mutex_lock(&writer->store->lock);
    writer->known->writing = false;
    pthread_mutex_unlock(&writer->store->lock);
    writer->known = NULL;
}

void sta_writer_end(struct sta_writer *writer)
{
    sta_writer_end_syncing(writer);
    sta_snapshot_release(writer->preview);
    sta_writer_end_rows(writer);
    free(writer->workers);
    for (size_t i = 0; i < writer->made_count; i++) {
        if (writer->made[i].fd >= 0)
            close(writer->made[i].fd);
        free(writer->made[i].path);
    }
    free(writer->made);
    if (writer->journal_fd >= 0)
        close(writer->journal_fd);
    free(writer->journal);
    free(writer->journal_marks);
    free(writer->ranges);
    sta_stored_sources_free(writer->sources, writer->source_count);
    sta_dictionary_destroy(writer->paths);
    sta_account_release(writer->account, writer->path_capacity * sizeof *writer->number_of_path);
    free(writer->number_of_path);
    sta_manifest_fini(&writer->manifest);
    sta_tables_destroy(writer->tables);
    pthread_mutex_destroy(&writer->lock);
    free(writer->folder);
    free(writer);
}

void sta_writer_abort(struct sta_writer *writer)
{
    for (size_t i = 0; i < writer->made_count; i++)
        unlink(writer->made[i].path);
    sta_writer_end(writer);
}
