/* catalogue.c - the traces of an open store: finding, adding, changing and removing them.
 *
 * DESIGN: the catalogue is one small file per trace, in the trace's own folder, replaced by rename.  So
 * traces never contend for a common file, damage costs one entry, and a folder without an entry is by
 * definition left over.  A change is made under the trace's lock, on a copy that is put in force once it is
 * on the disk: two changes at once both come in, and a removed trace can't be changed back into being. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "common/log.h"
#include "common/memory.h"
#include "store/format/envelope.h"
#include "store/versions/private.h"

/* ---- the list of traces */

struct sta_known_trace *sta_store_trace(const struct sta_store *store, const char *id)
{
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->traces[i]->entry.id, id) == 0)
            return store->traces[i];
    return NULL;
}

struct sta_known_trace *sta_store_listed(const struct sta_store *store, const char *id)
{
    struct sta_known_trace *known = sta_store_trace(store, id);
    return known != NULL && known->life == STA_TRACE_LISTED ? known : NULL;
}

static int by_creation(const void *a, const void *b)
{
    const struct sta_trace_entry *x = &(*(struct sta_known_trace *const *)a)->entry,
                                 *y = &(*(struct sta_known_trace *const *)b)->entry;
    if (x->created_us != y->created_us)
        return x->created_us < y->created_us ? -1 : 1;
    return strcmp(x->id, y->id);
}

void sta_store_know(struct sta_store *store, const struct sta_trace_entry *entry)
{
    struct sta_known_trace *known = sta_alloc(sizeof *known);
    pthread_mutex_init(&known->files, NULL);
    known->references = 1;
    sta_trace_entry_copy(&known->entry, entry);
    STA_GROW(store->traces, store->capacity, store->count + 1);
    store->traces[store->count++] = known;
    qsort(store->traces, store->count, sizeof(struct sta_known_trace *), by_creation);
}

void sta_known_trace_destroy(struct sta_known_trace *known)
{
    pthread_mutex_destroy(&known->files);
    sta_trace_entry_fini(&known->entry);
    free(known);
}

static void forget(struct sta_store *store, struct sta_known_trace *known)
{
    size_t at = 0;
    while (store->traces[at] != known)
        at++;
    memmove(store->traces + at, store->traces + at + 1,
            (store->count - at - 1) * sizeof(struct sta_known_trace *));
    store->count--;
    known->references--;
}

static int unknown(const char *id, struct sta_error *err)
{
    return sta_fail(err, STA_ENOTFOUND, "there is no trace %s", id);
}

struct sta_known_trace *sta_store_hold(struct sta_store *store, const char *id, struct sta_error *err)
{
    pthread_mutex_lock(&store->lock);
    struct sta_known_trace *known = sta_store_listed(store, id);
    if (known != NULL)
        known->references++;
    pthread_mutex_unlock(&store->lock);
    if (known == NULL) {
        unknown(id, err);
        return NULL;
    }
    pthread_mutex_lock(&known->files);
    pthread_mutex_lock(&store->lock);
    bool listed = known->life == STA_TRACE_LISTED; /* it may have been removed while this waited */
    pthread_mutex_unlock(&store->lock);
    if (listed)
        return known;
    sta_store_let_go(store, known);
    unknown(id, err);
    return NULL;
}

void sta_store_let_go(struct sta_store *store, struct sta_known_trace *known)
{
    pthread_mutex_unlock(&known->files);
    pthread_mutex_lock(&store->lock);
    bool last = --known->references == 0;
    pthread_mutex_unlock(&store->lock);
    if (last)
        sta_known_trace_destroy(known);
}

/* ---- looking */

struct sta_trace_entry *sta_store_list(struct sta_store *store, size_t *count)
{
    pthread_mutex_lock(&store->lock);
    struct sta_trace_entry *entries = sta_alloc_array(store->count, sizeof *entries);
    *count = 0;
    for (size_t i = 0; i < store->count; i++)
        if (store->traces[i]->life == STA_TRACE_LISTED)
            sta_trace_entry_copy(&entries[(*count)++], &store->traces[i]->entry);
    pthread_mutex_unlock(&store->lock);
    return entries;
}

int sta_store_find(struct sta_store *store, const char *id, struct sta_trace_entry *entry,
                   struct sta_error *err)
{
    pthread_mutex_lock(&store->lock);
    const struct sta_known_trace *known = sta_store_listed(store, id);
    if (known != NULL)
        sta_trace_entry_copy(entry, &known->entry);
    pthread_mutex_unlock(&store->lock);
    return known != NULL ? STA_OK : unknown(id, err);
}

/* ---- adding and changing */

static int fresh_id(char id[STA_TRACE_ID_SIZE], struct sta_error *err)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        return sta_fail_errno(err, errno, "cannot get a random number");
    snprintf(id, STA_TRACE_ID_SIZE, "%016" PRIx64, bits);
    return STA_OK;
}

/* *replaced: the new entry is what a reader finds, though a power loss may still bring the old one back. */
static int write_entry(const struct sta_store *store, const struct sta_trace_entry *entry, bool *replaced,
                       struct sta_error *err)
{
    struct sta_buffer content = {0};
    char *folder = sta_trace_folder(store, entry->id), *path = sta_entry_file(folder);
    sta_entry_put(&content, entry);
    int status = sta_envelope_replace(path, STA_ENVELOPE_ENTRY, &content, err);
    *replaced = status == STA_OK;
    if (status == STA_OK)
        status = sta_folder_sync(folder, err);
    sta_buffer_fini(&content);
    free(path);
    free(folder);
    return status;
}

/* The folder of a new trace with its entry, durably; or nothing of it. */
static int create_folder(const struct sta_store *store, const struct sta_trace_entry *entry,
                         struct sta_error *err)
{
    char *folder = sta_trace_folder(store, entry->id), *traces = sta_path_join(store->path, "traces");
    bool written;
    int status = sta_folder_create(folder, err);
    if (status == STA_OK)
        status = write_entry(store, entry, &written, err);
    if (status == STA_OK)
        status = sta_folder_sync(traces, err);
    struct sta_error left = STA_ERROR_INIT;
    if (status != STA_OK && sta_tree_remove(folder, &left) != STA_OK)
        sta_log(STA_LOG_WARNING, "Cannot take back a trace that could not be added", "trace", entry->id,
                "cause", left.text, NULL);
    free(traces);
    free(folder);
    return status;
}

/* The trace of a path, or NULL.  Context: store->lock held. */
static const struct sta_known_trace *find_by_path(const struct sta_store *store, const char *path)
{
    for (size_t i = 0; i < store->count; i++)
        if (store->traces[i]->life == STA_TRACE_LISTED && strcmp(store->traces[i]->entry.path, path) == 0)
            return store->traces[i];
    return NULL;
}

static int add(struct sta_store *store, struct sta_trace_entry *entry, struct sta_error *err)
{
    pthread_mutex_lock(&store->lock);
    const struct sta_known_trace *same = find_by_path(store, entry->path);
    if (same != NULL)
        memcpy(entry->id, same->entry.id, sizeof entry->id);
    pthread_mutex_unlock(&store->lock);
    if (same != NULL)
        return sta_fail(err, STA_EEXISTS, "%s is trace %s already", entry->path, entry->id);
    int status = fresh_id(entry->id, err);
    if (status == STA_OK)
        status = create_folder(store, entry, err);
    if (status != STA_OK)
        return status;
    pthread_mutex_lock(&store->lock);
    sta_store_know(store, entry);
    pthread_mutex_unlock(&store->lock);
    return STA_OK;
}

int sta_store_add(struct sta_store *store, struct sta_trace_entry *entry, struct sta_error *err)
{
    STA_ASSERT(entry->path != NULL && entry->name != NULL && entry->id[0] == '\0');
    pthread_mutex_lock(&store->adding);
    int status = add(store, entry, err);
    pthread_mutex_unlock(&store->adding);
    return status;
}

static void put_in_force(struct sta_store *store, struct sta_known_trace *known,
                         struct sta_trace_entry *entry)
{
    pthread_mutex_lock(&store->lock);
    struct sta_trace_entry old = known->entry;
    known->entry = *entry;
    pthread_mutex_unlock(&store->lock);
    *entry = old;
}

static int change_entry(struct sta_store *store, const char *id, sta_entry_change *change, void *context,
                        bool write, struct sta_error *err)
{
    struct sta_known_trace *known = sta_store_hold(store, id, err);
    if (known == NULL)
        return STA_ENOTFOUND;
    struct sta_trace_entry entry;
    bool replaced = !write;
    sta_trace_entry_copy(&entry, &known->entry); /* nobody else writes it: `files` is held */
    change(context, &entry);
    int status = write ? write_entry(store, &entry, &replaced, err) : STA_OK;
    if (replaced)
        put_in_force(store, known, &entry);
    sta_store_let_go(store, known);
    sta_trace_entry_fini(&entry);
    return status;
}

int sta_store_update(struct sta_store *store, const char *id, sta_entry_change *change, void *context,
                     struct sta_error *err)
{
    return change_entry(store, id, change, context, true, err);
}

int sta_store_note(struct sta_store *store, const char *id, sta_entry_change *change, void *context,
                   struct sta_error *err)
{
    return change_entry(store, id, change, context, false, err);
}

/* ---- removing */

/* Once the entry is gone the trace is: what is left of the folder then is removed at the next start.
 * Snapshots that are open keep reading removed files.  *gone: the entry is. */
static int remove_files(const struct sta_store *store, const char *id, bool *gone, struct sta_error *err)
{
    char *folder = sta_trace_folder(store, id), *entry = sta_entry_file(folder);
    int status = STA_OK;
    *gone = unlink(entry) == 0 || errno == ENOENT;
    if (!*gone)
        status = sta_fail_errno(err, errno, "cannot remove %s", entry);
    else
        status = sta_folder_sync(folder, err);
    if (status == STA_OK)
        status = sta_tree_remove(folder, err);
    free(entry);
    free(folder);
    return status;
}

int sta_store_retire(struct sta_store *store, const char *id, struct sta_error *err)
{
    pthread_mutex_lock(&store->lock);
    struct sta_known_trace *known = sta_store_listed(store, id);
    if (known != NULL)
        known->life = STA_TRACE_RETIRED;
    pthread_mutex_unlock(&store->lock);
    return known != NULL ? STA_OK : unknown(id, err);
}

/* Takes a retired trace on for removal.  Return: STA_EBUSY while it is written: then it is listed again. */
static int begin_removal(struct sta_store *store, const char *id, struct sta_known_trace **removed,
                         struct sta_error *err)
{
    pthread_mutex_lock(&store->lock);
    struct sta_known_trace *known = sta_store_trace(store, id);
    int status = STA_OK;
    if (known == NULL || known->life == STA_TRACE_REMOVING) {
        status = unknown(id, err);
    } else if (known->writing) {
        known->life = STA_TRACE_LISTED;
        status = sta_fail(err, STA_EBUSY, "trace %s is being written", id);
    } else {
        known->life = STA_TRACE_REMOVING;
        known->references++;
        *removed = known;
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

int sta_store_remove(struct sta_store *store, const char *id, struct sta_error *err)
{
    struct sta_known_trace *known = NULL;
    bool gone;
    int status = begin_removal(store, id, &known, err);
    if (status != STA_OK)
        return status;
    pthread_mutex_lock(&known->files); /* who loads or changes it now goes first */
    status = remove_files(store, id, &gone, err);
    pthread_mutex_lock(&store->lock);
    if (gone)
        forget(store, known);
    else
        known->life = STA_TRACE_LISTED;
    pthread_mutex_unlock(&store->lock);
    sta_store_let_go(store, known);
    if (status != STA_OK && gone) {
        sta_log(STA_LOG_WARNING, "A trace is removed, but not all of its files are; the next start does that",
                "trace", id, "cause", err->text, NULL);
        return STA_OK;
    }
    return status;
}
