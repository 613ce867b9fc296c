/* library.h - the registered traces: what the store keeps, what jobs do to it, and what clients see of
 * both.
 *
 * Joins store, ingest, jobs and presets, so that serve needs no other door to them.  All calls: any thread,
 * and none computes or reads much, but for sta_library_register and sta_library_browse, which look at
 * folders. */
#ifndef STA_SERVER_LIBRARY_H
#define STA_SERVER_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/analyse.h"
#include "common/error.h"
#include "common/roots.h"
#include "server/jobs.h"
#include "store/store.h"

struct sta_library;

/* Where presets are read from. */
struct sta_preset_folders {
    const char *functions;      /* file of function classes */
    const char *built_in, *own; /* folders; one's own comes second and need not be there */
    const char *rules;          /* file of the rules of findings */
    const char *own_rules;      /* folder; need not be there */
};
/** All presets as they stand in the folders. */
STA_MUSTCHECK int sta_preset_folders_read(const struct sta_preset_folders *folders,
                                          struct sta_presets **presets, struct sta_error *err);
/** The same for the start, which no preset of one's own can stop: one that makes no sense is renamed to
 * NAME.yaml.damaged and logged; without those that cannot be read the built-in ones remain. */
STA_MUSTCHECK int sta_preset_folders_recover(const struct sta_preset_folders *folders,
                                             struct sta_presets **presets, struct sta_error *err);

struct sta_fellow_readers;

struct sta_library_options {
    struct sta_store *store;           /* borrowed */
    struct sta_jobs *jobs;             /* borrowed */
    struct sta_presets *presets;       /* in force; retained */
    struct sta_preset_folders folders; /* borrowed */
    struct sta_roots *roots;           /* borrowed */
    unsigned workers;
    size_t memory;
    uint64_t json_bytes_per_file; /* past which a file is truncated */
    struct sta_account *account;  /* of the daemon: what jobs hold is charged to it; borrowed */
    /* Of live traces: seconds between versions at least, between looks where changes are not announced, and
     * without growth after which following ends (0: never); polls: looks only, whatever is announced. */
    uint64_t follow_interval, follow_poll, follow_quiet;
    bool follow_polls;
    const struct sta_fellow_readers *readers; /* other processes that read along in ingests; NULL: none */
    bool compacts;                            /* fragmented traces are compacted without being asked */
    bool warms;                               /* columns are decoded after a start without being asked for */
    /** Whether somebody waits for an answer: then neither is done.  Context: any thread. */
    bool (*is_busy)(void *context);
    void *is_busy_context;
};

struct sta_library *sta_library_create(const struct sta_library_options *options);
/** Before the jobs are destroyed: what they leave undone from now on is resumed at the next start. */
void sta_library_stop(struct sta_library *library);
void sta_library_destroy(struct sta_library *library);

/** The presets in force, retained for the caller. */
struct sta_presets *sta_library_presets(struct sta_library *library);
/** Names of the files of one's own presets that made no sense at a start, sorted; free() each and the list.
 * Context: any thread that may wait for a disk. */
char **sta_library_presets_quarantined(const struct sta_library *library, size_t *count);
/** Reads the folders again; what was in force stays when that fails. */
STA_MUSTCHECK int sta_library_reload_presets(struct sta_library *library, struct sta_error *err);
/** The presets as a change would make them: see sta_presets_try. */
STA_MUSTCHECK int sta_library_try_preset(struct sta_library *library, const struct sta_preset_change *change,
                                         struct sta_presets **presets, struct sta_preset_mistakes *mistakes,
                                         struct sta_error *err);
/** Makes the change, durably, and puts it in force.  *created: there was no preset of one's own of that
 * name. */
STA_MUSTCHECK int sta_library_put_preset(struct sta_library *library, const struct sta_preset_change *change,
                                         bool *created, struct sta_preset_mistakes *mistakes,
                                         struct sta_error *err);
/** STA_ENOTFOUND; STA_EFORBIDDEN for a built-in one; STA_EINPUT when another preset extends it. */
STA_MUSTCHECK int sta_library_delete_preset(struct sta_library *library, const char *name,
                                            struct sta_error *err);

/** Makes the change of a rule, durably, and puts it in force; as sta_library_put_preset. */
STA_MUSTCHECK int sta_library_put_rule(struct sta_library *library, const struct sta_preset_change *change,
                                       bool *created, struct sta_preset_mistakes *mistakes,
                                       struct sta_error *err);
/** STA_ENOTFOUND; STA_EFORBIDDEN for a built-in one. */
STA_MUSTCHECK int sta_library_delete_rule(struct sta_library *library, const char *id, struct sta_error *err);

enum sta_trace_state { STA_TRACE_INGESTING, STA_TRACE_READY, STA_TRACE_FAILED, STA_TRACE_STALE };
const char *sta_trace_state_name(enum sta_trace_state state);

/* What is known of a trace that is followed. */
struct sta_live_view {
    bool live;        /* it is; else nothing below holds */
    bool announced;   /* changes of its files are announced by the system */
    int64_t since_us; /* Unix time */
    int64_t clock_us; /* when the last event begins of the file whose last event is earliest; INT64_MIN: none
                         was read since the daemon started */
    char *slowest;    /* path of that file inside the trace; NULL: none */
    uint64_t behind;  /* bytes of the files that are not complete, or not read yet, at the last look */
    uint64_t rewritten; /* files that were read again, since the daemon started */
    char *problem;      /* why its last step failed; NULL: it did not */
};

/* A trace as the API tells it. */
struct sta_trace_view {
    struct sta_trace_entry entry;
    enum sta_trace_state state;
    bool published; /* there is a version to ask, whatever the state: the fields below hold */
    uint64_t version, files, bytes, events, store_bytes, problems;
    int64_t start_us; /* Unix time of the origin */
    double job_time;  /* seconds */
    uint64_t hosts, processes, threads;
    int64_t ingested_us;
    char job[STA_JOB_ID_SIZE]; /* its queued or running job, or ""; steps of following are none */
    struct sta_live_view live;
};
void sta_trace_view_fini(struct sta_trace_view *view);

struct sta_trace_view *sta_library_list(struct sta_library *library, size_t *count); /* fini each, free() */
STA_MUSTCHECK int sta_library_describe(struct sta_library *library, const char *id,
                                       struct sta_trace_view *view, struct sta_error *err);

struct sta_registration {
    char trace[STA_TRACE_ID_SIZE];
    char job[STA_JOB_ID_SIZE]; /* "" when nothing had to be done */
    bool created;              /* false: this path was registered before */
};
/** Registers a folder or file and starts its ingest.  @name: NULL takes the last part of the path.  @follow:
 * from then on what is written to its files is read too.  The same path again, unchanged: the existing trace;
 * changed: a refresh.  STA_EFORBIDDEN outside the roots, whether or not it exists. */
STA_MUSTCHECK int sta_library_register(struct sta_library *library, const char *path, const char *name,
                                       bool follow, struct sta_registration *registration,
                                       struct sta_error *err);
/** Follows a trace: what is complete of its files is read as they grow, until they have not grown for a while
 * or
 * @follow is false; then what is left is read.  STA_ENOTFOUND. */
STA_MUSTCHECK int sta_library_follow(struct sta_library *library, const char *id, bool follow,
                                     struct sta_error *err);
/** Queues a refresh, or names the job that the trace has already. */
STA_MUSTCHECK int sta_library_refresh(struct sta_library *library, const char *id, char job[STA_JOB_ID_SIZE],
                                      struct sta_error *err);
/** Queues the compaction of a trace whatever the rule says, or names the one that waits or runs already. */
STA_MUSTCHECK int sta_library_compact(struct sta_library *library, const char *id, char job[STA_JOB_ID_SIZE],
                                      struct sta_error *err);
/** Cancels the trace's jobs, waits for them, forgets it.  From the first moment on the trace is not found by
 * any other call; when the removal fails it is back. */
STA_MUSTCHECK int sta_library_remove(struct sta_library *library, const char *id, struct sta_error *err);
/** @name or @tags NULL: unchanged. */
STA_MUSTCHECK int sta_library_rename(struct sta_library *library, const char *id, const char *name,
                                     const char *const *tags, size_t tag_count, struct sta_error *err);
/** @job: the ingest, which ends when the call returns; NULL: a compaction.  Context: its thread. */
typedef void (*sta_published)(void *context, const char *trace, struct sta_job *job);
/** Calls @published after each ingest, and each compaction, that left a version to query; one listener.
 * Returns when no call of the listener before is under way. */
void sta_library_on_publish(struct sta_library *library, sta_published published, void *context);
/** At start: ingests again what a crash interrupted, or what was found damaged, goes on following live
 * traces, and decodes the columns that were read before it. */
void sta_library_resume(struct sta_library *library);

/** The published version for asking; STA_ENOTFOUND without one (the text says the state).  Snapshots stay
 * open and shared between calls. */
STA_MUSTCHECK int sta_library_snapshot(struct sta_library *library, const char *id,
                                       struct sta_snapshot **snapshot, struct sta_error *err);
/** Whether the trace is followed. */
bool sta_library_is_live(struct sta_library *library, const char *id);
/** Whether sta_library_snapshot has nothing to open: then it reads no file. */
bool sta_library_is_open(struct sta_library *library, const char *id);
/** The preset chosen for a trace; copied to @name (64 bytes). */
STA_MUSTCHECK int sta_library_preset_of(struct sta_library *library, const char *id, char name[64],
                                        struct sta_error *err);

/* ---- browsing the allowed roots */
struct sta_browse_entry {
    char *name;
    bool folder, candidate; /* looks like a trace */
    uint64_t size;
    int64_t mtime_us;
    char trace[STA_TRACE_ID_SIZE]; /* registered as this one, or "" */
};
struct sta_browse {
    char *path;                       /* NULL: the entries are the roots */
    char *parent;                     /* NULL at a root */
    struct sta_browse_entry *entries; /* folders first, by name */
    size_t count;
    bool truncated; /* more than were listed (10,000) */
};
STA_MUSTCHECK int sta_library_browse(struct sta_library *library, const char *path, struct sta_browse *browse,
                                     struct sta_error *err);
void sta_browse_fini(struct sta_browse *browse);

#endif
