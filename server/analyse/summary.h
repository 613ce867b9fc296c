/* summary.h - what the parts of the exact summary share (private to analyse/summary*.c).
 *
 *   shape     which columns each layer has: exposed, self, derived metrics
 *   classes   which layers and metrics the events of a class belong to
 *   sums      per class: counts, times, sizes, size bins, distinct threads and files; and the spans for the unions
 *   table     sums and unions folded to layers
 */
#ifndef STA_ANALYSE_SUMMARY_H
#define STA_ANALYSE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/analyse.h"
#include "analyse/classify.h"
#include "analyse/intervals/cells.h"
#include "analyse/intervals/unions.h"
#include "analyse/rank_groups.h"
#include "common/memory.h"
#include "store/store.h"

#define STA_SIZE_BINS 12
extern const char *const sta_size_bin_names[STA_SIZE_BINS];

/** metrics.md section 3, bins closed on the right: (0, 4 KiB], (4 KiB, 16 KiB], .. @size > 0. */
static inline unsigned sta_size_bin(int64_t size)
{
    unsigned bits = size > 1 ? 64 - (unsigned)__builtin_clzll((uint64_t)size - 1) : 0;
    unsigned bin = bits <= 12 ? 0 : (bits - 11) / 2;
    return STA_MIN(bin, STA_SIZE_BINS - 1);
}

/* ---- shape */

#define STA_NO_LAYER UINT32_MAX

struct sta_shape_layer {
    uint32_t parent;                     /* STA_NO_LAYER: none */
    bool exposed;                        /* has exposed and hidden columns */
    bool has_children;                   /* has self_group_sum */
    uint32_t first_metric, metric_count; /* in the numbering of all layers' metrics */
};

struct sta_shape {
    struct sta_shape_layer *layers;
    uint32_t layer_count, metric_count;
    uint32_t compute; /* the layer that overlap_with names, or STA_NO_LAYER */
};

void sta_shape_init(struct sta_shape *shape, const struct sta_preset *preset);
void sta_shape_fini(struct sta_shape *shape);

/* ---- classes */

/* What a class means here: layers and metrics (numbered over all layers) of its events, ascending. */
struct sta_membership {
    enum sta_fate fate;
    uint32_t *layers, *metrics; /* room for all of the shape */
    uint32_t layer_count, metric_count;
};
void sta_membership_init(struct sta_membership *membership, const struct sta_shape *shape);
void sta_membership_fini(struct sta_membership *membership);

/* Where memberships come from.  Context: any thread. */
struct sta_memberships {
    void (*get)(const void *context, uint32_t class, struct sta_membership *membership);
    const void *context;
};

/* Sets of the unions.  The unit of a process or group set is its index; a job set has the unit 0. */
enum sta_summary_set {
    STA_SET_PROCESS,       /* the layer, by process */
    STA_SET_GROUP,         /* the layer, by rank group */
    STA_SET_JOB,           /* the layer */
    STA_SET_COVERED,       /* the layer and compute, by rank group */
    STA_SET_CHILDREN,      /* the layer's children, by rank group */
    STA_SET_WITH_CHILDREN, /* the layer and its children, by rank group */
    STA_SET_METRIC         /* a derived metric */
};

/** Number of a set; @index: a layer, or a metric for STA_SET_METRIC. */
uint32_t sta_summary_set(const struct sta_shape *shape, enum sta_summary_set kind, uint32_t index);

/* Growing list of slot keys. */
struct sta_slot_keys {
    uint64_t *items;
    size_t count, capacity;
};
/** The slots that events of a class in a process count towards, each once. */
void sta_summary_slots(const struct sta_shape *shape, const struct sta_membership *membership,
                       uint32_t process, uint32_t group, struct sta_slot_keys *keys);

/* ---- sums */

struct sta_sums {
    int64_t count, time, size;
    int64_t bins[STA_SIZE_BINS];
};
void sta_sums_add(struct sta_sums *sums, const struct sta_sums *part);

/* What one worker knows of one class. */
struct sta_class_sums {
    enum sta_fate fate;
    uint32_t layer_count; /* when 0, only sums.count is kept and the pointers are NULL */
    struct sta_sums sums;
    uint64_t *threads, *files; /* bitmaps over thread codes and file references */
    uint32_t *cells;           /* by process: the cell of the class there, or STA_NO_CELL */
};

/* Rows as the store has them. */
struct sta_summary_rows {
    uint32_t count;
    const uint32_t *selected; /* row numbers; NULL: 0 .. count - 1 */
    const uint32_t *classes;
    const uint32_t *threads; /* codes of the tables */
    const uint32_t *files;   /* references, or STA_NO_CODE; NULL: no row has one */
    const int64_t *ts, *dur; /* ticks */
    const int64_t *sizes;    /* bytes; NULL: no row has a size */
    const uint8_t *no_size;  /* 1 where there is none; NULL: each row has one */
    int64_t from, to;        /* ticks: events are cut to [from, to) */
};

/* What codes stand for: a view of struct sta_entities, or made up by a test. */
struct sta_summary_entities {
    const uint32_t *thread_of_code, *file_of_ref;
    uint32_t thread_code_count, file_ref_count;
    const struct sta_entity_thread *threads;
    const struct sta_entity_process *processes;
    uint32_t thread_count, process_count, file_limit, host_limit; /* limits: codes are below */
};

struct sta_summary_worker {
    struct sta_class_sums **classes; /* by class; NULL until one of its events is seen */
    size_t class_capacity;
    size_t bytes;                     /* held by all classes */
    struct sta_membership membership; /* scratch, as is .. */
    struct sta_slot_keys keys;
};

struct sta_summary {
    const struct sta_shape *shape;
    struct sta_summary_entities entities;
    uint32_t *process_of_code; /* by thread code */
    const struct sta_rank_groups *groups;
    struct sta_memberships memberships;
    const struct sta_budget *budget;
    struct sta_cells *cells;
    struct sta_unions *unions;
    struct sta_summary_worker *workers;
    unsigned worker_count;
};

void sta_summary_init(struct sta_summary *summary, const struct sta_shape *shape,
                      const struct sta_summary_entities *entities, const struct sta_rank_groups *groups,
                      const struct sta_memberships *memberships, const struct sta_budget *budget);
void sta_summary_fini(struct sta_summary *summary);
/** Adds rows; writes their spans to @spans, which has room for all.  Context: worker @worker.
 * Return: 0, STA_ELIMIT when more memory would be needed than the budget has, or STA_ECORRUPT for a thread code that stands for
 * nothing. */
STA_MUSTCHECK int sta_summary_update(struct sta_summary *summary, unsigned worker,
                                     const struct sta_summary_rows *rows, struct sta_span *spans,
                                     uint32_t *span_count, struct sta_error *err);

/* ---- after the pass */

/* How many events became what. */
struct sta_summary_counts {
    int64_t filtered_by_file, filtered_by_function, unmatched, multiple;
};

/* What a layer (or a derived metric) adds up to, over all workers. */
struct sta_layer_sums {
    struct sta_sums sums;
    uint64_t *threads, *files; /* bitmaps over entities */
};

/** Folds classes to layers and metrics: arrays of the shape's counts, made by the callee; release with sta_layer_sums_destroy. */
struct sta_layer_sums *sta_summary_fold(struct sta_summary *summary, struct sta_sums **metrics,
                                        struct sta_summary_counts *counts);
void sta_layer_sums_destroy(struct sta_layer_sums *layers, uint32_t count);

struct sta_time_scale {
    int64_t job_ticks, ticks_per_us;
};
/** The table of exact.md section 3. */
void sta_summary_table(struct sta_summary *summary, const struct sta_preset *preset,
                       const struct sta_time_scale *scale, struct sta_table *table,
                       struct sta_summary_counts *counts);

#endif
