/* publish.c - from files to a version.
 *
 * DESIGN: every new file is synced, then the folder that names them; only then the manifest is renamed into
 * place (and the folder synced again).  A crash before the rename leaves the old version and files that no
 * manifest names, one after it the new version and files that no manifest names any more: both are removed by
 * the next start. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include "common/memory.h"
#include "common/parallel.h"
#include "store/envelope.h"
#include "store/writer.h"

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

static int seal_all(struct sta_writer *writer, struct sta_error *err)
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

static int write_tables(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_buffer content = {0};
    const char *path;
    sta_tables_put(&content, writer->tables);
    writer->manifest.tables_file = sta_writer_new_file(writer, STA_FILE_TABLES, &path);
    int status = sta_envelope_write(path, false, STA_ENVELOPE_TABLES, &content, err);
    sta_buffer_fini(&content);
    return status;
}

static int write_sources(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_buffer content = {0};
    const char *path;
    sta_sources_put(&content, writer->sources, writer->source_count);
    writer->manifest.sources_file = sta_writer_new_file(writer, STA_FILE_SOURCES, &path);
    int status = sta_envelope_write(path, false, STA_ENVELOPE_SOURCES, &content, err);
    sta_buffer_fini(&content);
    return status;
}

/* Each sync waits for the disk alone, some milliseconds; waiting for several at once lets it gather them. */
#define SYNC_THREADS 8

struct syncing {
    const struct sta_writer *writer;
    _Atomic size_t next;
    _Atomic bool failed;
    struct sta_error *err;
};

static void sync_some(void *context, unsigned thread)
{
    struct syncing *syncing = context;
    struct sta_error err = STA_ERROR_INIT;
    for (size_t i; (i = atomic_fetch_add(&syncing->next, 1)) < syncing->writer->made_count;)
        if (sta_sync_file(syncing->writer->made[i], &err) != STA_OK &&
            !atomic_exchange(&syncing->failed, true))
            *syncing->err = err;
}

static int sync_files(const struct sta_writer *writer, struct sta_error *err)
{
    struct syncing syncing = {.writer = writer, .err = err};
    sta_parallel_run(SYNC_THREADS, sync_some, &syncing);
    return atomic_load(&syncing.failed) ? err->status : sta_folder_sync(writer->folder, err);
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

static int write_manifest(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_buffer content = {0};
    int status = next_version(writer->last_version, &writer->manifest.version, err);
    if (status != STA_OK)
        return status;
    char *path = sta_manifest_file(writer->folder);
    writer->manifest.published_us = now_us();
    writer->manifest.next_source = writer->next_source;
    sta_manifest_put(&content, &writer->manifest);
    status = sta_envelope_write(path, true, STA_ENVELOPE_MANIFEST, &content, err);
    sta_buffer_fini(&content);
    free(path);
    return status;
}

static int replace_version(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_store *store = writer->store;
    pthread_mutex_lock(&store->files_lock);
    int status = write_manifest(writer, err);
    if (status == STA_OK) {
        pthread_mutex_lock(&store->lock);
        sta_store_trace(store, writer->id)->current =
            NULL; /* who has it keeps it; the next to open gets the new one */
        pthread_mutex_unlock(&store->lock);
        sta_folder_clean(writer->folder, &writer->manifest, true);
    }
    pthread_mutex_unlock(&store->files_lock);
    return status;
}

int sta_writer_publish(struct sta_writer *writer, struct sta_error *err)
{
    int status = seal_all(writer, err);
    if (status == STA_OK)
        status = write_tables(writer, err);
    if (status == STA_OK)
        status = write_sources(writer, err);
    if (status == STA_OK)
        status = sync_files(writer, err);
    if (status == STA_OK)
        status = replace_version(writer, err);
    if (status != STA_OK) {
        sta_because(err, "cannot publish trace %s", writer->id);
        sta_writer_abort(writer);
        return status;
    }
    sta_writer_end(writer);
    return STA_OK;
}
