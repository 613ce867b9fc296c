/* ingest.h - the pump: decode on workers, append to the store, report progress, publish.  The only file that
 * knows both stages. */
#ifndef STA_SERVER_INGEST_H
#define STA_SERVER_INGEST_H

#include "analyse/analyse.h"
#include "decode/decode.h"
#include "server/jobs.h"
#include "store/store.h"

/* When the last event of a file begins, of those read by a run. */
struct sta_file_clock {
    char *path;        /* inside the trace */
    int64_t latest_us; /* Unix time; INT64_MIN: it has none */
};

/* What a run found and did, for who follows the trace. */
struct sta_ingest_found {
    struct sta_listing listing; /* empty when it could not be made */
    bool published;             /* there is a new version */
    size_t rewritten;           /* files that were read again, since they were not what they had been */
    struct sta_file_clock *clocks;
    size_t clock_count;
};
void sta_ingest_found_fini(struct sta_ingest_found *found);

/* Files of a version to be, which several processes read. */
struct sta_shared_reading {
    const char *trace; /* id */
    struct sta_writer *writer;
    const struct sta_decode_request *request; /* all files; its callbacks take what this process reads */
    const uint32_t *numbers;                  /* of their sources in the writer, by file */
    const uint64_t *bytes;                    /* to read, by file */
};

/* Other processes that read along. */
struct sta_fellow_readers {
    void *context;
    uint64_t least; /* bytes of a file alone that it takes to share it */
    /** As sta_decode_run; what others have read is adopted by the writer. */
    int (*read)(void *context, const struct sta_shared_reading *reading, struct sta_error *err);
    /** How long the other processes had nothing to do before and after that. */
    void (*note_alone)(void *context, uint64_t plan_ns, uint64_t publish_ns);
};

struct sta_ingest {
    struct sta_store *store;
    const struct sta_presets *presets;
    struct sta_roots *roots; /* where files may be read */
    unsigned workers;
    size_t memory;
    uint64_t json_bytes_per_file; /* past which a file is truncated; 0: no limit */
    bool accept_rewritten; /* a file that is rewritten while it is read is taken as it comes, and marked stale
                            */
    struct sta_account *account;  /* what the ingest holds is charged to it */
    const _Atomic bool *stopping; /* becomes true when the daemon ends: what is done then stays for its next
                                     start, as after a crash; NULL: never */
    struct sta_growth *growth; /* of a trace that is followed: of its files what is complete is read, and it
                                  is no failure that there is nothing yet; NULL: all is read */
    const struct sta_fellow_readers *readers; /* of traces of events that are not followed; NULL: none */
    struct sta_ingest_found *found;           /* filled in; NULL: not wanted */
    struct sta_snapshot **version; /* NULL before; set to the version whose preset was chosen, for the caller
                                      to release */
};

/** Brings a trace up to date with its files: reads all of it the first time, later only what is new or
 * changed (everything when the store's version is damaged), publishes a version when anything differs, and
 * chooses the preset. In a job's small slot it ends as soon as the trace turns out to be large
 * (sta_job_leave_small_slot). Context: a job's thread. */
STA_MUSTCHECK int sta_ingest_run(const struct sta_ingest *ingest, const char *trace, struct sta_job *job,
                                 struct sta_error *err);

/** Chooses the preset of an ingested trace again and notes it; nothing when the trace has no version.  Reads
 * blocks. */
STA_MUSTCHECK int sta_ingest_choose_preset(const struct sta_ingest *ingest, const char *trace,
                                           struct sta_error *err);

#endif
