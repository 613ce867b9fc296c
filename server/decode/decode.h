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
#include "common/roots.h"
#include "common/trace_kind.h"

/* ---- which files make up a trace */

struct sta_listed_file {
    char *path; /* inside the trace (its own name for a trace of one file), bytes as on disk */
    enum sta_trace_kind kind;
    uint64_t size;
    int64_t mtime_ns;
    bool assumed; /* its beginning is of no kind, but files of that kind are usually called so */
};

/* An entry that is there, but could not be looked at, or is not read: it may be a file of the trace, or a
 * folder of them. */
struct sta_unlisted {
    char *path;     /* inside the trace */
    char *reason;   /* a sentence */
    int status;     /* STA_EFORBIDDEN: a link that leads out of the roots, or a file that other files of the
                       trace stand for; else STA_EIO */
    bool candidate; /* a folder, or named like a file of a trace */
};

/* A folder that was listed: while its time stays, no name in it has come or gone. */
struct sta_listed_folder {
    char *path; /* inside the trace; "" for the trace's own */
    uint64_t device, inode;
    int64_t mtime_ns;
    bool settled; /* when it was listed, its time had been the same for a while, so that the next change shows
                   */
};

struct sta_listing {
    struct sta_listed_file *files; /* ascending by path, byte order */
    size_t count, capacity;
    uint64_t bytes; /* of the files */
    struct sta_unlisted *unlisted;
    size_t unlisted_count, unlisted_capacity;
    struct sta_listed_folder *folders;
    size_t folder_count, folder_capacity;
    size_t others; /* entries that are no candidates, for the message "nothing here is a trace" */
    bool single;   /* the trace is one file */
    bool links;    /* there are symbolic links in its folders */
};

/**
 * sta_listing_create - find the candidate files of a trace: *.pfw, *.pfw.gz, and other regular files whose
 * content begins like one of the kinds of trace: records of DASF, or lines (gzip magic and then, or at once,
 * blanks, '[' or '{' with a "ph" near the start), or that are called as the files of a training log are,
 * while no other kind of trace is there
 * @path: folder (searched recursively; links followed only while they stay in the roots; loops end) or one
 * file; absolute
 * @cancel: stops it when it becomes true; may be NULL
 * Return: 0; STA_ENOTFOUND if @path is not there; STA_EFORBIDDEN outside the roots; STA_ECANCELLED; STA_EIO,
 * STA_EBUSY, STA_ENOMEM.  An empty listing is no failure.  Release with sta_listing_fini.
 * Context: any thread.
 */
STA_MUSTCHECK int sta_listing_create(struct sta_listing *listing, struct sta_roots *roots, const char *path,
                                     const _Atomic bool *cancel, struct sta_error *err);
void sta_listing_fini(struct sta_listing *listing);
/** The kind of a trace of these files, at least one.  Return: STA_EINPUT when they are of different kinds. */
STA_MUSTCHECK int sta_listing_kind(const struct sta_listing *listing, enum sta_trace_kind *kind,
                                   struct sta_error *err);
/** The absolute path of a path inside the trace; free() it. */
char *sta_listing_path(const struct sta_listing *listing, const char *trace_path, const char *inside);
/** What could not be looked at and is, or may hold, the file: then it is not known to be gone.  NULL: none.
 */
const struct sta_unlisted *sta_listing_covers(const struct sta_listing *listing, const char *inside);
/** Whether a name may have come or gone in one of the folders since they were listed.  Looks at the folders
 * themselves alone. */
bool sta_listing_names_changed(const struct sta_listed_folder *folders, size_t count, struct sta_roots *roots,
                               const char *trace_path);

/** Whether the files of a listing may be others by now, or have another size or time.  Looks at files and
 * folders without opening them. */
bool sta_listing_is_outdated(const struct sta_listing *listing, struct sta_roots *roots,
                             const char *trace_path);

/** Whether a folder (not searched recursively) or regular file looks like a trace: for browsing.  What cannot
 * be looked at does not. */
bool sta_looks_like_trace(struct sta_roots *roots, const char *path, bool folder);

enum sta_source_change { STA_SOURCE_SAME, STA_SOURCE_GREW, STA_SOURCE_CHANGED, STA_SOURCE_GONE };

/**
 * sta_source_compare - compare a source as it was read with the file as it is now
 * By size and time, without opening it, and where these differ by the fingerprints.  GREW only when the
 * source is resumable and its old bytes are untouched.
 * @file: absolute path
 * Return: 0 and *change; STA_EFORBIDDEN, STA_EIO, STA_EBUSY, STA_ENOMEM when the file cannot be looked at.
 * Context: any thread.
 */
STA_MUSTCHECK int sta_source_compare(const struct sta_source *source, struct sta_roots *roots,
                                     const char *file, enum sta_source_change *change, struct sta_error *err);

/* ---- reading them */

/* What to read of one file.  sta_decode_run fills `source`: from empty, or going on from an earlier one. */
struct sta_decode_file {
    const char *file;          /* absolute path */
    struct sta_source *source; /* path set; when `resume`, as it was left by the earlier run */
    bool resume; /* read only what was not read then; counts, lines and notes go on from there */
    bool skip;   /* nothing of it: another process reads it */
    bool known;  /* it gave events before: when it cannot be read now the run fails, instead of losing them */
    struct sta_source_range range; /* what to read of the file's bytes: a line begins at the first, and a
                                      member of a gzip file; end 0: to its end */
};

/* Live figures, for progress; read them at any time from any thread. */
struct sta_decode_progress {
    _Atomic uint64_t bytes;      /* of the files on disk, read so far */
    _Atomic uint64_t json_bytes; /* the same, decompressed */
    _Atomic uint64_t lines, events;
    _Atomic bool cancel; /* set it to stop: sta_decode_run returns STA_ECANCELLED soon */
};

struct sta_decode_request {
    struct sta_roots *roots;  /* the files lie in */
    enum sta_trace_kind kind; /* of all files */
    const struct sta_decode_file *files;
    size_t file_count;
    uint64_t json_limit;   /* bytes of JSON per file, past which it is truncated; 0: none */
    bool accept_rewritten; /* a file that was rewritten while it was read becomes STA_SOURCE_STALE; else the
                              run fails with STA_EOUTDATED */
    struct sta_tables *tables; /* interned into by all workers */
    unsigned workers;
    struct sta_account *account; /* text that is read is charged to it; NULL: not counted */
    struct sta_decode_progress *progress;
    /**
     * Takes over one batch: the events of one chunk (a few MiB of lines) of one source.  batch->source
     * indexes `files`.  Called on worker threads, concurrently for different workers, never twice at once for
     * the same worker.  The callee may swap the arrays of *batch for others of a batch of its own (to keep
     * the rows); what it leaves in there is cleared and reused.  A failure stops the run.
     */
    int (*batch)(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err);
    /** Takes a chunk's counter records (ph = C): chunks of common/counters.h.  May be NULL. */
    int (*counters)(void *context, unsigned worker, const char *lines, size_t size, struct sta_error *err);
    void *context;
};

/**
 * sta_decode_run - read files into batches
 *
 * Bad lines and bad files are entries of the sources' ledgers (rejected, truncated, malformed), not failures
 * of the run.  Of a file that grows meanwhile, what was there at the beginning is read; the last line of a
 * plain file is left for the next time as long as it is not whole.  Memory: a few MiB of chunk and batch per
 * worker.  Results (ledgers, definitions, events) do not depend on the number of workers.
 * Context: any thread; starts request->workers threads and joins them.
 * Return: 0, STA_ECANCELLED, STA_EOUTDATED (see accept_rewritten), STA_EIO when a known file cannot be read,
 * STA_ELIMIT, STA_EBUSY or STA_ENOMEM when this process lacks something, or what the batch callback returned.
 */
STA_MUSTCHECK int sta_decode_run(const struct sta_decode_request *request, struct sta_error *err);

/* ---- one buffer, for tests and fuzzing */

enum sta_decode_path {
    STA_DECODE_BOTH,
    STA_DECODE_STRICT_ONLY
}; /* with or without the template matching;
      STRICT_ONLY: of events alone */

/** Decodes a text in memory (several lines) into @batch, @source's counts and notes.  Never fails: bad lines
 * are notes. */
void sta_decode_memory(const char *text, size_t size, enum sta_decode_path path, struct sta_tables *tables,
                       struct sta_source *source, struct sta_batch *batch);

/** The same for one text after the other, with what was learnt from those before.  @tables outlive it. */
struct sta_memory_decoder *sta_memory_decoder_create(struct sta_tables *tables, enum sta_trace_kind kind,
                                                     enum sta_decode_path path);
void sta_memory_decoder_destroy(struct sta_memory_decoder *decoder);
void sta_memory_decoder_run(struct sta_memory_decoder *decoder, const char *text, size_t size,
                            struct sta_source *source, struct sta_batch *batch);

/* ---- files that are still written */

#include "decode/growth.h"

/* ---- ranges of large files */

#include "decode/ranges.h"

/* ---- logs of trainings */

#include "decode/training_log.h"

#endif
