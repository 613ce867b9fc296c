/* sync.c - syncing the files of a version.
 *
 * DESIGN: a sync waits some milliseconds for the disk and takes hardly any processor time.  So a thread syncs
 * what has been written while the workers go on, and in the end only the last files are waited for: several
 * at once, which the disk gathers. */
#include <stdatomic.h>
#include <stdlib.h>
#include <uv.h>
#include "common/files.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "store/versions/writer.h"

#define FILES_AT_ONCE 8 /* that are open when a thread begins to sync them */
#define OPEN_FILES 128  /* that are waited for */
#define SYNC_THREADS 8

struct sta_syncing {
    struct sta_made_file *files; /* paths are the writer's */
    size_t count;
    _Atomic size_t next;
    _Atomic bool failed, ended;
    struct sta_error error; /* the first one */
    uv_thread_t thread;
    bool has_thread;
};

static void sync_some(void *context, unsigned worker)
{
    struct sta_syncing *syncing = context;
    struct sta_error err = STA_ERROR_INIT;
    (void)worker;
    for (size_t i; (i = atomic_fetch_add(&syncing->next, 1)) < syncing->count;)
        if (sta_file_finish(syncing->files[i].path, syncing->files[i].fd, &err) != STA_OK &&
            !atomic_exchange(&syncing->failed, true))
            syncing->error = err;
}

static void sync_beside(void *syncing)
{
    sync_some(syncing, 0);
    atomic_store(&((struct sta_syncing *)syncing)->ended, true);
}

/* Takes the open files.  Context: the writer is locked. */
static struct sta_syncing *take_open(struct sta_writer *writer)
{
    struct sta_syncing *syncing = sta_alloc(sizeof *syncing);
    syncing->files = sta_alloc_array(writer->open_count, sizeof *syncing->files);
    for (size_t i = writer->open_from; i < writer->made_count; i++) {
        if (writer->made[i].fd < 0)
            continue;
        syncing->files[syncing->count++] = writer->made[i];
        writer->made[i].fd = -1;
    }
    writer->open_count = 0;
    writer->open_from = writer->made_count;
    return syncing;
}

/* Frees what has ended.  @syncing: NULL allowed.  Return: 0, or how a sync failed. */
static int end(struct sta_syncing *syncing, struct sta_error *err)
{
    int status = STA_OK;
    if (syncing == NULL)
        return STA_OK;
    if (syncing->has_thread)
        uv_thread_join(&syncing->thread);
    if (atomic_load(&syncing->failed)) {
        *err = syncing->error;
        status = err->status;
    }
    free(syncing->files);
    free(syncing);
    return status;
}

int sta_writer_begin_syncing(struct sta_writer *writer, struct sta_error *err)
{
    struct sta_syncing *ended = NULL;
    pthread_mutex_lock(&writer->lock);
    if (writer->syncing == NULL || atomic_load(&writer->syncing->ended)) {
        ended = writer->syncing;
        writer->syncing = take_open(writer);
        writer->syncing->has_thread =
            !sta_memory_is_short() && /* a thread takes a stack */
            uv_thread_create(&writer->syncing->thread, sync_beside, writer->syncing) == 0;
        if (!writer->syncing->has_thread)
            sync_beside(writer->syncing);
    }
    pthread_mutex_unlock(&writer->lock);
    return end(ended, err);
}

int sta_writer_note_file(struct sta_writer *writer, char *path, int fd, struct sta_error *err)
{
    pthread_mutex_lock(&writer->lock);
    STA_GROW(writer->made, writer->made_capacity, writer->made_count + 1);
    writer->made[writer->made_count++] = (struct sta_made_file){.path = path, .fd = fd};
    const size_t open = ++writer->open_count;
    pthread_mutex_unlock(&writer->lock);
    if (open >= OPEN_FILES)
        return sta_writer_sync_files(writer, err);
    return open >= FILES_AT_ONCE ? sta_writer_begin_syncing(writer, err) : STA_OK;
}

int sta_writer_sync_files(struct sta_writer *writer, struct sta_error *err)
{
    pthread_mutex_lock(&writer->lock);
    struct sta_syncing *before = writer->syncing, *last = take_open(writer);
    writer->syncing = NULL;
    pthread_mutex_unlock(&writer->lock);
    sta_parallel_run((unsigned)STA_MIN((size_t)SYNC_THREADS, last->count), sync_some, last);
    const int status = end(before, err);
    const int of_last = end(last, err);
    return status != STA_OK ? status : of_last;
}

void sta_writer_end_syncing(struct sta_writer *writer)
{
    struct sta_error ignored = STA_ERROR_INIT;
    (void)end(writer->syncing, &ignored);
    writer->syncing = NULL;
}
