/* lane_index.h - every complete event of a trace, by thread and in lane order, with its row and its parent
 * (private to timeline).
 *
 * timeline.md section 2.  Lane order is by start, then longer first, then the order of events in the trace.
 * The index depends on nothing that a request says; it is made once per version of a trace and read by any
 * thread.  It takes 36 bytes per event.  Made, it is kept in the lane file of the version; an index that is
 * read from there holds only what was asked for: extents of small threads, and blocks of large ones. */
#ifndef STA_TIMELINE_LANE_INDEX_H
#define STA_TIMELINE_LANE_INDEX_H

#include <pthread.h>
#include <stdatomic.h>

#include "timeline/lane_tree.h"

#define STA_NO_EVENT UINT32_MAX

struct sta_presets;
struct sta_timeline;

struct sta_lane_event {
    int64_t start, dur; /* ticks from the origin; dur is not below 0 */
    uint32_t name;      /* code in the names of the trace, or STA_NO_CODE */
    uint32_t row;       /* the lowest one on which nothing else runs when it starts */
    uint32_t parent;    /* place in its thread, or STA_NO_EVENT */
    uint32_t number;    /* of its row in the store: rows of all row groups one after the other */
};

static inline int64_t sta_lane_event_end(const struct sta_lane_event *event)
{
    return event->start + event->dur;
}

#define STA_LANE_STRIDE 4096 /* events between two entries of struct sta_lane_thread.latest */

/* What goes before the first event of a thread, or of a block of a large one, in the lane file. */
struct sta_lane_first {
    int64_t start;
    uint32_t number, rank;
    bool goes_on; /* the event before it, in another block, has the same start */
};

struct sta_lane_thread {
    struct sta_lane_event *events; /* in lane order; NULL while nothing of its extent is loaded, like .. */
    int64_t *latest;               /* by stride: largest end of its events; of a large one always there */
    uint32_t count, rows;          /* events; rows that they need, at least 1 */
    int64_t last;                  /* largest end */
    struct sta_lane_first *firsts; /* by block of a large one that comes from the file; else NULL */
};

/* Threads side by side in the lane file: a large one, whose blocks are loaded each for itself, or some that
 * are small, which are loaded together. */
struct sta_lane_extent {
    uint32_t first_thread, end_thread;
    uint32_t first_block; /* of the lane file; the extent's events fill blocks, the last one in part */
    uint64_t events;
    uint32_t part_count;    /* blocks of a large thread; else 1 */
    _Atomic uint8_t *parts; /* enum sta_extent_state of each */
    struct sta_lane_event *items;
    int64_t *latest;
};
enum sta_extent_state { STA_EXTENT_ABSENT, STA_EXTENT_LOADING, STA_EXTENT_LOADED, STA_EXTENT_DAMAGED };

/** Whether a thread is loaded block by block. */
static inline bool sta_lane_is_large(const struct sta_lane_thread *thread)
{
    return thread->count > STA_ROW_GROUP_ROWS;
}

/** Blocks of a large thread. */
static inline uint32_t sta_lane_blocks(const struct sta_lane_thread *thread)
{
    return (thread->count + STA_ROW_GROUP_ROWS - 1) / STA_ROW_GROUP_ROWS;
}

struct sta_lane_density;
/* The density of large lanes by the layers of a preset: density_base.h. */
struct sta_density_base {
    char *preset;
    uint64_t fingerprint;           /* of all presets */
    uint32_t shift;                 /* resolution: 2^shift ticks */
    struct sta_lane_density *lanes; /* by lane */
    size_t count;
};

struct sta_box;
/* A thread's boxes at a resolution: details.h. */
struct sta_lane_detail {
    uint32_t thread, shift; /* resolution: 2^shift ticks */
    uint32_t count, first_block;
    _Atomic int state; /* enum sta_extent_state */
    struct sta_box *boxes;
};

/* What runs in a lane: of the events below it that a request is about, or of all. */
struct sta_lane_figures {
    int64_t threads, events, busy, first, last, longest, rows; /* times in ticks */
};

struct sta_lane_index {
    struct sta_account *account;
    struct sta_snapshot *snapshot; /* held */
    struct sta_lane_tree tree;
    struct sta_lane_thread *threads; /* by number in tree order */
    struct sta_lane_event *events;   /* of all threads; NULL when they come from the file, like .. */
    int64_t *latest;
    struct sta_lane_file *file; /* NULL: the index was made of the events */
    struct sta_lane_extent *extents;
    struct sta_lane_first *firsts; /* by thread; with a file */
    uint32_t extent_count;
    struct sta_lane_detail *details; /* by thread, then shift */
    size_t detail_count;
    struct sta_density_base density;
    pthread_mutex_t repair;                     /* over the making of arrays of extents, and over .. */
    struct sta_lane_index *rebuilt;             /* made when the file turned out to be damaged; or NULL */
    _Atomic(struct sta_lane_figures *) figures; /* by lane, of all events; NULL: not known yet */
    uint32_t *first_number; /* by row group: number of its first row; one more at the end */
    uint32_t *chunk_ranks;  /* by number: place of its source range among all, which orders equal starts */
    uint64_t event_count;
    int64_t ticks_per_second;
    __int128 origin_ns; /* since 1970 */
    int64_t end;        /* largest max(end, start + 1) of all events; 1 without events */
};

/** Opens the one that is kept with the version, or makes it of the events.  @account: is charged for the
 * index, and must outlive it.  Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM (it does not fit),
 * STA_ECANCELLED, STA_ECORRUPT. */
STA_MUSTCHECK int sta_lane_index_create(struct sta_snapshot *snapshot, struct sta_account *account,
                                        const struct sta_budget *budget, struct sta_lane_index **index,
                                        struct sta_error *err);
void sta_lane_index_destroy(struct sta_lane_index *index); /* NULL allowed */
size_t sta_lane_index_bytes(const struct sta_lane_index *index);
/** Makes it of the events, whatever is kept. */
STA_MUSTCHECK int sta_lane_index_build(struct sta_snapshot *snapshot, struct sta_account *account,
                                       const struct sta_budget *budget, struct sta_lane_index **index,
                                       struct sta_error *err);

/* lane_extents.c: events of threads, loaded when they are asked for */

/** Makes sure that the events of these threads (numbers, ascending) are there.  Of the index only this and
 * what belongs to it changes.  What is wrong with the file is not: then the index is made of the events.
 * Return: 0, STA_ELIMIT, STA_EBUSY, STA_ENOMEM, STA_ECANCELLED, STA_ECORRUPT (of the trace). */
STA_MUSTCHECK int sta_lane_index_load(struct sta_lane_index *index, const uint32_t *threads, size_t count,
                                      const struct sta_budget *budget, struct sta_error *err);
/** The same of the events that touch [@from, @to) alone, and of those that start when one of them does.
 * Others of a large thread are not to be looked at: only sta_lane_thread_find of moments from @from to @to,
 * and its strides tell. */
STA_MUSTCHECK int sta_lane_index_load_window(struct sta_lane_index *index, const uint32_t *threads,
                                             size_t count, int64_t from, int64_t to,
                                             const struct sta_budget *budget, struct sta_error *err);
/** Shares the threads out to extents, of which all are absent. */
STA_MUSTCHECK int sta_lane_extents_make(struct sta_lane_index *index, struct sta_error *err);

/* lane_keep.c: the lane file's bytes as an index, and back */

/** Columns of the lane file: of an event; number and rank against the event before it in its thread. */
enum sta_lane_column {
    STA_LANE_START, /* against sta_lane_reference */
    STA_LANE_DUR,
    STA_LANE_NAME, /* -1: none */
    STA_LANE_ROW,
    STA_LANE_PARENT, /* how many places before it; 0: none */
    STA_LANE_NUMBER,
    STA_LANE_RANK,
    STA_LANE_EVENT_COLUMNS
};

/** .. and of a box of a level; the number against the box before it, `at` against its start. */
enum sta_detail_column {
    STA_DETAIL_ROW,
    STA_DETAIL_START,
    STA_DETAIL_DUR,
    STA_DETAIL_COUNT, /* 0: a single event */
    STA_DETAIL_COVERED,
    STA_DETAIL_NAME, /* -1: none */
    STA_DETAIL_NUMBER,
    STA_DETAIL_NTH,
    STA_DETAIL_AT,
    STA_DETAIL_COLUMNS
};

/** .. and of a run of a lane's density. */
enum sta_density_column {
    STA_DENSITY_CODE, /* -1: no layer */
    STA_DENSITY_CELL,
    STA_DENSITY_CELLS,
    STA_DENSITY_TIME,
    STA_DENSITY_COLUMNS
};

/** The first place of those that the lane file codes together with that of an event. */
static inline uint32_t sta_lane_first_place(const struct sta_lane_thread *thread, uint32_t place)
{
    return sta_lane_is_large(thread) ? place - place % STA_ROW_GROUP_ROWS : 0;
}
/** The moment that the start of an event, which is not the first of its thread or block, is a difference to
 * in the lane file: its parent's start when that goes before it, else the end of the sibling that goes before
 * it. */
int64_t sta_lane_reference(const struct sta_lane_thread *thread, uint32_t place, uint32_t parent);
/** Fills threads, firsts, figures, levels and end from the head of the index's file.  STA_ECORRUPT. */
STA_MUSTCHECK int sta_lane_index_attach(struct sta_lane_index *index, struct sta_error *err);
/** Writes the lane file of a timeline that was made of the events; densities are by the layers of @preset.
 * STA_ENOTFOUND when another version is published by now; STA_EEXISTS when it is being written; STA_ENOSPC,
 * STA_EIO, .. */
STA_MUSTCHECK int sta_lane_index_keep(struct sta_timeline *timeline, struct sta_presets *presets,
                                      const char *preset, const struct sta_budget *budget,
                                      struct sta_error *err);

/** Place of a thread's first event with start >= @at. */
uint32_t sta_lane_thread_find(const struct sta_lane_thread *thread, int64_t at);
/** Which one an event is among those of its thread with the same start, from 0. */
uint32_t sta_lane_thread_nth(const struct sta_lane_thread *thread, uint32_t place);
/** The number of the row group of an event. */
size_t sta_lane_index_group(const struct sta_lane_index *index, uint32_t number);
/** The row group and row of an event. */
const struct sta_row_group *sta_lane_index_block(const struct sta_lane_index *index, uint32_t number,
                                                 uint32_t *row);
/** Below, equal to or above 0 as an event goes before, is, or goes behind another in the order of events. */
int sta_lane_index_order(const struct sta_lane_index *index, const struct sta_lane_event *a,
                         const struct sta_lane_event *b);

/** Sets row and parent of a thread's events, which are in lane order, and what the thread says of them. */
STA_MUSTCHECK int sta_lane_thread_lay_out(struct sta_lane_thread *thread, const struct sta_budget *budget,
                                          struct sta_error *err);

#endif
