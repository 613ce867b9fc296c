/* ingest.h - the pump: decode on workers, append to the store, report progress, publish.  The only file that
 * knows both stages. */
#ifndef STA_SERVER_INGEST_H
#define STA_SERVER_INGEST_H

#include "analyse/analyse.h"
#include "decode/decode.h"
#include "server/jobs.h"
#include "store/store.h"

struct sta_ingest {
    struct sta_store *store;
    const struct sta_presets *presets;
    struct sta_roots *roots; /* where files may be read */
    unsigned workers;
    size_t memory;
    uint64_t json_bytes_per_file; /* past which a file is truncated; 0: no limit */
    bool accept_rewritten; /* a file that is rewritten while it is read is taken as it comes, and marked stale
                            */
    struct sta_account *account; /* what the ingest holds is charged to it */
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
