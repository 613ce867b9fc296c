/* store.h - traces on disk, as columns.
 *
 * A store folder holds one folder per trace.  A trace is a set of segments, a file of dictionaries and a
 * manifest that names them; a segment is written once, sealed, and never changes.  A new version of a trace
 * is published by renaming its manifest, so a reader holds a snapshot that stays whole whatever happens
 * after.  FORMAT.md has every byte. */
#ifndef STA_STORE_STORE_H
#define STA_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/counters.h"
#include "common/error.h"
#include "common/event.h"
#include "common/ledger.h"
#include "common/trace_kind.h"

struct sta_account;
struct sta_buffer;
struct sta_cursor;
struct sta_store;    /* one store folder, opened and locked */
struct sta_snapshot; /* one version of one trace, open for reading; counted references */
struct sta_writer;   /* the next version of one trace, being written */

/* ---- the store and its catalogue */

#define STA_TRACE_ID_SIZE 17 /* 16 hex digits and the end */

/* What the catalogue remembers of a trace, whether or not a version of it is published. */
struct sta_trace_entry {
    char id[STA_TRACE_ID_SIZE];
    char *path; /* absolute, resolved */
    char *name;
    enum sta_trace_kind kind; /* of its files, as the last ingest found them; UNKNOWN before the first */
    char **tags;
    size_t tag_count;
    int64_t created_us;        /* Unix time */
    char *preset, *preset_why; /* chosen by content after ingest; NULL before */
    char *failure;             /* why the last ingest failed; NULL if it did not */
};
void sta_trace_entry_fini(struct sta_trace_entry *entry);
void sta_trace_entry_copy(struct sta_trace_entry *to, const struct sta_trace_entry *from);

/**
 * sta_store_open - open a store folder, creating it if absent, and take its lock
 * Removes what a crash left behind (unpublished segments, temporary files) and says how many such files in
 * *cleaned.
 * Return: 0; STA_EBUSY if another process holds the lock (the text names its pid); STA_ENEWER if the folder
 * was written by a newer format, untouched; STA_EIO, STA_ENOSPC.
 * Context: main thread, before others use it.  Every other call: any thread. */
STA_MUSTCHECK int sta_store_open(const char *path, struct sta_store **store, unsigned *cleaned,
                                 struct sta_error *err);
/** Opens a store that rank 0 of the same job has open, for reading: takes no lock, lists and removes nothing.
 * Of the other calls sta_snapshot_open_version is for it, and all that take a snapshot. */
STA_MUSTCHECK int sta_store_attach(const char *path, struct sta_store **store, struct sta_error *err);
void sta_store_close(struct sta_store *store);
/** Keeps columns that were decoded, in up to so many bytes of memory.  Context: once, before the first
 * snapshot. */
void sta_store_keep_columns(struct sta_store *store, uint64_t capacity);
/** Calls @found(context, trace) when reading a row group finds damage, once for each snapshot, on the thread
 * that reads.  The segment is quarantined by then, and who opens the trace next gets a snapshot without it.
 * Context: once, before the first snapshot. */
void sta_store_on_damage(struct sta_store *store, void (*found)(void *context, const char *trace),
                         void *context);
/** What open snapshots, kept columns and writers hold is charged to @account.  Context: once, before the
 * first snapshot and before sta_store_keep_columns. */
void sta_store_count_in(struct sta_store *store, struct sta_account *account);
/** Drops kept columns, longest unused first, until about so many bytes are free.  Return: how many are. */
size_t sta_store_shrink(struct sta_store *store, size_t bytes);

/* What the store keeps of decoded columns.  A column is counted once for each row group. */
struct sta_column_figures {
    uint64_t bytes;                /* memory that it takes */
    uint64_t decoded;              /* by sta_row_group_read, since the store was opened */
    uint64_t warmed, warmed_bytes; /* by sta_row_group_warm, and kept */
};
/** All 0 without sta_store_keep_columns.  Context: any thread. */
struct sta_column_figures sta_store_column_figures(struct sta_store *store);

/* That a column of a trace was read. */
struct sta_column_use {
    char trace[STA_TRACE_ID_SIZE];
    char *column;    /* "ts", "dur", "name", "cat", "file", "thread", "chunk", or "args." and the key */
    int64_t used_ms; /* last; Unix time */
};
/** What the store remembers of earlier runs, latest first; nothing when what it kept was damaged, or written
 * by another program.  Free with sta_column_uses_free.  Context: any thread that may read files. */
struct sta_column_use *sta_store_column_uses(struct sta_store *store, size_t *count);
/** Remembers, durably, which columns of open versions are kept in memory since they were read, beside what
 * was remembered before.  Context: any thread that may wait for a disk, one call at a time. */
STA_MUSTCHECK int sta_store_keep_column_uses(struct sta_store *store, struct sta_error *err);
void sta_column_uses_free(struct sta_column_use *uses, size_t count);

/** Copies of all entries, by creation then id; free with sta_trace_entry_fini each and free(). */
struct sta_trace_entry *sta_store_list(struct sta_store *store, size_t *count);
STA_MUSTCHECK int sta_store_find(struct sta_store *store, const char *id, struct sta_trace_entry *entry,
                                 struct sta_error *err);
/** Adds a trace, durably, and puts a fresh id into entry->id, which is empty before.
 * Return: STA_EEXISTS when a trace of that path is there: then entry->id is that one's. */
STA_MUSTCHECK int sta_store_add(struct sta_store *store, struct sta_trace_entry *entry,
                                struct sta_error *err);
/** Changes a copy of an entry, all but id, path and time of creation; frees what it replaces.  Must not call
 * the store. */
typedef void sta_entry_change(void *context, struct sta_trace_entry *entry);
/** Changes an entry in one step, durably: changes of one trace come one after the other, each to what the one
 * before made of it.
 * Return: STA_ENOTFOUND, also once the trace is retired; on other failures the old entry stays, or (when only
 * the folder could not be synced) the new one is in force but may not outlive a power loss. */
STA_MUSTCHECK int sta_store_update(struct sta_store *store, const char *id, sta_entry_change *change,
                                   void *context, struct sta_error *err);
/** The same in memory alone, until the next update: for what is found out again after a power loss. */
STA_MUSTCHECK int sta_store_note(struct sta_store *store, const char *id, sta_entry_change *change,
                                 void *context, struct sta_error *err);
/** Takes a trace off the catalogue before it is removed: from now on there is no such trace for any call but
 * sta_store_remove, and a writer at work on it fails when it publishes.  So whoever removes a trace can end
 * the work on it without new work beginning.  STA_ENOTFOUND. */
STA_MUSTCHECK int sta_store_retire(struct sta_store *store, const char *id, struct sta_error *err);
/** Removes a trace, retired or not, and its files.  Snapshots that are open stay whole.
 * Return: STA_ENOTFOUND also when another is at it; STA_EBUSY while a writer is at work.  On failure the
 * trace is listed as before. */
STA_MUSTCHECK int sta_store_remove(struct sta_store *store, const char *id, struct sta_error *err);

/** Small named values kept with a trace version (computed responses) or with the store (trace NULL); durable,
 * replaced whole.  A value of a trace disappears when a newer version is published. */
STA_MUSTCHECK int sta_store_put_kept(struct sta_store *store, const char *trace, uint64_t version,
                                     const char *name, const void *bytes, size_t size, struct sta_error *err);
STA_MUSTCHECK int sta_store_get_kept(struct sta_store *store, const char *trace, uint64_t version,
                                     const char *name, char **bytes, size_t *size, struct sta_error *err);

/* ---- writing a version */

struct sta_writer_options {
    unsigned workers;            /* how many threads will call sta_writer_add, numbered from 0 */
    size_t memory;               /* bytes that rows waiting to be sealed may take, all workers together */
    const _Atomic bool *cancel;  /* looked at while rows of the base are written again; NULL: never */
    struct sta_account *account; /* rows, dictionaries and sources are charged to it; NULL: not counted */
};

/**
 * sta_writer_begin - start the next version of a trace
 * @base: the published version to go on from, or NULL to start empty.  Its tables are loaded and extended,
 * its sources kept but for those that @drop names (their events leave; a segment that holds any of them is
 * rewritten without them)
 * @drop: one flag per source of @base, or NULL
 * One writer per trace at a time: else STA_EBUSY.  STA_ECANCELLED. */
STA_MUSTCHECK int sta_writer_begin(struct sta_store *store, const char *trace, struct sta_snapshot *base,
                                   const bool *drop, const struct sta_writer_options *options,
                                   struct sta_writer **writer, struct sta_error *err);
/** The tables that decode interns into; owned by the writer. */
struct sta_tables *sta_writer_tables(struct sta_writer *writer);
/** Adds a source; returns its number, by which batches name it.  A kept source of the base that has grown is
 * not added again: find its number with sta_writer_find_source.  The struct stays at its address until the
 * writer ends. */
uint32_t sta_writer_add_source(struct sta_writer *writer, const char *path);
struct sta_source *sta_writer_source(struct sta_writer *writer, uint32_t number);
bool sta_writer_find_source(const struct sta_writer *writer, const char *path, uint32_t *number);

/**
 * sta_writer_add - take the rows of a batch (its arrays are swapped out or copied)
 * @source: number of the batch's source in this writer (batch->source is not looked at)
 * Seals a segment when enough rows have come together for this worker.  STA_ELIMIT, STA_EBUSY when the
 * writer's account is overdrawn.  Context: worker @worker, one call at a time each. */
STA_MUSTCHECK int sta_writer_add(struct sta_writer *writer, unsigned worker, uint32_t source,
                                 struct sta_batch *batch, struct sta_error *err);
/** Keeps counter records: chunks, common/counters.h. */
STA_MUSTCHECK int sta_writer_add_counters(struct sta_writer *writer, unsigned worker, const char *chunk,
                                          size_t size, struct sta_error *err);
/** Writes all of the version but its manifest, and opens it while a thread syncs its files: to look at it
 * before it is published, when it becomes what sta_snapshot_open gives.  Nothing is added, nor the tables
 * asked for, from here on.  @version: for the caller to release; NULL: it cannot be opened now, such as for
 * want of memory.  Return: else the writer is to be aborted. */
STA_MUSTCHECK int sta_writer_preview(struct sta_writer *writer, struct sta_snapshot **version,
                                     struct sta_error *err);
/** Seals what waits (in parallel) and publishes the version: durable when it returns.  Ends the writer, also
 * on failure. */
STA_MUSTCHECK int sta_writer_publish(struct sta_writer *writer, struct sta_error *err);
/** Gives up; nothing of it stays on disk. */
void sta_writer_abort(struct sta_writer *writer);
/** Gives up for now: what its journal has stays for sta_writer_resume; without a journal nothing does. */
void sta_writer_suspend(struct sta_writer *writer);

/* ---- reading a version */

/** The published version; STA_ENOTFOUND before the first, STA_ECORRUPT when what is damaged cannot be done
 * without.  Damaged segments are renamed aside, logged, and counted in info.damaged: the caller decides to
 * ingest again. */
STA_MUSTCHECK int sta_snapshot_open(struct sta_store *store, const char *trace,
                                    struct sta_snapshot **snapshot, struct sta_error *err);
/** A version of a trace of a store that was attached; STA_EOUTDATED when another is the published one. */
STA_MUSTCHECK int sta_snapshot_open_version(struct sta_store *store, const char *trace, uint64_t version,
                                            struct sta_snapshot **snapshot, struct sta_error *err);
struct sta_snapshot *sta_snapshot_retain(struct sta_snapshot *snapshot);
void sta_snapshot_release(struct sta_snapshot *snapshot);

struct sta_snapshot_info {
    uint64_t version; /* counts up with every publication; also distinguishes a rebuilt store (mixed with a
                         random part) */
    int64_t published_us; /* Unix time */
    uint64_t events;
    int64_t origin_us;     /* smallest ts, Unix time in whole microseconds (rounded down) */
    int64_t origin_ticks;  /* the same, in ticks and exact */
    uint32_t ticks_per_us; /* 1, or 1000 when some time of the trace has nanoseconds: the unit of all ticks
                              below */
    int64_t end_ticks;     /* largest te, ticks from the origin.  The origin in ticks is 0. */
    uint64_t store_bytes;
    uint32_t segments;        /* that are mapped */
    unsigned damaged;         /* segments that were quarantined */
    uint64_t missing_events;  /* of these; `events` is without them */
    enum sta_trace_kind kind; /* as the catalogue has it */
};
/** Id of the trace. */
const char *sta_snapshot_trace(const struct sta_snapshot *snapshot);
const struct sta_snapshot_info *sta_snapshot_info(const struct sta_snapshot *snapshot);
const struct sta_tables *sta_snapshot_tables(const struct sta_snapshot *snapshot);
size_t sta_snapshot_source_count(const struct sta_snapshot *snapshot);
const struct sta_source *sta_snapshot_source(const struct sta_snapshot *snapshot, size_t number);

/* ---- compaction: the same rows in fewer segments, which do not overlap in time, encoded better */

struct sta_compaction {
    bool all;                    /* merge what the rule would leave, too */
    struct sta_account *account; /* what it works with is charged to it; NULL: not counted */
    /** Called some hundred times a second; may wait.  @rows of @total are merged.  A failure (STA_ECANCELLED)
     * gives up. */
    int (*step)(void *context, uint64_t rows, uint64_t total, struct sta_error *err);
    void *context;
};
/** Whether the rule finds enough to merge: FORMAT.md "Compaction". */
bool sta_snapshot_is_fragmented(const struct sta_snapshot *snapshot);
/**
 * sta_store_compact - publish a version of the same rows in other segments
 * @base: the published version; who reads it goes on with it
 * The values kept with the version are carried over, and its time of publication; the lane file is not.
 * Return: 0, also when there was nothing to merge (then *merged is false); STA_EBUSY while another writes the
 * trace, or when memory is short; STA_ELIMIT; STA_ECORRUPT (the segment is quarantined); STA_ENOSPC; what
 * step returns.  On failure nothing has changed.  Context: any thread that may read files.
 */
STA_MUSTCHECK int sta_store_compact(struct sta_store *store, const char *trace, struct sta_snapshot *base,
                                    const struct sta_compaction *compaction, bool *merged,
                                    struct sta_error *err);

/* ---- counter records: common/counters.h */

/** Whether there are counter records, or would be once the trace is read again: see below. */
bool sta_snapshot_has_counters(const struct sta_snapshot *snapshot);
/** Whether counter records were kept without their sources, by older programs: such are not read, and the
 * next refresh reads all files again. */
bool sta_snapshot_counters_lack_sources(const struct sta_snapshot *snapshot);

/** Takes the records of one chunk.  @path: of their source, not ended by zero */
typedef int sta_counters_taker(void *context, struct sta_text path, struct sta_cursor *records,
                               struct sta_error *err);
/** Calls @take for all chunks, in no particular order, until it fails.  Return: 0, what it returns,
 * STA_ECORRUPT (the file is quarantined), STA_ENOMEM.  Context: any thread that may read files. */
STA_MUSTCHECK int sta_snapshot_counters(const struct sta_snapshot *snapshot, sta_counters_taker *take,
                                        void *context, struct sta_error *err);

/* ---- a version that several processes write: one has the writer, the others write parts for it */

struct sta_part_options {
    unsigned workers; /* as sta_writer_options, these five */
    size_t memory;
    const _Atomic bool *cancel;
    struct sta_account *account;
    struct sta_tables *tables;  /* that decode interns into */
    uint32_t first_file, files; /* numbers that it may give to files: those that the writer gave for it */
    /** Replaces the codes of @tables in a batch by those of the writer's tables.  Context: any worker. */
    int (*translate)(void *context, struct sta_batch *batch, struct sta_error *err);
    void *context;
};
/** Begins a part.  @store: may be attached.  @options: borrowed until the part ends.  Rows and counter
 * records are added as to a writer (records with the codes of the writer's tables); sta_writer_abort gives
 * up. */
STA_MUSTCHECK int sta_part_begin(struct sta_store *store, const char *trace,
                                 const struct sta_part_options *options, struct sta_writer **part,
                                 struct sta_error *err);
/** Adds a source by the id that the writer has for it.  Return: its number in the part. */
uint32_t sta_part_add_source(struct sta_writer *part, const char *path, uint32_t id);
/** Writes the rows that wait: none are added any more, and another part of the trace may begin. */
STA_MUSTCHECK int sta_part_seal(struct sta_writer *part, struct sta_error *err);
/** Syncs a sealed part, and says what the writer has to know: appended to @report.  Ends the part, also on
 * failure.  Context: any thread. */
STA_MUSTCHECK int sta_part_end(struct sta_writer *part, struct sta_buffer *report, struct sta_error *err);
/** Makes what a part has written belong to the version to be.  @range: that it has read of its one source;
 * NULL: its sources were read whole.  STA_EOUTDATED: the range could not be read to its end.  STA_ECORRUPT,
 * and memory.  Context: any thread, one call at a time. */
STA_MUSTCHECK int sta_writer_adopt(struct sta_writer *writer, struct sta_cursor *report,
                                   const struct sta_source_range *range, struct sta_error *err);
/** The ranges of a source that were adopted, or taken from a journal, ascending; free() them.  Return: how
 * many, 0 of a source that was read whole.  Context: any thread. */
size_t sta_writer_ranges(struct sta_writer *writer, uint32_t number, struct sta_source_range **ranges);
/** Writes down in a journal, from now on, what parts give.  It goes with the writer, unless that is
 * suspended; then, and after a crash, the next start keeps it and what it names. */
STA_MUSTCHECK int sta_writer_begin_journal(struct sta_writer *writer, struct sta_error *err);
/** Whether a source that was read is still what it was then.  @range: as far as that is its end. */
typedef bool sta_source_test(void *context, const struct sta_source *source, bool range);
/** Takes what a writer of the same base that crashed or was suspended had of parts, as far as all sources of
 * a part are the same; what is not taken is removed.  Sources that were taken, whole or ranges of them, are
 * found by sta_writer_find_source.  Context: before any source is added.  Return: also what a charge returns.
 */
STA_MUSTCHECK int sta_writer_resume(struct sta_writer *writer, sta_source_test *is_same, void *context,
                                    struct sta_error *err);
/** Numbers of files, for a part: the first of @count.  Context: any thread. */
uint32_t sta_writer_take_files(struct sta_writer *writer, uint32_t count);
/** The id of a source, by its number in the writer.  Context: any thread. */
uint32_t sta_writer_source_id(struct sta_writer *writer, uint32_t number);

/* What the references and threads of the tables stand for once all definitions are known.  Only what an event
 * of this version uses is in here.  Lives as long as the snapshot. */
struct sta_entities {
    struct sta_dictionary *files, *hosts; /* distinct texts */
    const uint32_t *file_of_ref;          /* by file_refs code: code in files, or STA_NO_CODE (unresolved) */
    const uint32_t *host_of_ref;          /* by host_refs code */
    uint32_t file_ref_count, host_ref_count;
    const uint8_t *file_refs_used, *host_refs_used; /* 1: an event of this version has it */
    /* 1: a hash that its own source does not define, and others differently; by code of file_refs, of the
     * tables' threads (the thread's host) */
    const uint8_t *ambiguous_files, *ambiguous_threads;
    uint64_t unresolved_files, unresolved_hosts; /* distinct hashes that events use and no line defines */
    /* enum sta_value_kind, as bits, of what the used references of a kind (enum sta_reference) say: INT,
     * TEXT */
    uint8_t file_kinds[UINT8_MAX + 1], host_kinds[UINT8_MAX + 1];
    const uint32_t *thread_of_code; /* by thread code of the tables: index into threads */
    uint32_t thread_code_count;
    /* By thread code + 1; missing at 0 and of codes that no event uses. */
    const uint32_t *host_of_thread;
    const int64_t *pid_of_thread, *tid_of_thread;
    const struct sta_entity_thread {
        uint32_t host;    /* code in hosts, or STA_NO_CODE */
        uint32_t process; /* index into processes */
        int64_t pid, tid; /* STA_NO_ID when missing */
    } * threads;          /* distinct by (host, pid, tid); ordered by them, host by text, missing last */
    uint32_t thread_count;
    const struct sta_entity_process {
        uint32_t host;
        int64_t pid;
    } * processes; /* distinct by (host, pid); same order */
    uint32_t process_count;
    uint32_t host_count,
        file_count; /* distinct hosts (a missing host counts as one) and files that events use */
};
const struct sta_entities *sta_snapshot_entities(const struct sta_snapshot *snapshot);
/** What the snapshot holds is charged to it; for parts (sta_account_init_part) of what is made of it. */
struct sta_account *sta_snapshot_account(const struct sta_snapshot *snapshot);

/* ---- columns */

/* Physical columns.  Of args keys: STA_COLUMN_ARGS + key code. */
enum sta_column_id {
    STA_COLUMN_TS,     /* int64, ticks from the origin */
    STA_COLUMN_DUR,    /* int64, ticks */
    STA_COLUMN_NAME,   /* codes */
    STA_COLUMN_CAT,    /* codes */
    STA_COLUMN_FILE,   /* codes of file_refs */
    STA_COLUMN_THREAD, /* codes of the tables' threads */
    STA_COLUMN_CHUNK,  /* code: position of the row's chunk in the segment's chunk list */
    STA_COLUMN_ARGS
};

/** The column of a name as in struct sta_column_use; false when the version has none of that name. */
bool sta_snapshot_find_column(const struct sta_snapshot *snapshot, const char *name, uint32_t *column);

#define STA_ROW_GROUP_ROWS 16384 /* rows of a row group, fewer only in a segment's last */

/* A run of rows of one segment, ascending by (ts, then the order of source path and line). */
struct sta_row_group {
    uint32_t segment; /* number, 0 .. */
    uint32_t index;   /* within the segment */
    uint32_t rows;
    int64_t ts_min, ts_max; /* ticks from the origin */
    int64_t te_max;         /* largest ts + dur */
};
size_t sta_snapshot_row_group_count(const struct sta_snapshot *snapshot);
const struct sta_row_group *sta_snapshot_row_group(const struct sta_snapshot *snapshot, size_t index);

/* The chunk of a row: rows of equal ts come in the order of (source path, first line, place in the row
 * group). */
struct sta_chunk {
    uint32_t source;
    uint64_t first_line;
};
const struct sta_chunk *sta_snapshot_chunks(const struct sta_snapshot *snapshot, uint32_t segment,
                                            size_t *count);

/** The place of each chunk among all of them, in that order: by segment, then chunk.  Lives as long as the
 * snapshot, made when first asked for.  Return: NULL when memory is short. */
const uint32_t *const *sta_snapshot_chunk_ranks(const struct sta_snapshot *snapshot, size_t *count,
                                                struct sta_error *err);

/** The parents of processes, by index of the entities, once this build of the program has found them in this
 * version, be it in another run; NULL: it has not. */
const uint32_t *sta_snapshot_parents(const struct sta_snapshot *snapshot);
/** Keeps them with the version.  @parents: each a process, or UINT32_MAX; taken over, charged to the
 * snapshot's account.
 * Return: those that stay, which are of who came first. */
const uint32_t *sta_snapshot_keep_parents(const struct sta_snapshot *snapshot, uint32_t *parents);

enum sta_column_kind {
    STA_KIND_ABSENT, /* no row has a value */
    STA_KIND_INT,
    STA_KIND_FLOAT,
    STA_KIND_BOOL, /* int64 0 or 1 */
    STA_KIND_CODE, /* uint32 codes; STA_NO_CODE where missing */
    STA_KIND_MIXED /* args only: values of different kinds, each with its own */
};

/* What is known of a row group's column without decoding it. */
struct sta_column_stats {
    enum sta_column_kind kind;
    uint32_t missing; /* rows without a value */
    bool bounded;     /* min and max are set (INT, BOOL, CODE): of the values that are there */
    int64_t min, max;
    bool listed;           /* codes holds every distinct code of the row group (CODE, and few) */
    const uint32_t *codes; /* ascending */
    uint32_t code_count;
};
void sta_row_group_stats(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                         uint32_t column, struct sta_column_stats *stats);

/* Values of one column of one row group, in buffers of the caller for STA_ROW_GROUP_ROWS rows each. */
struct sta_column_values {
    enum sta_column_kind kind; /* set by the read */
    bool any_missing;          /* set: false means that `missing` was not written */
    int64_t *integers;         /* INT, BOOL; MIXED: bits of the union sta_value; 0 where missing */
    double *numbers;           /* FLOAT; may be the same memory as integers */
    uint32_t *codes;           /* CODE */
    uint8_t *kinds;            /* MIXED: enum sta_value_kind */
    uint8_t *missing;          /* 1 where there is no value (not for CODE, which has STA_NO_CODE) */
};

/** Decodes a column of a row group.  Checks what it reads: STA_ECORRUPT for a damaged row group, never a
 * crash. Context: any thread. */
STA_MUSTCHECK int sta_row_group_read(const struct sta_snapshot *snapshot,
                                     const struct sta_row_group *row_group, uint32_t column,
                                     struct sta_column_values *values, struct sta_error *err);
/** Decodes a column before anybody asks for it, to be kept in memory, as long as there is space for it
 * without evicting another; nothing when it is kept already.  @values: working memory.  Return, context: as
 * above. */
STA_MUSTCHECK int sta_row_group_warm(const struct sta_snapshot *snapshot,
                                     const struct sta_row_group *row_group, uint32_t column,
                                     struct sta_column_values *values, struct sta_error *err);
/** Reads some rows alone, as long as the column is kept in memory: values[i] is that of rows[i].
 * Return: false when it is not, and @values as they were.  Context: any thread. */
bool sta_row_group_read_rows(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                             uint32_t column, const uint32_t *rows, uint32_t count,
                             struct sta_column_values *values);

/* What a value must be for its row to pass. */
struct sta_row_test {
    const uint8_t *of_code; /* CODE: at code + 1 whether it passes, at 0 whether a row without one does */
    int64_t low, high;      /* others: it lies in low .. high; a row without one fails */
};

/** Clears the marks (by row, 0 or 1) of rows that fail a test, in the column as it is kept in memory: some
 * times faster than reading it.  @test: that of codes has an entry for every code of the column's table.
 * Return: false, and the marks as they were, when the column is not kept: read it then.  Context: any
 * thread. */
bool sta_row_group_test(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                        uint32_t column, const struct sta_row_test *test, uint8_t *marks);

/* ---- the lane file: what is computed from a version's events once, and read in parts */

#define STA_LANE_COLUMNS 9 /* of a row group, at most */

struct sta_lane_file;
struct sta_lane_file_writer;

/** Opens the lane file that this build of the program kept with the version.  Return: 0; STA_ENOTFOUND when
 * there is none of this build (or the version has lost segments); STA_ECORRUPT when it was damaged, and is
 * quarantined; STA_ENEWER, STA_ENOMEM, STA_EIO. */
STA_MUSTCHECK int sta_lane_file_open(const struct sta_snapshot *snapshot, struct sta_lane_file **file,
                                     struct sta_error *err);
void sta_lane_file_close(struct sta_lane_file *file); /* NULL allowed */
/** Quarantines the file: what was read of it makes no sense. */
void sta_lane_file_quarantine(const struct sta_lane_file *file, const struct sta_error *why);
/** What the writer put at its end; borrowed. */
const void *sta_lane_file_head(const struct sta_lane_file *file, size_t *size);
uint32_t sta_lane_file_block_count(const struct sta_lane_file *file);
uint32_t sta_lane_file_rows(const struct sta_lane_file *file, uint32_t row_group);
/** Reads a row group of so many columns into arrays with space for STA_ROW_GROUP_ROWS.  Its bytes are those
 * that were written; what they mean, the caller checks.  STA_ECORRUPT, STA_ENOMEM.  Context: any thread. */
STA_MUSTCHECK int sta_lane_file_read(const struct sta_lane_file *file, uint32_t row_group, unsigned columns,
                                     int64_t *const *values, struct sta_error *err);

/** Begins the lane file of a version; the snapshot must outlive the writer.  STA_EEXISTS or another failure
 * when somebody writes it already. */
STA_MUSTCHECK int sta_lane_file_begin(const struct sta_snapshot *snapshot,
                                      struct sta_lane_file_writer **writer, struct sta_error *err);
/** Adds a row group of 1 to STA_ROW_GROUP_ROWS rows. */
STA_MUSTCHECK int sta_lane_file_add(struct sta_lane_file_writer *writer, unsigned columns,
                                    const int64_t *const *values, uint32_t rows, struct sta_error *err);
/** Adds the head and puts the file in place: durable when it returns.  Ends the writer, also on failure.
 * STA_ENOTFOUND when the version is no longer the published one. */
STA_MUSTCHECK int sta_lane_file_publish(struct sta_lane_file_writer *writer, const void *head, size_t size,
                                        struct sta_error *err);
void sta_lane_file_abort(struct sta_lane_file_writer *writer);

#endif
