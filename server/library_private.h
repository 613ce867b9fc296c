/* library_private.h - shared by library.c, library_jobs.c and library_browse.c only. */
#ifndef STA_SERVER_LIBRARY_PRIVATE_H
#define STA_SERVER_LIBRARY_PRIVATE_H

#include <uv.h>

#include "server/library.h"

/* What is kept in memory of one trace. */
struct sta_shelf {
    struct sta_shelf *next;
    char id[STA_TRACE_ID_SIZE];
    struct sta_snapshot *snapshot; /* NULL: not open; retained */
    uint64_t used;                 /* turn of the last use, for closing those longest unused */
    uint64_t version_changes;      /* how often what is known was forgotten */
    bool known;                    /* the figures below are of the published version */
    bool published, damaged;
    uint64_t version, files, bytes, events, store_bytes, problems;
    int64_t start_us, ingested_us;
    double job_time;
    uint64_t hosts, processes, threads;
    bool stale;
    uint64_t checked_ns; /* when the sources were last compared */
};

struct sta_library {
    struct sta_store *store;
    struct sta_jobs *jobs;
    char **roots;
    size_t root_count;
    unsigned workers;
    size_t memory;
    struct sta_preset_folders folders;
    uv_mutex_t editing; /* held while presets change; taken before `lock` */
    uv_mutex_t lock;    /* guards all below; never held while a job or the store is waited for */
    struct sta_presets *presets;
    struct sta_shelf *shelves;
    uint64_t turn;
    unsigned open_snapshots;
    bool stopping;
    void (*on_publish)(void *context, const char *trace);
    void *on_publish_context;
    unsigned telling; /* calls of on_publish under way */
    uv_cond_t told;   /* there is none any more */
};

/** The trace's shelf, made when it is not there.  Context: under the lock. */
struct sta_shelf *sta_library_shelf(struct sta_library *library, const char *id);
/** Forgets what is known of the published version: it is looked up again when asked. */
void sta_library_forget_version(struct sta_library *library, const char *id);
/** Whether a resolved path lies in a root; fits sta_path_allowed. */
bool sta_library_allowed(void *library, const char *resolved_path);
/** Queues an ingest of the trace; @again reads all files anew. */
STA_MUSTCHECK int sta_library_start_ingest(struct sta_library *library, const char *id, const char *kind,
                                           bool again, const char *note, char job[STA_JOB_ID_SIZE],
                                           struct sta_error *err);
/** Compares the sources with the files; true when something was added, changed or removed since the ingest.
 * Reads folders. */
bool sta_library_is_stale(struct sta_library *library, const struct sta_trace_entry *entry,
                          struct sta_snapshot *snapshot);
/** The absolute, resolved path inside the roots; free() it.  STA_EFORBIDDEN for any other, there or not;
 * STA_ENOTFOUND inside. */
STA_MUSTCHECK int sta_library_resolve(struct sta_library *library, const char *path, char **resolved,
                                      struct sta_error *err);

#endif
