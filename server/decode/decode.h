/* decode.h - bytes of trace files -> batches of events.  Knows no store and no HTTP.
 *
 * A trace is a folder or one file.  sta_listing_create finds its files; sta_decode_run reads them in
 * parallel, across files and inside one file, and hands out batches.  Every byte and line is accounted for in
 * the sources' ledgers. */
#ifndef STA_DECODE_DECODE_H
#define STA_DECODE_DECODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/event.h"
#include "common/ledger.h"

/* ---- which files make up a trace */

struct sta_listed_file {
    char *path; /* inside the trace (its own name for a trace of one file), bytes as on disk */
    uint64_t size;
    int64_t mtime_ns;
};

struct sta_listing {
    struct sta_listed_file *files; /* ascending by path, byte order */
    size_t count, capacity;
    uint64_t bytes; /* of the files */
    size_t others;  /* entries that are no candidates, for the message "nothing here is a trace" */
};

/** Decides whether a resolved absolute path may be read. */
typedef bool (*sta_path_allowed)(void *context, const char *resolved_path);

/**
 * sta_listing_create - find the candidate files of a trace: *.pfw, *.pfw.gz, and other regular files whose
 * content begins like a trace (gzip magic and then, or at once, blanks, '[' or '{' with a "ph" near the
 * start)
 * @path: folder (searched recursively; links followed only while @allowed says yes; loops end) or one file
 * Return: 0; STA_ENOTFOUND if @path is not there; STA_EIO.  An empty listing is no failure.  Release with
 * sta_listing_fini.
 * Context: any thread.
 */
STA_MUSTCHECK int sta_listing_create(struct sta_listing *listing, const char *path, sta_path_allowed allowed,
                                     void *context, struct sta_error *err);
void sta_listing_fini(struct sta_listing *listing);

/** Whether a folder (not searched recursively) or file looks like a trace: for browsing. */
bool sta_looks_like_trace(const char *path);

enum sta_source_change { STA_SOURCE_SAME, STA_SOURCE_GREW, STA_SOURCE_CHANGED };

/** Compares a source as it was read with the file as it is now: size, time, and where these differ the
 * fingerprints.  GREW only when the source is resumable and its old bytes are untouched.  @file: absolute
 * path. */
enum sta_source_change sta_source_compare(const struct sta_source *source, const char *file);

/* ---- reading them */

/* What to read of one file.  sta_decode_run fills `source`: from empty, or going on from an earlier one. */
struct sta_decode_file {
    const char *file;          /* absolute path */
    struct sta_source *source; /* path set; when `resume`, as it was left by the earlier run */
    bool resume; /* read only the bytes after source->size; counts, lines and notes go on from there */
};

/* Live figures, for progress; read them at any time from any thread. */
struct sta_decode_progress {
    _Atomic uint64_t bytes; /* of the files on disk, read so far */
    _Atomic uint64_t lines, events;
    _Atomic bool cancel; /* set it to stop: sta_decode_run returns STA_ECANCELLED soon */
};

struct sta_decode_request {
    const struct sta_decode_file *files;
    size_t file_count;
    struct sta_tables *tables; /* interned into by all workers */
    unsigned workers;
    struct sta_decode_progress *progress;
    /**
     * Takes over one batch: the events of one chunk (a few MiB of lines) of one source.  batch->source
     * indexes `files`.  Called on worker threads, concurrently for different workers, never twice at once for
     * the same worker.  The callee may swap the arrays of *batch for others of a batch of its own (to keep
     * the rows); what it leaves in there is cleared and reused.  A failure stops the run.
     */
    int (*batch)(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err);
    /** Takes a chunk's counter records (ph = C): their lines as text, each ended by '\n'.  May be NULL. */
    int (*counters)(void *context, unsigned worker, const char *lines, size_t size, struct sta_error *err);
    void *context;
};

/**
 * sta_decode_run - read files into batches
 *
 * Bad lines and bad files are entries of the sources' ledgers (rejected, truncated, malformed), not failures
 * of the run.  Memory: a few MiB of chunk and batch per worker.  Results (ledgers, definitions, events) do
 * not depend on @workers.
 * Context: any thread; starts request->workers threads and joins them.
 * Return: 0, STA_ECANCELLED, STA_EIO when a file that was listed cannot be opened or read on (a rejected
 * source instead, unless all fail), or what the batch callback returned.
 */
STA_MUSTCHECK int sta_decode_run(const struct sta_decode_request *request, struct sta_error *err);

/* ---- one buffer, for tests and fuzzing */

enum sta_decode_path { STA_DECODE_BOTH, STA_DECODE_STRICT_ONLY }; /* with or without the predicted shapes */

/** Decodes a text in memory (several lines) into @batch, @source's counts and notes.  Never fails: bad lines
 * are notes. */
void sta_decode_memory(const char *text, size_t size, enum sta_decode_path path, struct sta_tables *tables,
                       struct sta_source *source, struct sta_batch *batch);

#endif
