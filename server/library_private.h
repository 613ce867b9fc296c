/* library_private.h - shared by the files of library only. */
#ifndef STA_SERVER_LIBRARY_PRIVATE_H
#define STA_SERVER_LIBRARY_PRIVATE_H

#include <uv.h>

#include "common/roots.h"
#include "decode/decode.h"
#include "server/library.h"
#include "server/library_live.h"

/* What looking at a trace's files found, and when to look again: see library_stale.c. */
struct sta_stale_check {
    bool wanted;                       /* by a request; the checker takes it next */
    uint64_t due_ns, list_due_ns;      /* not before; list: the folders too */
    uint64_t version;                  /* the folders below were compared with this version's sources */
    struct sta_listed_folder *folders; /* of the last listing */
    size_t folder_count;
    bool single;       /* the trace is one file */
    bool names_differ; /* and what that listing found */
};

/* What is kept in memory of one trace. */
struct sta_trace_record {
    struct sta_trace_record *next;
    char id[STA_TRACE_ID_SIZE];
    struct sta_snapshot *snapshot; /* NULL: not open; retained */
    uint64_t used;                 /* turn of the last use, for closing those longest unused */
    uint64_t version_changes;      /* how often what is known was forgotten */
    uint64_t rebuilt;              /* the damaged version for which an ingest was started */
    uint64_t compacted;            /* the fragmented version for which a compaction was started */
    bool known;                    /* the figures below are of the published version */
    bool published, damaged;
    uint64_t version, files, bytes, events, store_bytes, problems;
    int64_t start_us, ingested_us;
    double job_time;
    uint64_t hosts, processes, threads;
    bool stale;
    struct sta_stale_check check;
};

/* How live traces are followed: see follow.c. */
struct sta_following {
    uint64_t interval_ns, poll_ns, quiet_ns; /* of the settings; quiet_ns 0: never ends by itself */
    bool polls;                              /* even where changes are announced */
    uv_thread_t thread;
    bool runs;
    int wake_fd; /* -1: the thread was not started */
};

/* When the store is to remember again which columns are read: see library_warm.c. */
struct sta_keeping {
    uint64_t due_ns;  /* 0: it was not looked at yet */
    uint64_t decoded; /* by then; as long as no other is decoded the columns are the same */
};

struct sta_library {
    struct sta_store *store;
    struct sta_jobs *jobs;
    struct sta_roots *roots;
    unsigned workers;
    size_t memory;
    uint64_t json_bytes_per_file;
    struct sta_account *account;
    struct sta_preset_folders folders;
    const struct sta_fellow_readers *readers;
    bool compacts, warms;
    bool (*is_busy)(void *context);
    void *is_busy_context;
    uv_mutex_t editing;  /* held while presets change; taken before `changing` */
    uv_mutex_t changing; /* held while a trace is added, gets a job or is retired, so that it has one job at
                            most and a retired one none; taken before `lock` */
    uv_mutex_t lock;     /* guards all below; never held while a job or the store is waited for */
    struct sta_presets *presets;
    struct sta_trace_record *records;
    uint64_t turn;
    unsigned open_snapshots;
    uint64_t open_segments; /* of these snapshots, each a map of the process, which may have some 65,000 */
    _Atomic bool stopping;  /* also ends a look at files that is under way */
    uv_thread_t checker;    /* compares sources with files: see library_stale.c */
    bool has_checker;
    struct sta_keeping keeping; /* of the checker alone */
    struct sta_following follow;
    struct sta_live *live; /* traces that are followed: see library_live.c */
    uv_cond_t check_wanted, check_done;
    sta_published on_publish;
    void *on_publish_context;
    unsigned callbacks; /* calls of on_publish under way */
    uv_cond_t callbacks_done;
};

/** The trace's record, made when it is not there.  Context: under the lock. */
struct sta_trace_record *sta_library_trace_record(struct sta_library *library, const char *id);
/** Forgets all that is in memory of a trace that is no more. */
void sta_library_forget(struct sta_library *library, const char *id);
/** Forgets what is known of the published version: it is looked up again when asked. */
void sta_library_forget_version(struct sta_library *library, const char *id);
/** Starts the compaction of a fragmented trace.  library_compact.c */
void sta_library_start_compaction(struct sta_library *library, const char *id);
/** Cancels the compaction of a trace, if there is one, and waits for its end. */
void sta_library_end_compaction(struct sta_library *library, const char *id);
/** For work of the least priority: waits while somebody waits for an answer or another job is at work.
 * @looked_ns: uv_hrtime of the last look, 0 at first; it looks once in some milliseconds.  Return: 0;
 * STA_ECANCELLED when the job is. */
STA_MUSTCHECK int sta_library_give_way(const struct sta_library *library, struct sta_job *job,
                                       uint64_t *looked_ns, struct sta_error *err);
/** Queues the job that decodes the columns that were read before the start.  library_warm.c */
void sta_library_start_warming(struct sta_library *library);
/** Has the store remember which columns are read.  Context: the checker, or when it has ended. */
void sta_library_keep_columns(struct sta_library *library);
/** The same once in a while, when there are others.  Return: nanoseconds until the next look. */
uint64_t sta_library_keep_columns_if_due(struct sta_library *library);
/** Calls the listener, if there is one.  @job: NULL allowed. */
void sta_library_tell_published(struct sta_library *library, const char *id, struct sta_job *job);
/** Starts the ingest that reads a damaged trace again, unless it has a job. */
void sta_library_start_rebuild(struct sta_library *library, const char *id);
/** Queues a job that reads what is new of a trace.  @kind: static.  Context: under `changing`, the trace has
 * no job. */
STA_MUSTCHECK int sta_library_start_job(struct sta_library *library, const char *id, const char *kind,
                                        char job[STA_JOB_ID_SIZE], struct sta_error *err);
/** Compares the sources with the files; true when something was added, changed or removed since the ingest.
 * Reads folders.  What cannot be looked at counts as unchanged. */
bool sta_library_is_stale(struct sta_library *library, const struct sta_trace_entry *entry,
                          struct sta_snapshot *snapshot);
/** Lets the checker look at the trace's files if that is due, and waits a moment for what it finds. */
void sta_library_check_stale(struct sta_library *library, const struct sta_trace_entry *entry);
void sta_library_start_checker(struct sta_library *library);
void sta_library_stop_checker(struct sta_library *library);
void sta_stale_check_fini(struct sta_stale_check *check);

#endif
