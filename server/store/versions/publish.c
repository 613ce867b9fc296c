/* publish.c - from files to a version.
 *
 * DESIGN: every new file is synced, the manifest under a temporary name among them, then the folder that
 * names them; only then the manifest is renamed into place (and the folder synced again).  A crash before the
 * rename leaves the old version and files that no manifest names, one after it the new version and files that
 * no manifest names any more: both are removed by the next start.  Syncing waits for the disk, so the version
 * to be can be opened and looked at meanwhile. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include "common/account.h"
#include "common/files.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "store/format/envelope.h"
#include "store/format/pieces.h"
#include "store/versions/writer.h"

struct sealing {
    struct sta_writer *writer;
    _Atomic unsigned next;
};

static void seal_some(void *context, unsigned thread)
{
    struct sealing *sealing = context;
    for (unsigned w; (w = atomic_fetch_add(&sealing->next, 1)) < sealing->writer->worker_count;) {
        struct sta_writer_worker *own = &sealing->writer->workers[w];
        own->error = STA_ERROR_INIT;
        own->status = sta_writer_seal(sealing->writer, w, &own->error);
        if (own->status == STA_OK)
            own->status = sta_writer_seal_counters(sealing->writer, w, &own->error);
    }
}

int sta_writer_seal_all(struct sta_writer *writer, struct sta_error *err)
{
    struct sealing sealing = {.writer = writer};
    sta_parallel_run(writer->worker_count, seal_some, &sealing);
    for (unsigned w = 0; w < writer->worker_count; w++)
        if (writer->workers[w].status != STA_OK) {
            *err = writer->workers[w].error;
            return err->status;
        }
    return STA_OK;
}

static int create_tables(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_content content = {0};
    int fd;
    char *path = sta_writer_new_file(writer, STA_FILE_TABLES, &writer->manifest.tables_file);
    sta_tables_put_content(&content, writer->tables);
    const int status = sta_content_create_file(path, STA_ENVELOPE_TABLES, &content, &fd, err);
    sta_content_fini(&content);
    if (status == STA_OK)
        return sta_writer_note_file(writer, path, fd, err);
    free(path);
    return status;
}

static int write_tables(struct sta_writer *writer, struct sta_error *err)
{
    int status = sta_tables_failure(writer->tables, err);
    if (status == STA_OK) /* packed, the texts are in memory once more */
        status = sta_account_check(writer->account, sta_tables_bytes(writer->tables),
                                   "writing the names of the trace", err);
    return status == STA_OK ? create_tables(writer, err) : status;
}

static int by_id(const void *a, const void *b)
{
    const uint32_t x = (*(struct sta_stored_source *const *)a)->id,
                   y = (*(struct sta_stored_source *const *)b)->id;
    return (x > y) - (x < y);
}

/* Those that a journal gave came in the order in which their parts were done. */
static int write_sources(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_buffer content = {0};
    if (writer->source_count > 1)
        qsort(writer->sources, writer->source_count, sizeof(struct sta_stored_source *), by_id);
    sta_sources_put(&content, writer->sources, writer->source_count);
    int status = sta_writer_create_file(writer, STA_FILE_SOURCES, STA_ENVELOPE_SOURCES, &content,
                                        &writer->manifest.sources_file, err);
    sta_buffer_fini(&content);
    return status;
}

static char *new_manifest(const struct sta_writer *writer)
{
    return sta_sprintf("%s/manifest-%016llx.tmp", writer->folder,
                       (unsigned long long)writer->manifest.version);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* One up, and some random bits: a store that was wiped and filled again never repeats a version. */
#define VERSION_RANDOM_BITS 20
static int next_version(uint64_t last, uint64_t *version, struct sta_error *err)
{
    uint32_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        return sta_fail_errno(err, errno, "cannot get a random number");
    *version = ((last >> VERSION_RANDOM_BITS) + 1) << VERSION_RANDOM_BITS |
               (bits & ((1U << VERSION_RANDOM_BITS) - 1));
    return STA_OK;
}

/* Whether the manifest in place may be the new one.  A rename that failed has mostly not happened, but a file
 * system across a network may have lost its reply. */
static bool may_be_in_place(const struct sta_writer *writer)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_manifest found;
    int status = sta_manifest_read(writer->folder, &found, &err);
    if (status != STA_OK)
        return status != STA_ENOTFOUND && status != STA_ECORRUPT;
    bool is_new = found.version == writer->manifest.version;
    sta_manifest_fini(&found);
    return is_new;
}

/* Beside its place, to be synced like every other file. */
static int write_manifest(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_buffer content = {0};
    char *path = new_manifest(writer);
    int fd;
    sta_manifest_put(&content, &writer->manifest);
    int status = sta_envelope_create(path, STA_ENVELOPE_MANIFEST, &content, &fd, err);
    sta_buffer_fini(&content);
    if (status == STA_OK)
        return sta_writer_note_file(writer, path, fd, err);
    free(path);
    return status;
}

static int put_manifest_in_place(struct sta_writer *writer, bool *published, struct sta_error *err)
{
    char *from = new_manifest(writer), *to = sta_manifest_file(writer->folder);
    int status =
        rename(from, to) == 0 ? STA_OK : sta_fail_errno(err, errno, "cannot rename %s over %s", from, to);
    *published = status == STA_OK || may_be_in_place(writer);
    free(to);
    free(from);
    return status;
}

/* The folder of a retired trace is about to be removed. */
static int check_listed(const struct sta_writer *writer, struct sta_error *err)
{
    pthread_mutex_lock(&writer->store->lock);
    bool listed = writer->known->life == STA_TRACE_LISTED;
    pthread_mutex_unlock(&writer->store->lock);
    return listed ? STA_OK : sta_fail(err, STA_ENOTFOUND, "it has been removed meanwhile");
}

/* *published: the new version is what a reader finds, so its files stay whatever fails from there on; those
 * of the old one stay until it is sure that no power loss brings that back. */
static int replace_version(struct sta_writer *writer, bool *published, struct sta_error *err)
{
    struct sta_store *store = writer->store;
    pthread_mutex_lock(&writer->known->files);
    int status = check_listed(writer, err);
    if (status == STA_OK && writer->same_rows)
        sta_kept_carry(writer->folder, writer->last_version, writer->manifest.version);
    if (status == STA_OK)
        status = put_manifest_in_place(writer, published, err);
    if (*published) {
        pthread_mutex_lock(&store->lock);
        writer->known->current = NULL; /* who has it keeps it; the next to open gets the new one */
        pthread_mutex_unlock(&store->lock);
    }
    if (status == STA_OK)
        status = sta_folder_sync(writer->folder, err);
    if (status == STA_OK)
        sta_folder_clean(writer->folder, &writer->manifest, true);
    if (*published && writer->preview != NULL)
        sta_snapshot_share(writer->preview, writer->known, writer->folder);
    pthread_mutex_unlock(&writer->known->files);
    return status;
}

/* Writes all files, once; the manifest beside its place. */
static int complete(struct sta_writer *writer, struct sta_error *err)
{
    if (writer->complete)
        return STA_OK;
    int status = sta_writer_seal_all(writer, err);
    if (status == STA_OK && !writer->same_rows)
        status = write_tables(writer, err);
    if (status == STA_OK && !writer->same_rows)
        status = write_sources(writer, err);
    if (status == STA_OK)
        status = next_version(writer->last_version, &writer->manifest.version, err);
    if (!writer->same_rows)
        writer->manifest.published_us = now_us();
    writer->manifest.next_source = writer->next_source;
    if (status == STA_OK)
        status = write_manifest(writer, err);
    writer->complete = status == STA_OK;
    return status;
}

static int copy_manifest(const struct sta_manifest *from, struct sta_manifest *to, struct sta_error *err)
{
    struct sta_buffer content = {0};
    sta_manifest_put(&content, from);
    const int status = content.failed ? sta_fail(err, STA_ENOMEM, "no memory for the manifest")
                                      : sta_manifest_get(content.data, content.size, to, err);
    sta_buffer_fini(&content);
    return status;
}

int sta_writer_preview(struct sta_writer *writer, struct sta_snapshot **version, struct sta_error *err)
{
    struct sta_manifest manifest;
    struct sta_error ignored = STA_ERROR_INIT;
    *version = NULL;
    int status = complete(writer, err);
    if (status == STA_OK)
        status = sta_writer_begin_syncing(writer, err);
    if (status != STA_OK)
        return sta_error_wrap(err, "cannot publish trace %s", writer->id);
    sta_tables_destroy(writer->tables); /* the version has its own */
    writer->tables = NULL;
    if (copy_manifest(&writer->manifest, &manifest, &ignored) == STA_OK &&
        sta_snapshot_open_files(writer->store, writer->id, writer->folder, manifest, &writer->preview,
                                &ignored) == STA_OK)
        *version = sta_snapshot_retain(writer->preview);
    return STA_OK;
}

int sta_writer_publish(struct sta_writer *writer, struct sta_error *err)
{
    bool published = false;
    int status = complete(writer, err);
    if (status == STA_OK)
        status = sta_writer_sync_files(writer, err);
    if (status == STA_OK)
        status = sta_folder_sync(writer->folder, err);
    if (status == STA_OK)
        status = replace_version(writer, &published, err);
    if (status != STA_OK)
        sta_error_wrap(err,
                       published ? "a new version of trace %s is in place, but may not outlive a power loss"
                                 : "cannot publish trace %s",
                       writer->id);
    if (published)
        sta_writer_end(writer);
    else
        sta_writer_abort(writer);
    return status;
}
