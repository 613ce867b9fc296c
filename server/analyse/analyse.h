/* analyse.h - columns -> results.  No HTTP, no JSON, no paths of traces.
 *
 * A query names a snapshot, a preset and what is wanted; the result is a table and some facts.  Queries
 * read the needed columns of the needed row groups on all cores, most in one pass, some (sparse bins) in two;
 * results do not depend on the number of threads. */
#ifndef STA_ANALYSE_ANALYSE_H
#define STA_ANALYSE_ANALYSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/exec/budget.h"
#include "common/buffer.h"
#include "common/error.h"
#include "common/table.h"
#include "store/store.h"

/* ---- functions.yaml: which function names read, write, sync, .. */

enum sta_io_cat {
    STA_IO_READ = 1,
    STA_IO_WRITE,
    STA_IO_METADATA,
    STA_IO_PROCESS,
    STA_IO_IPC,
    STA_IO_OTHER,
    STA_IO_SYNC
};

/* ---- presets: frozen once loaded, counted references */

struct sta_derived_metric {
    const char *name;
    const char *condition; /* text of the expression */
};

struct sta_layer {
    const char *name, *label, *color; /* color "#rrggbb" */
    const char *parent;               /* NULL: none */
    const char *condition;            /* NULL: every event */
    struct sta_derived_metric *metrics;
    size_t metric_count;
};

struct sta_refinement {
    const char *contains; /* when the file name holds this .. */
    const char *append;   /* .. this goes behind the category */
};

struct sta_named_expression {
    const char *name, *expression;
};

/* X(name, what its events are): moments of a training, each said by a condition (findings.md part 1). */
#define STA_PHASE_LIST(X)                                                                                    \
    X(training, "the time that shares are of")                                                               \
    X(epoch, "an epoch of a rank")                                                                           \
    X(compute, "the accelerator at work")                                                                    \
    X(step, "compute of a step: it ends the step")                                                           \
    X(checkpoint, "a checkpoint is written or read")                                                         \
    X(input, "work of loader and reader")                                                                    \
    X(sample, "a sample is made")

enum sta_phase {
#define X(name, text) STA_PHASE_##name,
    STA_PHASE_LIST(X)
#undef X
        STA_PHASES
};

/* What a moment of the target is charged to. */
struct sta_cause {
    const char *name, *label, *condition;
    bool input, storage; /* it is a wait for input; storage is in use */
};

/* Which moments are split (a condition on the names of sets and causes, and idle), and into what: by falling
 * priority. */
struct sta_chain {
    const char *name, *label, *target;
    struct sta_named_expression *sets; /* those of the target that are no causes */
    size_t set_count;
    struct sta_cause *causes;
    size_t cause_count;
};

struct sta_preset {
    const char *name, *description;
    struct sta_layer *layers; /* in order; parents may stand after their children */
    size_t layer_count;
    const char **drop_files; /* an event whose file name contains one of these is dropped */
    size_t drop_file_count;
    const char **drop_functions; /* .. whose function has this name */
    size_t drop_function_count;
    const char **drop_patterns; /* .. whose function matches this regular expression somewhere */
    size_t drop_pattern_count;
    const char **refine_categories; /* refinement applies to categories that contain one of these */
    size_t refine_category_count;
    struct sta_refinement *refinements;
    size_t refinement_count;
    struct sta_named_expression *views; /* logical views */
    size_t view_count;
    struct sta_named_expression *additional; /* additional metrics */
    size_t additional_count;
    const char *phases[STA_PHASES]; /* conditions; NULL: the preset does not say */
    struct sta_chain *chains;       /* the default one first */
    size_t chain_count;
    const char *overlap_with; /* name of a layer, or NULL */
    const char *detect_layer; /* registration picks the preset when this layer takes an event; NULL: never */
    unsigned rank;            /* place in the order of detection, from 1; 0: not detected */
    bool layers_from_categories; /* generic: layers come from the trace's own dotted categories */
    const char *text;            /* of its file */
    bool own;                    /* of a folder after the first: not built in */
    struct sta_arena memory;     /* what is not a text of the preset files */
};

struct sta_presets; /* all presets and the function classes of one reading of the configuration */

/**
 * sta_presets_load - read functions.yaml and every *.yaml of the preset folders
 * @folders: later ones override earlier ones by preset name
 * Mistakes (unknown key, a layer's condition that does not parse, an unknown parent, a loop of parents, ..)
 * name file, line, key and what is allowed: STA_EINPUT.  Release with sta_presets_release.  Context: any
 * thread.
 */
STA_MUSTCHECK int sta_presets_load(const char *functions_file, const char *const *folders,
                                   size_t folder_count, struct sta_presets **presets, struct sta_error *err);

/* What is wrong with the text of a preset. */
struct sta_preset_mistake {
    unsigned line;     /* from 1; 0: not known */
    char pointer[160]; /* JSON pointer: "/layers/2/condition"; "": the whole */
    int64_t position;  /* code points into the text that stands there; -1: not known */
    char text[600];    /* a sentence */
};
#define STA_PRESET_MISTAKES 20
struct sta_preset_mistakes {
    struct sta_preset_mistake items[STA_PRESET_MISTAKES]; /* the first so many */
    size_t count;
};

/* A preset as it would be. */
struct sta_preset_change {
    const char *name;
    const char *text; /* NULL: it would be gone */
    size_t size;
};

/**
 * sta_presets_try - what sta_presets_load would give if one preset of one's own were another
 * @mistakes: all of the changed preset's, up to their number; the error is the first.  A mistake of another
 * preset, which may come of the change, is an error without one
 */
STA_MUSTCHECK int sta_presets_try(const char *functions_file, const char *const *folders, size_t folder_count,
                                  const struct sta_preset_change *change, struct sta_presets **presets,
                                  struct sta_preset_mistakes *mistakes, struct sta_error *err);
struct sta_presets *sta_presets_retain(struct sta_presets *presets);
void sta_presets_release(struct sta_presets *presets);
/** The chain of that name, or NULL. */
const struct sta_chain *sta_preset_chain(const struct sta_preset *preset, const char *name);
/** Hash of all that could change a result; part of cache keys. */
uint64_t sta_presets_fingerprint(const struct sta_presets *presets);
size_t sta_presets_count(const struct sta_presets *presets);
const struct sta_preset *sta_presets_at(const struct sta_presets *presets,
                                        size_t index); /* built-in detection order first, then by name */
const struct sta_preset *sta_presets_find(const struct sta_presets *presets, const char *name);
/** The names of all, with commas between: free() it. */
char *sta_presets_names(const struct sta_presets *presets);
enum sta_io_cat sta_presets_io_cat(const struct sta_presets *presets, const char *function, size_t length);
/** Whether a category's functions have classes (posix, stdio); @cat lower case. */
bool sta_presets_is_io_category(const struct sta_presets *presets, const char *cat, size_t length);

/* ---- how a query is worked on */

/* What the layered calls have in common. */
struct sta_view_query {
    struct sta_snapshot *snapshot; /* borrowed for the call */
    const struct sta_presets *presets;
    const char *preset; /* name */
    bool filters;       /* the preset's dropping filters */
    bool has_from, has_to;
    double from, to;    /* seconds from the origin */
    const char *filter; /* expression, or NULL */
};

struct sta_fact {
    const char *name; /* static */
    const char *unit; /* static or NULL */
    bool missing, is_number;
    int64_t integer;
    double number;
};

struct sta_facts {
    struct sta_fact items[24];
    size_t count;
};
void sta_facts_int(struct sta_facts *facts, const char *name, int64_t value);
void sta_facts_number(struct sta_facts *facts, const char *name, const char *unit, double value);

/* ---- queries */

/* Where series at base resolution are kept, by layer of the query's preset: of its trace version, preset
 * and filters.  Names are those of layers, and "". */
struct sta_series_base {
    void *context;
    /** Return: false when nothing is kept; else *bytes is to be freed. */
    bool (*get)(void *context, const char *name, char **bytes, size_t *size);
    void (*put)(void *context, const char *name, const void *bytes, size_t size);
};

struct sta_series {
    const char *const *layers; /* NULL: all of the preset */
    size_t layer_count;
    /* exact: columns of exact.md section 2; compatible: count, time, size, bw, ops, or columns of the layer
     * view by time */
    const char *const *metrics;
    size_t metric_count;
    int64_t granularity_us; /* bin width; 0: the smallest of 1, 2, 5, 10 .. with at most max_points bins */
    uint32_t max_points; /* 0: none; else the granularity grows by whole factors until the series has at most
                            so many bins */
    const struct sta_series_base *base; /* NULL: none.  Else used, and made when it is not there, for what
                                           adds up over time and has no filter */
};

/**
 * sta_timeseries_exact - metrics of layers over time bins (exact.md section 2, view by time)
 * @table: time_range (bin number), time_start (s), then <layer>_<metric> (just <metric> when one layer is
 * asked); every bin from the first to the last of the window is a row; a bin that no event of the layer
 * touches is missing there
 * @facts: those of the summary, and granularity (s) as used.  filtered, unmatched, multiple count events that
 * start in the bins from and to pick bins, not events: a bin shows the same numbers whatever the window, also
 * of events that began before it.
 * Mistakes: STA_EINPUT or STA_ELIMIT (too many bins) with parameter /layer, /metrics or /granularity.
 */
STA_MUSTCHECK int sta_timeseries_exact(const struct sta_view_query *query, const struct sta_series *series,
                                       const struct sta_budget *budget, struct sta_table *table,
                                       struct sta_facts *facts, struct sta_error *err);

/** The same in the numbers of the reference: an event is where it starts, bw and ops are quotients of sums;
 * from and to pick events. */
STA_MUSTCHECK int sta_timeseries_compatible(const struct sta_view_query *query,
                                            const struct sta_series *series, const struct sta_budget *budget,
                                            struct sta_table *table, struct sta_facts *facts,
                                            struct sta_error *err);

/** The preset that fits the content, with the reason ("3 events match layer app of dlio").  *why: free()
 * it. */
STA_MUSTCHECK int sta_preset_choose(const struct sta_presets *presets, struct sta_snapshot *snapshot,
                                    const struct sta_budget *budget, const char **name, char **why,
                                    struct sta_error *err);

/* What a preset makes of a trace. */
struct sta_preset_preview {
    struct sta_facts
        facts; /* events, filtered, filtered_by_file, filtered_by_function, unmatched, multiple */
    struct sta_table layers;    /* name, metric, label, color, parent, condition, count: a row for each layer,
                                   then for each of its metrics */
    struct sta_table unmatched; /* cat (refined), func_name, count of events of no layer: the most frequent
                                   first; row_count has all */
};

/** How many events of the query each layer and derived metric takes.  Fini after success. */
STA_MUSTCHECK int sta_preset_preview(const struct sta_view_query *query, const struct sta_budget *budget,
                                     struct sta_preset_preview *preview, struct sta_error *err);
void sta_preset_preview_fini(struct sta_preset_preview *preview);

/* What the ledger says beyond the lines. */
struct sta_preset_ledger {
    const char *preset; /* borrowed from the presets */
    uint64_t kept, dropped_by_file, dropped_by_function;
};

/* A hash that sources define differently. */
struct sta_hash_conflict {
    bool of_host; /* else of a file */
    const char *hash;
    struct sta_conflict_definition {
        const char *text, *file; /* text NULL: without a name; file: the first that defines it so, by path */
    } * definitions;             /* by path */
    size_t count;
};

#define STA_CONFLICTS_SHOWN 10       /* hashes of each kind */
#define STA_CONFLICT_DEFINITIONS 10  /* of one */
#define STA_LARGEST_SIZE (1LL << 53) /* more than a file system transfers in one call */
#define STA_UNCLASSIFIED 1000        /* functions without a class that a report lists */

struct sta_content_report {
    struct sta_preset_ledger *presets;
    size_t preset_count;
    uint64_t conflicting_hashes;         /* with more than one text */
    uint64_t ambiguous_events;           /* whose source does not say which of these texts is meant */
    uint64_t doubtful_sizes;             /* events with a size past STA_LARGEST_SIZE */
    struct sta_hash_conflict *conflicts; /* the first of each kind by hash, files before hosts */
    size_t conflict_count;
    struct {
        const char *function;
        uint64_t count;
    } * unclassified; /* posix and stdio functions of no class: the STA_UNCLASSIFIED most frequent first, then
                         by name */
    size_t unclassified_count;
    uint64_t unclassified_functions; /* how many there are */
    struct sta_arena memory;
};
STA_MUSTCHECK int sta_content_report(const struct sta_presets *presets, struct sta_snapshot *snapshot,
                                     const struct sta_budget *budget, struct sta_content_report *report,
                                     struct sta_error *err);
void sta_content_report_fini(struct sta_content_report *report);

/* ---- queries, overlap, layered tables */

#include "analyse/exec/sort.h"
#include "analyse/facade/counters.h"
#include "analyse/facade/language.h"
#include "analyse/facade/overlap.h"
#include "analyse/facade/query.h"
#include "analyse/facade/roles.h"
#include "analyse/facade/share.h"
#include "analyse/facade/views.h"

#endif
