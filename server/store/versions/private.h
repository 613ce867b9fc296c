/* private.h - what the files of the store share: the opened store, its folders, a snapshot's insides.
 *
 * LOCKS, in the order in which they are taken: `adding` is held while a trace is added, so that a path is
 * registered once, and `keeping` while a value is kept with the store; a trace's `files` while its entry or
 * version is replaced, a version is loaded or the trace removed, so that nobody loads files that are being
 * replaced; `lock` guards the list of traces and their fields and is held for moments only. */
#ifndef STA_STORE_PRIVATE_H
#define STA_STORE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include "common/files.h"
#include "common/account.h"
#include "store/format/contents.h"
#include "store/format/segment.h"
#include "store/versions/column_cache.h"
#include "store/store.h"

/* A retired trace is hidden from all but its removal. */
enum sta_trace_life { STA_TRACE_LISTED, STA_TRACE_RETIRED, STA_TRACE_REMOVING };

struct sta_known_trace {
    pthread_mutex_t files;
    unsigned references; /* of the list, and of each who holds or waits for `files` */
    enum sta_trace_life life;
    struct sta_trace_entry entry; /* written with both `files` and the store's `lock` held */
    bool writing;                 /* a writer is at work: it stays in the list */
    struct sta_snapshot *current; /* the newest version, if it is open; not counted as a reference */
};

struct sta_store {
    char *path;
    int lock_fd;
    struct sta_account *account;                         /* NULL: nothing is counted */
    struct sta_column_cache *cache;                      /* NULL: decoded columns are not kept */
    void (*on_damage)(void *context, const char *trace); /* NULL: nobody wants to know */
    void *on_damage_context;
    pthread_mutex_t adding, keeping, lock;
    struct sta_known_trace **traces; /* by creation, then id */
    size_t count, capacity;
};

/** Context of both: store->lock held.  NULL: not known; not listed. */
struct sta_known_trace *sta_store_trace(const struct sta_store *store, const char *id);
struct sta_known_trace *sta_store_listed(const struct sta_store *store, const char *id);
/** A listed trace with its `files` locked, or NULL with STA_ENOTFOUND in @err.  Let it go after. */
struct sta_known_trace *sta_store_hold(struct sta_store *store, const char *id, struct sta_error *err);
void sta_store_let_go(struct sta_store *store, struct sta_known_trace *known);
/** Adds to the list; the entry is copied.  Context: store->lock held, or nobody else has the store. */
void sta_store_know(struct sta_store *store, const struct sta_trace_entry *entry);
void sta_known_trace_destroy(struct sta_known_trace *known);

/* ---- folder.c: names, and what may be in a trace's folder */

/* X(name, suffix): the files of a version */
#define STA_FILE_LIST(X)                                                                                     \
    X(SEGMENT, "segment")                                                                                    \
    X(TABLES, "tables") X(SOURCES, "sources") X(COUNTERS, "counters") X(JOURNAL, "journal")
enum sta_file_kind {
#define X(name, suffix) STA_FILE_##name,
    STA_FILE_LIST(X)
#undef X
};

bool sta_is_trace_id(const char *text);
/** All of these: free() the path. */
char *sta_trace_folder(const struct sta_store *store, const char *id);
char *sta_trace_file(const char *folder, enum sta_file_kind kind, uint32_t number);
char *sta_manifest_file(const char *folder);
char *sta_entry_file(const char *folder);
char *sta_kept_file(const char *folder, uint64_t version, const char *name);
char *sta_lane_file_path(const char *folder, uint64_t version);
/** The last file of a kind in the folder.  Return: false when there is none. */
bool sta_find_trace_file(const char *folder, enum sta_file_kind kind, uint32_t *number);
/** Number past those of all files in the folder. */
STA_MUSTCHECK int sta_next_file_number(const char *folder, uint32_t *next, struct sta_error *err);
/** Reads the manifest.  STA_ENOTFOUND when no version was published. */
STA_MUSTCHECK int sta_manifest_read(const char *folder, struct sta_manifest *manifest, struct sta_error *err);
/** STA_ENOTFOUND when another version than this is published.  Context: the trace is held. */
STA_MUSTCHECK int sta_check_published(const char *folder, const char *trace, uint64_t version,
                                      struct sta_error *err);
/** Removes what the manifest (NULL: none is published) does not name.  @aside: also files that were set
 * aside.  Return: how many. */
unsigned sta_folder_clean(const char *folder, const struct sta_manifest *manifest, bool aside);

/** Gives the values kept with a version to another of the same rows, as far as the file system can.  Context:
 * the trace is held.  kept.c */
void sta_kept_carry(const char *folder, uint64_t from, uint64_t to);

/* ---- snapshot */

struct sta_open_segment {
    struct sta_mapping mapping;
    struct sta_segment segment;
    struct sta_manifest_segment named;
    struct sta_chunk *chunks;
    int64_t factor; /* its ticks in ticks of the snapshot */
};

/* A file of counter records. */
struct sta_open_counters {
    uint32_t file;
    struct sta_mapping mapping;
};

struct sta_snapshot {
    struct sta_store *store;
    char id[STA_TRACE_ID_SIZE];
    unsigned references; /* guarded by store->lock */
    struct sta_snapshot_info info;
    atomic_bool damage_found; /* by reading, after it was opened */
    int64_t origin;           /* ticks since 1970 */
    struct sta_manifest manifest;
    struct sta_tables *tables;
    struct sta_account account; /* of the tables and entities, within that of the store */
    struct sta_stored_source **sources;
    size_t source_count;
    struct sta_open_segment *segments;
    uint32_t segment_count;
    struct sta_row_group *row_groups;
    size_t row_group_count;
    struct sta_open_counters *counters;
    size_t counters_count;
    bool counters_lack_sources; /* of files that are not among them */
    struct sta_entities *entities;
    pthread_mutex_t chunk_order_lock;
    _Atomic(struct sta_chunk_order *) chunk_order; /* made when first asked for, under the lock */
    _Atomic(uint32_t *) parents;                   /* by process; given by who found them */
};

/** A version whose files are all written, be it published or not.  @manifest: taken over, also on failure.
 * The first reference is the caller's. */
STA_MUSTCHECK int sta_snapshot_open_files(struct sta_store *store, const char *trace, const char *folder,
                                          struct sta_manifest manifest, struct sta_snapshot **snapshot,
                                          struct sta_error *err);
/** Makes the published version, which nobody else has yet, the one that is open.  Context: the trace is held.
 */
void sta_snapshot_share(struct sta_snapshot *snapshot, struct sta_known_trace *known, const char *folder);
void sta_snapshot_destroy(struct sta_snapshot *snapshot);
/** Maps the files of counter records; one that is missing counts as damage.  counters.c */
STA_MUSTCHECK int sta_counters_open(struct sta_snapshot *snapshot, const char *folder, struct sta_error *err);
void sta_counters_close(struct sta_snapshot *snapshot);
/** Sets aside the segment in which a read found damage, and tells who listens. */
void sta_snapshot_note_damage(const struct sta_snapshot *snapshot, enum sta_file_kind kind, uint32_t file,
                              const struct sta_error *why);
/** Their arrays are charged to @account. */
STA_MUSTCHECK int sta_entities_create(const struct sta_snapshot *snapshot, struct sta_account *account,
                                      struct sta_entities **entities, struct sta_error *err);
void sta_entities_destroy(struct sta_entities *entities, struct sta_account *account); /* NULL allowed */
/* Where a chunk stands in the order of (source path, first line, segment), on which that of rows of equal ts
 * rests: for readers, and for a merge, which must keep it. */
struct sta_chunk_place {
    const char *path;
    uint64_t first_line;
    uint32_t segment, chunk;
};
/** For qsort, of structs that begin with one. */
int sta_chunk_place_compare(const void *a, const void *b);
void sta_chunk_order_destroy(struct sta_chunk_order *order); /* NULL allowed */

#endif
