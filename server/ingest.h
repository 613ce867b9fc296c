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
    sta_path_allowed allowed; /* for links inside the trace */
    void *allowed_context;
    unsigned workers;
    size_t memory;
};

/** Brings a trace up to date with its files: reads all of it the first time, later only what is new or
 * changed (everything when `again`), publishes a version when anything differs, and chooses the preset.
 * Context: a job's thread. */
STA_MUSTCHECK int sta_ingest_run(const struct sta_ingest *ingest, const char *trace, bool again,
                                 struct sta_job *job, struct sta_error *err);

/** Chooses the preset of an ingested trace again and notes it; nothing when the trace has no version.  Reads
 * blocks. */
STA_MUSTCHECK int sta_ingest_choose_preset(const struct sta_ingest *ingest, const char *trace,
                                           struct sta_error *err);

/** Whether a listing of the trace's files differs from what a version was read from. */
bool sta_ingest_differs(const char *trace_path, const struct sta_listing *listing,
                        const struct sta_snapshot *snapshot);

#endif
