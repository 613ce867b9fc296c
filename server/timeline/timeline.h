/* timeline.h - what happened when: lanes, events, call trees, gaps (public part of analyse.h).
 *
 * timeline.md has the definitions.  struct sta_timeline is made once per version of a trace; all calls read
 * it, from any thread. */
#ifndef STA_TIMELINE_TIMELINE_H
#define STA_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"
#include "common/document.h"
#include "common/error.h"
#include "common/table.h"
#include "store/store.h"

struct sta_presets;
struct sta_budget;
struct sta_facts;
struct sta_timeline; /* counted references */

/** Opens the timeline that is kept with the version, or makes it.  @account: is charged for what is kept, and
 * must outlive it; @budget: of the making alone.  Holds on to the snapshot.  Return: 0, STA_ELIMIT,
 * STA_EBUSY, STA_ENOMEM, STA_ECANCELLED, STA_ECORRUPT. */
STA_MUSTCHECK int sta_timeline_create(struct sta_snapshot *snapshot, struct sta_account *account,
                                      const struct sta_budget *budget, struct sta_timeline **timeline,
                                      struct sta_error *err);
struct sta_timeline *sta_timeline_retain(struct sta_timeline *timeline);
void sta_timeline_release(struct sta_timeline *timeline); /* NULL allowed */
size_t sta_timeline_bytes(const struct sta_timeline *timeline);
/** About how many bytes it takes to make one of a snapshot's events. */
uint64_t sta_timeline_size_to_make(const struct sta_snapshot *snapshot);
/** Whether the caller is the one who should have the timeline kept with its trace, so that it need not be
 * made again: true once, of a timeline that was made of the events. */
bool sta_timeline_claim_keeping(struct sta_timeline *timeline);
/** Writes the lane file of the timeline's version.  @preset: of the trace, by whose layers densities are.
 * Return: 0; STA_ENOTFOUND when another version is published by now; STA_EEXISTS when the file is being
 * written; STA_ENOSPC, STA_EIO, STA_ECANCELLED, .. */
STA_MUSTCHECK int sta_timeline_keep(struct sta_timeline *timeline, struct sta_presets *presets,
                                    const char *preset, const struct sta_budget *budget,
                                    struct sta_error *err);

/* What a call is asked.  Members of the request that a call does not know are mistakes: STA_EINPUT with
 * parameter, and position where there is one. */
struct sta_timeline_query {
    struct sta_timeline *timeline;
    struct sta_presets *presets;
    const char *trace_preset;           /* where the request names none */
    const struct sta_document *request; /* an object: the parameters of the call, without those of pages */
    uint64_t cells;                     /* most cells of timeline/events: rows times width */
};

/* A list of integers, charged to the request's account. */
struct sta_integers {
    int64_t *items;
    size_t count, capacity;
};

#define STA_TIMELINE_COLUMNS 12

/* A result by columns: times in ticks, names by index.  Columns of one group are of equal length. */
struct sta_timeline_columns {
    struct sta_account *account; /* of the request, which all is charged to */
    int64_t ticks_per_second, from, to, resolution;
    __int128 origin_ns;
    struct sta_text *labels, *categories; /* bytes NULL: missing */
    int64_t *label_colors, *category_colors;
    size_t label_count, category_count;
    const char **layers; /* of the preset */
    size_t layer_count;
    struct sta_text *lanes; /* ids */
    int64_t *lane_figures;  /* rows of an events' lane, threads of a density's */
    size_t lane_count;
    bool of_density, by_layer; /* what the labels are */
    const char *const
        *names[2]; /* of the columns of both groups, NULL-terminated; the second may be absent */
    struct sta_integers columns[2][STA_TIMELINE_COLUMNS];
    void *keeper; /* what texts are borrowed from */
};
void sta_timeline_columns_fini(struct sta_timeline_columns *columns);

/** timeline/lanes: a table. */
STA_MUSTCHECK int sta_timeline_lanes(const struct sta_timeline_query *query, const struct sta_budget *budget,
                                     struct sta_table *table, struct sta_error *err);
/** timeline/events and timeline/density.  Fini after success. */
STA_MUSTCHECK int sta_timeline_events(const struct sta_timeline_query *query, const struct sta_budget *budget,
                                      struct sta_timeline_columns *columns, struct sta_error *err);
STA_MUSTCHECK int sta_timeline_density(const struct sta_timeline_query *query,
                                       const struct sta_budget *budget, struct sta_timeline_columns *columns,
                                       struct sta_error *err);

/** timeline/statistics: a table by label; @facts: count, time, self, busy, size, threads of all. */
STA_MUSTCHECK int sta_timeline_statistics(const struct sta_timeline_query *query,
                                          const struct sta_budget *budget, struct sta_table *table,
                                          struct sta_facts *facts, struct sta_error *err);

/* Of all calls that have the name that a call tree is asked for; times in seconds. */
struct sta_named_figures {
    bool asked;
    int64_t count, outermost;
    double total, self;
};
/** calltree: a table in pre-order. */
STA_MUSTCHECK int sta_timeline_call_tree(const struct sta_timeline_query *query,
                                         const struct sta_budget *budget, struct sta_table *table,
                                         struct sta_named_figures *named, struct sta_error *err);

/* A path of labels with ; between, and the ticks that are spent at its end.  Unless the scope is the job,
 * the path begins with the id of its group. */
struct sta_timeline_stack {
    struct sta_text path;
    uint32_t group; /* index in the groups */
    __int128 self;
};
struct sta_timeline_stacks {
    struct sta_account *account; /* of the request, which all is charged to */
    struct sta_arena memory;
    struct sta_timeline_stack *items; /* by group in tree order, then path */
    size_t count;
    struct sta_text *groups; /* ids of all groups that have calls, with stacks or without */
    size_t group_count;
    int64_t ticks_per_second;
};
/** calltree as stacks.  Fini after success. */
STA_MUSTCHECK int sta_timeline_call_stacks(const struct sta_timeline_query *query,
                                           const struct sta_budget *budget,
                                           struct sta_timeline_stacks *stacks, struct sta_error *err);
void sta_timeline_stacks_fini(struct sta_timeline_stacks *stacks);

struct sta_timeline_gaps {
    const char *scope; /* static */
    double time;       /* s: sum */
};
/** gaps: a table, longest first. */
STA_MUSTCHECK int sta_timeline_gaps(const struct sta_timeline_query *query, const struct sta_budget *budget,
                                    struct sta_table *table, struct sta_timeline_gaps *figures,
                                    struct sta_error *err);

/* An event in short.  Texts with bytes NULL are missing; all are borrowed from the memory of the result, or
 * from what it holds. */
struct sta_timeline_brief {
    struct sta_text id, name, category, layer, lane;
    uint32_t row;
    double start, end, dur; /* s */
};

struct sta_timeline_found {
    uint64_t matches, index;
    bool wrapped;
    struct sta_timeline_brief event; /* of no meaning without matches */
    struct sta_arena memory;
    void *keeper;
};
/** timeline/search.  Fini after success. */
STA_MUSTCHECK int sta_timeline_search(const struct sta_timeline_query *query, const struct sta_budget *budget,
                                      struct sta_timeline_found *found, struct sta_error *err);
void sta_timeline_found_fini(struct sta_timeline_found *found);

#define STA_TIMELINE_RELATIVES 100 /* children, and events beside it, that are listed */

struct sta_timeline_briefs {
    struct sta_timeline_brief *items;
    size_t listed, capacity;
    uint64_t count; /* of all */
};

struct sta_timeline_event {
    struct sta_timeline_brief brief;
    double self;
    struct sta_table columns; /* one row: the columns that queries know */
    struct sta_timeline_briefs parents, children, beside;
    double child_time; /* s: union */
    struct sta_text beside_lane;
    bool has_previous, has_next;
    struct sta_timeline_brief previous, next;
    double previous_gap, next_gap; /* s */
    struct sta_account *account;
    struct sta_arena memory;
    void *keeper;
};
/** events/{event}.  @id: of the event.  STA_ENOTFOUND.  Fini after success. */
STA_MUSTCHECK int sta_timeline_event(const struct sta_timeline_query *query, const char *id,
                                     const struct sta_budget *budget, struct sta_timeline_event *event,
                                     struct sta_error *err);
void sta_timeline_event_fini(struct sta_timeline_event *event);

/* A track of a thread, for viewers of Chrome's trace format. */
struct sta_timeline_track {
    uint32_t process;     /* its number in the trace, from 1 */
    struct sta_text host; /* bytes NULL: missing */
    bool has_pid, has_tid;
    int64_t pid, tid;
    uint32_t number; /* of the thread's tracks, from 1 */
};
struct sta_timeline_export {
    struct sta_account *account; /* of the request, which all is charged to */
    struct sta_timeline_track *tracks;
    size_t track_count;
    int64_t ticks_per_second;
    /* In event order: track (index), ts and dur (ticks), layer, then columns as queries have them: func_name,
     * cat, host_name, file_name, size, args. */
    struct sta_table events;
    void *keeper;
};
/** events?format=chrome.  STA_ELIMIT with parameter /limit for more events than that.  Fini after success. */
STA_MUSTCHECK int sta_timeline_export(const struct sta_timeline_query *query, const struct sta_budget *budget,
                                      struct sta_timeline_export *export, struct sta_error *err);
void sta_timeline_export_fini(struct sta_timeline_export *export);

#endif
