/* Whether a trace's files are still what they were when they were read.
 *
 * DESIGN.  A thread of its own looks, since a file system may not answer for minutes; who describes a trace
 * waits only a moment for it.  Names are compared by listing the folders only when one of them has changed,
 * or after LIST_NS (a file may begin to look like a trace, a link's target may appear).  Files are compared
 * by size and time, and opened only where these differ.  The next look is put off by RESTING times what the
 * last one cost.  In between, the thread has the store remember which columns are read. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "server/ingest_plan.h"
#include "server/library_private.h"

#define CHECK_NS UINT64_C(2000000000)
#define LIST_NS UINT64_C(60000000000)
#define RESTING 50
#define WAIT_NS UINT64_C(100000000) /* for a look that was just asked for */

static void take_folders(struct sta_stale_check *check, struct sta_listing *listing)
{
    sta_stale_check_fini(check);
    check->folders = listing->folders;
    check->folder_count = listing->folder_count;
    check->single = listing->single;
    listing->folders = NULL;
    listing->folder_count = 0;
}

void sta_stale_check_fini(struct sta_stale_check *check)
{
    for (size_t i = 0; i < check->folder_count; i++)
        free(check->folders[i].path);
    free(check->folders);
    check->folders = NULL;
    check->folder_count = 0;
}

/* Lists the folders, if they may have changed.  Return: a failure when they cannot be listed. */
static int compare_names(struct sta_library *library, const char *path, struct sta_snapshot *snapshot,
                         struct sta_stale_check *check, struct sta_error *err)
{
    struct sta_listing listing;
    uint64_t version = sta_snapshot_info(snapshot)->version, now = uv_hrtime();
    if (check->version == version && now < check->list_due_ns &&
        !sta_listing_names_changed(check->folders, check->folder_count, library->roots, path))
        return STA_OK;
    int status = sta_listing_create(&listing, library->roots, path, &library->stopping, err);
    if (status != STA_OK)
        return status;
    check->names_differ = sta_ingest_names_differ(&listing, snapshot);
    check->version = version;
    check->list_due_ns = now + STA_MAX(LIST_NS, RESTING * (uv_hrtime() - now));
    take_folders(check, &listing);
    sta_listing_fini(&listing);
    return STA_OK;
}

/* *stale stays as it is when the files cannot be looked at. */
static void look(struct sta_library *library, const char *path, struct sta_snapshot *snapshot,
                 struct sta_stale_check *check, bool *stale)
{
    struct sta_error err = STA_ERROR_INIT;
    uint64_t begin = uv_hrtime();
    int status = compare_names(library, path, snapshot, check, &err);
    if (status == STA_OK)
        *stale = check->names_differ ||
                 sta_ingest_files_differ(library->roots, path, check->single, snapshot, &library->stopping);
    else if (status == STA_ENOTFOUND)
        *stale = true;
    uint64_t now = uv_hrtime();
    check->due_ns = now + STA_MAX(CHECK_NS, RESTING * (now - begin));
}

bool sta_library_is_stale(struct sta_library *library, const struct sta_trace_entry *entry,
                          struct sta_snapshot *snapshot)
{
    struct sta_stale_check check = {0};
    bool stale = false;
    look(library, entry->path, snapshot, &check, &stale);
    sta_stale_check_fini(&check);
    return stale;
}

/* ---- the checker */

static struct sta_trace_record *next_wanted(struct sta_library *library)
{
    struct sta_trace_record *record = library->records;
    while (record != NULL && !record->check.wanted)
        record = record->next;
    return record;
}

/* Under the lock.  Puts back what was found, unless the trace has gone or has another version than @version
 * by now. */
static void put_back(struct sta_library *library, const char *id, uint64_t version,
                     struct sta_stale_check *check, bool stale)
{
    struct sta_trace_record *record = library->records;
    while (record != NULL && strcmp(record->id, id) != 0)
        record = record->next;
    if (record == NULL) {
        sta_stale_check_fini(check);
        return;
    }
    if (record->known && record->version == version)
        record->stale = stale;
    sta_stale_check_fini(&record->check);
    record->check = *check;
    record->check.wanted = false;
}

/* Under the lock, which it leaves while it looks. */
static void check_record(struct sta_library *library, struct sta_trace_record *record)
{
    char id[STA_TRACE_ID_SIZE];
    struct sta_trace_entry entry;
    struct sta_error ignored = STA_ERROR_INIT;
    struct sta_stale_check check = record->check;
    struct sta_snapshot *snapshot = record->snapshot != NULL ? sta_snapshot_retain(record->snapshot) : NULL;
    bool stale = record->stale;
    memcpy(id, record->id, sizeof id);
    record->check = (struct sta_stale_check){.due_ns = UINT64_MAX}; /* one look at a time */
    uv_mutex_unlock(&library->lock);
    if (snapshot != NULL && sta_store_find(library->store, id, &entry, &ignored) == STA_OK) {
        look(library, entry.path, snapshot, &check, &stale);
        sta_trace_entry_fini(&entry);
    }
    uv_mutex_lock(&library->lock);
    put_back(library, id, snapshot != NULL ? sta_snapshot_info(snapshot)->version : 0, &check, stale);
    uv_cond_broadcast(&library->check_done);
    uv_mutex_unlock(&library->lock);
    sta_snapshot_release(snapshot);
    uv_mutex_lock(&library->lock);
}

static void checker_main(void *argument)
{
    struct sta_library *library = argument;
    uv_mutex_lock(&library->lock);
    while (!library->stopping) {
        uv_mutex_unlock(&library->lock);
        const uint64_t rest_ns = sta_library_keep_columns_if_due(library);
        uv_mutex_lock(&library->lock);
        struct sta_trace_record *record = next_wanted(library);
        if (record != NULL)
            check_record(library, record);
        else if (!library->stopping)
            uv_cond_timedwait(&library->check_wanted, &library->lock, rest_ns);
    }
    uv_mutex_unlock(&library->lock);
}

void sta_library_start_checker(struct sta_library *library)
{
    uv_cond_init(&library->check_wanted);
    uv_cond_init(&library->check_done);
    library->has_checker = uv_thread_create(&library->checker, checker_main, library) == 0;
}

void sta_library_stop_checker(struct sta_library *library)
{
    sta_library_stop(library);
    if (library->has_checker)
        uv_thread_join(&library->checker);
    uv_cond_destroy(&library->check_wanted);
    uv_cond_destroy(&library->check_done);
}

void sta_library_check_stale(struct sta_library *library, const struct sta_trace_entry *entry)
{
    uint64_t end = uv_hrtime() + WAIT_NS;
    uv_mutex_lock(&library->lock);
    struct sta_trace_record *record = sta_library_trace_record(library, entry->id);
    bool waiting = library->has_checker && !library->stopping && record->snapshot != NULL &&
                   uv_hrtime() >= record->check.due_ns;
    if (waiting) {
        record->check.wanted = true;
        uv_cond_signal(&library->check_wanted);
    }
    for (uint64_t now = uv_hrtime(); waiting && now < end; now = uv_hrtime()) {
        uv_cond_timedwait(&library->check_done, &library->lock, end - now);
        record = sta_library_trace_record(library, entry->id);
        waiting = record->check.wanted || record->check.due_ns == UINT64_MAX;
    }
    uv_mutex_unlock(&library->lock);
}
