/* writer.h - the next version of a trace while it is being written: private to writer.c, publish.c,
 * sync.c, counters.c, compact.c, kinds.c. */
#ifndef STA_STORE_WRITER_H
#define STA_STORE_WRITER_H

#include "store/format/builder.h"
#include "store/format/envelope.h"
#include "store/versions/private.h"

#define STA_SEGMENT_ROWS (64 * 1024)

/* What one worker collects: no other thread uses it. */
struct sta_writer_worker {
    struct sta_segment_builder *builder;
    struct sta_pending *pending;
    size_t pending_count, pending_capacity;
    size_t pending_bytes;
    uint64_t pending_rows;
    struct sta_batch *free_list; /* emptied batches, given out in exchange for full ones */
    size_t free_count, free_capacity;
    struct sta_buffer counters;
    int status; /* of sealing at the end */
    struct sta_error error;
};

/* A file of the version to be. */
struct sta_made_file {
    char *path;
    int fd; /* open until it is synced, then -1 */
};

/* A range of a source that was adopted. */
struct sta_read_range {
    uint32_t source; /* number */
    struct sta_source_range range;
};

struct sta_tables_marks;

struct sta_writer {
    struct sta_store *store;
    struct sta_known_trace *known; /* stays while its `writing` is set; NULL once no rows come any more */
    char id[STA_TRACE_ID_SIZE];
    char *folder;
    uint64_t last_version;               /* 0: none was published */
    uint64_t base_version;               /* that it goes on from; 0: none */
    const struct sta_part_options *part; /* of a version that another process publishes; NULL: it is none */
    bool same_rows;                      /* as that version has: its tables, sources and kept values stay */
    struct sta_tables *tables;           /* NULL: same_rows, or a part */
    size_t worker_memory;
    const _Atomic bool *cancel; /* NULL: never */
    unsigned worker_count;
    struct sta_writer_worker *workers;
    struct sta_account *account;
    pthread_mutex_t lock; /* guards all below */
    struct sta_stored_source **sources;
    size_t source_count, source_capacity;
    struct sta_dictionary *paths; /* of the sources, and of those of the base that are dropped */
    uint32_t *number_of_path;     /* by code of the path; STA_NO_CODE: it is dropped */
    size_t path_capacity;
    uint32_t next_source, next_file;
    struct sta_read_range *ranges;
    size_t range_count, range_capacity;
    struct sta_manifest manifest; /* of the version to be */
    size_t segment_capacity, counters_capacity;
    struct sta_made_file *made; /* files that are new */
    size_t made_count, made_capacity;
    size_t open_count;            /* how many of them are open, */
    size_t open_from;             /* which is none of those before this one */
    struct sta_syncing *syncing;  /* files that a thread syncs; NULL: none */
    bool complete;                /* all files are written, the manifest beside its place */
    struct sta_snapshot *preview; /* the version to be; NULL: nobody has asked for it */
    char *journal;                /* path; NULL: none */
    int journal_fd;               /* -1: it is not written */
    size_t journal_size;          /* the valid part of what a crash left of it */
    struct sta_tables_marks *journal_marks;
};

/** Writer of the next version of a trace that nobody else of this process writes.  @base: NULL, or the
 * version it goes on from, which must be the published one. */
STA_MUSTCHECK int sta_writer_open(struct sta_store *store, const char *trace, const struct sta_snapshot *base,
                                  const struct sta_writer_options *options, struct sta_writer **writer,
                                  struct sta_error *err);
/** Begins a version of the same rows in other segments, which sta_writer_put_segment and
 * sta_writer_name_segment name in their order.  Return: as sta_writer_begin. */
STA_MUSTCHECK int sta_writer_begin_same(struct sta_store *store, const char *trace,
                                        const struct sta_snapshot *base,
                                        const struct sta_writer_options *options, struct sta_writer **writer,
                                        struct sta_error *err);
/** Writes a segment of the version to be. */
STA_MUSTCHECK int sta_writer_put_segment(struct sta_writer *writer, const struct sta_buffer *bytes,
                                         uint64_t rows, struct sta_error *err);
/** A segment of the base is one of the version to be. */
void sta_writer_name_segment(struct sta_writer *writer, struct sta_manifest_segment segment);
/** A file that another process has written and synced: it goes if this version is not published. */
void sta_writer_adopt_file(struct sta_writer *writer, enum sta_file_kind kind, uint32_t number);
/** As sta_writer_adopt, and nothing comes into the journal.  @range: that was read of its source; NULL: all.
 */
STA_MUSTCHECK int sta_writer_adopt_report(struct sta_writer *writer, struct sta_cursor *report,
                                          const struct sta_source_range *range, struct sta_error *err);
/** Whether a part of a source is still to be read.  @range: NULL: all of it. */
bool sta_writer_lacks(struct sta_writer *writer, const char *path, const struct sta_source_range *range);
/** Names a file of the version to be; free() the path. */
char *sta_writer_new_file(struct sta_writer *writer, enum sta_file_kind kind, uint32_t *number);
/** Takes over a file that was created, which is synced before the version is published, or removed if all
 * fails.  Once some wait, a thread begins to sync them; they are only waited for when they are very many.
 * sync.c, like the next two. */
STA_MUSTCHECK int sta_writer_note_file(struct sta_writer *writer, char *path, int fd, struct sta_error *err);
/** Creates an envelope and notes it. */
STA_MUSTCHECK int sta_writer_create_file(struct sta_writer *writer, enum sta_file_kind kind,
                                         enum sta_envelope_kind envelope, const struct sta_buffer *content,
                                         uint32_t *number, struct sta_error *err);
/** Starts a thread that syncs the files that are open, unless the one before is at work. */
STA_MUSTCHECK int sta_writer_begin_syncing(struct sta_writer *writer, struct sta_error *err);
/** Syncs the files that are open, several at once, and waits for those under way. */
STA_MUSTCHECK int sta_writer_sync_files(struct sta_writer *writer, struct sta_error *err);
/** Waits for the thread that syncs files, if there is one. */
void sta_writer_end_syncing(struct sta_writer *writer);
/** Adds rows of a chunk whose source is known by its id.  Takes the batch's arrays, leaves others. */
STA_MUSTCHECK int sta_writer_take(struct sta_writer *writer, unsigned worker,
                                  const struct sta_stored_source *source, struct sta_batch *batch,
                                  struct sta_error *err);
/** Writes what the worker has collected as a segment, if anything. */
STA_MUSTCHECK int sta_writer_seal(struct sta_writer *writer, unsigned worker, struct sta_error *err);
/** The same of all workers, in parallel, and of their counter records. */
STA_MUSTCHECK int sta_writer_seal_all(struct sta_writer *writer, struct sta_error *err);
/** Keeps the counter records of the base whose sources stay.  @dropped: NULL: all do.  counters.c */
STA_MUSTCHECK int sta_writer_keep_counters(struct sta_writer *writer, const struct sta_snapshot *base,
                                           bool (*dropped)(const void *context, const char *path),
                                           const void *context, struct sta_error *err);
/** A file of counter records is one of the version to be. */
void sta_writer_note_counters(struct sta_writer *writer, uint32_t number);
STA_MUSTCHECK int sta_writer_seal_counters(struct sta_writer *writer, unsigned worker, struct sta_error *err);
/** Notes in the tables which kinds of values the args of a segment of the base have.  kinds.c */
STA_MUSTCHECK int sta_writer_note_kinds(struct sta_writer *writer, const struct sta_snapshot *base,
                                        uint32_t segment, struct sta_error *err);
/** Frees what rows take, and lets another writer have the trace.  Once or more. */
void sta_writer_end_rows(struct sta_writer *writer);
void sta_writer_end(struct sta_writer *writer); /* frees; files stay */

#endif
