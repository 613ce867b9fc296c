/* store.c - opening a store folder: its lock, its format, and what a crash left in it. */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "common/log.h"
#include "common/memory.h"
#include "store/format/envelope.h"
#include "store/versions/journal.h"

#define MINIMUM_RESIDENCY_S 10 /* longer than from one query of a session to the next */

/* ---- lock and format */

static int name_holder(const char *path, struct sta_error *err)
{
    char *text = NULL;
    size_t size;
    struct sta_error unread = STA_ERROR_INIT;
    long pid = sta_file_read(path, 64, &text, &size, &unread) == STA_OK ? strtol(text, NULL, 10) : 0;
    free(text);
    return pid > 0 ? sta_fail(err, STA_EBUSY, "the store is in use by process %ld", pid)
                   : sta_fail(err, STA_EBUSY, "the store is in use by another process");
}

static int take_lock(struct sta_store *store, struct sta_error *err)
{
    char *path = sta_path_join(store->path, "lock");
    int status = STA_OK;
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock_fd < 0)
        status = sta_fail_errno(err, errno, "cannot open %s", path);
    else if (flock(store->lock_fd, LOCK_EX | LOCK_NB) != 0)
        status = errno == EWOULDBLOCK ? name_holder(path, err)
                                      : sta_fail_errno(err, errno, "cannot lock %s", path);
    else if (ftruncate(store->lock_fd, 0) != 0 || dprintf(store->lock_fd, "%ld\n", (long)getpid()) < 0)
        status = sta_fail_errno(err, errno, "cannot write %s", path);
    free(path);
    return status;
}

#define FORMAT_WORDS "strata store "

/* Reads the format file.  *older: it says an older format, or there is none yet. */
static int check_format(const struct sta_store *store, bool *older, struct sta_error *err)
{
    char *path = sta_path_join(store->path, "format"), *text = NULL;
    size_t size;
    unsigned long format = 0;
    int status = sta_file_read(path, 4096, &text, &size, err);
    bool absent = status == STA_ENOTFOUND;
    if (absent)
        status = STA_OK;
    else if (status == STA_OK && strncmp(text, FORMAT_WORDS, strlen(FORMAT_WORDS)) == 0)
        format = strtoul(text + strlen(FORMAT_WORDS), NULL, 10);
    if (status == STA_OK && !absent && format == 0)
        status = sta_fail(err, STA_ECORRUPT, "%s is not the format file of a store", path);
    if (format > STA_DISK_VERSION)
        status = sta_fail(err, STA_ENEWER,
                          "%s is of format %lu, newer than this program's %d; it was left untouched",
                          store->path, format, STA_DISK_VERSION);
    *older = format < STA_DISK_VERSION;
    free(text);
    free(path);
    return status;
}

static int write_format(const struct sta_store *store, struct sta_error *err)
{
    char *path = sta_path_join(store->path, "format");
    char *text = sta_sprintf(FORMAT_WORDS "%d\n", STA_DISK_VERSION);
    int status = sta_file_publish(path, text, strlen(text), err);
    free(text);
    free(path);
    return status;
}

/* ---- reading the catalogue */

/* Return: STA_ENOTFOUND when there is none, STA_ECORRUPT when it was quarantined. */
static int read_entry(struct sta_store *store, const char *folder, const char *id, struct sta_error *err)
{
    char *path = sta_entry_file(folder), *content = NULL;
    size_t size;
    struct sta_trace_entry entry = {0};
    int status = sta_envelope_read(path, STA_ENVELOPE_ENTRY, &content, &size, err);
    if (status == STA_OK)
        status = sta_entry_get(content, size, &entry, err);
    if (status == STA_OK && strcmp(entry.id, id) != 0)
        status = sta_fail(err, STA_ECORRUPT, "the catalogue entry is another trace's");
    if (status == STA_OK)
        sta_store_know(store, &entry);
    else if (status == STA_ECORRUPT)
        sta_quarantine(path, err);
    sta_trace_entry_fini(&entry);
    free(content);
    free(path);
    return status;
}

/* What is published stays, and what a crashed ingest had done that went on from it; the rest of the folder
 * goes.  Return: how many files went. */
static unsigned clean_trace(const char *folder)
{
    struct sta_manifest manifest;
    struct sta_error err = STA_ERROR_INIT;
    int status = sta_manifest_read(folder, &manifest, &err);
    if (status == STA_ENOTFOUND)
        manifest = (struct sta_manifest){.tables_file = STA_NO_CODE, .sources_file = STA_NO_CODE};
    else if (status != STA_OK)
        return 0; /* damaged: opening the trace says so, and a new version replaces all */
    sta_journal_name_files(folder, manifest.version, &manifest);
    unsigned removed = sta_folder_clean(folder, &manifest, false);
    sta_manifest_fini(&manifest);
    return removed;
}

/* A folder without an entry is what a crash left, unless one was quarantined, or that cannot be determined.
 */
static unsigned remove_left(const char *folder)
{
    struct sta_error err = STA_ERROR_INIT;
    char *damaged = sta_path_join(folder, "entry.damaged");
    bool absent = access(damaged, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    free(damaged);
    if (!absent)
        return 0;
    if (sta_tree_remove(folder, &err) == STA_OK)
        return 1;
    sta_log(STA_LOG_WARNING, "Cannot remove what a crash left", "cause", err.text, NULL);
    return 0;
}

/* Nothing is removed because it could not be read: a disk that does not answer now may do so at the next
 * start, and a newer program reads what this one cannot. */
static unsigned read_trace(struct sta_store *store, const char *folder, const char *id)
{
    struct sta_error err = STA_ERROR_INIT;
    switch (read_entry(store, folder, id, &err)) {
    case STA_OK:
        return clean_trace(folder);
    case STA_ENOTFOUND:
        return remove_left(folder);
    case STA_ECORRUPT:
        return 0;
    default:
        sta_log(STA_LOG_ERROR,
                "A trace cannot be read; it is left untouched, and not listed until a start that can",
                "folder", folder, "cause", err.text, NULL);
        return 0;
    }
}

static unsigned read_folder(struct sta_store *store, const char *traces, const char *name)
{
    char *folder = sta_path_join(traces, name);
    unsigned removed = 0;
    if (sta_is_trace_id(name))
        removed = read_trace(store, folder, name);
    else
        sta_log(STA_LOG_WARNING, "The store holds what is no trace; it is left untouched", "path", folder,
                NULL);
    free(folder);
    return removed;
}

static int read_traces(struct sta_store *store, unsigned *cleaned, struct sta_error *err)
{
    char *traces = sta_path_join(store->path, "traces");
    DIR *entries = opendir(traces);
    if (entries == NULL) {
        int status = sta_fail_errno(err, errno, "cannot open folder %s", traces);
        free(traces);
        return status;
    }
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(entries)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            *cleaned += read_folder(store, traces, entry->d_name);
    int status = errno == 0 ? STA_OK : sta_fail_errno(err, errno, "cannot list folder %s", traces);
    closedir(entries);
    free(traces);
    return status;
}

/* ---- open and close */

static unsigned remove_temporary(const struct sta_store *store)
{
    static const char *const names[] = {"format.tmp"};
    unsigned removed = 0;
    for (size_t i = 0; i < STA_COUNT_OF(names); i++) {
        char *path = sta_path_join(store->path, names[i]);
        removed += unlink(path) == 0;
        free(path);
    }
    char *kept = sta_path_join(store->path, "kept");
    removed += sta_folder_clean(kept, &(struct sta_manifest){0}, false);
    free(kept);
    return removed;
}

static int create_folders(const struct sta_store *store, struct sta_error *err)
{
    static const char *const names[] = {"traces", "kept"};
    int status = STA_OK;
    for (size_t i = 0; i < STA_COUNT_OF(names) && status == STA_OK; i++) {
        char *path = sta_path_join(store->path, names[i]);
        status = sta_folder_create(path, err);
        free(path);
    }
    return status;
}

static int open_folder(struct sta_store *store, unsigned *cleaned, struct sta_error *err)
{
    bool older;
    int status = sta_folder_create(store->path, err);
    if (status != STA_OK || (status = check_format(store, &older, err)) != STA_OK ||
        (status = take_lock(store, err)) != STA_OK)
        return status;
    if ((status = create_folders(store, err)) != STA_OK)
        return status;
    if (older && (status = write_format(store, err)) != STA_OK)
        return status;
    *cleaned = remove_temporary(store);
    return read_traces(store, cleaned, err);
}

static struct sta_store *store_create(const char *path)
{
    struct sta_store *made = sta_alloc(sizeof *made);
    made->path = sta_strdup(path);
    made->lock_fd = -1;
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->adding, NULL);
    pthread_mutex_init(&made->keeping, NULL);
    return made;
}

int sta_store_attach(const char *path, struct sta_store **store, struct sta_error *err)
{
    struct sta_store *made = store_create(path);
    bool older;
    int status = check_format(made, &older, err);
    if (status != STA_OK) {
        sta_store_close(made);
        return sta_error_wrap(err, "cannot open the store %s", path);
    }
    *store = made;
    return STA_OK;
}

int sta_store_open(const char *path, struct sta_store **store, unsigned *cleaned, struct sta_error *err)
{
    struct sta_store *made = store_create(path);
    *cleaned = 0;
    int status = open_folder(made, cleaned, err);
    if (status != STA_OK) {
        sta_store_close(made);
        return sta_error_wrap(err, "cannot open the store %s", path);
    }
    *store = made;
    return STA_OK;
}

void sta_store_count_in(struct sta_store *store, struct sta_account *account)
{
    store->account = account;
}

size_t sta_store_shrink(struct sta_store *store, size_t bytes)
{
    return store->cache != NULL ? sta_column_cache_shrink(store->cache, bytes) : 0;
}

void sta_store_keep_columns(struct sta_store *store, uint64_t capacity)
{
    STA_ASSERT(store->cache == NULL);
    store->cache = sta_column_cache_create(capacity, MINIMUM_RESIDENCY_S, store->account);
}

void sta_store_on_damage(struct sta_store *store, void (*found)(void *context, const char *trace),
                         void *context)
{
    store->on_damage = found;
    store->on_damage_context = context;
}

void sta_store_close(struct sta_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->count; i++) {
        STA_ASSERT(store->traces[i]->current == NULL && !store->traces[i]->writing);
        sta_known_trace_destroy(store->traces[i]);
    }
    free(store->traces);
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->adding);
    pthread_mutex_destroy(&store->keeping);
    sta_column_cache_destroy(store->cache);
    free(store->path);
    free(store);
}
