/* ingest_plan.h - what an ingest has to do: a listing of a trace's files beside the sources of its published
 * version (private to ingest and library). */
#ifndef STA_SERVER_INGEST_PLAN_H
#define STA_SERVER_INGEST_PLAN_H

#include "decode/decode.h"
#include "store/store.h"

/* A file to read. */
struct sta_plan_item {
    char *file;       /* absolute path */
    const char *path; /* inside the trace; borrowed from the listing */
    bool resume;      /* from where it ended when it was read before */
    bool known;       /* it was read before */
    uint64_t bytes_to_read;
    int64_t mtime_ns; /* of the file */
    uint64_t end;     /* of what is to be read, on disk; 0: the file's */
};

/* A source that is not read, but listed in the report. */
struct sta_plan_record {
    char *path;
    enum sta_source_state state; /* VANISHED or REJECTED */
    char *reason;
};

struct sta_ingest_plan {
    struct sta_plan_item *items;
    size_t count;
    bool *drop; /* by source of the base */
    size_t dropped;
    struct sta_plan_record *records;
    size_t record_count, record_capacity;
    uint64_t bytes;
    size_t rewritten; /* files that are to be read again */
};

/**
 * sta_ingest_plan_make - compare a listing with the sources of a version
 * What is the same stays, what has grown is read on from where it ended, what changed or is new is read, what
 * vanished leaves and is recorded.  Gone is only what the system says is not there.
 * @base: NULL when there is no version yet
 * @growth: of a trace that is followed: only what is complete of a file is read; NULL: all is
 * @cancel: ends looking how far files are complete
 * Return: 0; STA_ECANCELLED; the failure when a file that was read before cannot be looked at now.  Release
 * with sta_ingest_plan_fini, also after a failure.
 */
STA_MUSTCHECK int sta_ingest_plan_make(struct sta_ingest_plan *plan, struct sta_roots *roots,
                                       const struct sta_listing *listing, const char *trace_path,
                                       const struct sta_snapshot *base, struct sta_growth *growth,
                                       const _Atomic bool *cancel, struct sta_error *err);
void sta_ingest_plan_fini(struct sta_ingest_plan *plan);
/** Goes on with an ingest that was interrupted: files that the writer finds done in its journal, and that are
 * the same still, leave the plan.  @ranges: files of which ranges are done can be gone on with; these stay in
 * the plan.  @trace_path: for the log.  @skipped: set to how many left. */
STA_MUSTCHECK int sta_ingest_plan_resume(struct sta_ingest_plan *plan, struct sta_roots *roots, bool ranges,
                                         const char *trace_path, struct sta_writer *writer, size_t *skipped,
                                         struct sta_error *err);
/** Whether a new version is needed. */
bool sta_ingest_plan_differs(const struct sta_ingest_plan *plan);

/** Whether a listing has other names than the sources of a version. */
bool sta_ingest_names_differ(const struct sta_listing *listing, const struct sta_snapshot *snapshot);
/** Whether one of the files that a version was read from is another now.  Opens no file whose size and time
 * are the same.  @single: the trace is one file.  A file that cannot be looked at counts as the same.  @stop:
 * ends it early when it becomes true. */
bool sta_ingest_files_differ(struct sta_roots *roots, const char *trace_path, bool single,
                             const struct sta_snapshot *snapshot, const _Atomic bool *stop);

#endif
